//! Exchanges of SPECFEM3D, seismic waves: points from lists, in the outer core, and in crust and mantle with the inner core; and every
//! second triple of a tensor.

use super::by_hand::ByHand;
use super::by_hand::lists::{Lists, Tensor};
use super::kernel::{Array, Kernel, Precision, Selected, shuffled};
use super::tree::Tree;

/// Outer core: points, and how many of them are sent; for grids of 10x10x6 that are the finer the larger c is.
const OUTER_CORE: [(u32, usize, usize); 4] =
    [(4, 88_881, 3225), (3, 38_585, 1897), (2, 12_857, 877), (1, 3697, 493)];

/// The same of crust and mantle, and of the inner core.
const CRUST_MANTLE: [(u32, [(usize, usize); 2]); 4] = [
    (4, [(834_917, 11_797), (51_153, 3009)]),
    (3, [(396_849, 7125), (22_477, 1729)]),
    (2, [(152_001, 3801), (7209, 801)]),
    (1, [(39_929, 1957), (1225, 245)]),
];

/// Triples of the tensor.
const TENSOR: [(u32, usize); 4] = [(1, 7600), (2, 6400), (3, 5600), (4, 6200)];

pub(super) fn kernels() -> Vec<Kernel> {
    let outer = OUTER_CORE.iter().map(|(c, all, count)| listed("SPECFEM3D_oc", *c, 1, &[(*all, *count)]));
    let both = CRUST_MANTLE.iter().map(|(c, arrays)| listed("SPECFEM3D_cm", *c, 3, arrays));
    outer.chain(both).chain(TENSOR.iter().map(|(c, triples)| tensor(*c, *triples))).collect()
}

/// Points of `width` floats from a list of its own in each array, given as `(points, listed)`.
fn listed(name: &'static str, c: u32, width: usize, arrays: &[(usize, usize)]) -> Kernel {
    let lists: Vec<Vec<usize>> = arrays.iter().map(|(all, count)| shuffled(*count, *all)).collect();
    let array = |((all, _), list): (&(usize, usize), &Vec<usize>)| {
        let tree = Tree::Element.indexed_block(width, list.iter().map(|point| width * point));
        Array::alike(width * all, 0, tree)
    };
    Kernel {
        name,
        size: format!("c={c}"),
        precision: Precision::Single,
        arrays: arrays.iter().zip(&lists).map(array).collect(),
        by_hand: ByHand::Lists(Lists { has_triples: width == 3, lists }),
    }
}

fn tensor(c: u32, triples: usize) -> Kernel {
    let every_second = Tree::Element.contiguous(3).vector(triples, 1, 2);
    let in_a_row = Tree::Element.contiguous(3 * triples);
    Kernel {
        name: "SPECFEM3D_mt",
        size: format!("c={c}"),
        precision: Precision::Single,
        arrays: vec![Array {
            source: Selected { len: 3 * 2 * triples, start: 0, tree: every_second },
            target: Selected { len: 3 * triples, start: 0, tree: in_a_row },
        }],
        by_hand: ByHand::Tensor(Tensor { triples }),
    }
}
