//! A PE: the chares, queues and tables that one scheduler thread owns, the state that each service keeps there, and the seam [`Service`]
//! by which the PE knows services. Here live the run queue, the places of chares, tasks, futures and messages that came early. The way of
//! a message between PEs and the work of a particular service never do.

pub(crate) mod begun_calls;
pub(crate) mod call_sample;
mod clearing;
#[cfg(feature = "sim")]
pub(crate) mod costs;
pub(crate) mod creations;
mod current;
pub(crate) mod device_steps;
pub(crate) mod early;
mod entering;
mod events;
pub(crate) mod future_set;
pub(crate) mod futures;
pub(crate) mod in_flight;
mod lost_futures;
pub(crate) mod meter;
pub(crate) mod panics;
pub(crate) mod places;
pub(crate) mod queued;
pub(crate) mod releases;
pub(crate) mod run_queue;
pub(crate) mod running;
mod spans;
pub(crate) mod tasks;
mod timeline;
pub(crate) mod times;
pub(crate) mod waker;
pub(crate) mod wishes;

use crate::base::counters::Counters;
use crate::base::typed_box::TypedBox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Body, Call, Envelope, SystemMessage};
use crate::model::error::JobError;
use crate::model::ids::{CollectionId, Index, PeId, ServiceId, Target};
use crate::model::registry::{EntryRegistration, Identity};
use crate::node::credit::Owed;
use crate::node::mailbox::Mailbox;
use crate::node::way::{Receiver, Sender};
use crate::node::{Node, NodeService};
use begun_calls::BegunCalls;
use call_sample::CallSample;
use creations::{CreatedChares, Epitaphs, Serials, Strays};
use crossbeam_utils::CachePadded;
use device_steps::DeviceSteps;
use early::{Early, Missing};
pub(crate) use events::ChareEvent;
use futures::Futures;
use meter::Meter;
use places::{Location, Places};
use queued::{Outcome, Queued};
use releases::Releases;
use run_queue::RunQueue;
use running::{Now, Whose};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::iter;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;
use tasks::Tasks;
use timeline::Timeline;
use times::Times;
use wishes::Wishes;

chare_lrts::knob! {
    /// Steps between two polls of the network by a busy PE: a power of two.
    pub(crate) fn network_interval() -> u32 = 16, or [1, 256];
}

/// The most services there may be: each has a place in its PE and a bit of `attention`.
pub(crate) const MOST_SERVICES: usize = u32::BITS as usize;

/// The reason why what a collection that has ended is needed for cannot be, and what to do.
pub(crate) const ENDED: &str = "its members were destroyed before, and none will come; use its proxy, and what leads to its members, no more after that";

