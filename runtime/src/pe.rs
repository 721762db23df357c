//! A PE: the chares, queues and tables that one scheduler thread owns, and which of them is ambient.
//!
//! The one ambient thing of the runtime is the PE that is running an entry, set around every step; it lets
//! `proxy.call(arguments)` do without a context argument.

use crate::aggregation::Aggregation;
use crate::ambient;
use crate::births::Births;
use crate::chain::Received;
use crate::credit::Owed;
use crate::early::Early;
use crate::executor::Tasks;
use crate::future::Futures;
use crate::ids::PeId;
use crate::location::Places;
use crate::mailbox::{Mailbox, Queued, Receiver, Sender};
use crate::node::Node;
use crate::object::{AnyChare, Identity};
use crate::partial::Partials;
use crate::queue::RunQueue;
use crate::quiescence::Quiescence;
use crate::running::{Now, Running};
use crate::section::Sections;
use crate::stats::Counters;
use crate::zerocopy::lent::Releases;
use crossbeam::utils::CachePadded;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// Steps between two looks at the network by a busy PE.
pub(crate) const NETWORK_INTERVAL: u32 = 16;

/// See the file's head.
pub(crate) struct Pe {
    pub(crate) id: PeId,
    pub(crate) node: Arc<Node>,
    /// What this PE counts; the node has it too.
    pub(crate) counters: Arc<CachePadded<Counters>>,
    /// What others than the node's PEs left for this one; the node has it too.
    pub(crate) mailbox: Arc<CachePadded<Mailbox>>,
    pub(crate) queue: RefCell<RunQueue<Queued>>,
    /// The ways to the other PEs of the node, by rank, as far as they were needed.
    pub(crate) ways_out: RefCell<Vec<Option<Sender>>>,
    /// The ways from other PEs of the node.
    pub(crate) ways_in: RefCell<Vec<Receiver>>,
    /// What this PE has run of what other nodes sent, and not given back.
    pub(crate) owed: RefCell<Owed>,
    /// What the step that runs has released of what other nodes lent.
    pub(crate) releases: Releases,
    /// Where messages for other nodes are encoded, between two of them.
    pub(crate) frame: Cell<Vec<u8>>,
    pub(crate) places: RefCell<Places>,
    pub(crate) sections: RefCell<Sections>,
    pub(crate) early: RefCell<Early>,
    /// Calls that travel together, until they do.
    pub(crate) aggregation: RefCell<Aggregation>,
    pub(crate) futures: RefCell<Futures>,
    pub(crate) tasks: Tasks,
    /// On a node's first PE: contributions of the node's PEs and of the nodes below.
    pub(crate) node_partials: RefCell<Partials>,
    /// On the coordinator.
    pub(crate) quiescence: RefCell<Quiescence>,
    running: Now,
    /// What runs inside that, called like a function; the innermost comes last.
    inside: RefCell<Vec<Running>>,
    /// Whether the chare that runs asked to be removed.
    pub(crate) destroyed: Cell<bool>,
    steps: Cell<u32>,
    /// The singletons that were created here.
    pub(crate) births: RefCell<Births>,
    created: Cell<u32>,
    /// How many singletons this PE has created, by their home.
    created_on: RefCell<FxHashMap<PeId, u32>>,
}

impl Pe {
    /// With a seed, a PE whose queue is shuffled.
    pub(crate) fn new(id: PeId, node: Arc<Node>, shuffle: Option<u64>) -> Rc<Self> {
        // PEs that all shuffled alike would hide what their differences show.
        let seed_here = |seed: u64| seed.rotate_left(32).wrapping_add(u64::from(id.0));
        let queue = shuffle.map_or_else(RunQueue::new, |seed| RunQueue::shuffled(seed_here(seed)));
        Rc::new(Self {
            id,
            counters: Arc::clone(&node.counters[node.layout.rank_of(id)]),
            mailbox: node.mailbox_of(id),
            queue: RefCell::new(queue),
            ways_out: RefCell::new((0..node.pes().count()).map(|_| None).collect()),
            ways_in: RefCell::default(),
            owed: RefCell::new(Owed::new(node.layout.nodes(), node.layout.pes_per_node())),
            releases: Releases::default(),
            frame: Cell::default(),
            places: RefCell::default(),
            sections: RefCell::default(),
            early: RefCell::new(Early::new(node.layout)),
            aggregation: RefCell::default(),
            futures: RefCell::default(),
            tasks: Tasks::default(),
            node_partials: RefCell::default(),
            quiescence: RefCell::default(),
            running: Now::default(),
            inside: RefCell::default(),
            destroyed: Cell::new(false),
            steps: Cell::new(0),
            births: RefCell::default(),
            created: Cell::new(0),
            created_on: RefCell::default(),
            node,
        })
    }

