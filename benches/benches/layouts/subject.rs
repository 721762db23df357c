//! Subjects: what travels in a message, said once for every side of it: as layouts, by hand, and as MPI's datatypes.
//!
//! An application's kernel is one more implementation of [`Subject`] and a name in [`named`].

use crate::by_hand::ByHand;
use crate::shape::Shape;
use chare::BufferMut;
use chare_layout::{LayoutError, Raw};
#[cfg(feature = "mpi")]
use chare_mpi_sys::{Datatype, Library, MpiError};
use std::sync::Arc;

/// What no source has, and what surrounds what lands.
pub(crate) const UNTOUCHED: u8 = 255;

/// An array of which a part travels.
pub(crate) struct Array {
    pub(crate) bytes: usize,
    pub(crate) layout: Arc<Raw>,
}

impl Array {
    /// What it holds before it is sent: no two places near each other the same.
    pub(crate) fn source(&self) -> Vec<u8> {
        crate::passes::written(self.bytes)
    }

    /// What it holds before something lands in it.
    pub(crate) fn target(&self) -> Vec<u8> {
        vec![UNTOUCHED; self.bytes]
    }

    /// What it holds when a message has landed in it.
    pub(crate) fn landed(&self) -> Vec<u8> {
        let (source, mut target) = (self.source(), self.target());
        for (at, len) in self.layout.runs() {
            let piece = at as usize..at as usize + len as usize;
            target[piece.clone()].copy_from_slice(&source[piece]);
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

    /// The datatype of each array.
    #[cfg(feature = "mpi")]
    fn datatypes(&self, library: &'static Library) -> Result<Vec<Datatype>, MpiError>;
}

/// The subject of a name: a shape, or several with `+` in between, each of an array of its own.
pub(crate) fn named(name: &str) -> Option<impl Subject + use<>> {
    name.split('+').map(|shape| Shape::parse(shape).map(ByHand::new)).collect::<Option<Vec<_>>>()
}

impl Subject for Vec<ByHand> {
    fn arrays(&self) -> Result<Vec<Array>, LayoutError> {
        let array =
            |one: &ByHand| Ok(Array { bytes: one.shape().buffer_bytes(), layout: one.shape().layout()? });
        self.iter().map(array).collect()
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
    fn datatypes(&self, library: &'static Library) -> Result<Vec<Datatype>, MpiError> {
        self.iter().map(|one| crate::mpi::datatype(library, one.shape())).collect()
    }
}
