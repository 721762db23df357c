//! Hashes of names and digests over names, equal in every process and build.

use crate::model::ids::ChareTypeId;

/// A chare type's id: the hash of its name.
pub(crate) const fn type_id(name: &str) -> ChareTypeId {
    ChareTypeId(hash_of(name))
}

/// The hash of a name.
pub(crate) const fn hash_of(name: &str) -> u64 {
    let hash = fnv1a(FNV_BASIS, name.as_bytes());
    (hash >> 64) as u64 ^ hash as u64
}

/// The 128-bit FNV-1a basis and prime (Fowler, Noll, Vo; draft-eastlake-fnv).
const FNV_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

const fn fnv1a(mut hash: u128, bytes: &[u8]) -> u128 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u128).wrapping_mul(FNV_PRIME);
        at += 1;
    }
    hash
}

/// A digest of all names and signatures that must be alike in two processes.
pub(crate) struct Digest(u128);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(FNV_BASIS)
    }

    /// Adds one thing: its name, and the signature that tells it from other things of that name.
    pub(crate) fn add(&mut self, name: &str, signature: &str) {
        for part in [name, "(", signature, ")"] {
            self.0 = fnv1a(self.0, part.as_bytes());
        }
    }

    pub(crate) fn value(&self) -> u128 {
        self.0
    }
}
