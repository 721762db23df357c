//! Encoder: room of a fixed size, how much of it is written, and how deep the value nests.

use crate::codec::fault::{DEPTH_MAX, Fault, FaultKind};
use crate::codec::filling::Fill;
use crate::codec::lend::Lending;
use crate::memory::Memory;
use serde::ser::Serialize;
use std::mem::MaybeUninit;

pub(in crate::codec) struct Encoder<'room> {
    pub(super) room: &'room mut [MaybeUninit<u8>],
    /// Bytes so far. While they are no more than the room, that many bytes of it are initialised.
    pub(super) len: usize,
    depth_left: u32,
    pub(super) lending: Option<Lending>,
}

impl<'room> Encoder<'room> {
    #[inline]
    pub(in crate::codec) fn new(room: &'room mut [MaybeUninit<u8>]) -> Self {
        Self { room, len: 0, depth_left: DEPTH_MAX, lending: None }
    }

    /// How long the encoding is, whether or not it fits.
    #[inline]
    pub(in crate::codec) fn len(&self) -> usize {
        self.len
    }

    pub(in crate::codec) fn lend(&mut self, lending: Lending) {
        self.lending = Some(lending);
    }

    pub(in crate::codec) fn take_lent(&mut self) -> Vec<Memory> {
        self.lending.take().map(|lending| lending.lent).unwrap_or_default()
    }

    /// The front of the room, if the encoding fits: all of it initialised.
    #[inline]
    pub(in crate::codec) fn written(&self) -> Option<&[MaybeUninit<u8>]> {
        self.room.get(..self.len)
    }

    #[inline]
    pub(in crate::codec) fn write(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(room) = self.room.get_mut(self.len..end) {
            room.write_copy_of_slice(bytes);
        }
        self.len = end;
    }

    #[inline]
    pub(super) fn write_count(&mut self, count: usize) {
        self.write(&(count as u64).to_le_bytes());
    }

    #[inline]
    pub(super) fn write_counted(&mut self, bytes: &[u8], count: usize) {
        self.write_count(count);
        self.write(bytes);
    }

    /// Writes the count of some bytes, and has them written where they belong.
    pub(in crate::codec) fn write_filled(&mut self, filling: &dyn Fill) {
        self.write_count(filling.bytes());
        let end = self.len.saturating_add(filling.bytes());
        if let Some(room) = self.room.get_mut(self.len..end) {
            let place = (room.as_ptr().cast(), room.len());
            let filled = filling.fill(room);
            assert_eq!((filled.as_ptr(), filled.len()), place, "what fills returns what it was to fill");
        }
        self.len = end;
    }

    /// Opens a value with parts; its end closes it.
    #[inline]
    pub(super) fn open(&mut self) -> Result<(), Fault> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or(FaultKind::Deep)?;
        Ok(())
    }

    #[inline]
    pub(super) fn close(&mut self) {
        self.depth_left += 1;
    }

    /// A part whose depth counts, on its own.
    #[inline]
    pub(super) fn nested<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.open()?;
        value.serialize(&mut *self)?;
        self.close();
        Ok(())
    }
}
