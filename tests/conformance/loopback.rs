//! The loopback backend: a whole backend in one small file, to read and to start from. The nodes of one process talk through
//! channels of the standard library. `docs/backends/adding-a-backend.md` walks through it.
//!
//! 1. Each pair of nodes has a bounded channel each way. A full one is no room; one whose other end is gone without a goodbye
//!    is a lost peer.
//! 2. Each node sleeps on a [`Bell`]. A sender rings the reader of its channel; a reader that takes something out rings the
//!    writer, which finds room then.
//! 3. Get and put are those of [`Emulated`](chare_lrts::emulated::Emulated).

use chare_lrts::bell::Bell;
use chare_lrts::{
    Capabilities, Channel, Entering, Frame, Get, Lrts, LrtsError, Memory, NoRoom, NodeId, Posted, Put,
    Refused, RegionKey, Sink, TransferError,
};
use rustix::fd::BorrowedFd;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

const BACKEND: &str = "loopback";

/// Messages that a channel holds.
const ROOM: usize = 256;

/// Messages that one progress takes from one peer.
const BUDGET: usize = 64;

/// The longest frame; any number would do.
const FRAME_BYTES_MAX: usize = 64 << 10;

/// A message of a channel.
enum Said {
    Frame(Channel, Vec<u8>),
    Goodbye,
}

/// The bell of a peer; rings once more when this node is gone.
struct Ringer(Arc<Bell>);

impl Drop for Ringer {
    fn drop(&mut self) {
        self.0.ring();
    }
}

/// The way to a peer. Its channel ends before its bell rings for the last time.
struct Mouth {
    to: SyncSender<Said>,
    bell: Ringer,
    /// Nothing more is to be said: the goodbye is out, or nobody hears it.
    silent: AtomicBool,
    /// A message found no room. Set by whoever sent it, cleared by the peer when it has taken something out.
    stalled: Arc<AtomicBool>,
    /// The same, cleared by a sleeper who has heard of the room.
    was_stalled: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Open,
    Closed,
    Lost,
}

/// The way from a peer.
struct Ear {
    from: Receiver<Said>,
    /// Taken out of the channel by a look whether there is something.
    early: VecDeque<Said>,
    presence: Presence,
    /// The peer's, of its way to this node.
    stalled: Arc<AtomicBool>,
}

impl Ear {
    /// The next message; an error: there will be none.
    fn next(&mut self) -> Result<Option<Said>, ()> {
        if let Some(said) = self.early.pop_front() {
            return Ok(Some(said));
        }
        match self.from.try_recv() {
            Ok(said) => Ok(Some(said)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(()),
        }
    }

    /// Whether `next` has something to tell.
    fn has_news(&mut self) -> bool {
        if self.presence != Presence::Open {
            return false;
        }
        match self.next() {
            Ok(None) => false,
            Ok(Some(said)) => {
                self.early.push_front(said);
                true
            }
            Err(()) => true,
        }
    }
}

/// One node.
pub(crate) struct Loopback {
    bell: Arc<Bell>,
    /// By node; `None` for this one.
    mouths: Vec<Option<Mouth>>,
    /// By node likewise. Held by the one thread that makes progress.
    ears: Mutex<Vec<Option<Ear>>>,
    closing: AtomicBool,
}

impl Loopback {
    /// All nodes of a job.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptors for the bells.
    pub(crate) fn job(nodes: u32) -> io::Result<Vec<Self>> {
        let bells: Vec<Arc<Bell>> =
            (0..nodes).map(|_| Bell::new().map(Arc::new)).collect::<io::Result<_>>()?;
        let mut job: Vec<Self> = bells
            .iter()
            .map(|bell| Self {
                bell: Arc::clone(bell),
                mouths: Vec::new(),
                ears: Mutex::default(),
                closing: AtomicBool::new(false),
            })
            .collect();
        for source in 0..bells.len() {
            for target in 0..bells.len() {
                let (mouth, ear) = if source == target { (None, None) } else { connect(&bells[target]) };
                job[source].mouths.push(mouth);
                job[target].ears.get_mut().unwrap_or_else(PoisonError::into_inner).push(ear);
            }
        }
        Ok(job)
    }

    fn mouths(&self) -> impl Iterator<Item = &Mouth> {
        self.mouths.iter().flatten()
    }

    fn say_goodbyes(&self) {
        for mouth in self.mouths().filter(|mouth| !mouth.silent.load(Ordering::Acquire)) {
            let said = mouth.say(Said::Goodbye);
            mouth.silent.store(said.is_ok(), Ordering::Release);
        }
    }

