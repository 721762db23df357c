//! Devices of a node: opened when a PE first asks for its own, and kept until the job is over.
//!
//! 1. Where those of a kind are asked for (`+device cuda`) and there are none, the job does not start.
//! 2. The PEs of a host are dealt the host's devices in blocks, in the order of the PEs: where a host has as many nodes as devices, each node
//!    has one for itself, so that none is opened by two processes, and neighbours by number share one elsewhere. Each node opens those of its
//!    own PEs alone.
//! 3. A device that could not be opened stays so: whoever asks gets the same error.
//! 4. The runtime has a stream on each device for each stage of a transfer ([`lanes`]), so that stages overlap, and none waits for a
//!    receiver or for kernels of the program that it has nothing to do with.

mod choice;
mod direct;
pub(crate) mod lanes;
pub(crate) mod legs;
mod registered;
pub(crate) mod sharing;
pub(crate) mod staging;
mod ways;

pub use choice::{DeviceChoice, DeviceChoiceError, DeviceModels};
pub(crate) use registered::{DeviceSource, DeviceTarget};

use crate::model::nocopy::{DeviceDescriptor, DeviceRefusal, GivenMemory, LeavingDevice};
use crate::node::lending::tokens::Tokens;
#[cfg(feature = "cuda")]
use chare_device::Cuda;
#[cfg(feature = "sim")]
use chare_device::VirtualTime;
use chare_device::{Choice, Device, DeviceError, Facts, Leg, Model, Priority, Software, Stream, Way};
use chare_lrts::{NodeId, may_block};
use direct::Direct;
use lanes::Streams;
use legs::Legs;
use sharing::Sharing;
use staging::Staging;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use ways::Ways;

/// A device of a node, and the runtime's own streams there.
pub(crate) struct Held<N> {
    pub(crate) device: Device,
    pub(crate) streams: Streams,
    pub(crate) staging: Staging<N>,
    /// What the device was measured to take, if the program had it measured, or an earlier job.
    model: OnceLock<Model>,
    /// Where that is left for later jobs.
    models: Option<Arc<Path>>,
    pub(crate) ways: Ways,
}

impl<N> Held<N> {
    fn new(device: Device, models: Option<Arc<Path>>) -> Result<Self, DeviceError> {
        let (streams, staging) = (Streams::new(&device)?, Staging::new(device.info().pinned_bytes));
        let left = models.as_ref().and_then(|folder| Model::load(folder, device.info()));
        let model = left.map_or_else(OnceLock::new, OnceLock::from);
        Ok(Self { device, streams, staging, model, models, ways: Ways::default() })
    }

    /// Measures the device, unless it is known what it takes. Waits for it, for about a second; who may not wait measures nothing.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) fn measure(&self) -> Result<&Model, DeviceError> {
        if !may_block() {
            return Ok(self.model());
        }
        if self.model.get().is_none() {
            let measured = Model::measure(&self.device)?;
            if let Some(folder) = &self.models {
                // Where nothing can be left, the next job measures for itself.
                let _ = measured.save(folder, self.device.info());
            }
            return Ok(self.model.get_or_init(|| measured));
        }
        Ok(self.model.get_or_init(Model::default))
    }

    /// What is known of the device's speed; nothing if nobody has had it measured.
    pub(crate) fn model(&self) -> &Model {
        static UNMEASURED: Model = Model::unmeasured();
        self.model.get().unwrap_or(&UNMEASURED)
    }

    /// How a transfer is cut into chunks, each of which goes through the `beside` legs, too, and how it is packed or unpacked: several chunks
    /// fit the pinned memory.
    pub(crate) fn choose(&self, facts: Facts, way: Way, beside: &[Leg]) -> Choice {
        const CHUNKS: u64 = 8;
        let choice = self.model().choose(facts, way, beside);
        let most = (self.device.info().pinned_bytes / CHUNKS).max(1);
        Choice { chunk_bytes: choice.chunk_bytes.min(most), ..choice }
    }
}

/// A thing that is made when it is first asked for.
type Once<T> = OnceLock<Result<T, DeviceError>>;

/// The entry that sent a buffer, and its PE, in words.
pub(crate) type Sender = Arc<str>;

/// A buffer that another node has been told of.
#[derive(Clone)]
pub(crate) struct Lent {
    pub(crate) leaving: LeavingDevice,
    pub(crate) sender: Sender,
    /// Whether it goes to or from registered memory: then who asks for it is told why it does not come, and the job goes on.
    pub(crate) is_registered: bool,
}

/// What a node answers whose registered memory is wanted.
pub(crate) enum Answer {
    /// It may be asked for this.
    Offered(DeviceDescriptor),
    /// What was put is there.
    Written,
    Refused(DeviceRefusal),
}

/// What waits for a node's answer: it checks and takes it.
pub(crate) type OnAnswer<N> = Box<dyn FnOnce(&Arc<N>, NodeId, Answer) -> Result<(), String> + Send>;

/// What waits for a stream: it hears of an order that was refused.
pub(crate) type Awaited<N> = Box<dyn FnOnce(&Arc<N>, Result<(), DeviceError>) + Send>;

