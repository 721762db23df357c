//! Every order of events around reductions over a collection: broadcasts of several clients, births, deaths, contributions and the messages
//! that follow from them, as the service of reductions sends them. In each order all reductions end, and each with the contributions that were
//! made for it.
//!
//! Two orders in which every PE and every node sees its events in the same sequence are one order, and only one of them is run.

mod programs;

use super::reducers::sum;
use super::{Begun, Contributions, Gathering, Share, Statement};
use crate::base::allowance::Allowance;
use crate::model::callback::Callback;
use crate::model::ids::{BroadcastId, CollectionId, Index, NodeId, PeId};
use crate::model::registry::Standing;
use crate::model::topology::Topology;
use rustc_hash::{FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

const COLLECTION: CollectionId = CollectionId { creator: PeId(0), serial: 0 };
const ROOT: NodeId = NodeId(0);

/// A step of a program's main function, all of which it takes at once; the next phase begins when nothing is under way any more.
#[derive(Clone, Copy)]
enum Act {
    /// A call of all members, each of which contributes at once, so many times.
    Call(u64),
    /// A call of all members, each of which contributes when it has sent itself a message.
    CallInTwoSteps,
    /// A call of every member that was born, one by one.
    CallEach,
    Insert {
        member: u64,
        pe: u32,
    },
    Destroy {
        member: u64,
        pe: u32,
    },
    /// The news that nobody is anywhere and nobody will come, as soon as that is so.
    EndBirths,
}

/// A message under way.
enum Event {
    Hear { pe: u32, call: u64, contributions: u64, in_steps: bool },
    Contribute { pe: u32, member: u64, call: u64, within: bool },
    Birth { pe: u32, member: u64 },
    Death { pe: u32, member: u64 },
    NoBirths { pe: u32 },
    Said { node: u32, from: PeId, number: u64, statement: Statement },
    BegunAbove { node: u32, begun: Begun },
    Begun { pe: u32, begun: Begun },
}

impl Event {
    /// The PE or node that processes it: nodes come after PEs.
    fn place(&self, pes: u32) -> usize {
        let place = match self {
            Self::Hear { pe, .. }
            | Self::Contribute { pe, .. }
            | Self::Birth { pe, .. }
            | Self::Death { pe, .. }
            | Self::NoBirths { pe }
            | Self::Begun { pe, .. } => *pe,
            Self::Said { node, .. } | Self::BegunAbove { node, .. } => pes + node,
        };
        place as usize
    }
}

/// A PE: its contributions, and the next reduction of each member.
struct OnPe {
    contributions: Contributions,
    members: BTreeMap<u64, Standing>,
}

struct Program<'a> {
    topology: Topology,
    /// Whether members may be born.
    grows: bool,
    /// The members in the beginning, by PE.
    initial: &'a [(u64, u32)],
    phases: &'a [&'a [Act]],
}

/// One order of events, so far.
struct Run<'a> {
    program: &'a Program<'a>,
    pes: Vec<OnPe>,
    /// The first PE of each node.
    nodes: Vec<Gathering>,
    allowance: Allowance,
    /// The messages under way, each with a name that depends on nothing but what its sender had seen.
    events: Vec<(u64, Event)>,
    /// What each PE, each node and the main function have seen.
    seen: Vec<u64>,
    phase: usize,
    /// Who contributed to the reduction of each callback, and the results.
    contributed: BTreeMap<u64, u64>,
    results: BTreeMap<u64, u64>,
    /// Whether the root knows that all have left.
    has_ended: bool,
}

fn mixed(one: u64, other: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (one, other).hash(&mut hasher);
    hasher.finish()
}

impl<'a> Run<'a> {
    fn new(program: &'a Program<'a>) -> Self {
        let topology = &program.topology;
        let on_pe = |pe: u32| {
            let members: BTreeMap<_, _> = program
                .initial
                .iter()
                .filter(|(_, at)| *at == pe)
                .map(|(member, _)| (*member, Standing::NEW))
                .collect();
            OnPe { contributions: Contributions::new(members.len() as u64, program.grows), members }
        };
        let takes_part = |pe: &PeId| program.grows || program.initial.iter().any(|(_, at)| *at == pe.0);
        let populated = |node: &NodeId| {
            let below = |pe| topology.is_below(topology.node_of(pe), *node, ROOT);
            (0..topology.pes()).map(PeId).any(|pe| below(pe) && takes_part(&pe))
        };
        let on_node = |node: u32| {
            let node = NodeId(node);
            let below = topology.children(node, ROOT).filter(populated).map(|node| topology.pe(node, 0));
            let children = topology.pes_of(node).filter(takes_part).chain(below).collect();
            Gathering::new(children, program.grows)
        };
        let places = topology.pes() + topology.nodes() + 1;
        let mut run = Self {
            program,
            pes: (0..topology.pes()).map(on_pe).collect(),
            nodes: (0..topology.nodes()).map(on_node).collect(),
            allowance: Allowance::new(u64::MAX / 2),
            events: Vec::new(),
            seen: (0..u64::from(places)).collect(),
            phase: 0,
            contributed: BTreeMap::new(),
            results: BTreeMap::new(),
            has_ended: false,
        };
        run.go_on();
        run
    }