    /// Makes this PE the ambient one while `body` runs.
    pub(crate) fn enter<R>(self: &Rc<Self>, body: impl FnOnce() -> R) -> R {
        ambient::enter(self, body)
    }

    /// Runs `body` with the ambient PE.
    ///
    /// # Panics
    /// Outside a job's entries.
    #[inline]
    pub(crate) fn current<R>(body: impl FnOnce(&Rc<Self>) -> R) -> R {
        ambient::current(body).expect(
            "this needs a PE: call it from an entry method, from an async entry or from the closure given to `chare::run`",
        )
    }

    /// The same; `None` outside.
    #[inline]
    pub(crate) fn try_current<R>(body: impl FnOnce(&Rc<Self>) -> R) -> Option<R> {
        ambient::current(body)
    }

    /// Counts a step; returns which it is.
    #[inline]
    pub(crate) fn begin_step(&self) -> u32 {
        let step = self.steps.get().wrapping_add(1);
        self.steps.set(step);
        step
    }

    /// Makes the next step one that looks at the network.
    pub(crate) fn look_soon(&self) {
        self.steps.update(|step| step | (NETWORK_INTERVAL - 1));
    }

    /// A number for a collection this PE creates.
    pub(crate) fn next_serial(&self) -> u32 {
        let serial = self.created.get();
        self.created.set(serial.checked_add(1).expect("a PE creates fewer than 2^32 collections"));
        serial
    }

    /// A number for a singleton this PE creates; they are counted for each home, which [`Births`] relies on.
    pub(crate) fn next_serial_on(&self, home: PeId) -> u32 {
        let mut created = self.created_on.borrow_mut();
        let next = created.entry(home).or_insert(0);
        let serial = *next;
        *next = serial.checked_add(1).expect("a PE creates fewer than 2^32 singletons on another");
        serial
    }

    /// Says what runs while `body` does. Entries do not run inside each other. After a panic it stays said: the scheduler
    /// names what failed.
    pub(crate) fn run_as<R>(&self, running: Running, body: impl FnOnce() -> R) -> R {
        self.running.begin(running);
        let result = body();
        self.running.end();
        result
    }

    /// The same for an entry of a chare, which nearly everything is: writes no more than changes. Gives the chare back.
    #[inline(always)]
    pub(crate) fn run_entry<R>(
        &self,
        chare: Rc<dyn AnyChare>,
        entry: &'static str,
        reference: u64,
        body: impl FnOnce(&Rc<dyn AnyChare>) -> R,
    ) -> (R, Rc<dyn AnyChare>) {
        let lent = Rc::clone(&chare);
        self.running.begin_entry(chare, entry, reference);
        let result = body(&lent);
        (result, self.running.end_entry().unwrap_or(lent))
    }

    /// The same for what is called from inside an entry, like a function.
    pub(crate) fn run_inside<R>(&self, running: Running, body: impl FnOnce() -> R) -> R {
        self.inside.borrow_mut().push(running);
        let result = body();
        let over = self.inside.borrow_mut().pop();
        drop(over);
        result
    }

    /// What is running.
    pub(crate) fn running(&self) -> Running {
        self.inside.borrow().last().cloned().unwrap_or_else(|| self.running.get())
    }

    /// Runs `body` with the chare that is running.
    ///
    /// # Panics
    /// If none is: in `main`.
    pub(crate) fn with_running<R>(&self, body: impl FnOnce(&Identity) -> R) -> R {
        body(self.running().identity().expect("this needs a chare: call it from an entry method"))
    }

    /// Drops everything user code may own, in an order in which it can still reach the PE.
    pub(crate) fn clear(&self) {
        self.tasks.clear();
        let places = self.places.take();
        drop(places);
        let sections = self.sections.take();
        drop(sections);
        let early = self.early.borrow_mut().take_all();
        drop(early);
        let aggregation = self.aggregation.take();
        drop(aggregation);
        let futures = self.futures.take();
        drop(futures);
        while let Some(work) = self.take_queued() {
            drop(work);
        }
        while let Some(work) = self.mailbox.pop() {
            drop(work);
        }
        for mut way in self.ways_in.take() {
            while let Some(received) = way.receive() {
                match received {
                    Received::Short(call) => drop(call),
                    Received::Long(work) => drop(work.take()),
                }
            }
        }
    }

    fn take_queued(&self) -> Option<Box<Queued>> {
        let mut queue = self.queue.borrow_mut();
        queue.pop().or_else(|| queue.pop_idle())
    }
}