/// The devices of a node; see the file's head.
pub(crate) struct Devices<N> {
    choice: DeviceChoice,
    /// Where it is kept what they were measured to take.
    models: Option<Arc<Path>>,
    /// How many PEs of the host come before this node's, and how many it has.
    first: u32,
    host_pes: u32,
    /// The virtual time of its devices, and its own number and that of its host there, in a simulated job.
    #[cfg(feature = "sim")]
    within: Option<(VirtualTime, u64, u64)>,
    /// The host's devices, by number: what this node has opened of them.
    held: Once<Box<[Once<Held<N>>]>>,
    /// A stream for each PE, by rank.
    streams: Box<[Once<Stream>]>,
    pub(crate) sharing: Sharing,
    pub(crate) direct: Direct,
    pub(crate) legs: Legs,
    /// The same for what networks read from device to device.
    pub(crate) direct_legs: Legs,
    /// Buffers that other nodes have been told of.
    pub(crate) lent: Tokens<Lent>,
    /// What this node has asked other nodes for.
    pub(crate) asked: Tokens<Arc<dyn Taker<N>>>,
    /// Registered memory that others may read, and write.
    pub(crate) sources: Tokens<Arc<DeviceSource>>,
    pub(crate) targets: Tokens<Arc<DeviceTarget<N>>>,
    /// Reads and writes of other nodes' registered memory that have begun here.
    pub(crate) begun: Tokens<OnAnswer<N>>,
    /// Work that goes on when a stream is that far: here, and not with the stream, whose thread must not drop it.
    pub(crate) awaited: Tokens<Awaited<N>>,
}

impl<N> Devices<N> {
    /// The devices of a node of so many PEs, before which so many of all the PEs of the host come.
    pub(crate) fn new(choice: DeviceChoice, (first, host_pes): (u32, u32), pes: u32) -> Self {
        Self {
            choice,
            models: None,
            first,
            host_pes,
            #[cfg(feature = "sim")]
            within: None,
            held: OnceLock::new(),
            streams: (0..pes).map(|_| OnceLock::new()).collect(),
            sharing: Sharing::default(),
            direct: Direct::default(),
            legs: Legs::of_chunks(),
            direct_legs: Legs::of_whole(),
            lent: Tokens::default(),
            asked: Tokens::default(),
            sources: Tokens::default(),
            targets: Tokens::default(),
            begun: Tokens::default(),
            awaited: Tokens::default(),
        }
    }

    /// The same devices, of which it is kept in a folder, if there is one, what they were measured to take.
    pub(crate) fn kept_in(self, folder: Option<PathBuf>) -> Self {
        Self { models: folder.map(Arc::from), ..self }
    }

    /// The same devices in virtual time, as those of the node and the host of these numbers.
    #[cfg(feature = "sim")]
    pub(crate) fn within(self, time: VirtualTime, node: u64, host: u64) -> Self {
        Self { within: Some((time, node, host)), ..self }
    }

    /// Drops what holds on to the node, when the job is over.
    pub(crate) fn clear(&self) {
        self.opened().for_each(|held| held.staging.clear());
        drop((self.lent.take_all(), self.asked.take_all(), self.begun.take_all(), self.awaited.take_all()));
        drop((self.sources.take_all(), self.targets.take_all()));
    }

    /// The device of the PE of this rank. Opens it, if no PE has asked before.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`], which says what to do, and what the device says when it is opened.
    pub(crate) fn of(&self, rank: usize) -> Result<&Held<N>, DeviceError> {
        let held = self.held.get_or_init(|| {
            let count = count(&self.choice)?;
            Ok((0..count).map(|_| OnceLock::new()).collect())
        });
        let held = held.as_ref().map_err(Clone::clone)?;
        let number = self.number(rank, held.len());
        let opened = held[number].get_or_init(|| {
            self.open(number as u32).and_then(|device| Held::new(device, self.models.clone()))
        });
        opened.as_ref().map_err(Clone::clone)
    }

    /// The number of the device of the PE of this rank, where the host has so many.
    fn number(&self, rank: usize, devices: usize) -> usize {
        (self.first as usize + rank) * devices / self.host_pes as usize
    }

    /// Whether the PEs of these ranks have devices of their own, if any PE has asked for its device.
    pub(crate) fn are_apart(&self, one: usize, other: usize) -> bool {
        let Some(Ok(held)) = self.held.get() else { return false };
        self.number(one, held.len()) != self.number(other, held.len())
    }

    fn open(&self, number: u32) -> Result<Device, DeviceError> {
        match &self.choice {
            DeviceChoice::Software(devices) => {
                let device = Software { ordinal: number, ..devices[number as usize].clone() };
                #[cfg(feature = "sim")]
                if let Some((time, node, host)) = &self.within {
                    return Ok(device.open_within(time, *node, *host));
                }
                Ok(device.open())
            }
            _ => open_cuda(number),
        }
    }

