//! AES-256-GCM by `aws-lc-rs`: C and assembler, with the widest instructions that the processor has.

use super::key::{KEY_BYTES, Tag, nonce};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

const SHORT: &str = "frames are shorter than what one number may seal";

/// One key.
pub(in crate::tcp) struct Aead(LessSafeKey);

impl Aead {
    pub(in crate::tcp) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("the key is as long as keys are")))
    }

    /// The tag of data that travel as they are.
    pub(in crate::tcp) fn tag(&self, number: u64, data: &[u8]) -> Tag {
        self.make(number, Aad::from(data), &mut [])
    }

    /// Whether data are those that the tag was made for.
    pub(in crate::tcp) fn is_right(&self, number: u64, data: &[u8], tag: &Tag) -> bool {
        self.check(number, Aad::from(data), &mut [], tag)
    }

    /// Encrypts data where they are.
    pub(in crate::tcp) fn seal(&self, number: u64, data: &mut [u8]) -> Tag {
        self.make(number, Aad::from(&[]), data)
    }

    /// Decrypts data where they are, if they are those that the tag was made for.
    pub(in crate::tcp) fn open(&self, number: u64, data: &mut [u8], tag: &Tag) -> bool {
        self.check(number, Aad::from(&[]), data, tag)
    }

    fn make(&self, number: u64, associated: Aad<&[u8]>, data: &mut [u8]) -> Tag {
        let nonce = Nonce::assume_unique_for_key(nonce(number));
        let tag = self.0.seal_in_place_separate_tag(nonce, associated, data).expect(SHORT);
        tag.as_ref().try_into().expect("tags of this AEAD are whole")
    }

    fn check(&self, number: u64, associated: Aad<&[u8]>, data: &mut [u8], tag: &Tag) -> bool {
        let nonce = Nonce::assume_unique_for_key(nonce(number));
        self.0.open_in_place_separate_tag(nonce, associated, tag, data).is_ok()
    }
}
