//! Parts of values while they are written: sequences and maps, which are counted, and fields, which are not.

use super::encoder::Encoder;
use crate::codec::fault::Fault;
use serde::ser::{self, Serialize};

impl<'room> Encoder<'room> {
    #[inline]
    pub(super) fn counted(&mut self, expected: Option<usize>) -> Result<Counted<'_, 'room>, Fault> {
        self.open()?;
        Ok(Counted::open(self, expected.unwrap_or(0)))
    }

    #[inline]
    pub(super) fn fields(&mut self, len: usize) -> Result<Fields<'_, 'room>, Fault> {
        self.open()?;
        if len == 0 {
            self.write(&[0]);
        }
        Ok(Fields { encoder: self })
    }

    #[inline]
    pub(super) fn variant(&mut self, variant: u32) -> Result<Fields<'_, 'room>, Fault> {
        self.open()?;
        self.write(&variant.to_le_bytes());
        Ok(Fields { encoder: self })
    }
}

/// A sequence or map being written. Its count is put right at the end if it was not known, or lied about.
pub(in crate::codec) struct Counted<'a, 'room> {
    encoder: &'a mut Encoder<'room>,
    at: usize,
    expected: usize,
    count: usize,
}

impl<'a, 'room> Counted<'a, 'room> {
    /// Writes the expected count, which may turn out wrong.
    #[inline]
    fn open(encoder: &'a mut Encoder<'room>, expected: usize) -> Self {
        let at = encoder.len;
        encoder.write_count(expected);
        Self { encoder, at, expected, count: 0 }
    }

    #[inline]
    fn finish(self) {
        if self.count != self.expected
            && let Some(place) = self.encoder.room.get_mut(self.at..self.at.saturating_add(8))
        {
            place.write_copy_of_slice(&(self.count as u64).to_le_bytes());
        }
        self.encoder.close();
    }
}

impl ser::SerializeSeq for Counted<'_, '_> {
    type Ok = ();
    type Error = Fault;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        self.count += 1;
        value.serialize(&mut *self.encoder)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish();
        Ok(())
    }
}

impl ser::SerializeMap for Counted<'_, '_> {
    type Ok = ();
    type Error = Fault;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Fault> {
        self.count += 1;
        key.serialize(&mut *self.encoder)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Fault> {
        value.serialize(&mut *self.encoder)
    }

    fn end(self) -> Result<(), Fault> {
        self.finish();
        Ok(())
    }
}

/// The fields of a struct, tuple or variant being written: one after the other.
pub(in crate::codec) struct Fields<'a, 'room> {
    encoder: &'a mut Encoder<'room>,
}

macro_rules! write_fields {
    ($($kind:ident::$method:ident($($name:ident: $text:ty)?)),*) => {$(
        impl ser::$kind for Fields<'_, '_> {
            type Ok = ();
            type Error = Fault;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, $($name: $text,)? value: &T) -> Result<(), Fault> {
                value.serialize(&mut *self.encoder)
            }

            #[inline]
            fn end(self) -> Result<(), Fault> {
                self.encoder.close();
                Ok(())
            }
        }
    )*};
}

write_fields! {
    SerializeTuple::serialize_element(), SerializeTupleStruct::serialize_field(),
    SerializeTupleVariant::serialize_field(), SerializeStruct::serialize_field(_name: &'static str),
    SerializeStructVariant::serialize_field(_name: &'static str)
}
