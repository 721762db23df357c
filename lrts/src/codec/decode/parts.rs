//! Parts of values while they are read: elements, fields, entries of a map, and what an enum's variant holds.

use super::decoder::Decoder;
use crate::codec::fault::Fault;
use serde::de::value::U32Deserializer;
use serde::de::{self, DeserializeSeed, IntoDeserializer, Visitor};

impl<'de> Decoder<'de> {
    #[inline]
    pub(super) fn visit_fields<V: Visitor<'de>>(
        &mut self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.nested(|decoder| visitor.visit_seq(Parts { decoder, left: len }))
    }

    #[inline]
    pub(super) fn visit_tuple<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        if len == 0 {
            self.take_nothing()?;
        }
        self.visit_fields(len, visitor)
    }
}

/// So many parts, one after the other: elements, fields, or keys with their values.
pub(super) struct Parts<'a, 'de> {
    pub(super) decoder: &'a mut Decoder<'de>,
    pub(super) left: usize,
}

impl<'de> de::SeqAccess<'de> for Parts<'_, 'de> {
    type Error = Fault;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        seed.deserialize(&mut *self.decoder).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> de::MapAccess<'de> for Parts<'_, 'de> {
    type Error = Fault;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Fault> {
        de::SeqAccess::next_element_seed(self, seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Fault> {
        seed.deserialize(&mut *self.decoder)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'a, 'de> de::EnumAccess<'de> for &'a mut Decoder<'de> {
    type Error = Fault;
    type Variant = &'a mut Decoder<'de>;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), Fault> {
        let variant: U32Deserializer<Fault> = u32::from_le_bytes(self.take_array()?).into_deserializer();
        Ok((seed.deserialize(variant)?, self))
    }
}

impl<'de> de::VariantAccess<'de> for &mut Decoder<'de> {
    type Error = Fault;

    #[inline]
    fn unit_variant(self) -> Result<(), Fault> {
        Ok(())
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        self.nested(|decoder| seed.deserialize(decoder))
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Fault> {
        self.visit_fields(len, visitor)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        self.tuple_variant(fields.len(), visitor)
    }
}
