//! Tests of the codec as its users see it: values come back, bulk and element-wise bytes are the same, hostile bytes do no harm.

mod allocation;
mod hostile;
mod lending;
mod values;

use chare_lrts::codec;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

fn encode<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    codec::encode_into(value, &mut bytes).expect("plain data");
    bytes
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> Vec<u8> {
    let bytes = encode(value);
    assert_eq!(&codec::decode::<T>(&bytes).expect("our own bytes"), value);
    bytes
}
