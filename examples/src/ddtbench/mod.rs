//! DDTBench's kernels: what real applications select of their arrays, in the sizes that they were published with, and in others.
//!
//! Schneider, Gerstenberger, Hoefler: "Application-oriented ping-pong benchmarking: how to assess the real communication overheads"
//! (Computing 96, 2014) took them from WRF, MILC, NAS, LAMMPS, SPECFEM3D and a Fourier transform. The facts are those of DDTBench's
//! sources: arrays, index ranges, constructors, names and sizes.
//!
//! | file | kernels | what is selected |
//! |---|---|---|
//! | `wrf` | `WRF_{x,y}_{vec,sa}` | boxes of nine arrays in two, three and four dimensions; as vectors and as subarrays |
//! | `milc` | `MILC_su3_zd` | blocks of a four-dimensional lattice of vectors |
//! | `nas_lu` | `NAS_LU_{x,y}` | an edge of a two-dimensional array of five doubles each, in a row and strided |
//! | `nas_mg` | `NAS_MG_{x,y,z}` | a face of a three-dimensional array |
//! | `lammps` | `LAMMPS_{full,atomic}` | atoms from a list, of six and of four arrays, which land in a row |
//! | `specfem3d` | `SPECFEM3D_{oc,cm,mt}` | points from lists, of one and of two arrays; every second triple |
//! | `fft` | `FFT2` | a block of a matrix, which lands transposed |
//! | `objects` | `object_{1KiB,1MiB,4MiB}`, which are not DDTBench's | rows of an array in two dimensions |
//!
//! Beside DDTBench:
//! 1. Elements land in arrays of their own, instead of in those that are sent, so that no player waits until it may write what it has
//!    sent.
//! 2. Loops by hand pack array by array, as the datatypes do. DDTBench's own pack LAMMPS atom by atom.
//! 3. Its loops by hand for `NAS_LU_y` and `SPECFEM3D_oc` leave one row or point out; these have what the datatypes have.
//! 4. `FFT2` is the block that one process sends to the other, half of what each passes to `MPI_Alltoall`.

mod by_hand;
mod fft;
mod kernel;
mod lammps;
mod milc;
mod nas_lu;
mod nas_mg;
mod objects;
mod specfem3d;
mod tree;
mod wrf;

pub use by_hand::End;
use clap::ValueEnum;
pub use kernel::{Array, Kernel, Number, Precision, Selected};
pub use tree::Tree;

/// Sizes of kernels.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// All kernels, in the sizes of DDTBench's sources
    Published,
    /// WRF A to D, MILC B to E and NAS_MG B to E, classes as FALCON-X's figures name them; their sizes are NAS's own for MG, and for the
    /// others follow from DDTBench's
    Paper,
    /// Objects in two dimensions by the length of their rows, as TEMPI sends them
    Objects,
}

impl Sizes {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Published, Self::Paper, Self::Objects];

    /// The kernels in these sizes.
    pub fn kernels(self) -> Vec<Kernel> {
        match self {
            Self::Published => kernels(),
            Self::Paper => [wrf::classes, milc::classes, nas_mg::classes]
                .into_iter()
                .flat_map(|family| family())
                .collect(),
            Self::Objects => objects::kernels(),
        }
    }
}

/// All kernels in all published sizes, in DDTBench's order. Lists of indices are the same in each process.
///
/// Cost: some milliseconds, for the lists.
///
/// ```
/// let kernels = chare_examples::ddtbench::kernels();
/// assert_eq!(kernels.len(), 69);
/// assert_eq!((kernels[0].name, &kernels[0].size[..]), ("WRF_y_vec", "2x2"));
/// ```
pub fn kernels() -> Vec<Kernel> {
    [wrf::kernels, milc::kernels, nas_lu::kernels, nas_mg::kernels]
        .into_iter()
        .chain([lammps::kernels, specfem3d::kernels, fft::kernels])
        .flat_map(|family| family())
        .collect()
}

#[cfg(test)]
mod tests;
