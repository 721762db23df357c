//! Decoding: reads values from bytes, and trusts none: each count is checked against the bytes that are left.

mod decoder;
mod parts;

pub(super) use decoder::Decoder;

use super::bulk;
use super::fault::{Fault, FaultKind};
use super::lend::LentVisitor;
use parts::Parts;
use serde::de::{self, Visitor};
use std::any::TypeId;

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
            Err(FaultKind::SelfDescription($what).into())
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
        visitor.visit_char(char::from_u32(value).ok_or(FaultKind::Invalid { value: value.into(), expected })?)
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
        if let Some(run) = bulk::run_reader::<V>() {
            let count = self.take_count(run.element_bytes())?;
            return run.read(self.take(count * run.element_bytes())?);
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
