//! Numbers of names: equal in every process and build.

use crate::ids::ChareTypeId;
use crate::reducers::ReducerId;

/// A chare type's id: the hash of its name.
pub(crate) const fn type_id(name: &str) -> ChareTypeId {
    ChareTypeId(hash_of(name))
}

/// A reducer's id: the hash of its name.
pub(crate) const fn reducer_id(name: &str) -> ReducerId {
    ReducerId(hash_of(name))
}

const fn hash_of(name: &str) -> u64 {
    let hash = fnv1a(FNV_BASIS, name.as_bytes());
    (hash >> 64) as u64 ^ hash as u64
}

/// The 128-bit FNV-1a basis and prime (Fowler, Noll, Vo; draft-eastlake-fnv).
pub(super) const FNV_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

pub(super) const fn fnv1a(mut hash: u128, bytes: &[u8]) -> u128 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u128).wrapping_mul(FNV_PRIME);
        at += 1;
    }
    hash
}
