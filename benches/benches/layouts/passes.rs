//! Sides that move bytes: packing, unpacking, and from one shape to another.

use crate::by_hand::ByHand;
use crate::samples::{for_shape, measure, written};
use crate::shape::Shape;
use chare_layout::{LayoutError, Plan, copy, pack, unpack};
use std::hint::black_box;
use std::io;

/// A buffer of the shape to its packed stream.
pub(crate) fn play_pack(way: &str, shape: Shape) -> Option<io::Result<()>> {
    let (buffer, mut stream) = (written(shape.buffer_bytes()), written(shape.payload()));
    let operations = for_shape(shape);
    Some(match way {
        "layout" => told(shape.layout().and_then(|layout| {
            measure(operations, || pack(black_box(&layout), black_box(&buffer), black_box(&mut stream)))
        })),
        "loop" => {
            let by_hand = ByHand::new(shape);
            measure(operations, || {
                by_hand.pack(black_box(&buffer), black_box(&mut stream));
                Ok(())
            })
        }
        "memcpy" => measure(operations, || {
            black_box(&mut stream).copy_from_slice(black_box(&buffer[..shape.payload()]));
            Ok(())
        }),
        _ => return None,
    })
}

/// The packed stream to a buffer of the shape.
pub(crate) fn play_unpack(way: &str, shape: Shape) -> Option<io::Result<()>> {
    let (mut buffer, stream) = (written(shape.buffer_bytes()), written(shape.payload()));
    let operations = for_shape(shape);
    Some(match way {
        "layout" => told(shape.layout().and_then(|layout| {
            measure(operations, || unpack(black_box(&layout), black_box(&stream), black_box(&mut buffer)))
        })),
        "loop" => {
            let by_hand = ByHand::new(shape);
            measure(operations, || {
                by_hand.unpack(black_box(&stream), black_box(&mut buffer));
                Ok(())
            })
        }
        "memcpy" => measure(operations, || {
            black_box(&mut buffer)[..shape.payload()].copy_from_slice(black_box(&stream));
            Ok(())
        }),
        _ => return None,
    })
}

/// A buffer of one shape to a buffer of another.
pub(crate) fn play_pass(way: &str, from: Shape, to: Shape) -> Option<io::Result<()>> {
    let (source, mut target) = (written(from.buffer_bytes()), written(to.buffer_bytes()));
    let mut stream = written(from.payload());
    let operations = for_shape(from);
    Some(match way {
        "plan" => told(from.layout().and_then(|from| {
            let plan = Plan::new(&from, &*to.layout()?)?;
            measure(operations, || copy(black_box(&plan), black_box(&source), black_box(&mut target)))
        })),
        "packed" => told(from.layout().and_then(|from| {
            let to = to.layout()?;
            measure(operations, || {
                pack(black_box(&from), black_box(&source), &mut stream)?;
                unpack(black_box(&to), black_box(&stream), black_box(&mut target))
            })
        })),
        "loops" => {
            let (from, to) = (ByHand::new(from), ByHand::new(to));
            measure(operations, || {
                from.pack(black_box(&source), &mut stream);
                to.unpack(black_box(&stream), black_box(&mut target));
                Ok(())
            })
        }
        _ => return None,
    })
}

fn told(result: Result<(), LayoutError>) -> io::Result<()> {
    result.map_err(io::Error::other)
}
