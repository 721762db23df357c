//! AES-256-GCM by `aes-gcm`: Rust alone, for every processor, with the instructions for it where there are some.

use super::key::{KEY_BYTES, Tag, nonce};
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};

/// One key.
pub(crate) struct Aead(Aes256Gcm);

impl Aead {
    pub(super) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(Aes256Gcm::new(key.into()))
    }

    pub(super) fn make(&self, number: u64, associated: &[u8], data: &mut [u8]) -> Tag {
        let tag = self.0.encrypt_inout_detached(&nonce(number).into(), associated, data.into());
        tag.expect("frames are shorter than what one number may seal").into()
    }

    pub(super) fn check(&self, number: u64, associated: &[u8], data: &mut [u8], tag: &Tag) -> bool {
        self.0.decrypt_inout_detached(&nonce(number).into(), associated, data.into(), tag.into()).is_ok()
    }
}
