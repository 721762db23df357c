//! Halos of WRF, a weather model: the same box of four arrays in two dimensions, three in three, and two in four.
//!
//! Along the dimensions i, k and j, of which i varies fastest; arrays in two dimensions have no k, and of those in four the second of two
//! scalars is selected.

use super::by_hand::ByHand;
use super::by_hand::wrf::{ARRAYS_2D, ARRAYS_3D, ARRAYS_4D, FIRST_SCALAR, Halo, LAYERS, SCALARS};
use super::kernel::{Array, Kernel, Precision};
use super::tree::Tree;

/// First and last index of an array, and of the box, along i and j, as WRF says them.
struct Ranges {
    size: &'static str,
    i: ([i32; 2], [i32; 2]),
    j: ([i32; 2], [i32; 2]),
}

/// What is sent to the south by 2x2 .. 8x8 processes.
const Y: [Ranges; 5] = [
    Ranges { size: "2x2", i: ([-4, 27], [1, 23]), j: ([34, 85], [41, 43]) },
    Ranges { size: "3x3", i: ([8, 34], [12, 30]), j: ([21, 61], [28, 30]) },
    Ranges { size: "4x4", i: ([4, 27], [8, 23]), j: ([14, 47], [21, 23]) },
    Ranges { size: "5x5", i: ([10, 31], [14, 27]), j: ([10, 39], [17, 19]) },
    Ranges { size: "8x8", i: ([4, 22], [8, 18]), j: ([4, 27], [11, 13]) },
];

/// What is sent to the east.
const X: [Ranges; 3] = [
    Ranges { size: "2x2", i: ([-4, 27], [18, 20]), j: ([34, 85], [38, 81]) },
    Ranges { size: "4x4", i: ([4, 27], [18, 20]), j: ([14, 47], [18, 43]) },
    Ranges { size: "8x8", i: ([4, 22], [13, 15]), j: ([4, 27], [8, 23]) },
];

/// What one process that has all of the 41 x 81 points would send to either side, with the margins that DDTBench's patches have there.
const ALONE: ([i32; 2], [i32; 2]) = ([-4, 45], [-4, 85]);
const Y_ALONE: Ranges = Ranges { size: "D 1x1", i: (ALONE.0, [1, 41]), j: (ALONE.1, [1, 3]) };
const X_ALONE: Ranges = Ranges { size: "D 1x1", i: (ALONE.0, [39, 41]), j: (ALONE.1, [1, 81]) };

pub(super) fn kernels() -> Vec<Kernel> {
    sized(&Y, &X)
}

/// Classes: DDTBench's case, a baroclinic wave, on fewer and fewer processes.
pub(super) fn classes() -> Vec<Kernel> {
    let [y_2, _, y_4, _, y_8] = Y;
    let [x_2, x_4, x_8] = X;
    let named = |size, ranges| Ranges { size, ..ranges };
    sized(
        &[named("A 8x8", y_8), named("B 4x4", y_4), named("C 2x2", y_2), Y_ALONE],
        &[named("A 8x8", x_8), named("B 4x4", x_4), named("C 2x2", x_2), X_ALONE],
    )
}

fn sized(y: &[Ranges], x: &[Ranges]) -> Vec<Kernel> {
    let directions = [("WRF_y_vec", "WRF_y_sa", y), ("WRF_x_vec", "WRF_x_sa", x)];
    let sized = directions.iter().flat_map(|(vectors, subarrays, sizes)| {
        sizes.iter().flat_map(|ranges| {
            [(*vectors, Halo::vectors as fn(&Halo) -> _), (*subarrays, Halo::subarrays)]
                .map(|(name, arrays)| kernel(name, ranges, arrays))
        })
    });
    sized.collect()
}

fn kernel(name: &'static str, ranges: &Ranges, arrays: fn(&Halo) -> Vec<Array>) -> Kernel {
    let halo = Halo::of(ranges);
    Kernel {
        name,
        size: ranges.size.to_owned(),
        precision: Precision::Single,
        arrays: arrays(&halo),
        by_hand: ByHand::Halo(halo),
    }
}

impl Halo {
    fn of(ranges: &Ranges) -> Self {
        let size = |of: &([i32; 2], [i32; 2])| (of.0[1] - of.0[0] + 1) as usize;
        let part = |of: &([i32; 2], [i32; 2])| (of.1[0] - of.0[0]) as usize..(of.1[1] - of.0[0] + 1) as usize;
        Self { size: [size(&ranges.i), size(&ranges.j)], i: part(&ranges.i), j: part(&ranges.j) }
    }

    /// Elements of an array without layers.
    fn plane(&self) -> usize {
        self.size[0] * self.size[1]
    }

    /// Arrays in two, three and four dimensions, given a tree of each.
    fn arrays(&self, starts: [usize; 3], trees: [Tree; 3]) -> Vec<Array> {
        let volume = self.plane() * LAYERS;
        let kinds = [(ARRAYS_2D, self.plane()), (ARRAYS_3D, volume), (ARRAYS_4D, volume * SCALARS)];
        let kinds = kinds.into_iter().zip(starts).zip(trees);
        let arrays = kinds.flat_map(|(((count, len), start), tree)| {
            std::iter::repeat_n(Array::alike(len, start, tree), count)
        });
        arrays.collect()
    }

    fn vectors(&self) -> Vec<Array> {
        let ([i_size, _], Self { i, j, .. }) = (self.size, self);
        let float = Precision::Single.bytes();
        let flat = Tree::Element.vector(j.len(), i.len(), i_size);
        let layered = Tree::Element.vector(LAYERS, i.len(), i_size);
        let deep = layered.hvector(j.len(), 1, i_size * LAYERS * float);
        let volume = self.plane() * LAYERS;
        let scalars = deep.clone().hvector(SCALARS - FIRST_SCALAR, 1, volume * float);
        let deep_start = i.start + i_size * LAYERS * j.start;
        let starts = [i.start + i_size * j.start, deep_start, deep_start + volume * FIRST_SCALAR];
        self.arrays(starts, [flat, deep, scalars])
    }

    fn subarrays(&self) -> Vec<Array> {
        let ([i_size, j_size], Self { i, j, .. }) = (self.size, self);
        let (i, j) = ((i_size, i.len(), i.start), (j_size, j.len(), j.start));
        let scalars = (SCALARS, SCALARS - FIRST_SCALAR, FIRST_SCALAR);
        let dims = [scalars, j, (LAYERS, LAYERS, 0), i];
        let block = |dims: &[_]| Tree::Element.subarray(dims);
        self.arrays([0; 3], [block(&[j, i]), block(&dims[1..]), block(&dims)])
    }
}
