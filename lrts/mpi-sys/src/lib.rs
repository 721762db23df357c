//! MPI without linking to one: a program that was built with this starts everywhere, runs under whichever MPI is there, and
//! says so where there is none.
//!
//! * [`Library`]: the shared library and the functions of it that are needed, all of MPI 3.0, under their names without `MPI_`.
//! * [`Abi`]: MPI fixes names and meanings, not how handles, constants and statuses look in memory. There are three ways, told
//!   apart when the library is loaded: that of MPICH (and Intel, MVAPICH), that of Open MPI, and the standard one of MPI 5.
//! * [`Communicator`], [`Request`]: what all calls after the start are about.
//! * [`Datatype`], [`Committed`]: which bytes of a buffer are meant, and MPI's own packing of them: what layouts are compared with.
//!
//! ```
//! use chare_mpi_sys::Library;
//!
//! match Library::load(&["libmpich.so.12", "libmpi.so.40"]) {
//!     Ok(library) => println!("{} ({})", library.version(), library.abi()),
//!     Err(why) => println!("{why}"),
//! }
//! ```

#[cfg(not(all(target_pointer_width = "64", target_endian = "little")))]
compile_error!("handles of four bytes are passed as the low half of a word of eight: see `abi`");

mod abi;
mod collective;
mod committed;
mod communicator;
mod datatype;
mod error;
mod library;

pub use abi::{Abi, Threads};
pub use committed::Committed;
pub use communicator::{Communicator, Ended, Request};
pub use datatype::{Basic, Bounds, Datatype, Dimension, Distribution, Order};
pub use error::{LoadError, MpiError};
pub use library::Library;
