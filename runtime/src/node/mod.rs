//! A node, one process of a job: the state that its PEs share, and the seam by which a service keeps state there and takes frames from
//! other nodes. Here live mailboxes, queues to other nodes, credit, registered memory, transfers, and the end of the job on one node.
//! Chares and a PE's tables never do, and what a service keeps stands in its slot: only what buffers need that travel (lent memory, known
//! layouts, methods, staged and posted messages, devices) has fields of its own, because the floor above, `transfer`, is no service.

mod arrival;
pub(crate) mod backpressure;
pub(crate) mod balancing;
pub(crate) mod credit;
mod departures;
pub(crate) mod devices;
mod end;
mod ending;
pub(crate) mod entry_times;
mod held_back;
mod large_messages;
pub(crate) mod ledger;
pub(crate) mod lending;
mod line;
pub(crate) mod mailbox;
mod posted_calls;
mod posting;
pub(crate) mod seeds;
pub(crate) mod timeline;
mod transferring;
mod waking;
pub(crate) mod way;
pub(crate) mod ways_taken;
mod window;

pub(crate) use arrival::{Arrival, Delivery};
pub(crate) use end::{Ending, Outcome};
pub(crate) use large_messages::Large;

use crate::base::allowance::Allowance;
use crate::base::counters::Counters;
use crate::base::host_memory::{Headroom, kept_bytes_max};
use crate::base::numbering::JobNumbers;
use crate::base::watcher::Watch;
use crate::model::envelope::frame::Packed;
use crate::model::ids::{NodeId, PeId, ServiceId};
use crate::model::nocopy::LayoutMethod;
use crate::model::topology::Topology;
use balancing::{Balancing, BalancingHistory};
use chare_lrts::Lrts;
use chare_lrts::clock;
use chare_lrts::reach::Reach;
use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;
use departures::Departures;
use devices::Devices;
use end::End;
use entry_times::EntryTimes;
use held_back::HeldBack;
use large_messages::LargeMessages;
use ledger::Ledger;
use lending::deregistrations::Deregistrations;
use lending::known_layouts::KnownLayouts;
use lending::transfers::Transfers;
use mailbox::{Mailbox, Reports};
use posted_calls::PostedCalls;
use seeds::Seeds;
use std::any::Any;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use timeline::Writing;
use ways_taken::WaysTaken;

/// Function that polls the network on behalf of a PE that waits for it, and returns whether anything happened. The floors above give it
/// to the node, because they take the frames that arrive.
pub(crate) type Look = fn(&Arc<Node>) -> bool;

/// Function that lets entries run on all nodes, unless they do: it belongs to the floors above, because the readonly values go first.
pub(crate) type OpenAll = fn(&Node);

/// Work that an arrival leaves for after the look at the network.
pub(crate) type PutOff = Box<dyn FnOnce(&Arc<Node>) + Send>;