/// A service of the runtime: a row of function pointers for its work on a PE and on a node. The ideas are Charm++'s: Converse's handlers
/// (`deliver`), conditions (`poll`, `before_rest`) and `CkArrayListener` (`event`).
#[derive(Clone, Copy)]
pub(crate) struct Service {
    pub(crate) id: ServiceId,
    /// The service's name in errors.
    pub(crate) name: &'static str,
    pub(crate) node: NodeService,
    /// Makes the state that a PE keeps for the service.
    pub(crate) state: fn() -> TypedBox,
    /// Whether the PEs of a node attend to the service from their beginning on.
    pub(crate) attends: fn(&Node) -> bool,
    /// Carries out a message of the service.
    pub(crate) deliver: fn(&Pe, CallOptions, Box<dyn SystemMessage>) -> Outcome,
    /// Called every [`network_interval`] steps and before a PE rests, as long as the service asks for it by [`Pe::attend_to`]. Returns
    /// whether the service did anything.
    pub(crate) poll: fn(&Pe) -> bool,
    /// The time at which `poll` has something to do next, as far as the service knows: a PE that attends to the service sleeps no longer
    /// than that.
    pub(crate) due: fn(&Pe) -> Option<Instant>,
    /// Called when a PE that attends to the service has nothing else to do. Returns whether the service did anything.
    pub(crate) before_rest: fn(&Pe) -> bool,
    /// Hears of chares that have gone, and of events of collections: whoever keeps something by chare or collection.
    pub(crate) event: Option<Hearer>,
    /// Calls all chares that the service knows by one name, because a callback leads there.
    pub(crate) fire: Option<fn(&Pe, CallOfMany)>,
    /// Takes a call of a member that is not on its PE; exactly one service has this function.
    pub(crate) absent: Option<Absent>,
    /// Tells of the callbacks that the service holds, and in words what each is for: for reports of what waits.
    pub(crate) promises: fn(&Pe, &mut Promises<'_>),
    /// Tells of what waits for the service itself, in words: for reports of what waits.
    pub(crate) waits: fn(&Pe, &mut TellWait<'_>),
    /// Drops the state that the PE keeps for the service, when the job is over.
    pub(crate) clear: fn(&Pe),
}

/// Closure that hears of a callback and what it is for.
pub(crate) type Promises<'a> = dyn FnMut(&ErasedCallback, String) + 'a;

/// Closure that hears of what waits for a service.
pub(crate) type TellWait<'a> = dyn FnMut(Waits<'_>, String) + 'a;

/// What waits for a service.
pub(crate) enum Waits<'a> {
    /// The task with this waker.
    Task(&'a Waker),
    /// Something that is no task.
    Other,
    /// Nothing; but it may be why others wait.
    Aside,
}

impl Service {
    /// A service with an id and a name, which does nothing yet.
    pub(crate) const fn named(id: ServiceId, name: &'static str) -> Self {
        Self {
            id,
            name,
            node: NodeService::NONE,
            state: || TypedBox::new(()),
            attends: |_| false,
            deliver: |_, _, _| unreachable!("a service that says nothing hears nothing"),
            poll: |_| false,
            due: |_| None,
            before_rest: |_| false,
            event: None,
            fire: None,
            absent: None,
            promises: |_, _| (),
            waits: |_, _| (),
            clear: |_| (),
        }
    }
}

/// Function that hears of events.
pub(crate) type Hearer = fn(&Pe, &mut ChareEvent<'_>);

/// Function that takes a call of a member that is not on this PE.
pub(crate) type Absent = fn(&Pe, CallOptions, Call, (CollectionId, Index)) -> Outcome;

/// A call of all chares that a service knows by one name: a collection or a section.
pub(crate) struct CallOfMany {
    /// The name: the creator's PE, and the number that the creator gave.
    pub(crate) many: (PeId, u32),
    pub(crate) options: CallOptions,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
    pub(crate) reference: u64,
}

/// A PE; see the file's head. Aligned, so that where its fields lie in lines of the cache is not the allocator's choice: that was up to a
/// tenth of a call.
#[repr(align(128))]
pub(crate) struct Pe {
    pub(crate) id: PeId,
    pub(crate) node: Arc<Node>,
    /// The counters of this PE; the node has a handle, too.
    pub(crate) counters: Arc<CachePadded<Counters>>,
    /// The mailbox for work from threads other than the node's PEs; the node has a handle, too.
    pub(crate) mailbox: Arc<CachePadded<Mailbox>>,
    pub(crate) queue: RefCell<RunQueue<Queued>>,
    /// Ways to the other PEs of the node, by rank; each is opened when it is first needed.
    pub(crate) ways_out: RefCell<Vec<Option<Sender>>>,
    /// Ways from other PEs of the node.
    pub(crate) ways_in: RefCell<Vec<Receiver>>,
    /// Credit that this PE owes other nodes for messages that it has run.
    pub(crate) owed: RefCell<Owed>,
    /// Memory lent by other nodes that the current step has released.
    pub(crate) releases: Releases,
    pub(crate) device_steps: DeviceSteps,
    /// Vector in which messages for other nodes are encoded, kept from one message to the next.
    pub(crate) frame: Cell<Vec<u8>>,
    pub(crate) places: RefCell<Places>,
    pub(crate) early: RefCell<Early>,
    pub(crate) begun_calls: BegunCalls,
    pub(crate) futures: RefCell<Futures>,
    pub(crate) tasks: Tasks,
    services: &'static [Service],
    /// The services that hear of events: no other is asked, whoever goes.
    hearers: Box<[Hearer]>,
    /// The state of each service on this PE.
    states: Box<[TypedBox]>,
    /// The services that want to be polled, one bit for each.
    attention: Cell<u32>,
    /// Those of them whose next poll is in flight.
    due: Cell<u32>,
    absent: Absent,
    running: Now,
    /// The times of chares, if a balancer may ask for them.
    pub(crate) meter: Option<Box<Meter>>,
    /// The calls of chares, if a balancer may ask for them.
    pub(crate) call_sample: Option<Box<CallSample>>,
    /// Whether calls to other PEs are seen one by one: by a timeline, or by a sample.
    sees_calls: bool,
    /// The times of entries, if they are taken.
    pub(crate) times: Option<Box<Times>>,
    /// Calls that run inside `running`, like functions, with the names of their entries; the innermost comes last.
    inside: RefCell<Vec<(Whose, &'static str)>>,
    /// Where the stack was when the outermost of them began.
    inside_from: Cell<usize>,
    /// Of the chare that was constructed last: where the next one's is to stand.
    pub(crate) spare_identity: Cell<Option<Rc<Identity>>>,
    /// The arguments of chares that are constructed anew after a panic.
    pub(crate) renewals: RefCell<FxHashMap<Target, Arguments>>,
    /// Whether the running chare asked to be removed.
    pub(crate) destroyed: Cell<bool>,
    pub(crate) wishes: Wishes,
    steps: Cell<u32>,
    /// The singletons whose home this PE is and that were created.
    pub(crate) created_chares: RefCell<CreatedChares>,
    pub(crate) strays: RefCell<Strays>,
    pub(crate) epitaphs: Epitaphs,
    pub(crate) serials: Serials,
    /// What `+trace` writes of this PE.
    timeline: Option<Box<Timeline>>,
}

/// Has wishes of elements on the current PE seen to, because what kept one where it is, as a handle or a buffer that waits does, is over.
pub fn let_go() {
    Pe::try_current(|pe| pe.see_to_wishes());
}

impl Pe {
    /// A PE; with a seed, one whose run queue is shuffled.
    pub(crate) fn new(
        id: PeId,
        node: Arc<Node>,
        shuffle: Option<u64>,
        services: &'static [Service],
    ) -> Rc<Self> {
        // Another seed for each PE: PEs that all shuffled alike would hide what their differences show.
        let seed_here = |seed: u64| seed.rotate_left(32).wrapping_add(u64::from(id.0));
        let first = node.numbers.first();
        let samples = node.balancing.samples_calls;
        let attended = services.iter().filter(|service| (service.attends)(&node));
        let attention = attended.fold(0, |bits, service| bits | 1 << service.id.0);
        let queue = shuffle.map_or_else(RunQueue::new, |seed| RunQueue::shuffled(seed_here(seed)));
        Rc::new(Self {
            id,
            counters: Arc::clone(&node.counters[node.topology.rank_of(id)]),
            mailbox: node.mailbox_of(id),
            queue: RefCell::new(queue),
            ways_out: RefCell::new(node.pes().filter(|_| node.has_ways).map(|_| None).collect()),
            ways_in: RefCell::default(),
            owed: RefCell::new(Owed::new(node.topology.nodes(), node.topology.pes_per_node())),
            releases: Releases::default(),
            device_steps: DeviceSteps::default(),
            frame: Cell::default(),
            places: RefCell::new(Places::new(node.answers, !samples)),
            early: RefCell::new(Early::new(Arc::clone(&node.allowance))),
            begun_calls: BegunCalls::default(),
            futures: RefCell::new(Futures::new(first.futures)),
            tasks: Tasks::default(),
            services,
            states: services.iter().map(|service| (service.state)()).collect(),
            attention: Cell::new(attention),
            due: Cell::new(0),
            hearers: services.iter().filter_map(|service| service.event).collect(),
            absent: services.iter().find_map(|service| service.absent).expect("one service finds members"),
            running: Now::default(),
            meter: node.balancer.is_some().then(|| Box::new(Meter::new())),
            call_sample: samples.then(|| Box::new(CallSample::new())),
            sees_calls: samples || node.timeline.outlet().is_some(),
            times: node.is_timed.then(Box::default),
            inside: RefCell::default(),
            inside_from: Cell::new(0),
            spare_identity: Cell::default(),
            renewals: RefCell::default(),
            destroyed: Cell::new(false),
            wishes: Wishes::default(),
            steps: Cell::new(0),
            created_chares: RefCell::new(CreatedChares::new(id, first.creations)),
            strays: RefCell::default(),
            epitaphs: Epitaphs::default(),
            serials: Serials::new(id, Arc::clone(&node.numbers)),
            timeline: node.timeline.outlet().map(|outlet| Box::new(Timeline::new(id, outlet))),
            node,
        })
    }

    /// The state of a service on this PE.
    ///
    /// # Panics
    /// If the service keeps a state of another type.
    #[inline]
    pub(crate) fn state<T: Any>(&self, service: ServiceId) -> &T {
        self.states[usize::from(service.0)].get()
    }

    /// The row of a service that a message names.
    pub(crate) fn service(&self, service: ServiceId) -> Option<&'static Service> {
        self.services.get(usize::from(service.0))
    }

    /// Tells of the callbacks that services hold.
    pub(crate) fn each_promise(&self, tell: &mut Promises<'_>) {
        self.services.iter().for_each(|service| (service.promises)(self, tell));
    }

    /// Tells of what waits for services themselves.
    pub(crate) fn each_wait(&self, tell: &mut TellWait<'_>) {
        self.services.iter().for_each(|service| (service.waits)(self, tell));
    }

    /// Starts to poll a service, or stops.
    #[inline]
    pub(crate) fn attend_to(&self, service: ServiceId, wanted: bool) {
        let bit = 1 << service.0;
        self.attention.update(|bits| if wanted { bits | bit } else { bits & !bit });
    }

    /// Has a service polled before anything else runs here. What it will do then is in flight until it has done it, or quiescence would be
    /// told before.
    pub(crate) fn poll_soon(&self, service: ServiceId) {
        self.attend_to(service, true);
        self.look_soon();
        let (due, bit) = (self.due.get(), 1 << service.0);
        if due & bit == 0 {
            self.due.set(due | bit);
            self.counters.sent.add(1);
        }
    }

    /// Has wishes that wait seen to, because what may have kept elements has gone on or is over: they may be free now.
    #[inline]
    pub(crate) fn see_to_wishes(&self) {
        if self.wishes.are_waiting() {
            self.poll_soon(wishes::SEEN_TO_BY);
        }
    }

    /// Polls a service by one of its functions.
    pub(crate) fn poll_by(&self, service: &'static Service, poll: fn(&Pe) -> bool) -> bool {
        let bit = 1 << service.id.0;
        let is_due = self.due.get() & bit != 0;
        self.due.update(|due| due & !bit);
        let did = poll(self);
        if is_due {
            self.counters.processed.add(1);
        }
        did
    }

    /// The services that are polled: only they are looked at, one or two of all.
    #[inline]
    pub(crate) fn attended(&self) -> impl Iterator<Item = &'static Service> {
        let (services, mut bits) = (self.services, self.attention.get());
        iter::from_fn(move || {
            // Without a bit it is the number of a bit's places, which no service has.
            let number = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            services.get(number as usize)
        })
    }

    /// Hands a call of a member that is not here to the service that finds members.
    pub(crate) fn reroute(&self, options: CallOptions, call: Call, member: (CollectionId, Index)) -> Outcome {
        (self.absent)(self, options, call, member)
    }

    /// Ends the job because a message cannot be delivered.
    pub(crate) fn fail(&self, what: String, cause: impl ToString) {
        let cause = cause.to_string();
        self.node.fail(JobError::Delivery { what, pe: self.id, node: self.node.id, cause });
    }

    /// Keeps a message until the chare, collection, member or section it is for exists; ends the job when too many messages wait.
    pub(crate) fn keep(&self, missing: Missing, options: CallOptions, body: Body) -> Outcome {
        let envelope = Envelope { options, body };
        if let Some(whose) = self.node.numbers.other(missing.serial()) {
            self.fail(envelope.body.describe(), format!("{missing} {whose}"));
            return Outcome::NotCounted;
        }
        if let Missing::Collection(id) = missing
            && self.places.borrow().has_ended(id)
        {
            self.fail(envelope.body.describe(), format!("{missing} has ended: {ENDED}"));
            return Outcome::NotCounted;
        }
        // Measured before the borrow: measuring runs the serialization of the user's types.
        let bytes = envelope.bytes();
        let kept = self.early.borrow_mut().keep(missing, envelope, bytes);
        if let Err(refused) = kept {
            let (envelope, cause) = *refused;
            self.fail(envelope.body.describe(), cause);
        }
        Outcome::NotCounted
    }

    /// Queues the messages that arrived before `missing` was created; they were counted when they were sent. Callers of a member that
    /// lives elsewhere learn so on the way.
    pub(crate) fn release_early(&self, missing: Missing) {
        let early = match &mut *self.early.borrow_mut() {
            // Nearly always, at every creation.
            early if early.is_empty() => return,
            early => early.release(missing),
        };
        let mut queue = self.queue.borrow_mut();
        early.into_iter().for_each(|envelope| queue.push_message(envelope));
    }

    /// The place of a chare, as far as this PE knows.
    #[inline]
    pub(crate) fn locate(&self, target: Target) -> Location {
        self.places.borrow_mut().locate(self.id, target)
    }

    /// Counts a step; returns its number.
    #[inline]
    pub(crate) fn begin_step(&self) -> u32 {
        let step = self.steps.get().wrapping_add(1);
        self.steps.set(step);
        step
    }

    /// Makes the next step poll the network.
    pub(crate) fn look_soon(&self) {
        self.steps.update(|step| step | (network_interval() - 1));
    }
}
