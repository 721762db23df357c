//! Encoding: writes a value into room of a fixed size.
//!
//! Bytes that do not fit are counted, not written: a first pass into whatever room there is either succeeds or tells
//! the exact size for the second.

mod encoder;
mod parts;

pub(super) use encoder::Encoder;

use super::bulk;
use super::fault::Fault;
use super::lend::LENT;
use parts::{Counted, Fields};
use serde::ser::{self, Serialize};

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
        if let Some(filling) = bulk::as_filling(value) {
            self.write_filled(filling);
            return Ok(());
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