/// The part of a service on a node: a row of function pointers, one row for each service of the runtime.
#[derive(Clone, Copy)]
pub(crate) struct NodeService {
    /// Makes the state that a node keeps for the service.
    pub(crate) state: fn() -> Box<dyn Any + Send + Sync>,
    /// Takes a message of the service from another node. Returns the message to leave with a PE of this node, if it is of that kind.
    ///
    /// # Errors
    /// A message that does not fit this program or this job, in words.
    pub(crate) arrive: fn(&Arc<Node>, Arrival<'_>) -> Result<Option<Delivery>, String>,
    /// Drops the state that holds on to the node, when the job is over.
    pub(crate) clear: fn(&Node),
}

impl NodeService {
    /// A service that keeps no state on a node and takes no messages from other nodes.
    pub(crate) const NONE: Self = Self {
        state: || Box::new(()),
        arrive: |_, _| Err("this service says nothing to other nodes".to_owned()),
        clear: |_| (),
    };
}

/// What the floors above give a node.
#[derive(Clone)]
pub(crate) struct Above {
    pub(crate) look: Look,
    pub(crate) open_all: OpenAll,
    pub(crate) services: &'static [NodeService],
    /// Whether PEs take the times of entries.
    pub(crate) is_timed: bool,
    /// Messages that may wait for a PE on the way from another PE of the node, if that has a bound.
    pub(crate) mailbox_bound: Option<NonZeroU32>,
    /// Whether two PEs of the node have a way of their own; else all goes through mailboxes.
    pub(crate) has_ways: bool,
    /// How many places of chares each PE remembers.
    pub(crate) answers: usize,
    /// Bytes that the node may keep because of others, if that is not a part of the host's memory.
    pub(crate) kept_bytes_max: Option<u64>,
    /// How laid-out memory of other processes is brought here, if the costs do not choose.
    pub(crate) layout_method: Option<LayoutMethod>,
    /// Whether the ways of nocopy arguments are told at the end.
    pub(crate) tells_ways: bool,
    /// The balancers that take turns, as they were named.
    pub(crate) balancer: Option<Arc<str>>,
    /// When they have their turns, and what they look at.
    pub(crate) balancing: Balancing,
    /// Whether entries that may be called again are, wherever they might be: to test them.
    pub(crate) begins_anew: bool,
    /// Where singletons are created of which nobody says where.
    pub(crate) seeds: Seeds,
}

/// One process of a job; see the file's head.
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) topology: Topology,
    /// The numbers of what the job makes.
    pub(crate) numbers: Arc<JobNumbers>,
    first_pe: PeId,
    pub(crate) network: Reach,
    pub(crate) transfers: Transfers,
    pub(crate) deregistrations: Deregistrations<Self>,
    services: &'static [NodeService],
    /// The state of each service on this node.
    states: Box<[Box<dyn Any + Send + Sync>]>,
    /// Memory that may be kept because of other nodes.
    pub(crate) allowance: Arc<Allowance>,
    headroom: Headroom,
    pub(crate) large_messages: LargeMessages,
    pub(crate) posted_calls: PostedCalls,
    pub(crate) known_layouts: KnownLayouts,
    /// How laid-out memory of other processes is brought here, if the costs do not choose.
    pub(crate) layout_method: Option<LayoutMethod>,
    pub(crate) ways_taken: WaysTaken,
    /// What its PEs have left, if times are taken.
    pub(crate) entry_times: EntryTimes,
    /// Of the node that plans them.
    pub(crate) balancing_history: BalancingHistory,
    /// Counters, one per PE of this node.
    pub(crate) counters: Vec<Arc<CachePadded<Counters>>>,
    /// Counters of events outside entries, written by any thread.
    pub(crate) outside: Counters,
    pub(crate) started: Instant,
    /// Whether PEs take the times of entries.
    pub(crate) is_timed: bool,
    /// The balancers that take turns, as they were named.
    pub(crate) balancer: Option<Arc<str>>,
    /// When they have their turns, and what they look at.
    pub(crate) balancing: Balancing,
    /// Whether entries that may be called again are, wherever they might be: to test them.
    pub(crate) begins_anew: bool,
    /// Where singletons are created of which nobody says where.
    pub(crate) seeds: Seeds,
    /// Messages that may wait for a PE on the way from another PE of the node, if that has a bound.
    pub(crate) mailbox_bound: Option<NonZeroU32>,
    /// Whether two PEs have a way of their own; else all goes through mailboxes.
    pub(crate) has_ways: bool,
    /// How many places of chares each PE remembers.
    pub(crate) answers: usize,
    pub(crate) held_back: HeldBack,
    mailboxes: Vec<Arc<CachePadded<Mailbox>>>,
    pub(crate) departures: Departures<Packed>,
    pub(crate) ledger: Ledger,
    pub(crate) devices: Devices<Self>,
    /// Work of arrivals that takes long.
    put_off: SegQueue<PutOff>,
    /// Of streams of devices that are far enough.
    pub(crate) reports: Arc<Reports>,
    look: Look,
    open_all: OpenAll,
    pub(crate) frame_bytes_max: usize,
    /// Whether the readonly values are here, so that entries may run.
    open: AtomicBool,
    watch: Watch,
    pub(crate) timeline: Writing,
    end: End,
}

