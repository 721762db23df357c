//! Test bed: a device, one of its streams, and the clock that is stopped when the stream is past what it was given.

use chare_benches::Spread;
#[cfg(feature = "cuda")]
use chare_device::Cuda;
use chare_device::{Bell, Device, DeviceBuffer, DeviceBufferMut, DeviceError, Priority, Software, Stream};
use chare_layout::Raw;
use clap::ValueEnum;
use std::error::Error;
use std::fmt;
use std::time::{Duration, Instant};

pub(crate) type Fallible<T = ()> = Result<T, Box<dyn Error>>;

/// Enough for the longest buffers, which are twice as long as what is selected of them.
const MEMORY_BYTES: u64 = 1 << 30;

const PINNED_BYTES: u64 = 256 << 20;

/// Kinds of devices.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Kind {
    /// The one in the host, by which programs are tested
    #[cfg_attr(not(feature = "cuda"), default)]
    Software,
    /// The first of NVIDIA
    #[cfg(feature = "cuda")]
    #[default]
    Cuda,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Software => "software",
            #[cfg(feature = "cuda")]
            Self::Cuda => "cuda",
        })
    }
}

/// Where everything is measured.
pub(crate) struct Bed {
    pub(crate) kind: Kind,
    pub(crate) device: Device,
    pub(crate) stream: Stream,
    pub(crate) quick: bool,
    bell: Bell,
}

impl Bed {
    pub(crate) fn new(kind: Kind, quick: bool) -> Result<Self, DeviceError> {
        let (memory_bytes, pinned_bytes) = (MEMORY_BYTES, PINNED_BYTES);
        let device = match kind {
            Kind::Software => Software { memory_bytes, pinned_bytes, ..Software::default() }.open(),
            #[cfg(feature = "cuda")]
            Kind::Cuda => Cuda { memory_bytes, pinned_bytes, ..Cuda::default() }.open()?,
        };
        let stream = device.stream(Priority::Normal)?;
        let bell = Bell::new().expect("the kernel grants a descriptor");
        Ok(Self { kind, device, stream, quick, bell })
    }

    /// How many bytes are selected, and in blocks of how many.
    pub(crate) fn shapes(&self) -> Vec<(u64, u64)> {
        let (lengths, blocks): (&[u64], &[u64]) = match self.quick {
            true => (&[64 << 10, 1 << 20], &[4, 64, 4096]),
            false => (
                &[64 << 10, 1 << 20, 4 << 20, 64 << 20],
                &[4, 8, 12, 16, 32, 64, 256, 1024, 4096, 16384, 65536],
            ),
        };
        lengths.iter().flat_map(|bytes| blocks.iter().map(|block| (*bytes / block * block, *block))).collect()
    }

    /// A new buffer, all zeros.
    pub(crate) fn zeroed(&self, bytes: u64) -> Fallible<DeviceBufferMut<u8>> {
        Ok(DeviceBufferMut::zeroed(&self.device, &self.stream, bytes as usize)?)
    }

    /// As [`zeroed`](Self::zeroed), to be read.
    pub(crate) fn shared(&self, bytes: u64) -> Fallible<DeviceBuffer<u8>> {
        Ok(self.zeroed(bytes)?.freeze())
    }

    /// Sleeps until the stream has done all that it was given.
    pub(crate) fn finish(&self) -> Fallible {
        let end = self.stream.record()?;
        self.stream.ring(&self.bell)?;
        self.bell.wait()?;
        // An error if the device was lost.
        end.is_complete()?;
        Ok(())
    }

    /// Nanoseconds of an operation: one to warm up, then batches of so many, given to the stream at once.
    pub(crate) fn time(&self, at_once: u32, mut give: impl FnMut() -> Fallible) -> Fallible<Spread> {
        self.samples(|| {
            let began = Instant::now();
            for _ in 0..at_once {
                give()?;
            }
            self.finish()?;
            Ok(began.elapsed() / at_once)
        })
    }

    /// As [`time`](Self::time), of what waits for its own end.
    pub(crate) fn timed(&self, mut deed: impl FnMut() -> Fallible) -> Fallible<Spread> {
        self.samples(|| {
            let began = Instant::now();
            deed()?;
            Ok(began.elapsed())
        })
    }

    /// As [`time`](Self::time), of what times itself.
    pub(crate) fn samples(&self, mut batch: impl FnMut() -> Fallible<Duration>) -> Fallible<Spread> {
        batch()?;
        let count = if self.quick { 5 } else { 15 };
        let samples = (0..count).map(|_| Ok(batch()?.as_nanos() as f64));
        let samples: Vec<f64> = samples.collect::<Fallible<_>>()?;
        Ok(Spread::of(&samples).expect("there are samples"))
    }
}

/// Every second block of so many bytes.
pub(crate) fn every_second(bytes: u64, block: u64) -> Fallible<Raw> {
    Ok(Raw::bytes_of(block)?.hvector(bytes / block, 1, 2 * block as i64)?)
}
