//! Buffers among ordinary arguments: values that are moved inside a process and copied as one run of bytes between processes.

use crate::model::nocopy::{Buffer, BufferMut, Element};
use chare_lrts::codec::{self, LendableBytes, LentBytes};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bytes are lent instead of copied where the encoder can lend them.
impl<T: Element> Serialize for Buffer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LendableBytes(&self.memory).serialize(serializer)
    }
}

/// As for [`Buffer`], but always copied, because memory that its one owner writes cannot be shared.
impl<T: Element> Serialize for BufferMut<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.memory.as_slice())
    }
}

impl<'de, T: Element> Deserialize<'de> for Buffer<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match LentBytes::deserialize(deserializer)? {
            LentBytes::Within(bytes) => copy_whole(&bytes).map(Self::from),
            LentBytes::Beside(memory) => {
                Self::from_memory(memory).map_err(|memory| misfit::<T, _>(memory.len()))
            }
        }
    }
}

impl<'de, T: Element> Deserialize<'de> for BufferMut<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let buffer = Buffer::<T>::deserialize(deserializer)?;
        Ok(buffer.thaw().unwrap_or_else(|shared| shared.to_vec().into()))
    }
}

fn copy_whole<T: Element, E: serde::de::Error>(bytes: &[u8]) -> Result<Vec<T>, E> {
    if size_of::<T>() == 0 || !bytes.len().is_multiple_of(size_of::<T>()) {
        return Err(misfit::<T, E>(bytes.len()));
    }
    codec::copy_elements(bytes).map_err(E::custom)
}

fn misfit<T, E: serde::de::Error>(bytes: usize) -> E {
    E::custom(format_args!("{bytes} bytes are no whole `{}`s, aligned", std::any::type_name::<T>()))
}
