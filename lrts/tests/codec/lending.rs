//! Tests of lent memory: shared when it is large, copied when it is small, and taken exactly once.

use super::encode;
use chare_lrts::codec::{self, LendableBytes, LentBytes};
use chare_lrts::{Memory, MemoryMut};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

/// What a buffer type looks like.
#[derive(Clone, Debug)]
struct Bytes(Memory);

impl Bytes {
    fn new(byte: u8, len: usize) -> Self {
        Self(MemoryMut::from_vec(vec![byte; len]).freeze())
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_slice() == other.0.as_slice()
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LendableBytes(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match LentBytes::deserialize(deserializer)? {
            LentBytes::Within(bytes) => MemoryMut::from_vec(bytes.into_owned()).freeze(),
            LentBytes::Beside(memory) => memory,
        }))
    }
}

type Value = (u8, Vec<Option<Bytes>>, BTreeMap<String, Bytes>);

fn value() -> Value {
    let list = vec![Some(Bytes::new(1, 100)), None, Some(Bytes::new(2, 99)), Some(Bytes::new(3, 0))];
    (7, list, BTreeMap::from([("large".to_owned(), Bytes::new(4, 5000))]))
}

#[test]
fn large_memory_travels_beside_the_value_and_is_the_same_memory() {
    let value = value();
    let (bytes, lent) = codec::encode_lending(&value, 100).unwrap();
    assert_eq!(lent.iter().map(Memory::len).collect::<Vec<_>>(), [100, 5000]);
    assert!(bytes.len() < 250, "{} bytes", bytes.len());
    let back: Value = codec::decode_lent(&bytes, lent).unwrap();
    assert_eq!(back, value);
    assert_eq!(back.2["large"].0.address(), value.2["large"].0.address());
    assert_ne!(back.1[2].as_ref().unwrap().0.address(), value.1[2].as_ref().unwrap().0.address());
}

#[test]
fn without_lending_the_bytes_are_in_the_value() {
    let value = value();
    assert_eq!(codec::decode::<Value>(&encode(&value)).unwrap(), value);
    let (bytes, lent) = codec::encode_lending(&value, usize::MAX).unwrap();
    assert_eq!((bytes, lent.len()), (encode(&value), 0));
    assert_eq!(encode(&Bytes::new(9, 3)), encode("\t\t\t"));
}

#[test]
fn memory_that_is_not_named_exactly_once_is_an_error() {
    let value = [Bytes::new(1, 100), Bytes::new(2, 100)];
    let (bytes, lent) = codec::encode_lending(&value, 1).unwrap();
    let decode = |bytes: &[u8], lent: &[Memory]| codec::decode_lent::<[Bytes; 2]>(bytes, lent.to_vec());
    assert!(decode(&bytes, &lent).is_ok());
    assert!(decode(&bytes, &lent[..1]).is_err(), "one is missing");
    assert!(decode(&bytes, &[lent.as_slice(), &lent[..1]].concat()).is_err(), "one too many");
    assert!(codec::decode::<[Bytes; 2]>(&bytes).is_err(), "all are missing");
    let mut twice = bytes.clone();
    twice.copy_within(..8, 8);
    assert!(decode(&twice, &lent).is_err(), "the first twice");
    for index in [2u64, 1 << 31, 1 << 32, (1 << 63) - 1] {
        let mut foreign = bytes.clone();
        foreign[..8].copy_from_slice(&((1 << 63) | index).to_le_bytes());
        assert!(decode(&foreign, &lent).is_err(), "index {index}");
    }
}
