//! World of a simulated job: its nodes, when each of its PEs has its next turn, and the thread that lets one thing happen after another.
//!
//! 1. What happens next at a node is what has the earliest moment: a device is so far ([`VirtualTime`]), a frame arrives ([`Wires`]), a PE has its
//!    turn, or the node takes leave; at one moment in this order, and PEs by their numbers. One node after the other does all that it has to do
//!    before a moment, which is the next one unless what happens meanwhile cannot be felt elsewhere.
//! 2. A turn takes the time that it spends, and where no model describes the network some that the world's dice draw; the PE has its next
//!    one then, and whom it has woken no earlier. A PE that rests has its next turn when what it knows of
//!    is due, when it is woken, or when it is the one of its node, all of which rests, that looks after what has arrived. While its node
//!    [pauses](Pauses) it has none.
//! 3. A node whose PEs have all ended takes leave, while others may still run: what they refused, it has to send again.
//! 4. If nothing can happen any more, or nothing but waiting happens, the job [stands still](Standstill).
//! 5. A node that is [lost](World::lose) does nothing any more, and the wires tell its peers. Then nobody looks at promises, which it does not keep;
//!    nor does anybody once a frame has arrived that was changed on its way: such a job ends some time later, whatever it was told to do.
//! 6. Several threads may drive some nodes each, in a world of their own. All go on to the same moment, before which nothing that happens now
//!    can be felt at the nodes of another one, and meet there. Nothing hangs on how many they are: what happens at a node has the order of
//!    moments, and what arrives there at one moment has that of its senders.
//! 7. In an audited job [oracles](Oracles) look at each node that had an event, until one of them ends.

use super::agenda::{Agenda, Woken};
use super::audit;
use super::cast::{Actor, Cast, Stage};
use super::drawn::{Drawn, Shape};
use super::end::End;
use super::log::{Log, SimulatedEvent};
use super::made::{Made, with_audit};
use super::meeting::{Meeting, Said};
use super::oracles::Oracles;
use super::pauses::Pauses;
use super::standstill::Standstill;
use crate::delivery::driven::{self, Turn};
use crate::job::goodbye::Goodbye;
use crate::job::life::{self, Main, NodeOptions};
use crate::model::error::JobError;
use crate::model::ids::NodeId;
use crate::node::Node;
use crate::node::ledger::Shared;
use crate::services::quiescence::Sums;
use chare_device::VirtualTime;
use chare_lrts::simulated::{Arrival, Chance, Wires};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The stream of the seed's dice that the world draws from; those of nodes are numbered from 0, and the wires have the last.
const STREAM: u64 = u64::MAX - 1;

/// How many events a job may have after one of its frames arrived that was changed.
const ASTRAY_EVENTS: u64 = 100_000;

/// Time between a wake-up and the turn of the PE that was woken, in nanoseconds.
const WAKE_NS: u64 = 200;

/// Time of a turn in which a PE finds nothing to do and may not rest, where a model describes the network, in nanoseconds.
const LOOK_NS: u64 = 50;

/// A simulated job while it runs, or the part of it that one thread drives; see the file's head.
pub(super) struct World<'a> {
    wires: &'a Wires,
    made: &'a Made,
    meeting: &'a Meeting,
    devices: &'a VirtualTime,
    cast: Cast<'a>,
    /// When each PE has its next turn, each node takes leave, and each is to look at its network.
    agenda: Agenda,
    now: u64,
    /// The latest that it has been: one node after the other goes on.
    latest: u64,
    woken: Woken,
    dice: ChaCha8Rng,
    /// Least time of a turn, and how much longer it takes at the most, in nanoseconds; nothing where a model describes the network.
    turn_ns: Option<(u64, u64)>,
    /// The time at the end of the turn that was taken last: what it has spent is over then.
    turn_end: u64,
    /// When the last PE was over.
    over_at: Option<u64>,
    pauses: Pauses,
    /// The event by which a job is to be over one of whose frames was changed, and that frame: its program may have been told to go on for ever.
    astray: Option<(u64, Arrival)>,
    /// When which node is lost, if one will be.
    loss: Option<(u64, NodeId)>,
    standstill: Standstill,
    oracles: Option<Oracles>,
    book: Option<Shared>,
    /// Set by PE 0; an audit is to be made before anything else happens.
    audit_due: Arc<AtomicBool>,
    log: Log,
    /// PEs of the whole job.
    pes: usize,
}

