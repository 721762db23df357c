//! A PE: the chares, queues and tables that one scheduler thread owns, what each service keeps there, and the seam by which services are
//! known to it.
//!
//! Here live the run queue, the places of chares, tasks, futures and messages that came early. How a message travels, and what a certain
//! service does, never does.

pub(crate) mod created;
mod current;
pub(crate) mod early;
mod entering;
pub(crate) mod futures;
pub(crate) mod places;
pub(crate) mod queued;
pub(crate) mod releases;
pub(crate) mod run_queue;
pub(crate) mod running;
pub(crate) mod tasks;
pub(crate) mod waker;

use crate::base::counters::Counters;
use crate::base::spsc::Received;
use crate::base::typed_box::TypedBox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope, SystemMessage};
use crate::model::error::JobError;
use crate::model::ids::{CollectionId, Index, PeId, ServiceId, Target};
use crate::model::parcel::Parcel;
use crate::model::registry::EntryRegistration;
use crate::node::credit::{Cost, Owed};
use crate::node::mailbox::{Mailbox, Receiver, Sender, Work};
use crate::node::{Node, NodeService};
use created::CreatedChares;
use crossbeam::utils::CachePadded;
use early::{Early, Missing};
use futures::Futures;
use places::{Location, Places};
use queued::{Outcome, Queued};
use releases::Releases;
use run_queue::RunQueue;
use running::{Now, Running};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::array;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tasks::Tasks;

/// Steps between two looks at the network by a busy PE.
pub(crate) const NETWORK_INTERVAL: u32 = 16;

/// How many services there may be: each has a place in its PE and a bit of `attention`.
pub(crate) const MOST_SERVICES: usize = u32::BITS as usize;

/// A service of the runtime: what it does on a PE and on a node, a row of function pointers. The ideas are Charm++'s: Converse's handlers
/// (`deliver`), conditions (`poll`, `before_rest`) and `CkArrayListener` (`element`).
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) id: ServiceId,
    /// What it is called in errors.
    pub(crate) name: &'static str,
    pub(crate) node: NodeService,
    /// What a PE keeps for it.
    pub(crate) state: fn() -> TypedBox,
    /// Does what a message of it says.
    pub(crate) deliver: fn(&Pe, CallOptions, Box<dyn SystemMessage>) -> Outcome,
    /// Called every [`NETWORK_INTERVAL`] steps and before a PE rests, as long as it asked to be by [`Pe::attend_to`]. Returns whether it did
    /// anything.
    pub(crate) poll: fn(&Pe) -> bool,
    /// When `poll` has something to do, as far as it knows: a PE that attends to it sleeps no longer than that.
    pub(crate) due: fn(&Pe) -> Option<Instant>,
    /// Called when a PE that attends to it has nothing else to do. Returns whether it did anything.
    pub(crate) before_rest: fn(&Pe) -> bool,
    /// Hears of elements that come and go.
    pub(crate) element: fn(&Pe, &mut ElementEvent<'_>),
    /// Calls all chares that it knows by a name, because a callback leads there.
    pub(crate) fire: Option<fn(&Pe, CallOfMany)>,
    /// Takes a call of a member that is not on its PE; one service does.
    pub(crate) absent: Option<Absent>,
    /// Drops what the PE keeps for it, when the job is over.
    pub(crate) clear: fn(&Pe),
}

impl Service {
    /// A service that does nothing yet.
    pub(crate) const fn named(id: ServiceId, name: &'static str) -> Self {
        Self {
            id,
            name,
            node: NodeService::NONE,
            state: || TypedBox::new(()),
            deliver: |_, _, _| unreachable!("a service that says nothing hears nothing"),
            poll: |_| false,
            due: |_| None,
            before_rest: |_| false,
            element: |_, _| (),
            fire: None,
            absent: None,
            clear: |_| (),
        }
    }
}

/// What takes a call of a member that is not here.
pub(crate) type Absent = fn(&Pe, CallOptions, Call, (CollectionId, Index)) -> Outcome;

/// Elements of collections come and go.
pub(crate) enum ElementEvent<'a> {
    /// All elements that a collection begins with on this PE have been constructed.
    Born { collection: CollectionId },
    /// An element that lived here is gone. What its home is to hear of it goes into the parcel.
    Gone {
        collection: CollectionId,
        index: Index,
        /// The first reduction of its collection to which it has not contributed.
        next_reduction: u64,
        parcel: &'a mut Parcel,
    },
    /// At its home: an element is gone, wherever it lived.
    Forgotten { member: Target, parcel: &'a Parcel },
}

/// A call of all chares that a service knows by a name.
pub(crate) struct CallOfMany {
    /// Who brought them together, and which of theirs it is.
    pub(crate) many: (PeId, u32),
    pub(crate) options: CallOptions,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    pub(crate) reference: u64,
}

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
    pub(crate) early: RefCell<Early>,
    pub(crate) futures: RefCell<Futures>,
    pub(crate) tasks: Tasks,
    services: &'static [Service],
    /// What each service keeps here.
    states: [TypedBox; MOST_SERVICES],
    /// The services that want to be polled, a bit for each.
    attention: Cell<u32>,
    absent: Absent,
    running: Now,
    /// What runs inside that, called like a function; the innermost comes last.
    inside: RefCell<Vec<Running>>,
    /// Whether the chare that runs asked to be removed.
    pub(crate) destroyed: Cell<bool>,
    steps: Cell<u32>,
    /// The singletons that were created here.
    pub(crate) created_chares: RefCell<CreatedChares>,
    created: Cell<u32>,
    /// How many singletons this PE has created, by their home.
    created_on: RefCell<FxHashMap<PeId, u32>>,
}

