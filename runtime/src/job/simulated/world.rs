//! World of a simulated job: its nodes, when each of its PEs has its next turn, and the one thread that lets one thing happen after another.
//!
//! 1. What happens next is what has the earliest moment: a frame arrives ([`Wires`]), a PE has its turn, or a node takes leave. At one
//!    moment frames come first, then PEs by their numbers, then nodes by theirs.
//! 2. A turn takes time, which the world's dice draw; the PE has its next one then. A PE that rests has its next turn when what it knows of
//!    is due, when it is woken, or when it is the one of its node, all of which rests, that looks after what has arrived.
//! 3. A node whose PEs have all ended takes leave, while others may still run: what they refused, it has to send again.
//! 4. If nothing can happen any more, or nothing but waiting has happened for [`STANDSTILL`] and nobody sleeps, the job stands still: it is
//!    asked what waits, and ends with that as its error, even if the question lets it go on: whoever was to be woken was not.

use super::audit;
use super::log::{Log, SimulatedEvent};
use crate::api::{context, tasks, time};
use crate::base::numbering::JobNumbers;
use crate::delivery::driven::{self, Turn};
use crate::delivery::polling;
use crate::job::goodbye::Goodbye;
use crate::job::life::{self, ABOVE, GOODBYE_PATIENCE, Main, NodeOptions};
use crate::job::services::SERVICES;
use crate::model::error::JobError;
use crate::model::ids::{NodeId, PeId};
use crate::model::topology::Topology;
use crate::node::devices::Devices;
use crate::node::{Above, Node};
use crate::pe::{Pe, panics};
use crate::services::survey::{self, Purpose};
use crate::services::timers;
use crate::transfer::device;
use chare_lrts::reach::Reach;
use chare_lrts::simulated::Wires;
use chare_lrts::{Ambient, LrtsError, clock};
use parking_lot::Mutex;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};
use std::time::Duration;

/// The stream of the seed's dice that the world draws from; those of nodes are numbered from 0, and the wires have the last.
const STREAM: u64 = u64::MAX - 1;

/// Time between a wake-up and the turn of the PE that was woken, in nanoseconds.
const WAKE_NS: u64 = 200;

/// Time between two looks of a node that takes leave and still has something to send, in nanoseconds.
const LEAVE_NS: u64 = 10_000;

/// Time after which a job stands still in which no message was sent and none was over.
const STANDSTILL: Duration = Duration::from_secs(600);

/// Events of each PE after which the same is asked: those that never rest have many in a short time.
const STANDSTILL_EVENTS: u64 = 1_000_000;

/// The longest sleep that counts as movement.
const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// Time after which nothing of what nodes tell each other by themselves is on its way.
const SETTLED: Duration = Duration::from_secs(1);

/// Whoever has turns: PEs by their numbers, and behind them the nodes, which take leave.
type Actor = u32;

/// Shape of a simulated job, and what decides about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) nodes: u32,
    /// Of each node.
    pub(super) pes: u32,
    pub(super) hosts: u32,
    pub(super) seed: u64,
    /// Whether events are kept.
    pub(super) is_recorded: bool,
    /// Whether nodes are looked at when `main` is over.
    pub(super) is_audited: bool,
}

/// The end of a simulated job: how, when, and what happened.
pub(super) type End = (Result<i32, JobError>, Duration, Log);

/// The nodes of a job, before anything happens.
struct Made {
    nodes: Vec<Arc<Node>>,
    ambients: Vec<Rc<Ambient>>,
    wires: Arc<Wires>,
}

/// Runs a simulated job.
///
/// # Panics
/// If the calling thread runs a PE.
pub(super) fn run(shape: Shape, options: &NodeOptions, main: Main) -> End {
    assert!(
        Pe::try_current(|_| ()).is_none(),
        "a simulation runs its PEs on this thread, which runs a PE itself"
    );
    let made = match make(shape, options) {
        Ok(made) => made,
        Err(error) => return (Err(error), Duration::ZERO, Log::default()),
    };
    let mut world = World::new(shape, options, &made);
    let main = if shape.is_audited { with_audit(main, &world.audit_due) } else { main };
    world.begin(main);
    while world.go_on() {}
    let (result, time, log) = world.finish();
    let kept = made.nodes.iter().filter(|node| Arc::strong_count(node) > 1).count();
    if shape.is_audited && result.is_ok() && kept > 0 {
        let what = format!("{kept} nodes are kept by something that outlives the job");
        return (Err(JobError::Audit { what }), time, log);
    }
    (result, time, log)
}

