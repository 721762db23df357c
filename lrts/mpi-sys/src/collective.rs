//! Collectives of MPI: what ours are measured against.

#![expect(unsafe_code, reason = "calls functions of a shared library")]

use crate::committed::Committed;
use crate::communicator::{Communicator, count_of};
use crate::error::MpiError;
use crate::library::Library;
use std::ffi::c_int;

impl Communicator {
    /// Waits until all processes are here.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// Threads as [`Communicator`]'s module says.
    pub unsafe fn barrier(&self) -> Result<(), MpiError> {
        // SAFETY: the caller's.
        let code = unsafe { (self.library().functions.barrier)(self.handle) };
        self.library().check("MPI_Barrier", code)
    }

    /// The bytes of the process `root`, at all others.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// As for [`Communicator::barrier`].
    ///
    /// # Panics
    /// If there are 2 GiB or more.
    pub unsafe fn broadcast(&self, bytes: &mut [u8], root: u32) -> Result<(), MpiError> {
        let Library { functions, handles, .. } = self.library();
        let (to, len) = (bytes.as_mut_ptr().cast(), count_of(bytes.len()));
        // SAFETY: the caller's; the bytes are borrowed until it returns.
        let code = unsafe { (functions.bcast)(to, len, handles.byte, root as c_int, self.handle) };
        self.library().check("MPI_Bcast", code)
    }

    /// The bytes of all processes, equally many from each, at the process `root`: `all` is used there alone.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// As for [`Communicator::barrier`].
    ///
    /// # Panics
    /// If there are 2 GiB or more, or `all` is shorter than what comes.
    pub unsafe fn gather(&self, mine: &[u8], all: &mut [u8], root: u32) -> Result<(), MpiError> {
        let Library { functions, handles, .. } = self.library();
        assert!(self.rank() != root || all.len() >= mine.len() * self.size() as usize, "room for all");
        let (len, byte, root) = (count_of(mine.len()), handles.byte, root as c_int);
        let (from, to) = (mine.as_ptr().cast(), all.as_mut_ptr().cast());
        // SAFETY: the caller's; both are borrowed until it returns, and the second has room for what comes.
        let code = unsafe { (functions.gather)(from, len, byte, to, len, byte, root, self.handle) };
        self.library().check("MPI_Gather", code)
    }

    /// To each process one of the first datatype, each an extent behind the one before, and from each one of the second.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Safety
    /// So many of the datatypes as there are processes lie within the buffers; the datatypes are of this communicator's MPI. Threads as for
    /// [`Communicator::barrier`].
    pub unsafe fn all_to_all(
        &self,
        (from, sent): (&[u8], &Committed),
        (to, received): (&mut [u8], &Committed),
    ) -> Result<(), MpiError> {
        let (sent, received) = (sent.0.handle, received.0.handle);
        let all_to_all = self.library().functions.alltoall;
        let (from, to) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        // SAFETY: the caller's; both buffers are borrowed until it returns.
        let code = unsafe { all_to_all(from, 1, sent, to, 1, received, self.handle) };
        self.library().check("MPI_Alltoall", code)
    }
}
