//! Use of a path: how many operations it carried, and how many bytes.

/// A path's use so far.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct PathUse {
    /// Frames, transfers or views.
    pub operations: u64,
    /// Bytes of those that were accepted.
    pub bytes: u64,
}

impl PathUse {
    /// One more of so many bytes.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.operations += 1;
        self.bytes += bytes as u64;
    }
}
