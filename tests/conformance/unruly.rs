//! Unruly network: around loopback, it keeps the order that the contract asks for, and no other. What works here counts on nothing that a
//! network need not do.
//!
//! 1. A frame of the runtime takes the number of its thread along. Those of one thread keep their order.
//! 2. Frames of [`Channel::Emulated`] keep theirs, whichever threads sent them.
//! 3. All that one progress takes is dealt out anew, as far as these allow.

use crate::loopback::Loopback;
use chare_lrts::{Capabilities, Channel, Completion, Frame, Lrts, LrtsError, NoRoom, NodeId, Sink};
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The methods of [`Lrts`] that a wrapper of the suite passes on to what it stands around, which is its field `$inner`.
macro_rules! pass_on {
    ($inner:ident) => {
        fn get(
            &self,
            get: chare_lrts::Get,
        ) -> Result<chare_lrts::Posted, chare_lrts::Refused<chare_lrts::Get>> {
            self.$inner.get(get)
        }

        fn put(
            &self,
            put: chare_lrts::Put,
        ) -> Result<chare_lrts::Posted, chare_lrts::Refused<chare_lrts::Put>> {
            self.$inner.put(put)
        }

        fn get_runs(
            &self,
            get: chare_lrts::Get,
            runs: &chare_lrts::Runs,
        ) -> Result<chare_lrts::Posted, chare_lrts::Refused<chare_lrts::Get>> {
            self.$inner.get_runs(get, runs)
        }

        fn put_runs(
            &self,
            put: chare_lrts::Put,
            runs: &chare_lrts::Runs,
        ) -> Result<chare_lrts::Posted, chare_lrts::Refused<chare_lrts::Put>> {
            self.$inner.put_runs(put, runs)
        }

        fn view(
            &self,
            key: &chare_lrts::RegionKey,
            offset: u64,
            len: usize,
            entering: chare_lrts::Entering,
        ) -> Result<Option<chare_lrts::Memory>, chare_lrts::TransferError> {
            self.$inner.view(key, offset, len, entering)
        }

        fn arm(&self) -> bool {
            self.$inner.arm()
        }

        fn event_fd(&self) -> Option<rustix::fd::BorrowedFd<'_>> {
            self.$inner.event_fd()
        }

        fn shutdown(&self) {
            self.$inner.shutdown();
        }

        fn is_closed(&self) -> bool {
            self.$inner.is_closed()
        }
    };
}
#[cfg(feature = "sim")]
pub(crate) use pass_on;

/// Bytes of a thread's number.
const NUMBER_BYTES: usize = 8;

thread_local! {
    static NUMBER: u64 = {
        static THREADS: AtomicU64 = AtomicU64::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed)
    };
}

/// One node.
pub(crate) struct Unruly {
    inner: Loopback,
    dice: Mutex<ChaCha8Rng>,
}

/// Frames that keep their order: of one peer, on one channel, and of one thread on that of the runtime.
type Line = (NodeId, u8, u64);

/// What one progress has taken.
#[derive(Default)]
struct Taken {
    lines: BTreeMap<Line, VecDeque<(Channel, Vec<u8>)>>,
    completions: Vec<Completion>,
    closed: Vec<NodeId>,
    lost: Vec<LrtsError>,
}

impl Sink for Taken {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        let (number, bytes) = match channel {
            Channel::Runtime => bytes.split_at(NUMBER_BYTES),
            Channel::Emulated => ([0; NUMBER_BYTES].as_slice(), bytes),
        };
        let number = u64::from_le_bytes(number.try_into().expect("as many as that"));
        self.lines.entry((source, channel as u8, number)).or_default().push_back((channel, bytes.to_vec()));
    }

    fn completion(&mut self, completion: Completion) {
        self.completions.push(completion);
    }

    fn peer_closed(&mut self, peer: NodeId) {
        self.closed.push(peer);
    }

    fn peer_lost(&mut self, error: LrtsError) {
        self.lost.push(error);
    }
}

impl Taken {
    /// Tells all in an order of the dice: a line comes as often as it has frames.
    fn tell(mut self, dice: &mut ChaCha8Rng, sink: &mut dyn Sink) {
        let turns = self.lines.iter().flat_map(|(line, frames)| std::iter::repeat_n(*line, frames.len()));
        let mut turns: Vec<Line> = turns.collect();
        turns.shuffle(dice);
        for line in turns {
            let next = self.lines.get_mut(&line).and_then(VecDeque::pop_front);
            let (channel, bytes) = next.expect("it has as many turns as frames");
            sink.frame(line.0, channel, &bytes);
        }
        self.completions.into_iter().for_each(|completion| sink.completion(completion));
        self.closed.into_iter().for_each(|peer| sink.peer_closed(peer));
        self.lost.into_iter().for_each(|error| sink.peer_lost(error));
    }
}

impl Unruly {
    pub(crate) fn new(inner: Loopback) -> Self {
        Self { inner, dice: Mutex::new(ChaCha8Rng::seed_from_u64(1)) }
    }
}

impl Lrts for Unruly {
    fn name(&self) -> &'static str {
        "unruly"
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities { frame_bytes_max: inner.frame_bytes_max - NUMBER_BYTES, ..inner }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= self.capabilities().frame_bytes_max, "frame of {} bytes", frame.len());
        if frame.channel == Channel::Emulated {
            return self.inner.send(target, frame);
        }
        let number = NUMBER.with(|number| number.to_le_bytes());
        self.inner.send(target, Frame { head: &number, body: &frame.to_vec(), ..frame })
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        // Held as long as others have to stay out of `inner`, whose arrivals are told behind it.
        let Ok(mut dice) = self.dice.try_lock() else { return false };
        let mut taken = Taken::default();
        let happened = self.inner.progress(&mut taken);
        taken.tell(&mut dice, sink);
        happened
    }

    pass_on!(inner);
}