    /// The stream of the PE of this rank.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub(crate) fn stream(&self, rank: usize) -> Result<&Stream, DeviceError> {
        let made = self.streams[rank].get_or_init(|| self.of(rank)?.device.stream(Priority::Normal));
        made.as_ref().map_err(Clone::clone)
    }

    /// The devices that this node has opened.
    pub(crate) fn opened(&self) -> impl Iterator<Item = &Held<N>> {
        let held = self.held.get().and_then(|held| held.as_ref().ok());
        held.into_iter().flatten().filter_map(|held| held.get()?.as_ref().ok())
    }

    /// A device of this node, by a handle of it.
    pub(crate) fn held(&self, device: &Device) -> Option<&Held<N>> {
        self.opened().find(|held| is_same(&held.device, device))
    }
}

/// Whether both are handles of one device of this process, which was opened once.
pub(crate) fn is_same(one: &Device, other: &Device) -> bool {
    std::ptr::eq(one.info(), other.info())
}

/// Looks for the devices that were asked for by name; opens none.
///
/// # Errors
/// [`DeviceError::NoDevice`]: what is missing.
pub(crate) fn require(choice: &DeviceChoice) -> Result<(), DeviceError> {
    match choice {
        DeviceChoice::Cuda => cuda_count().map(drop),
        _ => Ok(()),
    }
}

/// How many devices a host has.
fn count(choice: &DeviceChoice) -> Result<u32, DeviceError> {
    match choice {
        DeviceChoice::Software(devices) if !devices.is_empty() => Ok(devices.len() as u32),
        DeviceChoice::Software(_) | DeviceChoice::None => Err(none("the job was started without devices")),
        DeviceChoice::Cuda => cuda_count(),
        DeviceChoice::Found => cuda_count().map_err(|error| match error {
            DeviceError::NoDevice { cause } => none(&cause),
            other => other,
        }),
    }
}

/// The error of a host that has none, and what to do.
fn none(cause: &str) -> DeviceError {
    DeviceError::NoDevice {
        cause: format!("{cause}; start the program with `+device software` to try it without one"),
    }
}

#[cfg(feature = "cuda")]
fn cuda_count() -> Result<u32, DeviceError> {
    match Cuda::count()? {
        0 => Err(DeviceError::NoDevice { cause: "the driver of CUDA has found none".to_owned() }),
        count => Ok(count),
    }
}

#[cfg(feature = "cuda")]
fn open_cuda(number: u32) -> Result<Device, DeviceError> {
    Cuda { ordinal: number, ..Cuda::default() }.open()
}

#[cfg(not(feature = "cuda"))]
fn cuda_count() -> Result<u32, DeviceError> {
    let cause = "the program was built without the feature `cuda` of the crate `chare`";
    Err(DeviceError::NoDevice { cause: cause.to_owned() })
}

#[cfg(not(feature = "cuda"))]
fn open_cuda(_number: u32) -> Result<Device, DeviceError> {
    cuda_count().map(|_| unreachable!("there are none"))
}

/// A transfer that waits for what another node gives.
pub(crate) trait Taker<N>: Send + Sync {
    /// Takes a part, or all.
    ///
    /// # Errors
    /// What does not fit what was asked for, in words.
    fn take(self: Arc<Self>, node: &Arc<N>, owner: NodeId, given: GivenMemory) -> Result<(), String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_of_a_host_are_dealt_devices_in_blocks_and_each_is_opened_once() {
        let devices = Devices::<()>::new(DeviceChoice::software(3), (2, 6), 4);
        assert_eq!(devices.opened().count(), 0);
        let dealt = |rank| devices.of(rank).map(|held| held.device.info().ordinal);
        assert_eq!([0, 1, 2, 3].map(dealt), [Ok(1), Ok(1), Ok(2), Ok(2)]);
        assert_eq!(devices.opened().count(), 2);
        let first = devices.of(0).expect("it is open");
        assert!(is_same(&first.device, &devices.of(1).expect("it is open").device));
        assert!(devices.held(&first.device).is_some());
        assert!(devices.held(&Software::default().open()).is_none(), "another opening is another device");
    }

    #[test]
    fn each_node_of_a_host_with_as_many_devices_has_one_for_itself() {
        for (devices, first, expected) in
            [(2, 0, [0, 0]), (2, 2, [1, 1]), (1, 2, [0, 0]), (4, 2, [2, 3]), (8, 2, [4, 6])]
        {
            let dealt = Devices::<()>::new(DeviceChoice::software(devices), (first, 4), 2);
            let number = |rank| dealt.of(rank).expect("there are some").device.info().ordinal;
            assert_eq!([0, 1].map(number), expected, "{devices} devices, PEs {first} and on");
        }
    }

    #[test]
    fn a_host_without_devices_says_what_to_do() {
        for choice in [DeviceChoice::None, DeviceChoice::Software(Vec::new())] {
            let error = Devices::<()>::new(choice, (0, 1), 1).of(0).err().expect("there is none").to_string();
            assert!(error.starts_with("no device: ") && error.contains("`+device software`"), "{error}");
        }
    }
}
