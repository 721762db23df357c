//! AEAD: AES-256-GCM under one key, whose numbers are never used twice by it.
//!
//! Two crates compute the same: `graviola` where the processor has what it needs, which is found out at run time, and `aes-gcm` elsewhere.
//! Nodes that use one talk to nodes that use the other.

mod key;
mod portable;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod wide;

pub(crate) use key::{KEY_BYTES, TAG_BYTES, Tag};

/// One key.
#[allow(clippy::large_enum_variant, reason = "a connection has two, which both live as long as it")]
pub(crate) enum Aead {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    Wide(wide::Aead),
    Portable(portable::Aead),
}

impl Aead {
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Self {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some(wide) = wide::Aead::new(key) {
            return Self::Wide(wide);
        }
        Self::Portable(portable::Aead::new(key))
    }

    /// The tag of data that travel as they are.
    pub(crate) fn tag(&self, number: u64, data: &[u8]) -> Tag {
        self.make(number, data, &mut [])
    }

    /// Whether data are those that the tag was made for.
    pub(crate) fn is_right(&self, number: u64, data: &[u8], tag: &Tag) -> bool {
        self.check(number, data, &mut [], tag)
    }

    /// Encrypts data where they are.
    pub(crate) fn seal(&self, number: u64, data: &mut [u8]) -> Tag {
        self.make(number, &[], data)
    }

    /// Decrypts data where they are, if they are those that the tag was made for.
    pub(crate) fn open(&self, number: u64, data: &mut [u8], tag: &Tag) -> bool {
        self.check(number, &[], data, tag)
    }

    /// Encrypts data where they are; the tag is of what is associated with them, too.
    pub(crate) fn make(&self, number: u64, associated: &[u8], data: &mut [u8]) -> Tag {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Self::Wide(aead) => aead.make(number, associated, data),
            Self::Portable(aead) => aead.make(number, associated, data),
        }
    }

    /// Decrypts data where they are, if they and what is associated with them are those that the tag was made for.
    pub(crate) fn check(&self, number: u64, associated: &[u8], data: &mut [u8], tag: &Tag) -> bool {
        match self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            Self::Wide(aead) => aead.check(number, associated, data, tag),
            Self::Portable(aead) => aead.check(number, associated, data, tag),
        }
    }
}

/// A key that nobody can compute from another without having it: `REKEY` of Noise (section 4.2 of its specification), which spends the last
/// number of `key` and no other.
pub(crate) fn rekey(key: &[u8; KEY_BYTES]) -> [u8; KEY_BYTES] {
    branch(key, u64::MAX)
}

/// One of many keys that nobody can compute from `key`, or from each other, without having `key`: spends this number of `key`.
pub(crate) fn branch(key: &[u8; KEY_BYTES], number: u64) -> [u8; KEY_BYTES] {
    let mut next = [0; KEY_BYTES];
    // The tag is thrown away.
    Aead::new(key).seal(number, &mut next);
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of the specification of GCM by McGrew and Viega.
    #[test]
    fn the_published_answer() {
        the_published_answer_of(&Aead::new(&[0; KEY_BYTES]));
        the_published_answer_of(&Aead::Portable(portable::Aead::new(&[0; KEY_BYTES])));
    }

    fn the_published_answer_of(aead: &Aead) {
        // Test case 13: nothing sealed, nothing associated.
        let empty =
            [0x53, 0x0f, 0x8a, 0xfb, 0xc7, 0x45, 0x36, 0xb9, 0xa9, 0x63, 0xb4, 0xf1, 0xc4, 0xcb, 0x73, 0x8b];
        assert_eq!(aead.tag(0, &[]), empty);
        // Test case 14: a block of zeros sealed.
        let sealed =
            [0xce, 0xa7, 0x40, 0x3d, 0x4d, 0x60, 0x6b, 0x6e, 0x07, 0x4e, 0xc5, 0xd3, 0xba, 0xf3, 0x9d, 0x18];
        let tag =
            [0xd0, 0xd1, 0xc8, 0xa7, 0x99, 0x99, 0x6b, 0xf0, 0x26, 0x5b, 0x98, 0xb5, 0xd4, 0x8a, 0xb9, 0x19];
        let mut data = [0; 16];
        assert_eq!((aead.seal(0, &mut data), data), (tag, sealed));
    }

    proptest! {
        #[test]
        fn what_is_sealed_opens_and_what_is_changed_does_not(
            data in proptest::collection::vec(any::<u8>(), 0..300),
            key: [u8; KEY_BYTES],
            number: u64,
            bit: u16,
        ) {
            let aead = Aead::new(&key);
            let tag = aead.tag(number, &data);
            prop_assert!(aead.is_right(number, &data, &tag));
            prop_assert!(!aead.is_right(number ^ 1, &data, &tag));
            let mut sealed = data.clone();
            let proof = aead.seal(number, &mut sealed);
            let mut opened = sealed.clone();
            prop_assert!(aead.open(number, &mut opened, &proof) && opened == data);
            let bit = usize::from(bit) % (8 * (data.len() + TAG_BYTES));
            let flip = |data: &[u8], tag: &Tag| {
                let mut both = [data, tag].concat();
                both[bit / 8] ^= 1 << (bit % 8);
                let (data, tag) = both.split_last_chunk::<TAG_BYTES>().map(|(data, tag)| (data.to_vec(), *tag)).expect("both");
                (data, tag)
            };
            let (changed, its) = flip(&data, &tag);
            prop_assert!(!aead.is_right(number, &changed, &its));
            let (mut changed, its) = flip(&sealed, &proof);
            prop_assert!(!aead.open(number, &mut changed, &its));
        }

        #[test]
        fn both_crates_compute_the_same(
            data in proptest::collection::vec(any::<u8>(), 0..9_000),
            key: [u8; KEY_BYTES],
            number: u64,
        ) {
            let (one, two) = (Aead::Portable(portable::Aead::new(&key)), Aead::new(&key));
            let tag = two.tag(number, &data);
            prop_assert_eq!(one.tag(number, &data), tag);
            prop_assert!(one.is_right(number, &data, &tag));
            let (mut first, mut second) = (data.clone(), data.clone());
            let tag = two.seal(number, &mut second);
            prop_assert_eq!(one.seal(number, &mut first), tag);
            prop_assert_eq!(&first, &second);
            prop_assert!(one.open(number, &mut first, &tag) && first == data);
        }
    }
}
