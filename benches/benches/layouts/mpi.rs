//! Sides of an MPI: its datatypes of the shapes, made and packed by it, in a process that nobody launched.

#![expect(unsafe_code, reason = "starts and ends MPI")]

use crate::construction;
use crate::samples::{for_shape, measure, written};
use crate::shape::{BLOCK, DOUBLE, FIELDS, GRID, INSIDE, PARTICLE, PAYLOAD, Shape};
use chare_benches::launcher::Mpi;
use chare_benches::{Comparison, tell_library};
use chare_mpi_sys::{Basic, Bounds, Committed, Datatype, Library, MpiError, Order, Threads};
use std::ffi::c_int;
use std::hint::black_box;
use std::io;

/// Leaves out the MPIs that this machine lacks.
pub(crate) fn is_possible(comparison: &Comparison) -> bool {
    comparison.peer.iter().filter_map(|word| Mpi::named(word)).all(Mpi::is_here)
}

/// What an MPI does: `pack`, `unpack` or `make`, and a shape.
pub(crate) fn play(mpi: &Mpi, what: &str, shape: Shape) -> io::Result<()> {
    let library = Library::load(&[&mpi.library()]).map_err(io::Error::other)?;
    tell_library(library.version());
    // SAFETY: nobody else has initialised it; there are no other threads.
    unsafe { library.init(Threads::Single) }.map_err(io::Error::other)?;
    let result = measured(library, what, shape);
    // SAFETY: this thread initialised it, and all datatypes are gone.
    unsafe { library.finalize() }.and(result).map_err(io::Error::other)
}

fn measured(library: &'static Library, what: &str, shape: Shape) -> Result<(), MpiError> {
    let operations = for_shape(shape);
    match what {
        "pack" => {
            let (buffer, mut stream) = (written(shape.buffer_bytes()), written(shape.payload()));
            let datatype = committed(library, shape)?;
            measure(operations, || {
                datatype.pack_into(black_box(&buffer), 0, black_box(&mut stream)).map(drop)
            })
        }
        "unpack" => {
            let (mut buffer, stream) = (written(shape.buffer_bytes()), written(shape.payload()));
            let datatype = committed(library, shape)?;
            measure(operations, || datatype.unpack(black_box(&stream), black_box(&mut buffer), 0))
        }
        _ => match shape {
            Shape::Ascending | Shape::Shuffled => {
                let places = places(shape);
                let double = double(library)?;
                construction::for_lists(|| {
                    double.indexed_block(1, black_box(&places)).and_then(Datatype::commit).map(drop)
                })
            }
            Shape::FaceX => measure(construction::STRIDED, || committed(library, shape).map(drop)),
            _ => {
                let double = double(library)?;
                measure(construction::STRIDED, || {
                    double.vector(black_box(1000), 1, black_box(20)).and_then(Datatype::commit).map(drop)
                })
            }
        },
    }
}

fn double(library: &'static Library) -> Result<Datatype, MpiError> {
    // SAFETY: `play` initialised MPI on this thread and ends it when all datatypes are gone.
    unsafe { Datatype::of(library, Basic::Double, 1) }
}

fn places(shape: Shape) -> Vec<c_int> {
    shape.indices().into_iter().map(|index| index as c_int).collect()
}

fn committed(library: &'static Library, shape: Shape) -> Result<Committed, MpiError> {
    datatype(library, shape).and_then(Datatype::commit)
}

/// As it is said with MPI.
pub(crate) fn datatype(library: &'static Library, shape: Shape) -> Result<Datatype, MpiError> {
    let double = double(library)?;
    let part = |dimensions: [(usize, usize); 3]| {
        double
            .subarray(&dimensions.map(|(len, start)| (GRID as c_int, len as c_int, start as c_int)), Order::C)
    };
    let blocks = |block: usize, every: usize| {
        let (basic, bytes) =
            if block.is_multiple_of(DOUBLE) { (Basic::Double, 8) } else { (Basic::Float, 4) };
        let (count, len) = ((shape.payload() / block) as c_int, (block / bytes) as c_int);
        // SAFETY: as in `double`.
        unsafe { Datatype::of(library, basic, 1) }?.vector(count, len, every as c_int * len)
    };
    let inside = (INSIDE, 1);
    let layer = (1, INSIDE);
    match shape {
        Shape::Vector(block) | Shape::Few { block, .. } => blocks(block, 2),
        Shape::Apart { block, every } => blocks(block, every),
        Shape::FaceX => part([inside, inside, layer]),
        Shape::FaceY => part([inside, layer, inside]),
        Shape::FaceZ => part([layer, inside, inside]),
        Shape::Block => part([(BLOCK, 0); 3]),
        Shape::Ascending | Shape::Shuffled | Shape::Listed(_) => double.indexed_block(1, &places(shape)),
        Shape::Fields => {
            let fields = Datatype::structure(&[(3, 8, &double), (1, 0, &double)])?;
            let whole = Bounds { lower: 0, extent: PARTICLE as isize };
            fields.resized(whole)?.contiguous((PAYLOAD / FIELDS) as c_int)
        }
        Shape::Transposed(side) => {
            let column = double.vector(side as c_int, 1, side as c_int)?;
            let next = Bounds { lower: 0, extent: DOUBLE as isize };
            column.resized(next)?.contiguous(side as c_int)
        }
    }
}
