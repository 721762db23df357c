//! Oracles of a simulated job: promises of the runtime that the world can see kept or broken with every event, whatever the program is.
//!
//! | promise | how it is seen |
//! |---|---|
//! | a message between nodes comes once, as it was sent | the book of what is on its way ([`crate::node::ledger`]) |
//! | no message is over more than once | as many are over as were sent, or fewer, all nodes together |
//! | every message is counted | no more are in plain sight (the census) than are counted |
//! | quiescence is not told early | when PE 0 tells of it, as many messages are over as were sent |
//! | quiescence is not told late | it is told by the third wave after that, and in bounded time |
//! | credit is neither lost nor made | what a node has spent at another one is what is on its way there, what is held there, and what is on its way back |
//!
//! They look between two events, and at what happened within one all together. Once the job ends on a node they look away: what is on its
//! way then is dropped.

use super::cast::Cast;
use crate::model::envelope::{Body, Envelope};
use crate::model::ids::NodeId;
use crate::node::credit::Cost;
use crate::node::ledger::Shared;
use crate::node::mailbox::Work;
use crate::pe::Pe;
use crate::pe::queued::Queued;
use crate::services::quiescence::{self, Sums, Told};
use crate::services::timers;
use std::rc::Rc;
use std::time::Duration;

/// Events between two censuses, at the least.
const CENSUS_INTERVAL: u64 = 256;

/// Waves that PE 0 may need to see that everything is over: one that was out before, one that shows it, and one that shows the same.
const WAVES: u64 = 3;

/// Time within which they are over, in nanoseconds: thousands of times what a frame takes.
const WAVES_NS: u64 = Duration::from_secs(60).as_nanos() as u64;

/// Since when all is over that somebody waits for.
#[derive(Clone, Copy)]
struct Over {
    waves: u64,
    at: u64,
}

/// See the file's head.
pub(super) struct Oracles {
    book: Shared,
    /// What each node has sent and processed.
    of_nodes: Vec<Sums>,
    /// Their sum.
    all: Sums,
    told: Told,
    over: Option<Over>,
    events: u64,
    next_census: u64,
}

impl Oracles {
    /// Oracles over nodes that write this book, whose PEs have begun.
    pub(super) fn new(book: &Shared, cast: &Cast<'_>) -> Self {
        let mut oracles = Self {
            book: Shared::clone(book),
            of_nodes: vec![Sums::default(); cast.nodes.len()],
            all: Sums::default(),
            told: Told::default(),
            over: None,
            events: 0,
            next_census: CENSUS_INTERVAL,
        };
        (0..cast.nodes.len()).for_each(|node| oracles.count(cast, node));
        oracles
    }

    /// Looks at what an event at a node has changed.
    ///
    /// # Errors
    /// The promise that is broken, in words.
    pub(super) fn look(&mut self, cast: &Cast<'_>, node: usize, now: u64) -> Result<(), String> {
        let before = self.all;
        self.events += 1;
        self.count(cast, node);
        if let Some(fault) = self.book.lock().fault() {
            return Err(fault.to_owned());
        }
        if (self.all.in_flight() as i64) < 0 {
            let Sums { sent, processed, .. } = self.all;
            return Err(format!("{sent} messages were sent and {processed} are over"));
        }
        let peer = (self.events % cast.nodes.len() as u64) as usize;
        self.balance(cast, peer, node)?;
        self.balance(cast, node, peer)?;
        let is_told = node == 0 && self.hear(cast, before, now)?;
        if is_told || self.events >= self.next_census {
            self.take_census(cast)?;
        }
        Ok(())
    }

    /// Counts the messages of a node anew.
    fn count(&mut self, cast: &Cast<'_>, node: usize) {
        let sums = Sums::of_node(cast.nodes[node].node);
        let was = std::mem::replace(&mut self.of_nodes[node], sums);
        self.all.sent = self.all.sent.wrapping_add(sums.sent).wrapping_sub(was.sent);
        self.all.processed = self.all.processed.wrapping_add(sums.processed).wrapping_sub(was.processed);
        self.all.limits = self.all.limits.wrapping_add(sums.limits).wrapping_sub(was.limits);
    }

    /// Compares the credit that a node has spent at another one with where it is.
    fn balance(&self, cast: &Cast<'_>, source: usize, target: usize) -> Result<(), String> {
        if source == target {
            return Ok(());
        }
        let (there, here) = (cast.nodes[target].node, cast.nodes[source].node);
        let (there_id, here_id) = (there.id, here.id);
        let (spent, _) = here.departures.account(there_id).balance();
        let (_, held) = there.departures.account(here_id).balance();
        let withheld = here.departures.withheld_bytes(there_id);
        let book = self.book.lock();
        let (paid, back) = (book.on_way(here_id, there_id).price, book.on_way(there_id, here_id).credit);
        if spent.wrapping_add(withheld) == paid.wrapping_add(held).wrapping_add(back) {
            return Ok(());
        }
        Err(format!(
            "{here_id} has spent {spent} bytes of credit at {there_id}: {} is the price of what is on its way there, {held} is held there, \
             and {back} is on its way back",
            paid.wrapping_sub(withheld)
        ))
    }

