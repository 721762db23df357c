//! Keys, tags and nonces: the words that every implementation of the AEAD shares.

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// Bytes of a tag.
pub(crate) const TAG_BYTES: usize = 16;

/// The proof that data are what the holder of the key had.
pub(crate) type Tag = [u8; TAG_BYTES];

/// The nonce of a number: as Noise makes them for AES-GCM.
pub(super) fn nonce(number: u64) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_be_bytes());
    nonce
}
