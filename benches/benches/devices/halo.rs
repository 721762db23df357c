//! Halo: the 26 faces, edges and corners of a field with ghost layers, packed for its neighbours in one turn: by one launch, by one for each
//! of them, and by a copy for each block.
//!
//! Rows begin behind a ghost, so all words have 8 bytes, and many steps are one launch. Each way is checked, bytes beside those that a loop of
//! the host picks.

#![expect(unsafe_code, reason = "gives steps and copies to a stream, of memory that nobody else uses")]

use crate::bed::{Bed, Fallible};
use crate::filled::{clear, fill, read};
use crate::row::{Row, Table};
use crate::within;
use chare_device::{Block, Span};
use chare_layout::{Copies, Dims, Pair, Plan};
use std::ops::Range;
use std::sync::Arc;

/// Blocks that are copied one by one at most.
const BLOCKS_MAX: u64 = 1 << 16;

/// Bytes of an element, which is a double.
const ELEMENT_BYTES: u64 = 8;

/// How the halo is packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    OneLaunch,
    EachFace,
    EachBlock,
}

impl Way {
    const ALL: [Self; 3] = [Self::OneLaunch, Self::EachFace, Self::EachBlock];

    fn name(self) -> &'static str {
        match self {
            Self::OneLaunch => "one launch",
            Self::EachFace => "a launch for each face",
            Self::EachBlock => "a copy for each block",
        }
    }
}

pub(crate) fn measure(bed: &Bed, table: &mut Table) -> Fallible {
    let lengths: &[usize] = if bed.quick { &[16, 32] } else { &[16, 32, 64, 128, 256] };
    for inner in lengths {
        let halo = Halo::new(bed, *inner)?;
        let bytes = halo.faces.iter().map(|face| face.plan.bytes()).sum();
        let ceiling = within::copy(bed, bytes)?;
        for way in Way::ALL {
            if way == Way::EachBlock && halo.blocks() > BLOCKS_MAX {
                continue;
            }
            let took = bed.time(1, || halo.pack(bed, way))?;
            halo.check(bed, way)?;
            table.add(Row { part: "halo", side: way.name(), bytes, block: ELEMENT_BYTES }, took, ceiling);
        }
    }
    Ok(())
}

/// What of the field one neighbour needs.
struct Face {
    /// Along each axis.
    range: [Range<usize>; 3],
    plan: Arc<Plan>,
    packed: Block,
}

/// A field, and its faces in all ways.
struct Halo {
    /// Elements along an axis, with the ghosts.
    side: usize,
    field: Block,
    faces: Vec<Face>,
}

impl Halo {
    /// A field of so many elements along each axis, without the ghosts. Each element is its position.
    fn new(bed: &Bed, inner: usize) -> Fallible<Self> {
        let side = inner + 2;
        let range = |way: usize| [1..2, 1..inner + 1, inner..inner + 1][way].clone();
        let ways = (0..27).filter(|way| *way != 13).map(|way| [way / 9, way / 3 % 3, way % 3].map(range));
        let face = |range: [Range<usize>; 3]| {
            let [planes, rows, columns] = range.clone();
            let layout = Dims::new([side; 3]).select::<f64>((planes, rows, columns));
            let plan = Arc::new(Plan::pack(layout.raw())?);
            Ok(Face { range, packed: bed.device.allocate(plan.bytes())?, plan })
        };
        let positions: Vec<f64> = (0..side.pow(3)).map(|position| position as f64).collect();
        let field = bed.device.allocate(positions.len() as u64 * ELEMENT_BYTES)?;
        fill(bed, &field, bytemuck::cast_slice(&positions))?;
        Ok(Self { side, field, faces: ways.map(face).collect::<Fallible<_>>()? })
    }

    fn blocks(&self) -> u64 {
        let mut blocks = 0;
        for face in &self.faces {
            face.plan.for_each_copy(&mut |Copies { loops, .. }| {
                blocks += loops.iter().map(|pair| pair.count).product::<u64>();
            });
        }
        blocks
    }

    /// Gives the stream what packs all faces.
    fn pack(&self, bed: &Bed, way: Way) -> Fallible {
        let (field, packed): (Span, Vec<Span>) =
            (self.field.span(), self.faces.iter().map(|face| face.packed.span()).collect());
        let steps: Vec<_> =
            self.faces.iter().zip(&packed).map(|(face, packed)| (&face.plan, &field, packed)).collect();
        match way {
            // SAFETY: nobody else uses the memory, and the targets are apart.
            Way::OneLaunch => unsafe { bed.stream.step_all(&steps)? },
            Way::EachFace => {
                for (plan, from, to) in steps {
                    // SAFETY: as above.
                    unsafe { bed.stream.step(plan, from, to)? };
                }
            }
            Way::EachBlock => {
                for (plan, from, to) in steps {
                    let mut given = Ok(());
                    plan.for_each_copy(&mut |Copies { source, target, block, loops, .. }| {
                        for_each_block((source, target), loops, &mut |source, target| {
                            if given.is_ok() {
                                given = copy(bed, from, to, [source, target], block);
                            }
                        });
                    });
                    given?;
                }
            }
        }
        Ok(())
    }

    /// Whether all faces are what a loop picks; clears them for the next way.
    fn check(&self, bed: &Bed, way: Way) -> Fallible {
        for face in &self.faces {
            let packed = read(bed, &face.packed)?;
            let [planes, rows, columns] = face.range.clone();
            let places = planes.flat_map(|plane| {
                let (rows, columns) = (rows.clone(), columns.clone());
                rows.flat_map(move |row| columns.clone().map(move |column| [plane, row, column]))
            });
            let expected =
                places.map(|[plane, row, column]| ((plane * self.side + row) * self.side + column) as f64);
            if !expected.flat_map(f64::to_ne_bytes).eq(packed) {
                return Err(format!("a halo by {}: the face {:?} is wrong", way.name(), face.range).into());
            }
        }
        clear(bed, self.faces.iter().map(|face| &face.packed))
    }
}

/// Calls with the places of each block.
fn for_each_block((source, target): (i64, i64), loops: &[Pair], call: &mut dyn FnMut(i64, i64)) {
    let Some((outer, rest)) = loops.split_first() else { return call(source, target) };
    for step in 0..outer.count as i64 {
        for_each_block((source + step * outer.source, target + step * outer.target), rest, call);
    }
}

fn copy(bed: &Bed, from: &Span, to: &Span, [source, target]: [i64; 2], bytes: u64) -> Fallible {
    let part = |of: &Span, at: i64| of.part(at as u64..at as u64 + bytes);
    // SAFETY: nobody else uses the memory.
    Ok(unsafe { bed.stream.copy(&part(from, source)?, &part(to, target)?) }?)
}
