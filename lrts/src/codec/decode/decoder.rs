//! Decoder: the bytes that are left, how deep the value nests, and the memory that came beside the bytes.

use crate::codec::fault::{DEPTH_MAX, Fault, FaultKind};
use crate::codec::lend::LENT;
use crate::memory::Memory;

pub(in crate::codec) struct Decoder<'de> {
    bytes: &'de [u8],
    depth_left: u32,
    /// Memory that came beside the bytes and no mark has named yet.
    lent: Vec<Option<Memory>>,
}

impl<'de> Decoder<'de> {
    #[inline]
    pub(in crate::codec) fn new(bytes: &'de [u8]) -> Self {
        Self { bytes, depth_left: DEPTH_MAX, lent: Vec::new() }
    }

    /// With the memory that came beside the bytes.
    pub(in crate::codec) fn with(bytes: &'de [u8], lent: Vec<Memory>) -> Self {
        Self { lent: lent.into_iter().map(Some).collect(), ..Self::new(bytes) }
    }

    /// The bytes that have not been read.
    #[inline]
    pub(in crate::codec) fn rest(&self) -> &'de [u8] {
        self.bytes
    }

    /// Checks that all bytes and memories were used.
    #[inline]
    pub(in crate::codec) fn finish(&self) -> Result<(), Fault> {
        if !self.bytes.is_empty() {
            return Err(FaultKind::LeftOver(self.bytes.len()).into());
        }
        match self.lent.iter().flatten().count() {
            0 => Ok(()),
            left => Err(FaultKind::LentLeftOver(left).into()),
        }
    }

    #[inline]
    pub(in crate::codec) fn take(&mut self, len: usize) -> Result<&'de [u8], Fault> {
        let (front, rest) = self
            .bytes
            .split_at_checked(len)
            .ok_or(FaultKind::Short { needed: len, left: self.bytes.len() })?;
        self.bytes = rest;
        Ok(front)
    }

    #[inline]
    pub(super) fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (front, rest) =
            self.bytes.split_first_chunk().ok_or(FaultKind::Short { needed: N, left: self.bytes.len() })?;
        self.bytes = rest;
        Ok(*front)
    }

    /// A count of parts that take at least `bytes_each` each (1 or more).
    #[inline]
    pub(in crate::codec) fn take_count(&mut self, bytes_each: usize) -> Result<usize, Fault> {
        let count = u64::from_le_bytes(self.take_array()?);
        let left = self.bytes.len();
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= left / bytes_each)
            .ok_or_else(|| FaultKind::Count { count, left }.into())
    }

    #[inline]
    pub(super) fn take_counted(&mut self) -> Result<&'de [u8], Fault> {
        let count = self.take_count(1)?;
        self.take(count)
    }

    pub(super) fn take_text(&mut self) -> Result<&'de str, Fault> {
        std::str::from_utf8(self.take_counted()?).map_err(|_| FaultKind::Text.into())
    }

    #[inline]
    pub(super) fn take_mark(&mut self, expected: &'static str) -> Result<bool, Fault> {
        match self.take_array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [value] => Err(FaultKind::Invalid { value: value.into(), expected }.into()),
        }
    }

    /// Takes the byte that stands for a value without contents.
    #[inline]
    pub(super) fn take_nothing(&mut self) -> Result<(), Fault> {
        match self.take_array()? {
            [0] => Ok(()),
            [value] => Err(FaultKind::Invalid { value: value.into(), expected: "an empty value" }.into()),
        }
    }

    /// Reads the parts of a value.
    #[inline]
    pub(super) fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, Fault>) -> Result<R, Fault> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or(FaultKind::Deep)?;
        let value = read(self);
        self.depth_left += 1;
        value
    }

    /// Memory that came beside the bytes, if a mark for it is next.
    pub(super) fn take_lent(&mut self) -> Result<Option<Memory>, Fault> {
        let Some(&mark) = self.bytes.first_chunk() else { return Ok(None) };
        let mark = u64::from_le_bytes(mark);
        if mark & LENT == 0 {
            return Ok(None);
        }
        let index = mark & !LENT;
        let place = usize::try_from(index).ok().and_then(|index| self.lent.get_mut(index));
        let memory = place.and_then(Option::take).ok_or(FaultKind::Lent { index })?;
        self.take(size_of::<u64>())?;
        Ok(Some(memory))
    }
}
