//! Committed datatypes: how a datatype becomes one, and packing of buffers, by MPI.

#![expect(unsafe_code, reason = "calls functions of a shared library")]

use crate::datatype::{Datatype, count_of};
use crate::error::MpiError;
use crate::library::Library;

/// A datatype that packs.
#[derive(Debug)]
pub struct Committed(pub(crate) Datatype);

impl Datatype {
    /// `MPI_Type_commit`.
    ///
    /// # Errors
    /// MPI's.
    pub fn commit(mut self) -> Result<Committed, MpiError> {
        // SAFETY: as in `Datatype::contiguous`.
        let code = unsafe { (self.library.functions.type_commit)(&raw mut self.handle) };
        self.library.check("MPI_Type_commit", code).map(|()| Committed(self))
    }
}

impl Committed {
    /// `MPI_Pack` of one of these that starts at byte `at` of the buffer.
    ///
    /// # Errors
    /// MPI's.
    ///
    /// # Panics
    /// If some of it lies outside the buffer, by MPI's own account.
    pub fn pack(&self, buffer: &[u8], at: usize) -> Result<Vec<u8>, MpiError> {
        let mut packed = vec![0; self.0.size()?.max(0) as usize];
        let len = self.pack_into(buffer, at, &mut packed)?;
        packed.truncate(len);
        Ok(packed)
    }

    /// As [`Committed::pack`], to the start of a stream; returns how many bytes that took.
    ///
    /// # Errors
    /// MPI's, also when the stream is too short.
    ///
    /// # Panics
    /// As [`Committed::pack`].
    pub fn pack_into(&self, buffer: &[u8], at: usize, packed: &mut [u8]) -> Result<usize, MpiError> {
        self.check_bounds(buffer.len(), at)?;
        let Library { functions, handles, .. } = self.0.library;
        let (from, to) = (buffer.as_ptr().wrapping_add(at).cast(), packed.as_mut_ptr().cast());
        let (room, mut end) = (count_of(packed), 0);
        // SAFETY: on the thread that may call MPI (`Datatype::bytes`); what is packed lies in the buffer, and `packed` has the
        // room that MPI is told of.
        let code = unsafe { (functions.pack)(from, 1, self.0.handle, to, room, &raw mut end, handles.own) };
        self.0.library.check("MPI_Pack", code).map(|()| end.max(0) as usize)
    }

    /// `MPI_Unpack` of one of these that starts at byte `at` of the buffer.
    ///
    /// # Errors
    /// MPI's, also when too little was packed.
    ///
    /// # Panics
    /// As [`Committed::pack`].
    pub fn unpack(&self, packed: &[u8], buffer: &mut [u8], at: usize) -> Result<(), MpiError> {
        self.check_bounds(buffer.len(), at)?;
        let Library { functions, handles, .. } = self.0.library;
        let (from, to) = (packed.as_ptr().cast(), buffer.as_mut_ptr().wrapping_add(at).cast());
        let (have, mut end) = (count_of(packed), 0);
        // SAFETY: on the thread that may call MPI (`Datatype::bytes`); what is unpacked lies in the buffer, which is borrowed
        // for it, and MPI is told how much was packed.
        let code = unsafe { (functions.unpack)(from, have, &raw mut end, to, 1, self.0.handle, handles.own) };
        self.0.library.check("MPI_Unpack", code)
    }

    fn check_bounds(&self, len: usize, at: usize) -> Result<(), MpiError> {
        let bounds = self.0.true_bounds()?;
        let lower = at.checked_add_signed(bounds.lower);
        let upper = lower.and_then(|lower| lower.checked_add_signed(bounds.extent));
        let fits = upper.is_some_and(|upper| upper <= len);
        assert!(fits || self.0.size()? == 0, "{bounds:?} from {at} on lie outside a buffer of {len} bytes");
        Ok(())
    }
}
