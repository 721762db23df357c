//! Model of transfers: which method a layout is packed by, and how long chunks are, by what a device was measured to take.
//!
//! 1. A method takes what the table says for a chunk of such blocks ([`table`]); nothing is computed from peak figures.
//! 2. A transfer takes the time of its first chunk through all stages, and that of its slowest stage for each other chunk ([`choice`]).
//! 3. Before anything is measured there is an order of methods, and no time ([`Model::default`]).
//! 4. What was measured is kept in files, for later jobs ([`file`]).

pub(crate) mod choice;
mod file;
mod measure;
mod table;

use choice::{Choice, Facts, Leg, best, goes_directly, is_short, pulls, unmeasured};
use table::Table;

use crate::device::Device;
use crate::method::Way;
use crate::words::error::DeviceError;
use crate::words::info::Info;
use std::io;
use std::path::Path;

/// What is known of the speed of a device.
///
/// ```
/// use chare_device::{Facts, Method, Model, Way};
/// use chare_layout::{Layout, Plan};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Every other of a million elements of 4 bytes.
/// let plan = Plan::pack(Layout::<f32>::vector(1_000_000, 1, 2)?.raw())?;
/// let choice = Model::default().choose(Facts::of(&plan), Way::Out, &[]);
/// assert_eq!(choice.method, Method::Packed);
/// println!("{choice}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model(Option<Table>);

impl Model {
    /// Times each method on the device, for chunks and blocks of several lengths, out and in. Waits for the device, some hundred times: a
    /// second or so, once; so it is nothing for a thread that others wait for.
    ///
    /// # Errors
    /// What the device refused; 16 MiB of its memory, and 8 MiB that are pinned, are needed.
    pub fn measure(device: &Device) -> Result<Self, DeviceError> {
        measure::measure(device).map(Some).map(Self)
    }

    /// What an earlier measurement of the device, with the same driver, has [left](Self::save) in a folder; none if there is nothing that can be
    /// read, and for devices without a driver ([`Info::driver`]). Reads one short file.
    pub fn load(folder: &Path, info: &Info) -> Option<Self> {
        file::load(folder, info).map(|table| Self(Some(table)))
    }

    /// Leaves it in a folder, which is made if it is not there, for later measurements of the same device: one short file. Whoever reads it meanwhile
    /// finds all of it, or what was there before. Nothing of a device without a driver, and nothing that was not measured.
    ///
    /// # Errors
    /// What the system says.
    pub fn save(&self, folder: &Path, info: &Info) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |table| file::save(table, folder, info))
    }

    /// The model of a device of which nothing is known.
    pub const fn unmeasured() -> Self {
        Self(None)
    }

    /// Whether it was measured.
    pub fn is_measured(&self) -> bool {
        self.0.is_some()
    }

    /// The method and the length of chunks that take a transfer the least time, where each chunk goes through the `beside` legs, too, such
    /// as a network. Cost: some hundred operations.
    ///
    /// Where nothing was measured: one copy for what lies in one block, one step for what is no longer than the shortest chunk, and packing
    /// on the device for all else, in chunks of 512 KiB.
    pub fn choose(&self, facts: Facts, way: Way, beside: &[Leg]) -> Choice {
        self.0.as_ref().and_then(|table| best(table, facts, way, beside)).unwrap_or_else(|| unmeasured(facts))
    }

    /// Whether one step over memory of another process of the host, which this device maps, takes no longer than chunks that go through the
    /// `beside` legs. Where nothing was measured, it is taken to. Cost: as [`choose`](Self::choose).
    pub fn pulls(&self, facts: Facts, beside: &[Leg]) -> bool {
        self.0.as_ref().and_then(|table| pulls(table, facts, beside)).unwrap_or(true)
    }

    /// Whether the network, where it reads memory of devices and takes the time of the `direct` leg, brings an argument no later than chunks that
    /// go through the `beside` legs: TEMPI's choice between packing on the device and packing into memory of the host. `facts` are those of this
    /// side, and the other side's bytes are taken for one block. Where nothing was measured, it does. Cost: as [`choose`](Self::choose).
    pub fn goes_directly(&self, facts: Facts, way: Way, direct: Leg, beside: &[Leg]) -> bool {
        self.0.as_ref().and_then(|table| goes_directly(table, facts, (way, direct), beside)).unwrap_or(true)
    }

    /// Whether an argument is short: one step into pinned memory takes no longer than packing on the device, so that chunks gain nothing. Up to 8 KiB
    /// where nothing was measured, at most 64 KiB.
    pub fn is_short(&self, facts: Facts) -> bool {
        is_short(self.0.as_ref(), facts)
    }
}