impl<'a> World<'a> {
    pub(super) fn new(
        shape: &Shape,
        drawn: &Drawn,
        options: &NodeOptions,
        made: &'a Made,
        meeting: &'a Meeting,
    ) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(shape.seed);
        dice.set_stream(STREAM);
        let turns_differ = shape.chances.has(Chance::Turns);
        let turn_ns = [(100, 1), (50, 200), (20, 20_000)][dice.random_range(0..3)];
        let turn_ns = if turns_differ { turn_ns } else { (100, 1) };
        let turn_ns = shape.network.is_none().then_some(turn_ns);
        let has_slow = dice.random_ratio(1, 2) && turns_differ && turn_ns.is_some();
        let shuffle = options.shuffle.or(drawn.shuffle);
        let cast = Cast::of(made, shuffle, || if has_slow && dice.random_ratio(1, 4) { 50 } else { 1 });
        if let Some(costs) = shape.costs.clone().map(Rc::new) {
            cast.pes.iter().filter_map(|at| at.pe.times.as_deref()).for_each(|times| times.charge(&costs));
        }
        Self {
            wires: &made.wires,
            made,
            meeting,
            devices: &made.devices,
            agenda: Agenda::of(cast.nodes.len(), shape.pes),
            log: Log::new(cast.nodes.len(), shape.is_recorded),
            pes: (shape.nodes * shape.pes) as usize,
            cast,
            now: 0,
            latest: 0,
            woken: Woken::default(),
            dice,
            turn_ns,
            turn_end: 0,
            over_at: None,
            pauses: Pauses::draw(shape, drawn.calm_from),
            astray: None,
            loss: drawn.loss,
            standstill: Standstill::default(),
            oracles: None,
            book: made.book.clone(),
            audit_due: Arc::default(),
        }
    }

    /// Runs it to its end; `main` is for whoever drives PE 0.
    pub(super) fn run(mut self, shape: &Shape, main: Option<Main>) -> End {
        let audited = |main| with_audit(main, &self.audit_due);
        self.begin(if shape.is_audited { main.map(audited) } else { main });
        while self.go_on() {}
        let made = self.made;
        let messages = made.nodes.iter().map(|node| Sums::of_node(node).sent).sum();
        let mut end = self.finish();
        end.messages = messages;
        end.marks = made.common.marks();
        let kept = made.nodes.iter().filter(|node| Arc::strong_count(node) > 1).count();
        if shape.is_audited && end.result.is_ok() && kept > 0 {
            let what = format!("{kept} nodes are kept by something that outlives the job");
            end.result = Err(JobError::Audit { what });
        }
        end
    }

    /// Begins the job: PE 0 runs `main`, if it is here, and all others look for work.
    fn begin(&mut self, mut main: Option<Main>) {
        self.come_to(0);
        for actor in 0..self.cast.pes.len() as Actor {
            let (waker, main) = (self.woken.waker(actor), main.take());
            let ((), end) = self.cast.within_until(self.now, actor, |cast| {
                let pe = &cast.pes[actor as usize].pe;
                driven::begin(pe, waker, || {
                    if let Some(main) = main {
                        life::run_main(pe, main);
                    }
                });
            });
            self.cast.pes[actor as usize].free_at = end;
            let first = end + self.turn_time(actor, true);
            self.plan(actor, first);
        }
        self.note_news();
        self.oracles = self.book.as_ref().map(|book| Oracles::new(book, &self.cast));
    }

    /// Lets all happen before the moment at which threads have to meet next, one node after the other; returns whether the job goes on.
    fn go_on(&mut self) -> bool {
        let next = self.next_moment().into_iter().chain(self.wires.take_sent_away(self.made.district)).min();
        let said = Said { next, now: self.latest, events: self.log.count(), ..Said::NOTHING };
        let said = self.meeting.meet(said);
        let Some(begin) = said.next else {
            return self
                .decide(said.now, |standstill, cast, all| standstill.stand_still(cast, all, said.now));
        };
        let end = begin.saturating_add(self.made.lookahead);
        if let Some((moment, node)) = self.loss.take_if(|(at, _)| *at < end) {
            self.lose(node, moment);
        }
        loop {
            if let Some((moment, node)) = self.devices.next().filter(|(moment, _)| *moment < end) {
                self.pass(moment, NodeId(node as u32));
            } else if let Some(node) = self.first_before(end) {
                while self.step(node, end) {}
            } else {
                break;
            }
        }
        while let Some((moment, node)) = self.wires.hear_goodbye(self.made.district, end) {
            self.hear_goodbye(moment, node, end);
        }
        if !self.standstill.falls_due(end, said.events, self.pes) {
            return true;
        }
        self.decide(end, |standstill, cast, all| standstill.look(cast, all, end))
    }

    /// Has whoever drives the first node decide whether the job goes on, by what all say of theirs. For all it is the same time then.
    fn decide(&mut self, now: u64, by: impl FnOnce(&mut Standstill, &Cast<'_>, Said) -> bool) -> bool {
        self.come_to(now);
        let all = self.meeting.meet(Standstill::say(&self.cast, now));
        let goes_on = self.made.district > 0 || by(&mut self.standstill, &self.cast, all);
        self.note_news();
        self.meeting.meet(Said { goes_on, ..Said::NOTHING }).goes_on
    }

    /// Takes note that it is this moment.
    fn come_to(&mut self, moment: u64) {
        (self.now, self.turn_end) = (moment, moment);
        self.latest = self.latest.max(moment);
        self.wires.come_to(self.made.district, moment);
    }

    /// The moment of what happens next here.
    fn next_moment(&self) -> Option<u64> {
        let planned = [self.agenda.first().map(|(moment, _)| moment), self.loss.map(|(moment, _)| moment)];
        let comes = self.wires.next(self.made.district).map(|(moment, _)| moment);
        let others =
            [self.devices.next().map(|(moment, _)| moment), self.wires.next_goodbye(self.made.district)];
        planned.into_iter().chain([comes]).chain(others).flatten().min()
    }

    /// The node at which something happens next, if that is before a moment.
    fn first_before(&self, end: u64) -> Option<usize> {
        let comes = self.wires.next(self.made.district);
        let comes = comes.and_then(|(moment, node)| Some((moment, self.cast.find(node)?)));
        let next = comes.into_iter().chain(self.agenda.first()).min();
        next.filter(|(moment, _)| *moment < end).map(|(_, node)| node)
    }

    /// Lets the next thing happen at a node, if that is before a moment; returns whether there was any.
    fn step(&mut self, node: usize, end: u64) -> bool {
        let id = self.cast.node_id(node);
        let arrival = self.wires.next_at(id).filter(|moment| *moment < end);
        let turn = self.agenda.first_of(node).filter(|(moment, _)| *moment < end);
        match (arrival, turn) {
            (None, None) => return false,
            (Some(arrival), turn) if turn.is_none_or(|(moment, _)| arrival <= moment) => self.arrive(id),
            (_, Some((moment, actor))) => {
                self.agenda.take(actor);
                self.come_to(moment);
                self.act(actor);
            }
            (Some(_), None) => unreachable!("it arrives first"),
        }
        self.note_news();
        if self.audit_due.swap(false, Ordering::Relaxed) {
            self.audit();
        }
        if let Some((_, changed)) = self.astray.take_if(|(end, _)| self.log.count() >= *end) {
            let cause =
                format!("a frame was changed on its way, and the job went on for {ASTRAY_EVENTS} events");
            let error = JobError::Undecodable { peer: changed.source, node: changed.target, cause };
            self.within(0, |world| world.cast.nodes[0].node.fail(error));
            self.note_news();
        }
        true
    }

    /// Lets an actor do what it had planned for now, unless its node pauses.
    fn act(&mut self, actor: Actor) {
        let (pes, nodes) = (self.cast.pes.len(), self.cast.nodes.len());
        let Some(other) = (actor as usize).checked_sub(pes) else {
            let node = self.cast.node_of(actor);
            if let Some(until) = self.pauses.until(node, self.now) {
                return self.plan(actor, until);
            }
            self.take_turn(actor);
            return self.look_at(node);
        };
        match other.checked_sub(nodes) {
            None => self.leave(other),
            Some(node) => self.look_soon(node),
        }
    }

    /// Has the oracles look at a node; ends the job if a promise is broken.
    fn look_at(&mut self, node: usize) {
        let Some(oracles) = &mut self.oracles else { return };
        if self.cast.nodes[node].node.has_ended() {
            self.oracles = None;
            return;
        }
        if let Err(what) = oracles.look(&self.cast, node, self.now) {
            self.oracles = None;
            let error = JobError::Oracle { event: self.log.count(), time_ns: self.now, what };
            self.within(0, |world| world.cast.nodes[0].node.fail(error));
        }
    }

    /// Loses a node, unless it is gone.
    fn lose(&mut self, node: NodeId, moment: u64) {
        if matches!(self.cast.nodes[node.index()].stage, Stage::Gone) {
            return;
        }
        self.come_to(moment);
        self.log.note(moment, node.index(), SimulatedEvent::Loss { node });
        (self.oracles, self.book) = (None, None);
        self.cast.nodes[node.index()].stage = Stage::Lost;
        self.wires.lose(node, moment);
        self.note_news();
    }

    fn arrive(&mut self, target: NodeId) {
        let Some(arrival) = self.wires.arrive(target) else { return };
        let Some(node) = self.cast.find(target) else { return };
        self.come_to(arrival.moment);
        let source = arrival.source;
        self.log.note(self.now, node, SimulatedEvent::Arrival { source, target, hash: arrival.hash });
        if arrival.is_changed {
            (self.oracles, self.book) = (None, None);
            self.astray = Some((self.log.count() + ASTRAY_EVENTS, arrival));
        }
        if arrival.is_news {
            self.look_soon(node);
        }
    }

    /// Takes note that a node has said goodbye quietly: whoever may be done looks at the end of what happens meanwhile, whoever drives it.
    fn hear_goodbye(&mut self, moment: u64, source: NodeId, end: u64) {
        if let Some(node) = self.cast.find(source) {
            self.log.note(moment, node, SimulatedEvent::Goodbye { node: source });
        }
        self.come_to(end);
        self.note_news();
    }

    /// Lets a device of a node go on.
    fn pass(&mut self, moment: u64, node: NodeId) {
        // Who waits for a stream has devices go on ahead of the job.
        let moment = moment.max(self.now);
        self.come_to(moment);
        self.log.note(moment, node.index(), SimulatedEvent::Device { node });
        let first = node.0 * self.cast.nodes[node.index()].node.topology.pes_per_node();
        self.within(first, |world| world.devices.pass());
        // It may have woken tasks, which count.
        self.look_at(node.index());
        self.note_news();
    }

    fn take_turn(&mut self, actor: Actor) {
        if self.cast.is_lost(actor) || self.cast.pes[actor as usize].is_over {
            return;
        }
        let rested =
            self.cast.pes[actor as usize].rests_since.map_or(0, |since| self.now.saturating_sub(since));
        let (turn, end) = self.cast.within_until(self.now, actor, |cast| {
            driven::turn(&cast.pes[actor as usize].pe, Duration::from_nanos(rested))
        });
        self.turn_end = end;
        self.cast.pes[actor as usize].free_at = end;
        let (node, pe) = (self.cast.node_of(actor), self.cast.pe_id(actor));
        self.log.note(self.now, node, SimulatedEvent::Turn { pe, did: turn == Turn::Did });
        let pe = &mut self.cast.pes[actor as usize];
        match turn {
            Turn::Did | Turn::Waits => {
                pe.rests_since = if turn == Turn::Did { None } else { pe.rests_since.or(Some(end)) };
                let time = self.turn_time(actor, turn == Turn::Did);
                self.plan(actor, end + time);
            }
            Turn::Rests(limit) => {
                pe.rests_since.get_or_insert(end);
                if let Some(limit) = limit {
                    let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
                    self.plan(actor, end.saturating_add(limit.max(1)));
                }
            }
            Turn::Over => {
                pe.is_over = true;
                self.over_at = self.over_at.max(Some(end));
                self.cast.nodes[node].running -= 1;
                if self.cast.nodes[node].running == 0 {
                    self.plan(self.cast.actor_of(node), end + 1);
                }
            }
        }
    }

    /// Lets a node whose PEs have ended go on to take leave.
    fn leave(&mut self, node: usize) {
        let (actor, now) = (self.cast.actor_of(node), self.now);
        self.log.note(now, node, SimulatedEvent::Leave { node: self.cast.node_id(node) });
        let caller = self.cast.pe_id(actor).0.into();
        match self.cast.nodes[node].leave(now, caller) {
            Some(next) => self.plan(actor, next),
            None => self.wires.end(self.cast.node_id(node), now),
        }
    }

    /// Ends the job if anything is not even.
    fn audit(&self) {
        let nodes: Vec<&Arc<Node>> = self.cast.nodes.iter().map(|at| at.node).collect();
        let Some(book) = &self.book else { return };
        let faults = audit::audit(&nodes, self.cast.pes.iter().map(|at| &at.pe), &book.lock());
        if !faults.is_empty() {
            self.within(0, |world| {
                world.cast.nodes[0].node.fail(JobError::Audit { what: faults.join("\n") });
            });
        }
    }

    /// Plans turns for those who have news: PEs that were woken, and nodes for whose frames there is room again.
    fn note_news(&mut self) {
        for actor in self.woken.take() {
            self.plan(actor, self.turn_end + WAKE_NS);
        }
        for node in self.wires.take_roomy(self.made.district) {
            self.cast.find(node).into_iter().for_each(|node| self.look_soon(node));
        }
        for (moment, node) in self.wires.take_held_up(self.made.district) {
            self.plan(self.cast.looker_of(node.index()), moment);
        }
    }

    /// Has a node look at its network: by the PE that has its turn anyway, or by one that rests.
    fn look_soon(&mut self, node: usize) {
        let (pes, now) = (self.cast.nodes[node].node.topology.pes_per_node(), self.now);
        match self.cast.nodes[node].stage {
            Stage::Gone | Stage::Lost => {}
            Stage::Leaves { .. } => self.plan(self.cast.actor_of(node), now + 1),
            Stage::Runs => {
                let first = node as u32 * pes;
                if self.turn_ns.is_none() {
                    // Whoever can look first; the network tells those that rest at once.
                    let look =
                        |actor: Actor| self.awake_at(actor).unwrap_or(self.cast.pes[actor as usize].free_at);
                    let all = first..first + pes;
                    let at_once = all.clone().find(|actor| look(*actor) <= now);
                    if let Some(watcher) = at_once.or_else(|| all.min_by_key(|actor| look(*actor))) {
                        self.plan(watcher, now);
                    }
                } else if !(first..first + pes).any(|actor| self.awake_at(actor).is_some()) {
                    let watcher = first + self.dice.random_range(0..pes);
                    self.plan(watcher, now + 1);
                }
            }
        }
    }

    /// When a PE has its next turn, if it does not rest.
    fn awake_at(&self, actor: Actor) -> Option<u64> {
        self.agenda.planned(actor).filter(|_| self.cast.pes[actor as usize].rests_since.is_none())
    }

    /// Plans a turn, unless an earlier one is planned. A PE has it no earlier than its last one is over.
    fn plan(&mut self, actor: Actor, moment: u64) {
        let moment = self.cast.pes.get(actor as usize).map_or(moment, |at| at.free_at.max(moment));
        self.agenda.plan(actor, moment);
    }

    /// How much longer a PE's turn takes than what it has spent.
    fn turn_time(&mut self, actor: Actor, did: bool) -> u64 {
        let Some((least, spread)) = self.turn_ns else { return if did { 1 } else { LOOK_NS } };
        let slowness = self.cast.nodes[self.cast.node_of(actor)].slowness;
        (least + self.dice.random_range(0..spread)) * slowness
    }

    /// Runs `body` at this time in the surroundings of a PE's node, as that PE.
    fn within<R>(&self, pe: Actor, body: impl FnOnce(&Self) -> R) -> R {
        self.cast.within(self.now, pe, |_| body(self))
    }

    /// Drops what is left, and tells how the job ended here.
    fn finish(mut self) -> End {
        let mut result = Ok(0);
        self.now = self.latest;
        // What chares drop reaches their PE, also where the job was left.
        for (actor, at) in (0..).zip(&self.cast.pes).filter(|(_, at)| !at.is_over) {
            self.within(actor, |_| driven::end(&at.pe));
        }
        let callers = (self.cast.pe_id(self.cast.actor_of(0)).0..).map(u64::from);
        for (caller, at) in callers.zip(&mut self.cast.nodes) {
            let is_lost = matches!(at.stage, Stage::Lost);
            at.ambient.within(self.now, caller, || match std::mem::replace(&mut at.stage, Stage::Gone) {
                Stage::Runs | Stage::Lost => Goodbye::leave(at.node).clear(),
                Stage::Leaves { goodbye, .. } => goodbye.clear(),
                Stage::Gone => {}
            });
            if !is_lost {
                result = life::together(result, life::result(at.node));
            }
        }
        let Self { over_at, latest, log, .. } = self;
        let hidden = self.standstill.hidden();
        End { result, hidden, over_at, latest, messages: 0, log, marks: Vec::new() }
    }
}