    /// Sends a message from a place.
    fn send(&mut self, from: usize, event: Event) {
        self.seen[from] = mixed(self.seen[from], 0);
        self.events.push((self.seen[from], event));
    }

    /// Begins the next phases while nothing is under way.
    fn go_on(&mut self) {
        while self.events.is_empty() && self.phase < self.program.phases.len() {
            let (acts, main) = (self.program.phases[self.phase], self.seen.len() - 1);
            let pes = self.program.topology.pes();
            for (place, act) in acts.iter().enumerate() {
                // Two reductions of one call have callbacks that differ by one.
                let call = 2 * (8 * self.phase + place) as u64;
                match *act {
                    Act::Call(contributions) => {
                        (0..pes).for_each(|pe| {
                            self.send(main, Event::Hear { pe, call, contributions, in_steps: false });
                        });
                    }
                    Act::CallInTwoSteps => (0..pes).for_each(|pe| {
                        self.send(main, Event::Hear { pe, call, contributions: 1, in_steps: true });
                    }),
                    Act::CallEach => {
                        for pe in 0..pes {
                            for member in self.pes[pe as usize].members.keys().copied().collect::<Vec<_>>() {
                                self.send(main, Event::Contribute { pe, member, call, within: false });
                            }
                        }
                    }
                    Act::Insert { member, pe } => self.send(main, Event::Birth { pe, member }),
                    Act::Destroy { member, pe } => self.send(main, Event::Death { pe, member }),
                    Act::EndBirths => (0..pes).for_each(|pe| self.send(main, Event::NoBirths { pe })),
                }
            }
            self.phase += 1;
        }
    }

    fn broadcast(call: u64) -> BroadcastId {
        BroadcastId { collection: COLLECTION, caller: PeId(0), serial: call }
    }

    /// Whether an event can be processed now: a death waits for the birth, and the end of births for all deaths.
    fn is_ready(&self, event: &Event) -> bool {
        match event {
            Event::Death { pe, member } => self.pes[*pe as usize].members.contains_key(member),
            Event::NoBirths { .. } => self.is_nobody_anywhere(),
            _ => true,
        }
    }

    fn is_nobody_anywhere(&self) -> bool {
        let is_birth = |(_, event): &(u64, Event)| matches!(event, Event::Birth { .. });
        self.pes.iter().all(|pe| pe.members.is_empty()) && !self.events.iter().any(is_birth)
    }

    /// Processes an event that is under way.
    fn process(&mut self, position: usize) {
        let (name, event) = self.events.remove(position);
        let place = event.place(self.program.topology.pes());
        self.seen[place] = mixed(self.seen[place], name);
        match event {
            Event::Hear { pe, call, contributions, in_steps } => {
                if self.program.grows {
                    self.pes[pe as usize].contributions.hear(Self::broadcast(call));
                    self.close(pe);
                }
                for member in self.pes[pe as usize].members.keys().copied().collect::<Vec<_>>() {
                    if in_steps {
                        self.send(place, Event::Contribute { pe, member, call, within: true });
                    } else {
                        (0..contributions)
                            .for_each(|more| self.contribute(pe, member, call + more, Some(call)));
                    }
                }
            }
            Event::Contribute { pe, member, call, within } => {
                if self.pes[pe as usize].members.contains_key(&member) {
                    self.contribute(pe, member, call, within.then_some(call));
                }
            }
            Event::Birth { pe, member } => {
                let on_pe = &mut self.pes[pe as usize];
                let next = on_pe.contributions.add_member(Index::from(member));
                on_pe.members.insert(member, next);
            }
            Event::Death { pe, member } => {
                let on_pe = &mut self.pes[pe as usize];
                let next = on_pe.members.remove(&member).expect("looked at before");
                on_pe.contributions.remove_member(Index::from(member), next);
                self.close(pe);
            }
            Event::NoBirths { pe } => {
                self.pes[pe as usize].contributions.end_births();
                self.close(pe);
            }
            Event::Said { node, from, number, statement } => self.take(node, (from, number), statement),
            Event::BegunAbove { node, begun } => {
                self.nodes[node as usize].begin(begun, &self.allowance).unwrap();
                self.tell(node);
            }
            Event::Begun { pe, begun } => {
                self.pes[pe as usize].contributions.begin(begun).unwrap();
                self.close(pe);
            }
        }
        self.go_on();
    }

