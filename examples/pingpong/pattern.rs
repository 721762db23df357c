//! Byte patterns that show wrong bytes: they differ for every transfer and at every position.

/// Which transfer a pattern belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    /// The sender's index.
    pub(crate) sender: u64,
    /// Counts the sender's transfers of a round.
    pub(crate) number: u32,
    pub(crate) size: usize,
}

impl Transfer {
    /// The eight bytes at a position that is a multiple of eight.
    fn word(self, position: usize) -> [u8; 8] {
        // Odd multipliers: a change in any of the four changes the product's low bits.
        let seed = (u64::from(self.number) * 2 + self.sender).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (position as u64 + self.size as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (seed ^ place).wrapping_mul(0x94d0_49bb_1331_11eb).to_le_bytes()
    }

    /// Writes the pattern.
    pub(crate) fn fill(self, bytes: &mut [u8]) {
        for (position, chunk) in (0..).step_by(8).zip(bytes.chunks_mut(8)) {
            chunk.copy_from_slice(&self.word(position)[..chunk.len()]);
        }
    }

    /// Compares every byte.
    ///
    /// # Panics
    /// At the first difference: the job ends and names the player.
    pub(crate) fn check(self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.size, "bytes of {self:?}");
        for (position, chunk) in (0..).step_by(8).zip(bytes.chunks(8)) {
            let expected = &self.word(position)[..chunk.len()];
            assert_eq!(chunk, expected, "bytes from position {position} on of {self:?}");
        }
    }
}