    /// Hears what PE 0 has told since the last event; returns whether it told that all is over.
    fn hear(&mut self, cast: &Cast<'_>, before: Sums, now: u64) -> Result<bool, String> {
        let (told, waiting) = quiescence::look_at(&cast.pes[0].pe);
        let was = std::mem::replace(&mut self.told, told);
        // Nothing that this event did was there when the waves found that all is over.
        let (in_flight, limits) = (before.in_flight(), before.limits);
        if told.all_over > was.all_over && in_flight > 0 {
            return Err(format!("quiescence was told while {in_flight} messages were in flight"));
        }
        if told.limits_alone > was.limits_alone && in_flight > limits {
            let others = in_flight - limits;
            return Err(format!(
                "quiescence was told while {others} messages were in flight beside limits of waits"
            ));
        }
        let is_over = (waiting.anybody && self.all.in_flight() == 0)
            || (waiting.program && self.all.in_flight() == self.all.limits);
        let is_told = told.all_over > was.all_over || told.limits_alone > was.limits_alone;
        if !is_over || is_told {
            self.over = None;
        } else {
            let since = *self.over.get_or_insert(Over { waves: told.waves, at: now });
            if told.waves - since.waves > WAVES || now - since.at > WAVES_NS {
                return Err(format!(
                    "quiescence was not told in {} waves and {} ns, although nothing was in flight",
                    told.waves - since.waves,
                    now - since.at
                ));
            }
        }
        Ok(is_told)
    }

    fn take_census(&mut self, cast: &Cast<'_>) -> Result<(), String> {
        let found = take_census(cast);
        self.next_census = self.events + CENSUS_INTERVAL.max(found.seen).max(cast.pes.len() as u64);
        let (seen, in_flight) = (found.counted + self.book.lock().counted(), self.all.in_flight());
        if seen > in_flight {
            return Err(format!(
                "{seen} messages are in queues, mailboxes, timers and on their way between nodes, and {in_flight} are counted as in flight"
            ));
        }
        for (number, at) in cast.nodes.iter().enumerate() {
            let (target, pes) = (at.node.id, || cast.pes_of(number).iter().map(|at| &at.pe));
            for source in (0..cast.nodes.len() as u32).map(NodeId).filter(|source| *source != target) {
                let (_, held) = at.node.departures.account(source).balance();
                let owed: u64 = pes().map(|pe| pe.owed.borrow().to(source)).sum();
                let waiting = cost_waiting(pes(), source);
                if owed + waiting > held {
                    return Err(format!(
                        "{target} holds {held} bytes of credit of {source}, of which its PEs owe {owed} and {waiting} wait in queues"
                    ));
                }
            }
        }
        Ok(())
    }
}

/// What a census finds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Found {
    /// Messages that quiescence has to wait for, at the least.
    counted: u64,
    /// Everything that was looked at.
    seen: u64,
}

/// Looks at what waits in queues and mailboxes, at messages that came too early, and at timers. What is on the ways between PEs of a node,
/// and what services keep, it does not see.
fn take_census(cast: &Cast<'_>) -> Found {
    let mut found = Found::default();
    for at in &cast.pes {
        let mut see = |is_counted: bool| {
            found.seen += 1;
            found.counted += u64::from(is_counted);
        };
        at.pe.queue.borrow().iter().for_each(|queued| see(is_counted(queued)));
        at.pe.mailbox.each(|work| see(is_work_counted(work)));
        at.pe.early.borrow().waiting().for_each(|_| see(true));
        (0..timers::set(&at.pe)).for_each(|_| see(true));
    }
    found
}

/// What messages of a node have cost that wait on these PEs, at the least.
fn cost_waiting<'a>(pes: impl Iterator<Item = &'a Rc<Pe>>, source: NodeId) -> u64 {
    let mut bytes = 0;
    for pe in pes {
        let mut add = |cost: Cost| {
            if cost.source == source {
                bytes += u64::from(cost.bytes);
            }
        };
        pe.queue.borrow().iter().for_each(|queued| add(queued.cost()));
        pe.mailbox.each(|work| {
            if let Work::Message(_, cost) = work {
                add(*cost);
            }
        });
    }
    bytes
}

fn is_counted(queued: &Queued) -> bool {
    match queued {
        Queued::Call(_) | Queued::NocopyCall(..) => true,
        Queued::Work(work) => is_work_counted(work),
        Queued::Done => false,
    }
}

fn is_work_counted(work: &Work) -> bool {
    match work {
        Work::Message(Envelope { body: Body::System(message), .. }, _) => message.is_counted(),
        Work::Message(..) | Work::Waited(_) | Work::Task(_) => true,
        Work::Way(_) | Work::Begin(_) => false,
    }
}
