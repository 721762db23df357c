//! Entry points for the fuzzers: a job of two nodes on the calling thread, whose node 1 receives the frames that a fuzzer makes of those
//! that node 0 sent. They exist with the feature `fuzzing` alone and are no part of the interface.
//!
//! 1. [`Pair::open`] runs `main` on node 0 until both nodes are idle; the frames that node 1 received meanwhile are the seeds.
//!    Elements that move take turns at syncs (`rotate`).
//! 2. [`Pair::hear`] lets node 1 receive one more frame and do all the work that follows from it. Receiving must not panic; a panic in
//!    the work that follows ends the job, as the scheduler would end it ([`is_guarded`] tells the two apart).

use crate::base::numbering::JobNumbers;
use crate::delivery::{dispatch, inbox, polling};
use crate::job::life::{self, Main};
use crate::job::services::SERVICES;
use crate::model::envelope::PlainCall;
use crate::model::envelope::frame::{self, Header};
use crate::model::ids::PeId;
use crate::model::registry::find_entry;
use crate::model::topology::Topology;
use crate::node::devices::{DeviceChoice, Devices};
use crate::node::{Above, Ending, Node};
use crate::pe::Pe;
use crate::pe::queued::Queued;
use crate::services::array;
use crate::transfer::take::remote_memory::send_releases;
use chare_lrts::bootstrap::local::Local;
use chare_lrts::reach::{Reach, ReachOptions};
use chare_lrts::{Channel, Completion, Lrts, LrtsError, NodeId, Sink};
use std::cell::Cell;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;

/// The looks at an idle pair before the pair counts as quiet: the kernel takes a moment to pass a frame on.
const QUIET_LOOKS: usize = 300;

/// The most pieces of work that may follow from one frame: far more than any should lead to.
const WORK_MAX: usize = 2 << 20;

/// The numbers of members that are refused here: a collection may take all memory of a host, and a fuzzer must not. The runtime itself
/// refuses numbers above this range, which no host can hold.
const MEMBERS: std::ops::Range<u64> = 1 << 12..1 << 48;

/// The subject of a frame, for messages to humans: the entry that it calls, or the service that it is of.
pub fn subject(frame: &[u8]) -> String {
    let called = |entry| find_entry(entry).map_or_else(|unknown| unknown, |entry| entry.name.to_owned());
    if let Some((call, _)) = PlainCall::split(frame) {
        return called(call.entry());
    }
    match frame::decode(frame) {
        Ok((Header::System { service, .. }, _)) => {
            let service = SERVICES.get(usize::from(service.0));
            service.map_or("no service", |service| service.name).to_owned()
        }
        Ok((Header::Call { entry, .. }, _)) => called(entry),
        Ok((header, _)) => header.describe(),
        Err(cause) => cause,
    }
}

/// Two nodes of one job on the calling thread; see the file's head.
pub struct Pair {
    speaker: Rc<Pe>,
    listener: Rc<Pe>,
}

/// A sink that hands frames to node 1 and records them.
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

/// Whether a panic on this thread would end its job with an error message and do no further harm.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Does the work that waits on a PE, and sends the releases that come of it; returns whether there was any.
fn work(pe: &Rc<Pe>) -> bool {
    let mut works = 0;
    let left = || pe.mailbox.pop().map(|work| Box::new(Queued::Work(work)));
    let queued = || left().or_else(|| pe.queue.borrow_mut().pop());
    let guarded = |body: &mut dyn FnMut() -> bool| {
        GUARDED.set(true);
        let result = std::panic::catch_unwind(AssertUnwindSafe(body));
        GUARDED.set(false);
        result.unwrap_or_else(|_| {
            pe.node.end(Ending::Code(1));
            true
        })
    };
    // Services that wait for their turn: they collect, move elements, wake who sleeps.
    let serve =
        || pe.attended().fold(false, |did, service| (service.poll)(pe) | (service.before_rest)(pe) | did);
    loop {
        let did = match queued() {
            Some(mut queued) => guarded(&mut || {
                dispatch::process::<false>(pe, &mut queued);
                true
            }),
            None => guarded(&mut || serve()),
        };
        if !did || pe.node.has_ended() {
            break;
        }
        works += 1;
        assert!(works < WORK_MAX, "work without end follows from one frame");
    }
    send_releases(pe);
    works > 0
}

