//! Doors for the fuzzers: a job of two nodes on the calling thread, whose node 1 hears what the caller makes of what node 0
//! said. Exists with the feature `fuzzing` alone and is no part of the interface.
//!
//! 1. [`Pair::open`] runs `main` on node 0 until nothing moves; the frames that node 1 heard meanwhile are the seeds.
//! 2. [`Pair::hear`] lets node 1 hear one more frame and do all that follows from it. Hearing must not panic; a panic in what
//!    follows ends the job, as the scheduler would end it ([`is_guarded`] tells the two apart).

use crate::delivery::{dispatch, inbox, polling};
use crate::job::life::{self, Main};
use crate::job::services::{NODE_SERVICES, SERVICES};
use crate::model::envelope::frame::{self, Header};
use crate::model::ids::PeId;
use crate::model::topology::Topology;
use crate::node::{Ending, Node};
use crate::pe::Pe;
use crate::pe::queued::Queued;
use crate::services::{aggregation, array};
use chare_lrts::bootstrap::local::Local;
use chare_lrts::reach::{Reach, ReachOptions};
use chare_lrts::{Channel, Completion, Lrts, LrtsError, NodeId, Sink};
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;

/// Looks at an idle pair before it counts as quiet: the kernel takes a moment to pass a frame on.
const QUIET_LOOKS: usize = 300;

/// Pieces of work that may follow from one frame. News that a million reductions have begun lets a PE without members close them all.
const WORK_MAX: usize = 2 << 20;

/// A collection may take all memory of a host; a fuzzer must not. So many no host can hold: they are refused anyway.
const MEMBERS: std::ops::Range<u64> = 1 << 12..1 << 48;

/// See the file's head.
pub struct Pair {
    speaker: Rc<Pe>,
    listener: Rc<Pe>,
}

/// Node 1's way in, written down.
struct Recorder<'a> {
    node: &'a Arc<Node>,
    frames: Vec<Vec<u8>>,
}

impl Sink for Recorder<'_> {
    fn frame(&mut self, source: NodeId, _channel: Channel, bytes: &[u8]) {
        inbox::accept(self.node, None, source, bytes).expect("an honest node speaks");
        self.frames.push(bytes.to_vec());
    }

    fn completion(&mut self, completion: Completion) {
        self.node.transfers.complete(completion);
    }

    fn peer_closed(&mut self, _peer: NodeId) {}

    fn peer_lost(&mut self, _error: LrtsError) {}
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread would end its job in words and do no further harm.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Does what is left for a PE; returns whether there was anything.
fn work(pe: &Rc<Pe>) -> bool {
    let mut works = 0;
    let left = || pe.mailbox.pop().map(|work| Box::new(Queued::Work(work)));
    let queued = || left().or_else(|| pe.queue.borrow_mut().pop());
    while let Some(mut queued) =
        queued().or_else(|| (aggregation::SERVICE.before_rest)(pe).then(queued).flatten())
    {
        GUARDED.set(true);
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| dispatch::process(pe, &mut queued)));
        GUARDED.set(false);
        if result.is_err() {
            pe.node.end(Ending::Code(1));
        }
        works += 1;
        assert!(works < WORK_MAX, "work without end follows from one frame");
    }
    works > 0
}

impl Pair {
    /// Opens both nodes and lets `main` run on node 0; returns what node 1 heard, and a frame of credit: what `main` says is hardly
    /// enough for one.
    pub fn open<Fut>(main: impl FnOnce() -> Fut + Send + 'static) -> (Self, Vec<Vec<u8>>)
    where
        Fut: Future<Output = ()> + 'static,
    {
        let bootstraps = Local::job(2).expect("two sockets");
        // Without shared memory, whose pages take longer to prepare than all that a frame leads to.
        let options = ReachOptions { nolocal: true, ..ReachOptions::default() };
        let open = |mut bootstrap| Reach::open(&mut bootstrap, &options).expect("a host");
        let networks: Vec<Reach> = std::thread::scope(|scope| {
            let opening: Vec<_> =
                bootstraps.into_iter().map(|bootstrap| scope.spawn(|| open(bootstrap))).collect();
            opening.into_iter().map(|node| node.join().expect("no panic")).collect()
        });
        let topology = Topology::new(2, 1);
        let pes = (0..).zip(networks).map(|(index, network)| {
            Pe::new(
                PeId(index),
                Arc::new(Node::new(NodeId(index), topology, network, polling::look_aside, &NODE_SERVICES)),
                None,
                &SERVICES,
            )
        });
        let [speaker, listener] = pes.collect::<Vec<_>>().try_into().unwrap_or_else(|_| unreachable!("two"));
        let pair = Self { speaker, listener };
        let main: Main = Box::new(move || Box::pin(main()));
        pair.speaker.enter(|| life::run_main(&pair.speaker, main));
        let mut frames = pair.settle();
        frames.push(frame::encode(&Header::Credit { bytes: 1 }, None).expect("a number encodes"));
        (pair, frames)
    }

    /// Lets both nodes work until nothing moves; returns what node 1 heard.
    fn settle(&self) -> Vec<Vec<u8>> {
        let mut recorder = Recorder { node: &self.listener.node, frames: Vec::new() };
        let mut looks = 0;
        while looks < QUIET_LOOKS {
            let spoke =
                polling::progress(&self.speaker.node, None) | self.speaker.enter(|| work(&self.speaker));
            let heard = self.listener.node.network.progress(&mut recorder);
            let worked = self.listener.enter(|| work(&self.listener));
            looks = if spoke | heard | worked { 0 } else { looks + 1 };
        }
        recorder.frames
    }

    /// Lets node 1 hear `bytes`, as if node 0 had said them.
    ///
    /// # Errors
    /// Why node 1 did not take them. Whether the job goes on tells [`Pair::has_ended`].
    pub fn hear(&self, bytes: &[u8]) -> Result<(), String> {
        if let Ok((Header::System { service: array::ID }, said)) = frame::decode(bytes)
            && array::announced_members(said).is_some_and(|members| MEMBERS.contains(&members))
        {
            return Err("too many members for a fuzzer".to_owned());
        }
        // What waits for node 0, which never answers, would soon use up its credit.
        self.listener.node.departures.account(NodeId(0)).forgive();
        self.listener.enter(|| {
            inbox::accept(&self.listener.node, None, NodeId(0), bytes)?;
            work(&self.listener);
            Ok::<(), String>(())
        })?;
        // The answers are for a node that asked nothing; they are dropped with it.
        self.listener.node.network.progress(&mut Recorder { node: &self.listener.node, frames: Vec::new() });
        Ok(())
    }

    /// Whether node 1 has ended the job: then it hears nothing more.
    pub fn has_ended(&self) -> bool {
        self.listener.node.has_ended()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for pe in [&self.speaker, &self.listener] {
            pe.enter(|| pe.clear());
            pe.node.clear();
        }
    }
}