    fn hear(&self, peer: NodeId, ear: &mut Ear, sink: &mut dyn Sink) -> bool {
        let mut heard = 0;
        while heard < BUDGET && ear.presence == Presence::Open {
            match ear.next() {
                Ok(None) => break,
                Ok(Some(Said::Frame(channel, bytes))) => sink.frame(peer, channel, &bytes),
                Ok(Some(Said::Goodbye)) => {
                    ear.presence = Presence::Closed;
                    sink.peer_closed(peer);
                }
                Err(()) => {
                    ear.presence = Presence::Lost;
                    let cause = "its end of the channel was dropped".to_owned();
                    sink.peer_lost(LrtsError::PeerLost { peer, backend: BACKEND, cause });
                }
            }
            heard += 1;
        }
        if heard > 0
            && ear.stalled.swap(false, Ordering::AcqRel)
            && let Some(mouth) = &self.mouths[peer.index()]
        {
            mouth.bell.0.ring();
        }
        heard > 0
    }
}

/// A way from one node to another, whose bell this is.
fn connect(bell: &Arc<Bell>) -> (Option<Mouth>, Option<Ear>) {
    let (to, from) = sync_channel(ROOM);
    let stalled = Arc::new(AtomicBool::new(false));
    let mouth = Mouth {
        to,
        bell: Ringer(Arc::clone(bell)),
        silent: AtomicBool::new(false),
        stalled: Arc::clone(&stalled),
        was_stalled: AtomicBool::new(false),
    };
    (Some(mouth), Some(Ear { from, early: VecDeque::new(), presence: Presence::Open, stalled }))
}

impl Mouth {
    fn say(&self, said: Said) -> Result<(), NoRoom> {
        // Announced before the last try, so that a reader who makes room after it sees the announcement.
        let refused = match self.to.try_send(said) {
            Err(TrySendError::Full(said)) => {
                self.stalled.store(true, Ordering::SeqCst);
                self.to.try_send(said)
            }
            result => result,
        };
        let is_full = matches!(refused, Err(TrySendError::Full(_)));
        if is_full {
            self.was_stalled.store(true, Ordering::Release);
        }
        // Messages to a peer that is gone vanish; the channel from it tells that it is gone.
        self.bell.0.ring();
        if is_full { Err(NoRoom) } else { Ok(()) }
    }

    /// Whether what found no room may find some now.
    fn has_news(&self) -> bool {
        !self.stalled.load(Ordering::SeqCst) && self.was_stalled.swap(false, Ordering::AcqRel)
    }
}

impl Lrts for Loopback {
    fn name(&self) -> &'static str {
        BACKEND
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: true,
            get: false,
            put: false,
            runs: false,
            view: false,
            device: false,
            immediate: false,
            frame_bytes_max: FRAME_BYTES_MAX,
        }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= FRAME_BYTES_MAX, "frame of {} bytes", frame.len());
        if self.closing.load(Ordering::Acquire) {
            return Err(NoRoom);
        }
        let mouth = self.mouths[target.index()].as_ref().unwrap_or_else(|| panic!("{target} is no peer"));
        mouth.say(Said::Frame(frame.channel, frame.to_vec()))
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let mut ears = match self.ears.try_lock() {
            Ok(ears) => ears,
            Err(TryLockError::WouldBlock) => return false,
            Err(TryLockError::Poisoned(ears)) => ears.into_inner(),
        };
        if self.closing.load(Ordering::Acquire) {
            self.say_goodbyes();
        }
        let mut happened = false;
        for (peer, ear) in (0..).map(NodeId).zip(ears.iter_mut()) {
            happened |= ear.as_mut().is_some_and(|ear| self.hear(peer, ear, sink));
        }
        happened
    }

    /// # Panics
    /// Always: it has none of its own.
    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        panic!("{BACKEND} has no get of its own, asked for from {}", get.key.node)
    }

    /// # Panics
    /// Always: it has none of its own.
    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        panic!("{BACKEND} has no put of its own, asked for to {}", put.key.node)
    }

    fn view(&self, _: &RegionKey, _: u64, _: usize, _: Entering) -> Result<Option<Memory>, TransferError> {
        Ok(None)
    }

    fn arm(&self) -> bool {
        self.bell.arm();
        // The thread that holds them makes progress and will come back.
        let Ok(mut ears) = self.ears.try_lock() else { return false };
        !ears.iter_mut().flatten().any(Ear::has_news) && !self.mouths().any(Mouth::has_news)
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.bell.event_fd())
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
        self.say_goodbyes();
    }

    fn is_closed(&self) -> bool {
        let Ok(ears) = self.ears.try_lock() else { return false };
        let has_parted = |(mouth, ear): (&Mouth, &Ear)| match ear.presence {
            Presence::Open => false,
            Presence::Closed => mouth.silent.load(Ordering::Acquire),
            Presence::Lost => true,
        };
        self.closing.load(Ordering::Acquire) && self.mouths().zip(ears.iter().flatten()).all(has_parted)
    }
}
