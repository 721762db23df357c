//! Kernels: the arrays of one exchange, what of each leaves and where it lands, and the same by hand; and lists of indices for them, by chance as
//! DDTBench makes them.

use super::by_hand::{ByHand, End};
use super::tree::Tree;
use chare::layout::Raw;
use chare::{Element, Layout};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::fmt;

/// The element type of a kernel's arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// `f32`: `MPI_FLOAT`.
    Single,
    /// `f64`: `MPI_DOUBLE`.
    Double,
}

impl Precision {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }
}

/// An element type of kernels, which can be numbered.
pub trait Number: Element + PartialEq + fmt::Debug {
    /// Which one it is.
    const PRECISION: Precision;

    /// An element that tells where it comes from, exactly for numbers below 2^24.
    fn numbered(number: u32) -> Self;
}

impl Number for f32 {
    const PRECISION: Precision = Precision::Single;

    fn numbered(number: u32) -> Self {
        number as Self
    }
}

impl Number for f64 {
    const PRECISION: Precision = Precision::Double;

    fn numbered(number: u32) -> Self {
        Self::from(number)
    }
}

/// What is selected of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Selected {
    /// Elements of the whole array.
    pub len: usize,
    /// The element that an MPI would be given the address of.
    pub start: usize,
    /// What is selected from there on.
    pub tree: Tree,
}

impl Selected {
    fn raw(&self, element: usize) -> Raw {
        let raw = self.tree.raw(element as u64);
        raw.unwrap_or_else(|error| panic!("a kernel is as DDTBench has it: {error}"))
    }

    /// The same as a layout of the whole array.
    ///
    /// # Panics
    /// If `T` is not the precision of the kernel, so that strides in bytes are others.
    pub fn layout<T: Number>(&self) -> Layout<T> {
        let layout = Layout::<T>::from_raw(self.raw(size_of::<T>()));
        let shifted = layout.and_then(|layout| layout.shifted(self.start as i64));
        shifted.expect("whole elements within an array")
    }
}

/// An array of a kernel at both ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// What leaves.
    pub source: Selected,
    /// Where it lands, in an array of its own.
    pub target: Selected,
}

impl Array {
    /// An array that has the same selection at both ends.
    pub(super) fn alike(len: usize, start: usize, tree: Tree) -> Self {
        Self::apart(len, [start, start], tree)
    }

    /// An array of which the same tree is selected from two starts: the source's and the target's.
    pub(super) fn apart(len: usize, starts: [usize; 2], tree: Tree) -> Self {
        let [source, target] = starts.map(|start| Selected { len, start, tree: tree.clone() });
        Self { source, target }
    }

    /// What is selected at one end.
    pub fn at(&self, end: End) -> &Selected {
        match end {
            End::Source => &self.source,
            End::Target => &self.target,
        }
    }
}

/// A kernel of DDTBench in one of its sizes: everything that travels between two processes at once.
pub struct Kernel {
    /// As DDTBench calls it.
    pub name: &'static str,
    /// Its parameters, in words of the application.
    pub size: String,
    /// The element type of all arrays.
    pub precision: Precision,
    /// The arrays, in the order in which they are packed.
    pub arrays: Vec<Array>,
    pub(super) by_hand: ByHand,
}

impl Kernel {
    /// Layouts of all arrays at one end.
    ///
    /// # Panics
    /// If `T` is not the precision of this kernel.
    pub fn layouts<T: Number>(&self, end: End) -> Vec<Layout<T>> {
        assert_eq!(T::PRECISION, self.precision, "{self:?} in its own precision");
        self.arrays.iter().map(|array| array.at(end).layout()).collect()
    }

    /// Elements of each array at one end.
    pub fn lens(&self, end: End) -> impl Iterator<Item = usize> {
        self.arrays.iter().map(move |array| array.at(end).len)
    }

    /// Bytes of all that travels, packed.
    pub fn bytes(&self) -> usize {
        let bytes = |array: &Array| array.source.raw(self.precision.bytes()).bytes() as usize;
        self.arrays.iter().map(bytes).sum()
    }

    /// Bytes of the arrays at both ends.
    pub fn array_bytes(&self) -> u64 {
        let elements: usize = [End::Source, End::Target].into_iter().flat_map(|end| self.lens(end)).sum();
        (elements * self.precision.bytes()) as u64
    }

    /// Packs by hand what leaves, of elements as large as the kernel's.
    ///
    /// # Panics
    /// If arrays or stream are too short.
    pub fn pack<T: Copy>(&self, sources: &[&[T]], packed: &mut [T]) {
        self.by_hand.pack(sources, packed);
    }

    /// Unpacks by hand to where it lands, as [`pack`](Self::pack) does.
    ///
    /// # Panics
    /// If stream or arrays are too short.
    pub fn unpack<T: Copy>(&self, packed: &[T], targets: &mut [&mut [T]]) {
        self.by_hand.unpack(packed, targets);
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.name, self.size)
    }
}

/// `count` different indices below `all`, in no order; the same in every process.
///
/// Each place of the list of all indices is swapped with one by chance, and the first ones are taken: that is DDTBench's shuffle, whose
/// seed is the time.
pub(super) fn shuffled(count: usize, all: usize) -> Vec<usize> {
    let mut chance = SmallRng::seed_from_u64(1);
    let mut indices: Vec<usize> = (0..all).collect();
    for place in 0..all {
        indices.swap(place, chance.random_range(0..all));
    }
    indices.truncate(count);
    indices
}
