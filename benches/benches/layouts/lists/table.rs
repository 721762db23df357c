//! Tables of lists: the pieces of a layout as the sender tells them, and those that a receiver knows.

use chare_layout::Raw;
use std::collections::HashMap;

/// Where a piece lies, and its bytes.
pub(super) type Entry = [u64; 2];

/// Digest of a layout.
pub(super) type Digest = [u8; 16];

/// Pieces of a layout; places count from its buffer's first byte.
pub(super) fn entries(layout: &Raw) -> Vec<Entry> {
    layout.runs().map(|(at, len)| [at as u64, len]).collect()
}

/// Lists of a peer's layouts that were told before.
#[derive(Default)]
pub(super) struct Known(HashMap<Digest, Vec<Entry>>);

impl Known {
    /// Remembers a list of addresses within a buffer.
    pub(super) fn learn(&mut self, digest: Digest, base: u64, list: &[Entry]) {
        self.0.insert(digest, list.iter().map(|[address, len]| [address - base, *len]).collect());
    }

    /// The list of a layout that was told.
    ///
    /// # Panics
    /// If it was not.
    pub(super) fn of(&self, digest: Digest) -> &[Entry] {
        self.0.get(&digest).expect("the sender tells a list before it names it")
    }
}
