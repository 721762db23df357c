//! AES-256-GCM by `graviola`: Rust and assembler for processors with AES instructions, with the widest that one has.

use super::key::{KEY_BYTES, TAG_BYTES, Tag, nonce};
use graviola::aead::AesGcm;

/// One key.
pub(crate) struct Aead(AesGcm);

impl Aead {
    /// `None` where the processor lacks the instructions.
    pub(super) fn new(key: &[u8; KEY_BYTES]) -> Option<Self> {
        graviola::util::is_cpu_supported().then(|| Self(AesGcm::new(key)))
    }

    pub(super) fn make(&self, number: u64, associated: &[u8], data: &mut [u8]) -> Tag {
        let mut tag = [0; TAG_BYTES];
        self.0.encrypt(&nonce(number), associated, data, &mut tag);
        tag
    }

    pub(super) fn check(&self, number: u64, associated: &[u8], data: &mut [u8], tag: &Tag) -> bool {
        self.0.decrypt(&nonce(number), associated, data, tag).is_ok()
    }
}
