//! ABIs of MPI: the three ways in which its handles, constants and statuses look in memory.
//!
//! A handle is a C `int` (MPICH) or a pointer (the others). Both are passed here as a word of eight bytes: the C calling
//! conventions of 64-bit little-endian machines put an `int` into the low half of a register or stack slot and ignore the
//! rest, and a function that stores an `int` handle into a word that was zero leaves the handle, zero-extended.
//!
//! The numbers are those of `mpi.h` of MPICH 4.0, of Open MPI 4.1 (where handles are the addresses of exported objects), and of
//! the MPI Forum's standard ABI (MPI 5.0, chapter "Application Binary Interface").

use std::ffi::c_int;
use std::fmt;

/// Which of the three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abi {
    /// MPICH, Intel MPI, MVAPICH: handles are integers.
    Mpich,
    /// Open MPI: handles are addresses.
    OpenMpi,
    /// `libmpi_abi.so`: handles are pointers with known small values.
    Standard,
}

impl fmt::Display for Abi {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Mpich => "ABI of MPICH",
            Self::OpenMpi => "ABI of Open MPI",
            Self::Standard => "standard ABI",
        })
    }
}

/// What threads may do with MPI, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Threads {
    /// There is one.
    Single,
    /// The one that initialised MPI calls it.
    Funneled,
    /// One at a time calls it.
    Serialized,
    /// Any call it.
    Multiple,
}

impl fmt::Display for Threads {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Single => "MPI_THREAD_SINGLE",
            Self::Funneled => "MPI_THREAD_FUNNELED",
            Self::Serialized => "MPI_THREAD_SERIALIZED",
            Self::Multiple => "MPI_THREAD_MULTIPLE",
        })
    }
}

/// A handle of any kind.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Handle(pub(crate) usize);

/// The handles that exist before any is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handles {
    pub(crate) world: Handle,
    pub(crate) own: Handle,
    pub(crate) no_communicator: Handle,
    pub(crate) byte: Handle,
    pub(crate) float: Handle,
    pub(crate) double: Handle,
    pub(crate) errors_return: Handle,
}

/// The numbers by which `MPI_Type_create_subarray` and `MPI_Type_create_darray` are told what to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrays {
    pub(crate) order_c: c_int,
    pub(crate) order_fortran: c_int,
    pub(crate) block: c_int,
    pub(crate) cyclic: c_int,
    pub(crate) none: c_int,
    pub(crate) default_argument: c_int,
}

/// A status of any ABI: the longest has 32 bytes.
#[repr(C, align(8))]
pub(crate) struct Status([c_int; 16]);

impl Status {
    pub(crate) fn new() -> Self {
        Self([0; 16])
    }
}

impl Abi {
    /// The known handles; `address` finds an exported object.
    pub(crate) fn handles<E>(self, address: impl Fn(&str) -> Result<usize, E>) -> Result<Handles, E> {
        Ok(match self {
            Self::Mpich => Handles {
                world: Handle(0x4400_0000),
                own: Handle(0x4400_0001),
                no_communicator: Handle(0x0400_0000),
                byte: Handle(0x4c00_010d),
                float: Handle(0x4c00_040a),
                double: Handle(0x4c00_080b),
                errors_return: Handle(0x5400_0001),
            },
            Self::OpenMpi => Handles {
                world: Handle(address("ompi_mpi_comm_world")?),
                own: Handle(address("ompi_mpi_comm_self")?),
                no_communicator: Handle(address("ompi_mpi_comm_null")?),
                byte: Handle(address("ompi_mpi_byte")?),
                float: Handle(address("ompi_mpi_float")?),
                double: Handle(address("ompi_mpi_double")?),
                errors_return: Handle(address("ompi_mpi_errors_return")?),
            },
            Self::Standard => Handles {
                world: Handle(0x101),
                own: Handle(0x102),
                no_communicator: Handle(0x100),
                byte: Handle(0x247),
                float: Handle(0x210),
                double: Handle(0x214),
                errors_return: Handle(0x143),
            },
        })
    }

    pub(crate) fn arrays(self) -> Arrays {
        let [order_c, order_fortran, block, cyclic, none, default_argument] = match self {
            Self::Mpich => [56, 57, 121, 122, 123, -49767],
            Self::OpenMpi => [0, 1, 0, 1, 2, -1],
            Self::Standard => [0xc, 0xf, 17, 18, 16, 19],
        };
        Arrays { order_c, order_fortran, block, cyclic, none, default_argument }
    }

    /// Handles as a C array of them, in words as [`Handle`] has them in registers.
    pub(crate) fn array_of(self, handles: &[Handle]) -> Vec<usize> {
        match self {
            Self::Mpich => {
                let pair = |pair: &[Handle]| pair.iter().rev().fold(0, |word, handle| word << 32 | handle.0);
                handles.chunks(2).map(pair).collect()
            }
            Self::OpenMpi | Self::Standard => handles.iter().map(|handle| handle.0).collect(),
        }
    }

    /// Stands for every sender.
    pub(crate) fn any_source(self) -> c_int {
        match self {
            Self::Mpich => -2,
            Self::OpenMpi | Self::Standard => -1,
        }
    }

    /// Who sent what a receive brought.
    pub(crate) fn source_of(self, status: &Status) -> c_int {
        match self {
            Self::Mpich => status.0[2],
            Self::OpenMpi | Self::Standard => status.0[0],
        }
    }

    pub(crate) fn number_of(self, threads: Threads) -> c_int {
        match self {
            Self::Mpich | Self::OpenMpi => threads as c_int,
            Self::Standard => [0, 1024, 2048, 4096][threads as usize],
        }
    }

    /// The level that a number means; of a number between two, the lower one.
    pub(crate) fn threads_of(self, number: c_int) -> Threads {
        let levels = [Threads::Multiple, Threads::Serialized, Threads::Funneled];
        levels.into_iter().find(|level| number >= self.number_of(*level)).unwrap_or(Threads::Single)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbers_and_back() {
        for abi in [Abi::Mpich, Abi::OpenMpi, Abi::Standard] {
            for threads in [Threads::Single, Threads::Funneled, Threads::Serialized, Threads::Multiple] {
                assert_eq!(abi.threads_of(abi.number_of(threads)), threads);
            }
        }
        assert_eq!(Abi::Standard.threads_of(3), Threads::Single);
        assert_eq!(Abi::Standard.number_of(Threads::Multiple), 4096);
    }

    #[test]
    fn handles_lie_as_in_a_c_array() {
        let handles = [1, 2, 3].map(Handle);
        assert_eq!(Abi::OpenMpi.array_of(&handles), [1, 2, 3]);
        assert_eq!(Abi::Mpich.array_of(&handles), [2 << 32 | 1, 3]);
    }
}
