//! Every order of events around reductions over a collection that grows: broadcasts, births, deaths, contributions and the messages that
//! follow from them, as the service of reductions sends them. In each order all reductions end, and each with the contributions that were
//! made for it.
//!
//! Two orders in which every PE and every node sees its events in the same sequence are one order, and only one of them is run.

mod programs;

use super::on_node::{FoldNode, Folded, fold};
use super::reducers::sum;
use super::{Begun, Contributions, NEWBORN, Partial, Partials, Share, Telling};
use crate::base::allowance::Allowance;
use crate::model::callback::Callback;
use crate::model::ids::{BroadcastId, CollectionId, Index, NodeId, PeId};
use crate::model::topology::Topology;
use rustc_hash::{FxHashSet, FxHasher};
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
}

/// A message under way.
enum Event {
    Hear { pe: u32, call: u64, contributions: u64, in_steps: bool },
    Contribute { pe: u32, member: u64, call: u64, within: bool },
    Birth { pe: u32, member: u64 },
    Death { pe: u32, member: u64 },
    Partial { node: u32, partial: Partial },
    Begin { node: u32, news: Begun },
    Begun { pe: u32, news: Begun },
}

impl Event {
    /// The PE or node that processes it: nodes come after PEs.
    fn place(&self, pes: u32) -> usize {
        let place = match self {
            Self::Hear { pe, .. }
            | Self::Contribute { pe, .. }
            | Self::Birth { pe, .. }
            | Self::Death { pe, .. }
            | Self::Begun { pe, .. } => *pe,
            Self::Partial { node, .. } | Self::Begin { node, .. } => pes + node,
        };
        place as usize
    }
}

/// A PE: its contributions, and the next reduction of each member.
struct OnPe {
    contributions: Contributions,
    members: BTreeMap<u64, u64>,
}

/// The first PE of a node.
struct OnNode {
    partials: Partials,
    telling: Telling,
}

struct Program<'a> {
    topology: Topology,
    /// The members in the beginning, by PE.
    initial: &'a [(u64, u32)],
    phases: &'a [&'a [Act]],
}

