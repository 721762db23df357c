//! Loops: the rows that a kernel selects, and packing and unpacking by them.

/// One of the two ends of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Whence elements leave.
    Source,
    /// Where they land.
    Target,
}

/// The loops over what one kernel selects.
pub(super) trait Loops {
    /// Calls `row` with array, place and number of elements of each row, in the order in which they are packed. Rows of a length that
    /// the source says become plain loads and stores.
    fn each_row(&self, end: End, row: impl FnMut(usize, usize, usize));

    fn pack<T: Copy>(&self, sources: &[&[T]], packed: &mut [T]) {
        let mut at = 0;
        self.each_row(End::Source, |array, place, len| {
            packed[at..at + len].copy_from_slice(&sources[array][place..place + len]);
            at += len;
        });
    }

    fn unpack<T: Copy>(&self, packed: &[T], targets: &mut [&mut [T]]) {
        let mut at = 0;
        self.each_row(End::Target, |array, place, len| {
            targets[array][place..place + len].copy_from_slice(&packed[at..at + len]);
            at += len;
        });
    }
}