impl Node {
    /// A node, one of `host_nodes` that share the memory of their host, with its devices, in a job with these numbers.
    pub(crate) fn new(
        id: NodeId,
        topology: Topology,
        network: Reach,
        devices: Devices<Self>,
        (host_nodes, numbers): (u32, Arc<JobNumbers>),
        above: Above,
    ) -> Self {
        let Above { look, open_all, services, is_timed, layout_method, tells_ways, .. } = above;
        let Above { balancer, balancing, begins_anew, seeds, .. } = above;
        let kept_bytes_max = above.kept_bytes_max.unwrap_or_else(|| kept_bytes_max(host_nodes));
        let allowance = Arc::new(Allowance::new(kept_bytes_max));
        let (first_pe, pes) = (topology.pe(id, 0), topology.pes_per_node() as usize);
        let frame_bytes_max = network.capabilities().frame_bytes_max;
        #[cfg(feature = "sim")]
        let mailbox = || if above.has_ways { Mailbox::new() } else { Mailbox::small() };
        #[cfg(not(feature = "sim"))]
        let mailbox = Mailbox::new;
        let mailboxes: Vec<_> = (0..pes).map(|_| Arc::new(CachePadded::new(mailbox()))).collect();
        if topology.nodes() == 1 {
            // Nobody watches the network of a lone node, which news wake.
            let mailboxes = mailboxes.clone();
            network.regions().on_news(move || {
                mailboxes.iter().any(|mailbox| mailbox.wake_parked());
            });
        }
        let reports = Arc::new(Reports::new(&mailboxes, &network));
        Self {
            id,
            numbers,
            first_pe,
            network,
            transfers: Transfers::default(),
            deregistrations: Deregistrations::default(),
            services,
            states: services.iter().map(|service| (service.state)()).collect(),
            large_messages: LargeMessages::new(Arc::clone(&allowance)),
            posted_calls: PostedCalls::default(),
            known_layouts: KnownLayouts::default(),
            layout_method,
            ways_taken: WaysTaken::new(tells_ways),
            entry_times: EntryTimes::default(),
            balancing_history: BalancingHistory::default(),
            counters: (0..pes).map(|_| Arc::default()).collect(),
            outside: Counters::default(),
            started: clock::now(),
            is_timed,
            balancer,
            balancing,
            begins_anew,
            seeds,
            mailbox_bound: above.mailbox_bound,
            has_ways: above.has_ways,
            answers: above.answers,
            held_back: HeldBack::new(pes),
            mailboxes,
            departures: Departures::new(topology.nodes(), Arc::clone(&allowance)),
            ledger: Ledger::default(),
            topology,
            allowance,
            headroom: Headroom::new(host_nodes),
            devices,
            put_off: SegQueue::new(),
            reports,
            look,
            open_all,
            frame_bytes_max,
            open: AtomicBool::new(false),
            watch: Watch::new(),
            timeline: Writing::default(),
            end: End::default(),
        }
    }

    /// Bytes of elements that may move here.
    pub(crate) fn room(&self) -> u64 {
        self.headroom.room()
    }

    /// Notes that memory of so many bytes is lent.
    ///
    /// # Errors
    /// When the host has hardly any memory left, in words.
    pub(crate) fn note_lent(&self, bytes: u64) -> Result<(), String> {
        self.headroom.lend(bytes).map(|step| self.limit_growth(step))
    }

