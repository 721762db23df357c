//! Layout errors: why a layout, a plan or a copy was refused, in words that say what to give instead.

/// Why a layout, a plan or a copy was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A sum or product of what was given does not fit.
    #[error("{what} of the layout does not fit 64 bits: give smaller counts, strides or displacements")]
    TooFar {
        /// What was summed.
        what: &'static str,
    },
    /// More of something than a peer would decode.
    #[error(
        "the layout has {have} {what}, and {most} are the most: select with strides, or in several layouts"
    )]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many there are.
        have: u64,
        /// How many may be.
        most: u64,
    },
    /// Two lists that go together differ in length.
    #[error("{left} {left_name} and {right} {right_name} were given: give as many of one as of the other")]
    Lists {
        /// What the first list holds.
        left_name: &'static str,
        /// Its length.
        left: usize,
        /// What the second list holds.
        right_name: &'static str,
        /// Its length.
        right: usize,
    },
    /// A selection reaches beyond its dimension.
    #[error(
        "dimension {dimension} has {size} elements, and {start}..{end} reaches beyond: select within 0..{size}"
    )]
    Outside {
        /// Number of the dimension, from 0.
        dimension: usize,
        /// First element selected.
        start: u64,
        /// One behind the last.
        end: u64,
        /// Elements of the dimension.
        size: u64,
    },
    /// A distributed dimension that cannot be.
    #[error("dimension {dimension} cannot be distributed: {why}")]
    Distribution {
        /// Number of the dimension, from 0.
        dimension: usize,
        /// What is wrong.
        why: &'static str,
    },
    /// Pieces that are not whole elements.
    #[error("a layout has pieces of {grain} bytes, elements have {element}: select whole elements")]
    NotWhole {
        /// What all its pieces and places are multiples of.
        grain: u64,
        /// Bytes of an element.
        element: u64,
    },
    /// The buffer is not where the layout selects.
    #[error(
        "the layout selects bytes {origin}..{end} of a buffer of {len}: give a buffer that holds them all"
    )]
    OutOfBounds {
        /// First byte selected.
        origin: i64,
        /// One behind the last.
        end: i64,
        /// Bytes of the buffer.
        len: u64,
    },
    /// A stream does not fit where it goes.
    #[error(
        "a stream of {have} bytes does not fit {room}: give a target that selects as many, or a shorter source"
    )]
    TooLong {
        /// Bytes there are.
        have: u64,
        /// Bytes that fit.
        room: u64,
    },
    /// A target that selects a byte twice.
    #[error("byte {byte} of the stream lands where an earlier one did: a target selects each byte once")]
    Overlaps {
        /// Place in the stream of a byte that lands on an earlier one.
        byte: u64,
    },
    /// A target for which nobody could show that it selects each byte once.
    #[error(
        "whether the {runs} interleaved pieces of the target overlap is too much to check: nest them by stride"
    )]
    MayOverlap {
        /// Pieces of the target.
        runs: u64,
    },
    /// Bytes that are no layout.
    #[error("the bytes at {place} of {len} are no layout: {why}")]
    Garbled {
        /// Where reading stopped.
        place: usize,
        /// How many bytes there are.
        len: usize,
        /// What is wrong.
        why: &'static str,
    },
}
