//! Kernels of DDTBench as subjects: each travels as messages do, beside the same packed by hand and by each MPI.

#[cfg(feature = "mpi")]
mod mpi;
pub(crate) mod rows;

#[cfg(feature = "mpi")]
use crate::subject::Placed;
use crate::subject::{Array, Part, Subject};
use bytemuck::{AnyBitPattern, NoUninit, cast_slice, cast_slice_mut};
#[cfg(feature = "mpi")]
use chare_examples::ddtbench::End;
use chare_examples::ddtbench::{Kernel, Precision, Selected, Sizes};
use chare_layout::LayoutError;
#[cfg(feature = "mpi")]
use chare_mpi_sys::{Library, MpiError};
use std::sync::Arc;

/// The beginning of the names of kernels, before their numbers in DDTBench's order.
const PREFIX: &str = "ddtbench-";

/// Bytes of arrays of a class up to which it is a subject: MG's D and E have no room on most hosts.
const CLASS_BYTES_MAX: u64 = 1 << 30;

/// DDTBench's kernels in their published sizes, and in those classes that are none of these.
fn subjects() -> Vec<Kernel> {
    let published = Sizes::Published.kernels();
    let is_new = |class: &Kernel| {
        !published.iter().any(|kernel| kernel.name == class.name && kernel.bytes() == class.bytes())
    };
    let mut classes = Sizes::Paper.kernels();
    classes.retain(|class| class.array_bytes() <= CLASS_BYTES_MAX && is_new(class));
    published.into_iter().chain(classes).collect()
}

/// The kernel of a name.
pub(crate) fn named(name: &str) -> Option<Kernel> {
    let number = name.strip_prefix(PREFIX)?.parse().ok()?;
    subjects().into_iter().nth(number)
}

/// Elements as words of bytes, which may stand anywhere in a stream.
type Single = [u8; 4];
type Double = [u8; 8];

impl Subject for Kernel {
    fn arrays(&self) -> Result<Vec<Array>, LayoutError> {
        let part = |selected: &Selected| Part {
            bytes: selected.len * self.precision.bytes(),
            layout: match self.precision {
                Precision::Single => Arc::clone(selected.layout::<f32>().raw()),
                Precision::Double => Arc::clone(selected.layout::<f64>().raw()),
            },
        };
        Ok(self
            .arrays
            .iter()
            .map(|array| Array { from: part(&array.source), to: part(&array.target) })
            .collect())
    }

    fn pack(&self, arrays: &[&[u8]], stream: &mut [u8]) {
        match self.precision {
            Precision::Single => pack::<Single>(self, arrays, stream),
            Precision::Double => pack::<Double>(self, arrays, stream),
        }
    }

    fn unpack(&self, stream: &[u8], arrays: &mut [&mut [u8]]) {
        match self.precision {
            Precision::Single => unpack::<Single>(self, stream, arrays),
            Precision::Double => unpack::<Double>(self, stream, arrays),
        }
    }

    #[cfg(feature = "mpi")]
    fn datatypes(&self, library: &'static Library, end: End) -> Result<Vec<Placed>, MpiError> {
        let placed = |selected: &Selected| {
            let datatype = mpi::datatype(library, &selected.tree, self.precision)?;
            Ok(Placed { datatype, start: selected.start * self.precision.bytes() })
        };
        self.arrays.iter().map(|array| placed(array.at(end))).collect()
    }
}

fn pack<T: NoUninit + AnyBitPattern>(kernel: &Kernel, arrays: &[&[u8]], stream: &mut [u8]) {
    let sources: Vec<&[T]> = arrays.iter().map(|array| cast_slice(array)).collect();
    kernel.pack(&sources, cast_slice_mut(stream));
}

fn unpack<T: NoUninit + AnyBitPattern>(kernel: &Kernel, stream: &[u8], arrays: &mut [&mut [u8]]) {
    let mut targets: Vec<&mut [T]> = arrays.iter_mut().map(|array| cast_slice_mut(array)).collect();
    kernel.unpack(cast_slice(stream), &mut targets);
}