    /// Notes that memory of so many bytes is about to be made for a buffer that is fetched.
    ///
    /// # Errors
    /// When the host has hardly any memory left beside it, in words.
    pub(crate) fn note_fetched(&self, bytes: u64) -> Result<(), String> {
        self.headroom.fetch(bytes).map(|step| self.limit_growth(step))
    }

    /// Shareable memory, which grows in steps, is part of what nobody looks at before so many bytes more are lent and fetched.
    fn limit_growth(&self, step: Option<u64>) {
        if let Some(step) = step {
            self.network.limit_growth(usize::try_from(step).unwrap_or(usize::MAX));
        }
    }

    /// Polls the network by the node's [`Look`]. Returns whether anything happened.
    pub(crate) fn look_at_network(self: &Arc<Self>) -> bool {
        (self.look)(self)
    }

    /// The state of a service on this node.
    ///
    /// # Panics
    /// If the service keeps a state of another type.
    pub(crate) fn state<T: Any>(&self, service: ServiceId) -> &T {
        let state = &self.states[usize::from(service.0)];
        state.downcast_ref().expect("a service asks for what it made")
    }

    /// The row of a service that another node names.
    pub(crate) fn service(&self, service: ServiceId) -> Option<&'static NodeService> {
        self.services.get(usize::from(service.0))
    }

    #[inline]
    pub(crate) fn is_here(&self, pe: PeId) -> bool {
        self.rank_here(pe).is_some()
    }

    /// A PE's rank within this node, if the PE belongs to it. Needed for every message, so it divides nothing.
    #[inline]
    pub(crate) fn rank_here(&self, pe: PeId) -> Option<usize> {
        let rank = pe.0.wrapping_sub(self.first_pe.0) as usize;
        (rank < self.mailboxes.len()).then_some(rank)
    }

    pub(crate) fn pes(&self) -> impl Iterator<Item = PeId> {
        self.topology.pes_of(self.id)
    }

    /// Drops all state that may hold on to this node, when its PEs have ended.
    pub(crate) fn clear(&self) {
        for mailbox in &self.mailboxes {
            while let Some(work) = mailbox.pop() {
                drop(work);
            }
        }
        while self.put_off.pop().is_some() {}
        self.transfers.clear();
        self.devices.clear();
        self.deregistrations.clear();
        self.services.iter().for_each(|service| (service.clear)(self));
    }

    fn mailbox(&self, pe: PeId) -> &Arc<CachePadded<Mailbox>> {
        &self.mailboxes[self.rank_here(pe).expect("the PE is of this node")]
    }

    /// A handle of a PE's mailbox, for the PE itself.
    pub(crate) fn mailbox_of(&self, pe: PeId) -> Arc<CachePadded<Mailbox>> {
        Arc::clone(self.mailbox(pe))
    }

    /// Whether work waits for room in the network, which no arrival announces, so that a PE must not sleep for long.
    pub(crate) fn is_congested(&self) -> bool {
        self.departures.are_waiting() || self.transfers.has_refused()
    }

    /// Whether anything waits for room, or for the end of another's claim.
    pub(crate) fn is_unsettled(&self) -> bool {
        self.is_congested() || self.deregistrations.are_waiting() || self.network.is_waiting()
    }

    /// Whether a claim has ended for which a transfer of this node may wait, or memory whose registration has ended.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.network.has_news() || self.may_reap()
    }

    /// Whether memory whose registration has ended may be free now.
    #[inline]
    pub(crate) fn may_reap(&self) -> bool {
        self.deregistrations.are_waiting() && self.network.regions().may_reap()
    }

    /// Lets entries run on this node.
    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::Release);
        self.wake_all();
    }

    /// Lets entries run on all nodes, for `main`, which alone runs before and has to wait for them; `main` sets no readonly values after
    /// that.
    pub(crate) fn open_all(&self) {
        (self.open_all)(self);
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// The record of the PEs that spin, and of the one PE that watches the network asleep.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }
}
