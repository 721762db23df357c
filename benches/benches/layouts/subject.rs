//! Subjects: what travels in a message, said once for every side of it: as layouts, by hand, and as MPI's datatypes.
//!
//! An application's kernel is one more implementation of [`Subject`] and a name in `messages/rows`.

use crate::by_hand::ByHand;
use crate::samples::written;
use crate::shape::Shape;
use chare::BufferMut;
#[cfg(feature = "mpi")]
use chare_examples::ddtbench::End;
use chare_layout::{LayoutError, Raw};
#[cfg(feature = "mpi")]
use chare_mpi_sys::{Datatype, Library, MpiError};
use std::ops::Range;
use std::sync::Arc;

/// What no source has, and what surrounds what lands.
pub(crate) const UNTOUCHED: u8 = 255;

/// What of an array travels, and how large the array is.
#[derive(Clone)]
pub(crate) struct Part {
    pub(crate) bytes: usize,
    pub(crate) layout: Arc<Raw>,
}

impl Part {
    pub(crate) fn of(shape: Shape) -> Result<Self, LayoutError> {
        Ok(Self { bytes: shape.buffer_bytes(), layout: shape.layout()? })
    }

    fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        self.layout.runs().map(|(at, len)| at as usize..at as usize + len as usize)
    }
}

/// An array of which a part travels, and the one in which that lands.
pub(crate) struct Array {
    pub(crate) from: Part,
    pub(crate) to: Part,
}

impl Array {
    /// The same part at both ends.
    pub(crate) fn alike(part: Part) -> Self {
        Self { from: part.clone(), to: part }
    }

    /// Bytes that travel.
    pub(crate) fn payload(&self) -> usize {
        self.from.layout.bytes() as usize
    }

    /// What it holds before it is sent: no two places near each other the same.
    pub(crate) fn source(&self) -> Vec<u8> {
        written(self.from.bytes)
    }

    /// What the other one holds before something lands in it.
    pub(crate) fn target(&self) -> Vec<u8> {
        vec![UNTOUCHED; self.to.bytes]
    }

    /// What that holds when a message has landed in it.
    pub(crate) fn landed(&self) -> Vec<u8> {
        let (source, mut target) = (self.source(), self.target());
        let stream: Vec<u8> = self.from.runs().flat_map(|run| &source[run]).copied().collect();
        let mut left = &stream[..];
        for run in self.to.runs() {
            let (now, later) = left.split_at(run.len());
            target[run].copy_from_slice(now);
            left = later;
        }
        target
    }
}

/// The same bytes in memory that other processes of the host may map.
pub(crate) fn shareable(bytes: &[u8]) -> BufferMut<u8> {
    let mut buffer = BufferMut::zeroed(bytes.len());
    buffer.copy_from_slice(bytes);
    buffer
}

/// What travels: parts of arrays, one after the other.
pub(crate) trait Subject {
    /// The arrays.
    fn arrays(&self) -> Result<Vec<Array>, LayoutError>;

    /// Hand-written loops that pack the arrays, in order.
    fn pack(&self, arrays: &[&[u8]], stream: &mut [u8]);

    /// Hand-written loops that unpack the arrays, in order.
    fn unpack(&self, stream: &[u8], arrays: &mut [&mut [u8]]);

    /// The datatype of each array at one end.
    #[cfg(feature = "mpi")]
    fn datatypes(&self, library: &'static Library, end: End) -> Result<Vec<Placed>, MpiError>;
}

/// A datatype, and the byte of its array that an MPI is given the address of.
#[cfg(feature = "mpi")]
pub(crate) struct Placed {
    pub(crate) datatype: Datatype,
    pub(crate) start: usize,
}

impl Subject for Vec<ByHand> {
    fn arrays(&self) -> Result<Vec<Array>, LayoutError> {
        self.iter().map(|one| Part::of(one.shape()).map(Array::alike)).collect()
    }

    fn pack(&self, arrays: &[&[u8]], mut stream: &mut [u8]) {
        for (one, array) in self.iter().zip(arrays) {
            let (now, later) = stream.split_at_mut(one.shape().payload());
            one.pack(array, now);
            stream = later;
        }
    }

    fn unpack(&self, mut stream: &[u8], arrays: &mut [&mut [u8]]) {
        for (one, array) in self.iter().zip(arrays) {
            let (now, later) = stream.split_at(one.shape().payload());
            one.unpack(now, array);
            stream = later;
        }
    }

    #[cfg(feature = "mpi")]
    fn datatypes(&self, library: &'static Library, _end: End) -> Result<Vec<Placed>, MpiError> {
        let placed = |datatype| Placed { datatype, start: 0 };
        self.iter().map(|one| crate::mpi::datatype(library, one.shape()).map(placed)).collect()
    }
}
