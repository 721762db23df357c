//! The reading half. Nothing here trusts a byte: each count is checked against the bytes that are left.

mod parts;

use super::fault::{Fault, What};
use super::lend::{LENT, LentVisitor};
use super::{DEPTH_MAX, bulk};
use crate::memory::Memory;
use parts::Parts;
use serde::de::{self, Visitor};
use std::any::TypeId;

pub(super) struct Decoder<'de> {
    bytes: &'de [u8],
    depth_left: u32,
    /// What came beside the bytes and has not found its place.
    lent: Vec<Option<Memory>>,
}

impl<'de> Decoder<'de> {
    #[inline]
    pub(super) fn new(bytes: &'de [u8]) -> Self {
        Self { bytes, depth_left: DEPTH_MAX, lent: Vec::new() }
    }

    /// With what came beside the bytes.
    pub(super) fn with(bytes: &'de [u8], lent: Vec<Memory>) -> Self {
        Self { lent: lent.into_iter().map(Some).collect(), ..Self::new(bytes) }
    }

    /// What has not been read.
    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        self.bytes
    }

    /// Everything must have been used.
    #[inline]
    pub(super) fn finish(&self) -> Result<(), Fault> {
        if !self.bytes.is_empty() {
            return Err(What::LeftOver(self.bytes.len()).into());
        }
        match self.lent.iter().flatten().count() {
            0 => Ok(()),
            left => Err(What::LentLeftOver(left).into()),
        }
    }

    #[inline]
    pub(super) fn take(&mut self, len: usize) -> Result<&'de [u8], Fault> {
        let (front, rest) =
            self.bytes.split_at_checked(len).ok_or(What::Short { needed: len, left: self.bytes.len() })?;
        self.bytes = rest;
        Ok(front)
    }

    #[inline]
    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let (front, rest) =
            self.bytes.split_first_chunk().ok_or(What::Short { needed: N, left: self.bytes.len() })?;
        self.bytes = rest;
        Ok(*front)
    }

    /// A count of parts that take at least `bytes_each` each (1 or more).
    #[inline]
    pub(super) fn take_count(&mut self, bytes_each: usize) -> Result<usize, Fault> {
        let count = u64::from_le_bytes(self.take_array()?);
        let left = self.bytes.len();
        usize::try_from(count)
            .ok()
            .filter(|count| *count <= left / bytes_each)
            .ok_or_else(|| What::Count { count, left }.into())
    }

    #[inline]
    fn take_counted(&mut self) -> Result<&'de [u8], Fault> {
        let count = self.take_count(1)?;
        self.take(count)
    }

    fn take_text(&mut self) -> Result<&'de str, Fault> {
        std::str::from_utf8(self.take_counted()?).map_err(|_| What::Text.into())
    }

    #[inline]
    fn take_mark(&mut self, expected: &'static str) -> Result<bool, Fault> {
        match self.take_array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [value] => Err(What::Invalid { value: value.into(), expected }.into()),
        }
    }

    /// What stands for a value without contents.
    #[inline]
    fn take_nothing(&mut self) -> Result<(), Fault> {
        match self.take_array()? {
            [0] => Ok(()),
            [value] => Err(What::Invalid { value: value.into(), expected: "an empty value" }.into()),
        }
    }

    /// Reads the parts of a value.
    #[inline]
    fn nested<R>(&mut self, read: impl FnOnce(&mut Self) -> Result<R, Fault>) -> Result<R, Fault> {
        self.depth_left = self.depth_left.checked_sub(1).ok_or(What::Deep)?;
        let value = read(self);
        self.depth_left += 1;
        value
    }

    #[inline]
    fn visit_fields<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.nested(|decoder| visitor.visit_seq(Parts { decoder, left: len }))
    }

    #[inline]
    fn visit_tuple<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        if len == 0 {
            self.take_nothing()?;
        }
        self.visit_fields(len, visitor)
    }

    /// Memory that came beside the bytes, if a mark for it is next.
    fn take_lent(&mut self) -> Result<Option<Memory>, Fault> {
        let Some(&mark) = self.bytes.first_chunk() else { return Ok(None) };
        let mark = u64::from_le_bytes(mark);
        if mark & LENT == 0 {
            return Ok(None);
        }
        let index = mark & !LENT;
        let place = usize::try_from(index).ok().and_then(|index| self.lent.get_mut(index));
        let memory = place.and_then(Option::take).ok_or(What::Lent { index })?;
        self.take(size_of::<u64>())?;
        Ok(Some(memory))
    }
}

macro_rules! read_numbers {
    ($($method:ident: $visit:ident($number:ty)),*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            visitor.$visit(<$number>::from_le_bytes(self.take_array()?))
        }
    )*};
}

macro_rules! refuse {
    ($($method:ident: $what:literal),*) => {$(
        fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fault> {
            Err(What::SelfDescription($what).into())
        }
    )*};
}

impl<'de> de::Deserializer<'de> for &mut Decoder<'de> {
    type Error = Fault;

    read_numbers! {
        deserialize_u8: visit_u8(u8), deserialize_u16: visit_u16(u16), deserialize_u32: visit_u32(u32),
        deserialize_u64: visit_u64(u64), deserialize_u128: visit_u128(u128),
        deserialize_i8: visit_i8(i8), deserialize_i16: visit_i16(i16), deserialize_i32: visit_i32(i32),
        deserialize_i64: visit_i64(i64), deserialize_i128: visit_i128(i128),
        deserialize_f32: visit_f32(f32), deserialize_f64: visit_f64(f64)
    }

    refuse! {
        deserialize_any: "a value of any type", deserialize_ignored_any: "a value to ignore",
        deserialize_identifier: "the name of a field"
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_bool(self.take_mark("a bool")?)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        let value = u32::from_le_bytes(self.take_array()?);
        let expected = "a char";
        visitor.visit_char(char::from_u32(value).ok_or(What::Invalid { value: value.into(), expected })?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_str(self.take_text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_str(visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_borrowed_bytes(self.take_counted()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if self.take_mark("the mark of an option")? {
            self.nested(|decoder| visitor.visit_some(decoder))
        } else {
            visitor.visit_none()
        }
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.take_nothing()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if typeid::of::<V>() == TypeId::of::<LentVisitor>() {
            return match self.take_lent()? {
                Some(memory) => bulk::visit_memory(visitor, memory),
                None => visitor.visit_newtype_struct(self),
            };
        }
        self.nested(|decoder| visitor.visit_newtype_struct(decoder))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        if let Some(read_run) = bulk::run_reader::<V>() {
            return read_run(self);
        }
        let count = self.take_count(1)?;
        self.visit_fields(count, visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.visit_tuple(len, visitor)
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.visit_tuple(len, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        // A key and a value: two bytes at least.
        let left = self.take_count(2)?;
        self.nested(|decoder| visitor.visit_map(Parts { decoder, left }))
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.visit_tuple(fields.len(), visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_enum(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