/// One order of events, so far.
struct Run<'a> {
    program: &'a Program<'a>,
    pes: Vec<OnPe>,
    nodes: Vec<OnNode>,
    /// The messages under way, each with a name that depends on nothing but what its sender had seen.
    events: Vec<(u64, Event)>,
    /// What each PE, each node and the main function have seen.
    seen: Vec<u64>,
    phase: usize,
    /// Who contributed to the reduction of each callback, and the results.
    contributed: BTreeMap<u64, u64>,
    results: BTreeMap<u64, u64>,
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
            let members: BTreeMap<_, _> =
                program.initial.iter().filter(|(_, at)| *at == pe).map(|(member, _)| (*member, 0)).collect();
            OnPe { contributions: Contributions::new(members.len() as u64, true), members }
        };
        let on_node = |_| OnNode { partials: Partials::default(), telling: Telling::new(true) };
        let places = topology.pes() + topology.nodes() + 1;
        let mut run = Self {
            program,
            pes: (0..topology.pes()).map(on_pe).collect(),
            nodes: (0..topology.nodes()).map(on_node).collect(),
            events: Vec::new(),
            seen: (0..u64::from(places)).collect(),
            phase: 0,
            contributed: BTreeMap::new(),
            results: BTreeMap::new(),
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
                }
            }
            self.phase += 1;
        }
    }

    fn broadcast(call: u64) -> BroadcastId {
        BroadcastId { collection: COLLECTION, caller: PeId(0), serial: call }
    }

    /// Whether an event can be processed now: a death waits for the birth.
    fn is_ready(&self, event: &Event) -> bool {
        match event {
            Event::Death { pe, member } => self.pes[*pe as usize].members.contains_key(member),
            _ => true,
        }
    }

    /// Processes an event that is under way.
    fn process(&mut self, position: usize) {
        let (name, event) = self.events.remove(position);
        let place = event.place(self.program.topology.pes());
        self.seen[place] = mixed(self.seen[place], name);
        match event {
            Event::Hear { pe, call, contributions, in_steps } => {
                self.pes[pe as usize].contributions.hear(Self::broadcast(call));
                self.close(pe);
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
                let next = on_pe.contributions.add_member();
                on_pe.members.insert(member, next);
            }
            Event::Death { pe, member } => {
                let on_pe = &mut self.pes[pe as usize];
                let next = on_pe.members.remove(&member).expect("looked at before");
                let was_last = on_pe.contributions.remove_member(next);
                self.close(pe);
                if was_last {
                    let node = pe / self.program.topology.pes_per_node();
                    self.send(place, Event::Begin { node, news: Begun::NOTHING });
                }
            }
            Event::Partial { node, partial } => self.fold(node, partial),
            Event::Begin { node, news } => self.spread(node, news, true),
            Event::Begun { pe, news } => {
                self.pes[pe as usize].contributions.begin(news).unwrap();
                self.close(pe);
            }
        }
        self.go_on();
    }

    fn send_partial(&mut self, pe: u32, partial: Partial) {
        let node = pe / self.program.topology.pes_per_node();
        self.send(pe as usize, Event::Partial { node, partial });
    }

    fn contribute(&mut self, pe: u32, member: u64, callback: u64, call: Option<u64>) {
        let (on_pe, within) = (&mut self.pes[pe as usize], call.map(Self::broadcast));
        let next = on_pe.members.get_mut(&member).expect("looked at before");
        if *next >= NEWBORN {
            *next = on_pe.contributions.begin_member(*next, within).unwrap();
        }
        let number = *next;
        *next += 1;
        let to = Callback::<u64>::ignore().with_reference(callback).erase();
        let share = Share::new(sum(1_u64 << member).of_member(Index::from(member), || 0), to);
        let late = on_pe.contributions.add(number, within, share).unwrap();
        assert!(late.is_none(), "nobody moves");
        *self.contributed.entry(callback).or_default() += 1 << member;
        self.close(pe);
    }

    fn close(&mut self, pe: u32) {
        while let Some(partial) = self.pes[pe as usize].contributions.close() {
            self.send_partial(pe, partial);
        }
    }

    fn fold(&mut self, node: u32, partial: Partial) {
        let topology = &self.program.topology;
        let parent = topology.parent(NodeId(node), ROOT);
        let place = FoldNode {
            collection: COLLECTION,
            parts: topology.pes_below(NodeId(node), ROOT),
            is_root: parent.is_none(),
        };
        let (news, from) = (Begun::new(partial.number, partial.within), (topology.pes() + node) as usize);
        match fold(&mut self.nodes[node as usize].partials, place, partial, &Allowance::new(u64::MAX / 2))
            .unwrap()
        {
            Folded::Waits => self.spread(node, news, false),
            Folded::Up(whole) => {
                self.nodes[node as usize].telling.close(whole.number);
                let node = parent.expect("it is not the root").0;
                self.send(from, Event::Partial { node, partial: whole });
            }
            Folded::Over(whole) => {
                self.nodes[node as usize].telling.close(whole.number);
                let share = whole.share.expect("somebody began it");
                let callback = share.callback.reference;
                let result = share.finish().unwrap().take::<u64>().ok().unwrap();
                assert!(self.results.insert(callback, result).is_none(), "it is over twice");
            }
        }
    }

    fn spread(&mut self, node: u32, news: Begun, wanted: bool) {
        let topology = &self.program.topology;
        let OnNode { partials, telling } = &mut self.nodes[node as usize];
        let noted = telling.note(news, || partials.end(COLLECTION), wanted);
        let Some(news) = noted.unwrap() else { return };
        let from = (topology.pes() + node) as usize;
        let each = topology.pes_per_node();
        (node * each..(node + 1) * each).for_each(|pe| self.send(from, Event::Begun { pe, news }));
        let neighbours = topology.children(NodeId(node), ROOT).chain(topology.parent(NodeId(node), ROOT));
        for neighbour in neighbours.collect::<Vec<_>>() {
            self.send(from, Event::Begin { node: neighbour.0, news });
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
