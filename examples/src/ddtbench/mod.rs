//! DDTBench's kernels: what real applications select of their arrays, in the sizes that they were published with.
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
mod specfem3d;
mod tree;
mod wrf;

pub use by_hand::End;
pub use kernel::{Array, Kernel, Number, Precision, Selected};
pub use tree::Tree;

/// All kernels in all sizes, in DDTBench's order. Lists of indices are the same in each process.
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
