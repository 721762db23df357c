//! The writing half: a value into room of a fixed size.
//!
//! What does not fit is counted, not written: a first pass into whatever room there is either succeeds or tells
//! the exact size for the second.

mod parts;

use super::fault::{Fault, What};
use super::lend::{LENT, Lending};
use super::{DEPTH_MAX, bulk};
use crate::memory::Memory;
use parts::{Counted, Fields};
use serde::ser::{self, Serialize};
use std::mem::MaybeUninit;

pub(super) struct Encoder<'room> {
    room: &'room mut [MaybeUninit<u8>],
    /// Bytes so far. While they are no more than the room, that many bytes of it are initialised.
    len: usize,
    depth_left: u32,
    lending: Option<Lending>,
}

impl<'room> Encoder<'room> {
    #[inline]
    pub(super) fn new(room: &'room mut [MaybeUninit<u8>]) -> Self {
        Self { room, len: 0, depth_left: DEPTH_MAX, lending: None }
    }

    /// How long the encoding is, whether or not it fits.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn lend(&mut self, lending: Lending) {
        self.lending = Some(lending);
    }

    pub(super) fn take_lent(&mut self) -> Vec<Memory> {
        self.lending.take().map(|lending| lending.lent).unwrap_or_default()
    }

    /// The front of the room, if the encoding fits: all of it initialised.
    #[inline]
    pub(super) fn written(&self) -> Option<&[MaybeUninit<u8>]> {
        self.room.get(..self.len)
    }

    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(room) = self.room.get_mut(self.len..end) {
            room.write_copy_of_slice(bytes);
        }
        self.len = end;
    }

    #[inline]
    fn write_count(&mut self, count: usize) {
        self.write(&(count as u64).to_le_bytes());
    }

    #[inline]
    fn write_counted(&mut self, bytes: &[u8], count: usize) {
        self.write_count(count);
        self.write(bytes);
    }

    /// Opens a value with parts; its end closes it.
    #[inline]
    fn open(&mut self) -> Result<(), Fault> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or(What::Deep)?;
        Ok(())
    }

    #[inline]
    fn close(&mut self) {
        self.depth_left += 1;
    }

    /// A part whose depth counts, on its own.
    #[inline]
    fn nested<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.open()?;
        value.serialize(&mut *self)?;
        self.close();
        Ok(())
    }

    #[inline]
    fn counted(&mut self, expected: Option<usize>) -> Result<Counted<'_, 'room>, Fault> {
        self.open()?;
        Ok(Counted::open(self, expected.unwrap_or(0)))
    }

    #[inline]
    fn fields(&mut self, len: usize) -> Result<Fields<'_, 'room>, Fault> {
        self.open()?;
        if len == 0 {
            self.write(&[0]);
        }
        Ok(Fields { encoder: self })
    }

    #[inline]
    fn variant(&mut self, variant: u32) -> Result<Fields<'_, 'room>, Fault> {
        self.open()?;
        self.write(&variant.to_le_bytes());
        Ok(Fields { encoder: self })
    }
}

macro_rules! write_numbers {
    ($($method:ident($number:ty)),*) => {$(
        #[inline]
        fn $method(self, value: $number) -> Result<(), Fault> {
            self.write(&value.to_le_bytes());
            Ok(())
        }
    )*};
}

impl<'a, 'room> ser::Serializer for &'a mut Encoder<'room> {
    type Ok = ();
    type Error = Fault;
    type SerializeSeq = Counted<'a, 'room>;
    type SerializeMap = Counted<'a, 'room>;
    type SerializeTuple = Fields<'a, 'room>;
    type SerializeTupleStruct = Fields<'a, 'room>;
    type SerializeTupleVariant = Fields<'a, 'room>;
    type SerializeStruct = Fields<'a, 'room>;
    type SerializeStructVariant = Fields<'a, 'room>;

    write_numbers! {
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64), serialize_u128(u128),
        serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64), serialize_i128(i128),
        serialize_f32(f32), serialize_f64(f64)
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Fault> {
        self.serialize_u8(value.into())
    }

    fn serialize_char(self, value: char) -> Result<(), Fault> {
        self.serialize_u32(value.into())
    }

    fn serialize_str(self, value: &str) -> Result<(), Fault> {
        self.serialize_bytes(value.as_bytes())
    }

    #[inline]
    fn serialize_bytes(self, value: &[u8]) -> Result<(), Fault> {
        self.write_counted(value, value.len());
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Fault> {
        self.serialize_u8(0)
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Fault> {
        self.write(&[1]);
        self.nested(value)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Fault> {
        self.serialize_u8(0)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Fault> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, variant: u32, _: &'static str) -> Result<(), Fault> {
        self.serialize_u32(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        if let Some(lending) = &mut self.lending
            && let Some(index) = bulk::as_memory(value).and_then(|memory| lending.offer(memory))
        {
            return self.serialize_u64(LENT | index);
        }
        self.nested(value)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Fault> {
        self.write(&variant.to_le_bytes());
        self.nested(value)
    }

    #[inline]
    fn serialize_seq(self, len: Option<usize>) -> Result<Counted<'a, 'room>, Fault> {
        self.counted(len)
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Counted<'a, 'room>, Fault> {
        self.counted(len)
    }

    #[inline]
    fn serialize_tuple(self, len: usize) -> Result<Fields<'a, 'room>, Fault> {
        self.fields(len)
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Fields<'a, 'room>, Fault> {
        self.fields(len)
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Fields<'a, 'room>, Fault> {
        self.fields(len)
    }

    #[inline]
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Fields<'a, 'room>, Fault> {
        self.variant(variant)
    }

    #[inline]
    fn serialize_struct_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Fields<'a, 'room>, Fault> {
        self.variant(variant)
    }

    fn collect_seq<I>(self, elements: I) -> Result<(), Fault>
    where
        I: IntoIterator,
        I::Item: Serialize,
    {
        if let Some((count, bytes)) = bulk::as_run(&elements) {
            self.open()?;
            self.write_counted(bytes, count);
            self.close();
            return Ok(());
        }
        let elements = elements.into_iter();
        let mut counted = match elements.size_hint() {
            (least, Some(most)) if least == most => self.counted(Some(least))?,
            _ => self.counted(None)?,
        };
        for element in elements {
            ser::SerializeSeq::serialize_element(&mut counted, &element)?;
        }
        ser::SerializeSeq::end(counted)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