fn make(Shape { nodes, pes, hosts, seed, .. }: Shape, options: &NodeOptions) -> Result<Made, JobError> {
    life::check_names()?;
    panics::install_hook();
    device::place_values();
    let host_of = |node: u32| u64::from(node) * u64::from(hosts) / u64::from(nodes);
    let mut lowest: Vec<NodeId> = Vec::with_capacity(nodes as usize);
    for node in 0..nodes {
        let beside = lowest.last().copied().filter(|_| host_of(node - 1) == host_of(node));
        lowest.push(beside.unwrap_or(NodeId(node)));
    }
    let topology = Topology::new(&lowest, pes);
    let (wires, numbers) = (Wires::new(nodes, seed), JobNumbers::begin_anew());
    let ambients: Vec<Rc<Ambient>> = (0..nodes).map(|node| Ambient::new(seed, node.into())).collect();
    let above = Above {
        is_timed: options.is_timed,
        mailbox_bound: options.mailbox,
        layout_method: options.layouts,
        tells_ways: options.tells_ways,
        balancer: options.balancer.clone(),
        balance_every: options.balance_every,
        ..ABOVE
    };
    let open = |(id, ambient): (NodeId, &Rc<Ambient>)| {
        ambient.within(0, 0, || {
            let network = Reach::simulated(id, nodes, &wires, &options.network)
                .map_err(|cause: LrtsError| JobError::Lrts { node: id, cause })?;
            let devices = Devices::new(options.device.clone(), 0, pes);
            // Each has the machine's memory for itself: what a node may keep is not to hang on how many there are.
            let node =
                Node::new(id, topology.clone(), network, devices, (1, Arc::clone(&numbers)), above.clone());
            let node = Arc::new(node);
            life::start_timeline(&node);
            Ok(node)
        })
    };
    let nodes = (0..).map(NodeId).zip(&ambients).map(open).collect::<Result<_, JobError>>()?;
    Ok(Made { nodes, ambients, wires })
}

/// Asks for an audit when `main` is over, nothing is in flight, and the nodes have had time to settle.
fn with_audit(main: Main, due: &Arc<AtomicBool>) -> Main {
    let due = Arc::clone(due);
    Box::new(move || {
        Box::pin(async move {
            main().await;
            context::all_over().await;
            time::sleep(SETTLED).await;
            due.store(true, Ordering::Relaxed);
            // Before the job ends.
            tasks::yield_now().await;
        })
    })
}

/// Notes the PE that was woken.
struct Woken {
    pe: Actor,
    woken: Arc<Mutex<Vec<Actor>>>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.woken.lock().push(self.pe);
    }
}

/// What becomes of a node.
enum Stage<'a> {
    Runs,
    Leaves { goodbye: Goodbye<'a>, until: u64 },
    Gone,
}

struct SimulatedNode<'a> {
    node: &'a Arc<Node>,
    ambient: &'a Rc<Ambient>,
    stage: Stage<'a>,
    /// How many of its PEs have not ended.
    running: u32,
    /// How much longer than others its PEs take.
    slowness: u64,
}

struct SimulatedPe {
    pe: Rc<Pe>,
    /// Since when it rests, if it does.
    rests_since: Option<u64>,
    /// Whether it has had its last turn.
    is_over: bool,
}

/// A simulated job while it runs; see the file's head.
struct World<'a> {
    wires: &'a Wires,
    nodes: Vec<SimulatedNode<'a>>,
    pes: Vec<SimulatedPe>,
    /// When each PE and each node has its next turn, if one is planned.
    next: Vec<Option<u64>>,
    /// The same, by moment.
    agenda: BTreeSet<(u64, Actor)>,
    now: u64,
    woken: Arc<Mutex<Vec<Actor>>>,
    dice: ChaCha8Rng,
    /// Least time of a turn, and how much longer it takes at the most, in nanoseconds.
    turn_ns: (u64, u64),
    watch: Watch,
    /// Set by PE 0; an audit is to be made before anything else happens.
    audit_due: Arc<AtomicBool>,
    log: Log,
}