    fn say(&mut self, pe: u32, number: u64, statement: Statement) {
        let node = pe / self.program.topology.pes_per_node();
        self.send(pe as usize, Event::Said { node, from: PeId(pe), number, statement });
    }

    fn contribute(&mut self, pe: u32, member: u64, callback: u64, call: Option<u64>) {
        let within = call.filter(|_| self.program.grows).map(Self::broadcast);
        let on_pe = &mut self.pes[pe as usize];
        let standing = on_pe.members.get_mut(&member).expect("looked at before");
        let to = Callback::<u64>::ignore().with_reference(callback).erase();
        let data = sum(1_u64 << member).of_member(Index::from(member), || 0);
        *self.contributed.entry(callback).or_default() += 1 << member;
        if on_pe.contributions.join(standing.next(), within, &data, &to) {
            *standing = Standing::before(standing.next() + 1);
            return;
        }
        let contributor = (Index::from(member), *standing);
        let (then, closed) = on_pe.contributions.add(contributor, within, Share::new(data, to)).unwrap();
        *standing = then;
        if let Some((number, partial)) = closed {
            self.say(pe, number, Statement::Closed(partial));
        }
    }

    fn close(&mut self, pe: u32) {
        while let Some((number, partial)) = self.pes[pe as usize].contributions.close() {
            self.say(pe, number, Statement::Closed(partial));
        }
        if let Some(number) = self.pes[pe as usize].contributions.leave() {
            self.say(pe, number, Statement::Left);
        }
    }

    fn take(&mut self, node: u32, said: (PeId, u64), statement: Statement) {
        let mut whole = SmallVec::new();
        self.nodes[node as usize].take(said, statement, &self.allowance, &mut whole).unwrap();
        whole.into_iter().for_each(|statement| self.pass_on(node, statement));
        self.tell(node);
    }

    fn pass_on(&mut self, node: u32, statement: Statement) {
        let topology = &self.program.topology;
        if let Some(parent) = topology.parent(NodeId(node), ROOT) {
            let (place, from) = ((topology.pes() + node) as usize, topology.pe(NodeId(node), 0));
            let number = self.nodes[node as usize].say(&statement);
            return self.send(place, Event::Said { node: parent.0, from, number, statement });
        }
        let Statement::Closed(partial) = statement else {
            // The collection is forgotten then.
            let is_needed = |(_, event): &(u64, Event)| matches!(event, Event::Said { .. });
            assert!(!self.events.iter().any(is_needed), "somebody says something to those who have left");
            self.has_ended = true;
            return;
        };
        assert!(!self.has_ended, "a reduction is over after the end");
        let callback = partial.callback;
        let result = partial.finish().unwrap().take::<u64>().ok().unwrap();
        assert!(self.results.insert(callback.reference, result).is_none(), "it is over twice");
    }

    fn tell(&mut self, node: u32) {
        let topology = &self.program.topology;
        let place = (topology.pes() + node) as usize;
        for (to, begun) in self.nodes[node as usize].news() {
            let of = topology.node_of(to);
            let event = match of == NodeId(node) {
                true => Event::Begun { pe: to.0, begun },
                false => Event::BegunAbove { node: of.0, begun },
            };
            self.send(place, event);
        }
    }
}

/// Runs a program in every order; returns the results that occur, and the number of states.
fn in_every_order(program: &Program<'_>) -> (FxHashSet<Vec<u64>>, usize) {
    let (mut results, mut seen) = (FxHashSet::default(), FxHashSet::default());
    let mut orders = vec![Vec::<usize>::new()];
    while let Some(order) = orders.pop() {
        let mut run = Run::new(program);
        order.iter().for_each(|position| run.process(*position));
        if !seen.insert(run.seen.clone()) {
            continue;
        }
        if run.events.is_empty() {
            assert_eq!(run.results, run.contributed, "in order {order:?}");
            let acts = || program.phases.iter().copied().flatten();
            let none_can_come = !program.grows || acts().any(|act| matches!(act, Act::EndBirths));
            assert_eq!(run.has_ended, none_can_come && run.is_nobody_anywhere(), "in order {order:?}");
            results.insert(run.results.into_values().collect());
            continue;
        }
        let ready = (0..run.events.len()).filter(|position| run.is_ready(&run.events[*position].1));
        let next: Vec<_> = ready.map(|position| order.iter().copied().chain([position]).collect()).collect();
        assert!(!next.is_empty(), "nothing goes on in order {order:?}");
        orders.extend::<Vec<_>>(next);
    }
    (results, seen.len())
}

/// Runs a program in every order, and expects these results, as bits of the members that contributed to each reduction.
fn check(program: &Program<'_>, expected: &[&[u64]]) {
    let (results, states) = in_every_order(program);
    let expected: FxHashSet<Vec<u64>> = expected.iter().map(|results| results.to_vec()).collect();
    assert_eq!(results, expected, "in {states} states");
}
