//! Tests of hostile bytes: errors, never panics, and no more memory than the bytes justify.

#![expect(clippy::disallowed_types, reason = "programs send them")]

use super::allocation::most_held_bytes;
use super::encode;
use super::values::{Everything, Shape, everything, shape};
use chare_lrts::codec;
use proptest::collection::vec;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};

/// The most memory that one byte of a message may cost in the types here: a byte can make an element, or an error's text.
const BYTES_PER_BYTE: usize = 1024;

/// What an error may cost: its sentence.
const ERROR_BYTES: usize = 16 << 10;

/// Decodes bytes that may be anything; whether they are a value is not the question.
fn attack<T: DeserializeOwned>(bytes: &[u8]) {
    let held = most_held_bytes(|| drop(codec::decode::<T>(bytes)));
    let allowed = ERROR_BYTES + BYTES_PER_BYTE * bytes.len();
    assert!(held <= allowed, "{} bytes held {held}: {}", bytes.len(), std::any::type_name::<T>());
}

fn attack_all(bytes: &[u8]) {
    attack::<Everything>(bytes);
    attack::<Shape>(bytes);
    attack::<Vec<Shape>>(bytes);
    attack::<Vec<u8>>(bytes);
    attack::<Vec<f64>>(bytes);
    attack::<Vec<[u128; 4]>>(bytes);
    attack::<Vec<()>>(bytes);
    attack::<Vec<bool>>(bytes);
    attack::<Vec<char>>(bytes);
    attack::<Vec<Vec<Vec<u32>>>>(bytes);
    attack::<Vec<[u64; 32]>>(bytes);
    attack::<String>(bytes);
    attack::<HashMap<u8, String>>(bytes);
    attack::<BTreeMap<(), ()>>(bytes);
    attack::<Option<Box<[i16]>>>(bytes);
    attack::<Result<(u8, char), bool>>(bytes);
}

fn lies(real: u64) -> [u64; 13] {
    [
        0,
        1,
        real.wrapping_sub(1),
        real + 1,
        (1 << 31) - 1,
        1 << 31,
        (1 << 31) + 1,
        (1 << 32) - 1,
        1 << 32,
        (1 << 32) + 1,
        1 << 63,
        (1 << 63) + 1,
        u64::MAX,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_truncation_is_an_error(value in everything()) {
        let bytes = encode(&value);
        for len in 0..bytes.len() {
            prop_assert!(codec::decode::<Everything>(&bytes[..len]).is_err());
        }
        prop_assert!(codec::decode::<Everything>(&[bytes.as_slice(), &[0]].concat()).is_err());
        prop_assert!(codec::decode_front::<Everything>(&[bytes.as_slice(), &[9]].concat()).unwrap().1 == [9]);
    }

    /// Wherever counts are: every eight bytes of the message are replaced.
    #[test]
    fn lying_counts_do_no_harm(value in shape()) {
        let bytes = encode(&value);
        for at in 0..bytes.len().saturating_sub(7) {
            let real = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            for lie in lies(real.min(1 << 40)) {
                let mut bytes = bytes.clone();
                bytes[at..at + 8].copy_from_slice(&lie.to_le_bytes());
                attack::<Shape>(&bytes);
            }
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in vec(any::<u8>(), 0..2000)) {
        attack_all(&bytes);
    }

    /// Small numbers pass for marks, variants and counts more often than random bytes.
    #[test]
    fn random_small_bytes_do_no_harm(bytes in vec(prop_oneof![3 => Just(0u8), 1 => 0u8..8, 1 => any::<u8>()], 0..2000)) {
        attack_all(&bytes);
    }

    #[test]
    fn changed_bytes_do_no_harm(value in everything(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..9)) {
        let mut bytes = encode(&value);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        attack::<Everything>(&bytes);
    }
}

#[test]
fn counts_around_every_border_do_no_harm() {
    for contents in [0, 1, 7, 8, 63, 64, 65, 4096] {
        for count in lies(contents as u64).into_iter().chain([contents as u64]) {
            attack_all(&[&count.to_le_bytes()[..], &vec![0; contents]].concat());
            attack_all(&[&count.to_le_bytes()[..], &vec![1; contents]].concat());
        }
    }
}

/// A run of numbers is one allocation of its own size: neither grown step by step nor a byte larger.
#[test]
fn a_run_takes_the_memory_it_needs() {
    let bytes = encode(&vec![1.5f64; 1 << 20]);
    let mut back = Vec::new();
    let held = most_held_bytes(|| back = codec::decode::<Vec<f64>>(&bytes).unwrap());
    assert_eq!((back.len(), held), (1 << 20, 8 << 20));
    let mut again = Vec::new();
    let held = most_held_bytes(|| codec::encode_into(&back, &mut again).unwrap());
    assert_eq!((again == bytes, held), (true, 8 + (8 << 20)));
}

#[test]
fn a_count_is_refused_before_anything_is_done_for_it() {
    for count in [1u64, 1 << 31, (1 << 32) + 1, 1 << 62, 1 << 63, u64::MAX] {
        let bytes = count.to_le_bytes();
        assert!(codec::decode::<Vec<u64>>(&bytes).is_err(), "count {count}");
        assert!(codec::decode::<Vec<()>>(&bytes).is_err(), "count {count}");
        assert!(codec::decode::<String>(&bytes).is_err(), "count {count}");
        assert!(codec::decode::<BTreeMap<u8, u8>>(&bytes).is_err(), "count {count}");
    }
}
