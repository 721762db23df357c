//! AES-256-GCM by `aes-gcm`: Rust alone, with the processor's instructions for it where it has them.

use super::key::{KEY_BYTES, Tag, nonce};
use aes_gcm::aead::AeadInOut;
use aes_gcm::{Aes256Gcm, KeyInit};

const SHORT: &str = "frames are shorter than what one number may seal";

/// One key.
pub(in crate::tcp) struct Aead(Aes256Gcm);

impl Aead {
    pub(in crate::tcp) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(Aes256Gcm::new(key.into()))
    }

    /// The tag of data that travel as they are.
    pub(in crate::tcp) fn tag(&self, number: u64, data: &[u8]) -> Tag {
        self.0.encrypt_inout_detached(&nonce(number).into(), data, (&mut [][..]).into()).expect(SHORT).into()
    }

    /// Whether data are those that the tag was made for.
    pub(in crate::tcp) fn is_right(&self, number: u64, data: &[u8], tag: &Tag) -> bool {
        self.0.decrypt_inout_detached(&nonce(number).into(), data, (&mut [][..]).into(), tag.into()).is_ok()
    }

    /// Encrypts data where they are.
    pub(in crate::tcp) fn seal(&self, number: u64, data: &mut [u8]) -> Tag {
        self.0.encrypt_inout_detached(&nonce(number).into(), &[], data.into()).expect(SHORT).into()
    }

    /// Decrypts data where they are, if they are those that the tag was made for.
    pub(in crate::tcp) fn open(&self, number: u64, data: &mut [u8], tag: &Tag) -> bool {
        self.0.decrypt_inout_detached(&nonce(number).into(), &[], data.into(), tag.into()).is_ok()
    }
}
