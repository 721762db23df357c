//! Squares of numbers, what is selected of them, and the jobs in which selections travel.

use crate::every_path::{has_cma, on_every_path, paths};
use chare::layout::{Dims, Layout};
use chare::prelude::*;
use chare::{Job, LayoutMethod};

pub(crate) const SHAPES: [(u32, u32); 3] = [(1, 1), (1, 2), (2, 2)];

/// Runs a program in jobs of these shapes over every path, and by each method where the kernel copies.
pub(crate) fn by_every_method<Fut>(shapes: &[(u32, u32)], main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    on_every_path(shapes, main.clone());
    let copied = paths().into_iter().filter(|(path, _)| has_cma() && ["shm", "cma"].contains(path));
    for (path, network) in copied {
        for method in [LayoutMethod::Pack, LayoutMethod::Sieve, LayoutMethod::Vectors] {
            let job = Job::in_process(2, 1).network(network.clone()).layouts(method);
            let result = job.run(main.clone());
            assert_eq!(result.unwrap_or_else(|error| panic!("{method:?} over {path}: {error}")), 0);
        }
    }
}

/// The edge of a grid: with the third its faces are as long as no path sends along with a message, and with the last so long that they are
/// copied in pieces.
pub(crate) const EDGES: [usize; 4] = [4, 40, 300, 900];

/// Values that say where they stand.
pub(crate) fn values(edge: usize) -> Vec<u32> {
    (0..(edge * edge) as u32).collect()
}

/// A selection of a square: a column, a row, a block inside, every other element of every other row, a list of elements in no order.
pub(crate) fn face(edge: usize, which: u64) -> Layout<u32> {
    let grid = Dims::new([edge, edge]);
    match which {
        0 => grid.select((.., edge - 1)),
        1 => grid.select((1, ..)),
        2 => grid.select((1..edge - 1, 1..edge - 1)),
        4 => {
            let places: Vec<i64> = (0..edge as i64).map(|place| place * (place + 1) / 2).rev().collect();
            Layout::indexed_block(1, &places).expect("it fits")
        }
        _ => Layout::vector(edge as u64 / 2, edge as u64 / 2, 2 * edge as i64).expect("it fits"),
    }
}

/// The places that a layout selects, in its order.
pub(crate) fn places(layout: &Layout<u32>) -> Vec<usize> {
    layout.runs().flat_map(|(at, len)| (at as usize / 4)..(at as usize + len as usize) / 4).collect()
}

pub(crate) fn last() -> PeId {
    PeId(chare::pes() - 1)
}

/// Buffers of both kinds: one that neighbours map, one that they do not.
pub(crate) fn buffers(edge: usize) -> [Buffer<u32>; 2] {
    let mut shareable = BufferMut::zeroed(edge * edge);
    shareable.copy_from_slice(&values(edge));
    [shareable.freeze(), values(edge).into()]
}