/// Whether anything but waiting happens.
#[derive(Default)]
struct Watch {
    /// Messages sent and over, as they were counted last, and when.
    counted: u64,
    counted_at: u64,
    /// How many events there were then.
    counted_events: u64,
    /// When nothing was planned any more though the job had not ended: the question that follows wakes all, and may hide a wake-up that was lost.
    stood_at: Option<u64>,
    /// Whether the job stands still and was asked what waits.
    is_asked: bool,
    /// Its answer.
    told: Arc<Mutex<String>>,
}

impl<'a> World<'a> {
    fn new(shape: Shape, options: &NodeOptions, made: &'a Made) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(shape.seed);
        dice.set_stream(STREAM);
        let turn_ns = [(100, 1), (50, 200), (20, 20_000)][dice.random_range(0..3)];
        let has_slow = dice.random_ratio(1, 2);
        let shuffle = options.shuffle;
        let nodes: Vec<SimulatedNode<'_>> = (made.nodes.iter().zip(&made.ambients))
            .map(|(node, ambient)| SimulatedNode {
                node,
                ambient,
                stage: Stage::Runs,
                running: shape.pes,
                slowness: if has_slow && dice.random_ratio(1, 4) { 50 } else { 1 },
            })
            .collect();
        let of_node = |at: &SimulatedNode<'_>| {
            let make = |id| at.ambient.within(0, 0, || Pe::new(id, Arc::clone(at.node), shuffle, SERVICES));
            at.node
                .pes()
                .map(make)
                .map(|pe| SimulatedPe { pe, rests_since: None, is_over: false })
                .collect::<Vec<_>>()
        };
        let pes: Vec<SimulatedPe> = nodes.iter().flat_map(of_node).collect();
        Self {
            wires: &made.wires,
            next: vec![None; pes.len() + nodes.len()],
            nodes,
            pes,
            agenda: BTreeSet::new(),
            now: 0,
            woken: Arc::default(),
            dice,
            turn_ns,
            watch: Watch::default(),
            audit_due: Arc::default(),
            log: Log::new(shape.is_recorded),
        }
    }

    /// Begins the job: PE 0 runs `main`, and all others look for work.
    fn begin(&mut self, main: Main) {
        let mut main = Some(main);
        for actor in 0..self.pes.len() as Actor {
            let (waker, main) =
                (Waker::from(Arc::new(Woken { pe: actor, woken: Arc::clone(&self.woken) })), main.take());
            self.within(actor, |world| {
                let pe = &world.pes[actor as usize].pe;
                driven::begin(pe, waker, || {
                    if let Some(main) = main {
                        life::run_main(pe, main);
                    }
                });
            });
            let first = self.turn_time(actor);
            self.plan(actor, first);
        }
        self.note_news();
    }

    /// Lets the next thing happen; returns whether there was any.
    fn go_on(&mut self) -> bool {
        let turn = self.agenda.first().copied();
        match (self.wires.next_moment(), turn) {
            (Some(arrival), turn) if turn.is_none_or(|(moment, _)| arrival <= moment) => self.arrive(),
            (_, Some((moment, actor))) => {
                self.agenda.pop_first();
                self.next[actor as usize] = None;
                self.now = moment;
                match self.pes.get(actor as usize) {
                    Some(_) => self.take_turn(actor),
                    None => self.leave(actor as usize - self.pes.len()),
                }
            }
            (_, None) => {
                let goes_on = self.stand_still();
                if goes_on {
                    self.watch.stood_at.get_or_insert(self.now);
                }
                return goes_on;
            }
        }
        self.note_news();
        if self.audit_due.swap(false, Ordering::Relaxed) {
            self.audit();
        }
        let (time, events) = (self.now - self.watch.counted_at, self.log.count() - self.watch.counted_events);
        let is_due =
            time >= STANDSTILL.as_nanos() as u64 || events >= STANDSTILL_EVENTS * self.pes.len() as u64;
        !is_due || self.goes_on()
    }

    fn arrive(&mut self) {
        let Some(arrival) = self.wires.arrive() else { return };
        self.now = arrival.moment;
        let (source, target) = (arrival.source, arrival.target);
        self.log.note(self.now, SimulatedEvent::Arrival { source, target, hash: arrival.hash });
        self.look_soon(target);
    }

    fn take_turn(&mut self, actor: Actor) {
        if self.pes[actor as usize].is_over {
            return;
        }
        let rested = self.pes[actor as usize].rests_since.map_or(0, |since| self.now - since);
        let turn = self
            .within(actor, |world| driven::turn(&world.pes[actor as usize].pe, Duration::from_nanos(rested)));
        self.log.note(self.now, SimulatedEvent::Turn { pe: PeId(actor), did: turn == Turn::Did });
        let now = self.now;
        let pe = &mut self.pes[actor as usize];
        match turn {
            Turn::Did | Turn::Waits => {
                pe.rests_since = if turn == Turn::Did { None } else { pe.rests_since.or(Some(now)) };
                let time = self.turn_time(actor);
                self.plan(actor, now + time);
            }
            Turn::Rests(limit) => {
                pe.rests_since.get_or_insert(now);
                if let Some(limit) = limit {
                    let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
                    self.plan(actor, now.saturating_add(limit.max(1)));
                }
            }
            Turn::Over => {
                pe.is_over = true;
                let node = self.node_of(actor);
                self.nodes[node].running -= 1;
                if self.nodes[node].running == 0 {
                    self.plan((self.pes.len() + node) as Actor, now + 1);
                }
            }
        }
    }

    /// Lets a node whose PEs have ended go on to take leave.
    fn leave(&mut self, node: usize) {
        let (actor, now) = ((self.pes.len() + node) as Actor, self.now);
        self.log.note(now, SimulatedEvent::Leave { node: NodeId(node as u32) });
        let at = &mut self.nodes[node];
        let (ambient, shared) = (at.ambient, at.node);
        let next = ambient.within(now, actor.into(), || {
            if matches!(at.stage, Stage::Runs) {
                let until = now + GOODBYE_PATIENCE.as_nanos() as u64;
                at.stage = Stage::Leaves { goodbye: Goodbye::leave(shared), until };
            }
            let Stage::Leaves { goodbye, until } = &mut at.stage else { return None };
            if !goodbye.is_gone() && now < *until {
                let did = polling::progress(shared, None);
                return Some(if did || !goodbye.is_said() { now + LEAVE_NS } else { *until });
            }
            if let Stage::Leaves { goodbye, .. } = std::mem::replace(&mut at.stage, Stage::Gone) {
                goodbye.clear();
            }
            None
        });
        if let Some(next) = next {
            self.plan(actor, next);
        }
    }

    /// Ends the job if anything is not even.
    fn audit(&self) {
        let nodes: Vec<&Arc<Node>> = self.nodes.iter().map(|at| at.node).collect();
        let faults = audit::audit(&nodes, self.pes.iter().map(|at| &at.pe));
        if !faults.is_empty() {
            self.within(0, |world| world.nodes[0].node.fail(JobError::Audit { what: faults.join("\n") }));
        }
    }

    /// Plans turns for those who have news: PEs that were woken, and nodes for whose frames there is room again.
    fn note_news(&mut self) {
        let woken = std::mem::take(&mut *self.woken.lock());
        for actor in woken {
            self.plan(actor, self.now + WAKE_NS);
        }
        for node in self.wires.take_roomy() {
            self.look_soon(node);
        }
    }

    /// Has a node look at its network: by the PE that has its turn anyway, or by one that rests.
    fn look_soon(&mut self, node: NodeId) {
        let (pes, now) = (self.nodes[node.index()].node.topology.pes_per_node(), self.now);
        match self.nodes[node.index()].stage {
            Stage::Gone => {}
            Stage::Leaves { .. } => self.plan((self.pes.len() + node.index()) as Actor, now + 1),
            Stage::Runs => {
                let first = node.0 * pes;
                let is_awake = |actor: Actor| {
                    self.next[actor as usize].is_some() && self.pes[actor as usize].rests_since.is_none()
                };
                if !(first..first + pes).any(is_awake) {
                    let watcher = first + self.dice.random_range(0..pes);
                    self.plan(watcher, now + 1);
                }
            }
        }
    }

    /// Plans a turn, unless an earlier one is planned.
    fn plan(&mut self, actor: Actor, moment: u64) {
        let next = &mut self.next[actor as usize];
        match *next {
            Some(planned) if planned <= moment => return,
            Some(planned) => _ = self.agenda.remove(&(planned, actor)),
            None => {}
        }
        *next = Some(moment);
        self.agenda.insert((moment, actor));
    }

    /// How long a PE's turn takes.
    fn turn_time(&mut self, actor: Actor) -> u64 {
        let (least, spread) = self.turn_ns;
        let slowness = self.nodes[self.node_of(actor)].slowness;
        (least + self.dice.random_range(0..spread)) * slowness
    }

    fn node_of(&self, pe: Actor) -> usize {
        pe as usize / (self.pes.len() / self.nodes.len())
    }

    /// Runs `body` at this time in the surroundings of a PE's node, as that PE.
    fn within<R>(&self, pe: Actor, body: impl FnOnce(&Self) -> R) -> R {
        self.nodes[self.node_of(pe)].ambient.within(self.now, pe.into(), || body(self))
    }

    /// Counts messages anew, some time after the last count; returns whether any were sent or are over since.
    fn goes_on(&mut self) -> bool {
        let counters = self.nodes.iter().flat_map(|at| at.node.counters.iter());
        let counted = counters.fold(0_u64, |sum, of_pe| {
            sum.wrapping_add(of_pe.sent.read()).wrapping_add(of_pe.processed.read())
        });
        (self.watch.counted_at, self.watch.counted_events) = (self.now, self.log.count());
        let moved = std::mem::replace(&mut self.watch.counted, counted) != counted;
        self.watch.is_asked &= !moved;
        // Who sleeps goes on by itself.
        let sleeps = self.within(0, |world| {
            let horizon = clock::now() + LONGEST_SLEEP;
            world.pes.iter().any(|at| timers::next_due(&at.pe).is_some_and(|due| due < horizon))
        });
        moved || sleeps || self.stand_still()
    }

    /// Asks the job what waits, and the next time ends it with the answer; returns whether anything can happen now.
    fn stand_still(&mut self) -> bool {
        if self.nodes.iter().all(|at| matches!(at.stage, Stage::Gone)) {
            return false;
        }
        let was_asked = std::mem::replace(&mut self.watch.is_asked, true);
        let (time_ns, told) = (self.now, Arc::clone(&self.watch.told));
        let error = || JobError::Standstill { time_ns, what: told.lock().clone() };
        let (ambient, first) = (self.nodes[0].ambient, self.nodes[0].node);
        let goes_on = ambient.within(self.now, u64::MAX, || {
            match (first.has_ended(), was_asked) {
                // Others do not hear of the end.
                (true, _) => {
                    first.fail_after_end(error());
                    return false;
                }
                (false, true) => first.fail(error()),
                (false, false) => {
                    let told = Arc::clone(&told);
                    survey::begin(first, Purpose::Reply(Box::new(move |text| *told.lock() = text)));
                }
            }
            true
        });
        self.note_news();
        goes_on
    }

    /// Drops what is left, and tells how the job ended.
    fn finish(mut self) -> End {
        let mut result = Ok(0);
        for (number, at) in self.nodes.iter_mut().enumerate() {
            let actor = (self.pes.len() + number) as u64;
            at.ambient.within(self.now, actor, || match std::mem::replace(&mut at.stage, Stage::Gone) {
                Stage::Runs => Goodbye::leave(at.node).clear(),
                Stage::Leaves { goodbye, .. } => goodbye.clear(),
                Stage::Gone => {}
            });
        }
        for at in &self.nodes {
            result = life::together(result, life::result(at.node));
        }
        if let (Ok(_), Some(time_ns)) = (&result, self.watch.stood_at) {
            result = Err(JobError::Standstill { time_ns, what: self.watch.told.lock().clone() });
        }
        (result, Duration::from_nanos(self.now), self.log)
    }
}
