//! Rounds: the way of sending, the buffers and the repetitions of a round, and its times and memory.

use chare::Registration;
use chare::prelude::*;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A way of sending.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Way {
    /// An ordinary argument: moved inside a process, encoded and decoded outside.
    Regular,
    /// An ordinary argument, copied into the receiver's buffer by the receiver.
    RegularCopy,
    /// A `#[nocopy]` argument.
    Entry,
    /// A `#[nocopy]` argument, copied into the receiver's buffer by the receiver.
    EntryCopy,
    /// A `#[nocopy(post)]` argument, which lands in the buffer that the receiver's post method gives.
    Posted,
    /// A `#[nocopy(post)]` argument, which lands in a buffer that matches by tag.
    Matched,
    /// A message with a handle, and `rget` by the receiver.
    Get,
    /// As [`Way::Get`]; player 0 registers its source anew for each transfer.
    GetRenewed,
    /// `rput` by the sender, and the notice that it is done.
    Put,
}

/// The memory of buffers, and the time of their registration.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Mode {
    /// On the heap, registered when a transfer turns out to need it.
    Lazy,
    /// On the heap, registered by the call.
    Registered,
    /// In the runtime's pool, which is registered already and which other processes of the host may map.
    Pool,
}

impl Mode {
    /// A buffer that is written: memory of which only zeros are read is, for the kernel, one page over and over.
    pub(crate) fn buffer(self, bytes: usize) -> BufferMut<u8> {
        match self {
            Self::Lazy | Self::Registered => vec![1; bytes].into(),
            Self::Pool => BufferMut::from_fn(bytes, |_| 1),
        }
    }

    /// When an argument of this mode is registered.
    pub(crate) fn registration(self) -> Registration {
        match self {
            Self::Lazy => Registration::Lazily,
            Self::Registered => Registration::Now,
            Self::Pool => Registration::Pooled,
        }
    }
}

/// What is played.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Round {
    pub(crate) way: Way,
    pub(crate) mode: Mode,
    /// Bytes of a buffer.
    pub(crate) size: usize,
    pub(crate) iterations: u32,
    /// Whether every transfer has a pattern of its own, checked on arrival.
    pub(crate) verify: bool,
}

/// What player 0 saw in a round.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) round_trips_ns: Vec<u64>,
    /// With [`Way::GetRenewed`] alone.
    pub(crate) register_ns: Vec<u64>,
    pub(crate) deregister_ns: Vec<u64>,
    /// How much more memory the process had at most than before there were buffers.
    pub(crate) grown_bytes: u64,
}

impl Outcome {
    /// Forgets the first round trips.
    pub(crate) fn skip(&mut self, round_trips: usize) {
        for times in [&mut self.round_trips_ns, &mut self.register_ns, &mut self.deregister_ns] {
            times.drain(..round_trips.min(times.len()));
        }
    }
}