impl Pe {
    /// With a seed, a PE whose queue is shuffled.
    pub(crate) fn new(
        id: PeId,
        node: Arc<Node>,
        shuffle: Option<u64>,
        services: &'static [Service],
    ) -> Rc<Self> {
        // PEs that all shuffled alike would hide what their differences show.
        let seed_here = |seed: u64| seed.rotate_left(32).wrapping_add(u64::from(id.0));
        let queue = shuffle.map_or_else(RunQueue::new, |seed| RunQueue::shuffled(seed_here(seed)));
        Rc::new(Self {
            id,
            counters: Arc::clone(&node.counters[node.topology.rank_of(id)]),
            mailbox: node.mailbox_of(id),
            queue: RefCell::new(queue),
            ways_out: RefCell::new((0..node.pes().count()).map(|_| None).collect()),
            ways_in: RefCell::default(),
            owed: RefCell::new(Owed::new(node.topology.nodes(), node.topology.pes_per_node())),
            releases: Releases::default(),
            frame: Cell::default(),
            places: RefCell::default(),
            early: RefCell::new(Early::new(node.topology)),
            futures: RefCell::default(),
            tasks: Tasks::default(),
            services,
            states: array::from_fn(|number| {
                services.get(number).map_or_else(|| TypedBox::new(()), |service| (service.state)())
            }),
            attention: Cell::new(0),
            absent: services.iter().find_map(|service| service.absent).expect("one service finds members"),
            running: Now::default(),
            inside: RefCell::default(),
            destroyed: Cell::new(false),
            steps: Cell::new(0),
            created_chares: RefCell::default(),
            created: Cell::new(0),
            created_on: RefCell::default(),
            node,
        })
    }

    /// What a service keeps here.
    ///
    /// # Panics
    /// If it keeps something of another type.
    #[inline]
    pub(crate) fn state<T: Any>(&self, service: ServiceId) -> &T {
        self.states[usize::from(service.0)].get()
    }

    /// The row of a service that a message names.
    pub(crate) fn service(&self, service: ServiceId) -> Option<&'static Service> {
        self.services.get(usize::from(service.0))
    }

    /// Polls a service from now on, or no longer.
    #[inline]
    pub(crate) fn attend_to(&self, service: ServiceId, wanted: bool) {
        let bit = 1 << service.0;
        self.attention.update(|bits| if wanted { bits | bit } else { bits & !bit });
    }

    /// The services that are polled.
    #[inline]
    pub(crate) fn attended(&self) -> impl Iterator<Item = &'static Service> {
        let bits = self.attention.get();
        // Mostly none: then nothing is looked at.
        let services = if bits == 0 { &[] } else { self.services };
        services.iter().filter(move |service| bits & (1 << service.id.0) != 0)
    }

    /// Tells all services that an element comes or goes.
    pub(crate) fn tell(&self, mut event: ElementEvent<'_>) {
        self.services.iter().for_each(|service| (service.element)(self, &mut event));
    }

    /// Takes a call of a member that is not here.
    pub(crate) fn reroute(&self, options: CallOptions, call: Call, member: (CollectionId, Index)) -> Outcome {
        (self.absent)(self, options, call, member)
    }

    /// Ends the job because a message cannot be delivered.
    pub(crate) fn fail(&self, what: String, cause: impl ToString) {
        let cause = cause.to_string();
        self.node.fail(JobError::Delivery { what, pe: self.id, node: self.node.id, cause });
    }

    /// Keeps a message until what it is for exists; ends the job when too many wait.
    pub(crate) fn keep(&self, missing: Missing, options: CallOptions, body: Body) -> Outcome {
        let envelope = Envelope { options, body };
        let what = envelope.body.describe();
        // Measured before the borrow: that runs the serialization of the user's types.
        let bytes = envelope.bytes();
        let kept = self.early.borrow_mut().keep(missing, envelope, bytes);
        if let Err(cause) = kept {
            self.fail(what, cause);
        }
        Outcome::NotCounted
    }

    /// Looks again at what arrived before its chare or collection did; it was counted when it was sent. Whoever called what lives elsewhere
    /// is told so on the way.
    pub(crate) fn release_early(&self, missing: Missing) {
        let early = self.early.borrow_mut().release(missing);
        let mut queue = self.queue.borrow_mut();
        early.into_iter().for_each(|envelope| queue.push_work(Work::Message(envelope, Cost::NONE)));
    }

    /// Where a chare lives, as far as this PE knows.
    #[inline]
    pub(crate) fn locate(&self, target: Target) -> Location {
        self.places.borrow_mut().locate(self.id, target)
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

    /// A number for a singleton this PE creates; they are counted for each home, which [`CreatedChares`] relies on.
    pub(crate) fn next_serial_on(&self, home: PeId) -> u32 {
        let mut created = self.created_on.borrow_mut();
        let next = created.entry(home).or_insert(0);
        let serial = *next;
        *next = serial.checked_add(1).expect("a PE creates fewer than 2^32 singletons on another");
        serial
    }

    /// Drops everything user code may own, in an order in which it can still reach the PE.
    pub(crate) fn clear(&self) {
        self.tasks.clear();
        let places = self.places.take();
        drop(places);
        self.services.iter().for_each(|service| (service.clear)(self));
        let early = self.early.borrow_mut().take_all();
        drop(early);
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