impl Pair {
    /// Opens both nodes and runs `main` on node 0; returns the frames that node 1 received, and one frame of credit: the messages of
    /// `main` are hardly enough to cause one.
    pub fn open<Fut>(main: impl FnOnce() -> Fut + Send + 'static) -> (Self, Vec<Vec<u8>>)
    where
        Fut: Future<Output = ()> + 'static,
    {
        let bootstraps = Local::job(2).expect("two sockets");
        // Without shared memory: its pages take longer to prepare than all the work that follows from a frame.
        let options = ReachOptions { nolocal: true, ..ReachOptions::default() };
        let open = |mut bootstrap| Reach::open(&mut bootstrap, &options).expect("a host");
        let networks: Vec<Reach> = std::thread::scope(|scope| {
            let opening: Vec<_> =
                bootstraps.into_iter().map(|bootstrap| scope.spawn(|| open(bootstrap))).collect();
            opening.into_iter().map(|node| node.join().expect("no panic")).collect()
        });
        let topology = Topology::new(&[NodeId(0), NodeId(1)], 1);
        let numbers = JobNumbers::begin();
        let pes = (0..).zip(networks).map(|(index, network)| {
            Pe::new(
                PeId(index),
                Arc::new(Node::new(
                    NodeId(index),
                    topology.clone(),
                    network,
                    Devices::new(DeviceChoice::None, (index, 2), 1),
                    (2, Arc::clone(&numbers)),
                    Above { balancer: Some("rotate".into()), ..life::ABOVE },
                )),
                None,
                SERVICES,
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

    /// Lets both nodes work until both are idle; returns the frames that node 1 received.
    fn settle(&self) -> Vec<Vec<u8>> {
        let mut recorder = Recorder { node: &self.listener.node, frames: Vec::new() };
        let mut looks = 0;
        while looks < QUIET_LOOKS {
            let speak = || polling::progress(&self.speaker.node, Some(&self.speaker)) | work(&self.speaker);
            let spoke = self.speaker.enter(speak);
            let heard = self.listener.node.network.progress(&mut recorder);
            let worked = self.listener.enter(|| work(&self.listener));
            looks = if spoke | heard | worked { 0 } else { looks + 1 };
        }
        recorder.frames
    }

    /// Lets node 1 receive `bytes`, as if node 0 had sent them.
    ///
    /// # Errors
    /// The reason why node 1 refused the bytes. [`Pair::has_ended`] tells whether the job goes on.
    pub fn hear(&self, bytes: &[u8]) -> Result<(), String> {
        if let Ok((Header::System { service: array::ID, .. }, said)) = frame::decode(bytes)
            && array::announced_members(said).is_some_and(|members| MEMBERS.contains(&members))
        {
            return Err("too many members for a fuzzer".to_owned());
        }
        // Node 0 never answers: messages to it would soon use up the credit there.
        self.listener.node.departures.account(NodeId(0)).forgive();
        self.listener.enter(|| {
            inbox::accept(&self.listener.node, None, NodeId(0), bytes)?;
            work(&self.listener);
            Ok::<(), String>(())
        })?;
        // The answers go to a node that asked nothing; they are dropped with the recorder.
        self.listener.node.network.progress(&mut Recorder { node: &self.listener.node, frames: Vec::new() });
        Ok(())
    }

    /// Whether node 1 has ended the job: then it receives nothing more.
    pub fn has_ended(&self) -> bool {
        self.listener.node.has_ended()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for pe in [&self.speaker, &self.listener] {
            // The drop of an argument that fuzzing made up runs no code of a user, so it cannot panic.
            pe.enter(|| pe.clear()).expect("no drop panics");
            pe.node.clear();
        }
    }
}
