//! Rig: a device under test, and the few things that all tests do with it.

#![expect(
    unsafe_code,
    reason = "gives commands to streams; each test uses memory of its own and orders its streams by events"
)]

use bytemuck::Pod;
#[cfg(feature = "cuda")]
use chare_device::Cuda;
use chare_device::{
    Bell, Block, Device, DeviceError, Faults, Landed, Pinned, Priority, Software, Span, Stream,
};
use chare_layout::Plan;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// A test that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// How much memory the device of a test has, at most.
pub(crate) const MEMORY_BYTES: u64 = 64 << 20;

/// How much of it is pinned.
pub(crate) const PINNED_BYTES: u64 = 32 << 20;

/// Kinds of devices, by the names of their suites.
#[derive(Clone, Copy, Debug)]
#[expect(non_camel_case_types, reason = "they are modules, too")]
pub(crate) enum Kind {
    software,
    #[cfg(feature = "cuda")]
    cuda,
}

impl Kind {
    pub(crate) fn open(self, memory_bytes: u64, pinned_bytes: u64) -> Result<Device, DeviceError> {
        match self {
            Self::software => {
                // Delays bring out what is not ordered.
                let faults = Faults { delay: Duration::from_micros(50), seed: 7, ..Faults::default() };
                Ok(Software { memory_bytes, pinned_bytes, faults, ..Software::default() }.open())
            }
            #[cfg(feature = "cuda")]
            Self::cuda => Cuda { memory_bytes, pinned_bytes, ..Cuda::default() }.open(),
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [
            Self::software,
            #[cfg(feature = "cuda")]
            Self::cuda,
        ];
        all.into_iter().find(|kind| format!("{kind:?}") == name)
    }
}

/// A device, and which kind it is.
pub(crate) struct Rig {
    pub(crate) kind: Kind,
    pub(crate) device: Device,
}

/// Runs a test on a device of a kind, if there is one.
pub(crate) fn run(kind: Kind, test: fn(&Rig)) {
    match kind.open(MEMORY_BYTES, PINNED_BYTES) {
        Ok(device) => watched(|| test(&Rig { kind, device })),
        Err(why @ DeviceError::NoDevice { .. }) => println!("skipped: {why}"),
        Err(error) => panic!("{error}"),
    }
}

/// Runs a test beside a watchdog, which ends the process if the test hangs.
pub(crate) fn watched(test: impl FnOnce()) {
    let (over, watched) = channel::<()>();
    let name = std::thread::current().name().unwrap_or_default().to_owned();
    std::thread::spawn(move || {
        if watched.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            eprintln!("{name} hangs");
            std::process::abort();
        }
    });
    test();
    drop(over);
}

impl Rig {
    pub(crate) fn stream(&self) -> Stream {
        self.device.stream(Priority::Normal).expect("a stream")
    }

    pub(crate) fn block(&self, len: usize) -> Block {
        self.device.allocate(len as u64).expect("memory")
    }

    /// Pinned memory that holds these bytes.
    pub(crate) fn staged(&self, bytes: &[u8]) -> Pinned {
        let mut pinned = self.device.pinned(bytes.len() as u64).expect("pinned memory");
        pinned.bytes().expect("nobody else has a share").copy_from_slice(bytes);
        pinned
    }

    /// Device memory that holds these bytes.
    pub(crate) fn filled(&self, bytes: &[u8]) -> Block {
        let (stream, block) = (self.stream(), self.block(bytes.len()));
        copy(&stream, &self.staged(bytes).span(), &block.span());
        finish(&stream);
        block
    }

    /// The bytes of memory that no stream uses.
    pub(crate) fn read(&self, span: &Span) -> Vec<u8> {
        let stream = self.stream();
        let mut landed = self.staged(&vec![0xee; span.len() as usize]);
        copy(&stream, span, &landed.span());
        finish(&stream);
        landed.bytes().expect("the copy is over").to_vec()
    }
}

pub(crate) fn try_copy(stream: &Stream, from: &Span, to: &Span) -> Result<(), DeviceError> {
    // SAFETY: tests order what their streams do with one memory.
    unsafe { stream.copy(from, to) }
}

pub(crate) fn copy(stream: &Stream, from: &Span, to: &Span) {
    try_copy(stream, from, to).expect("a copy");
}

pub(crate) fn try_step(stream: &Stream, plan: &Arc<Plan>, from: &Span, to: &Span) -> Result<(), DeviceError> {
    // SAFETY: tests order what their streams do with one memory, and step between blocks.
    unsafe { stream.step(plan, from, to) }
}

pub(crate) fn try_step_all(stream: &Stream, steps: &[(&Arc<Plan>, &Span, &Span)]) -> Result<(), DeviceError> {
    // SAFETY: as for one, to targets that are apart.
    unsafe { stream.step_all(steps) }
}

/// Sleeps until a stream has done all that it was given.
pub(crate) fn finish(stream: &Stream) {
    let bell = Bell::new().expect("a descriptor");
    let event = stream.record().expect("an event");
    stream.ring(&bell).expect("a ring");
    bell.wait().expect("a poll");
    assert_eq!(event.is_complete(), Ok(true), "a bell rings behind the event");
}

/// The elements that a stream copies to the host, waited for.
pub(crate) fn arrived<T: Pod>(mut landed: Landed<T>, by: &Stream) -> Vec<T> {
    finish(by);
    landed.elements().expect("the device is there").expect("the stream is past it").to_vec()
}

/// Bytes that differ from their neighbours, and by the seed.
pub(crate) fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let mixed = |at: usize| (at as u64 ^ seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    (0..len).map(|at| mixed(at) as u8).collect()
}

/// Reads or writes the byte at an address of a device, which ends the process.
pub(crate) fn touch(address: u64, writes: bool) {
    let place = address as *mut u8;
    // SAFETY: none: that the access faults is what is tested, in a process of its own.
    unsafe {
        if writes {
            place.write_volatile(1);
        } else {
            std::hint::black_box(place.read_volatile());
        }
    }
}
