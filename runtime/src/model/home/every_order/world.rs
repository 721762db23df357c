//! World of PEs whose elements move, ends and all: what each PE does with a message, as the services do it, over a network without any order.

use super::super::bond::{find as find_bond, wish};
use super::super::rules::Rule;
use super::super::{
    Admission, BondWish, Entry, Home, LetGo, Lives, Residence, Seek, SeekCopy, Settled, Sought, Stay,
};
use super::counted::{self, Counted};
use super::message::{Act, Call, Contribution, Copy, Element, Insert, Message};
use super::truth::Truth;
use crate::model::ids::{Index, PeId};
use crate::model::registry::Standing;
use rustc_hash::FxHasher;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

fn mixed(one: u64, other: u64) -> u64 {
    let mut hasher = FxHasher::default();
    (one, other).hash(&mut hasher);
    hasher.finish()
}

fn pe(number: usize) -> PeId {
    PeId(number as u32)
}

/// A job before its first message.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) pes: usize,
    /// How many PEs, the first, are homes: of the bonds in turn.
    pub(super) homes: usize,
    /// How many arrays are bound to each other: elements of so many numbers in a row are a bond.
    pub(super) arrays: u64,
    /// The elements in the beginning, at their homes, with the numbers from 0 on.
    pub(super) elements: u64,
    /// How often an element contributes to each broadcast that it hears.
    pub(super) contributions: u64,
    pub(super) without: Option<Rule>,
}

/// One PE.
struct OnPe {
    /// One for each array.
    homes: Vec<Home<Contribution, ()>>,
    counted: Counted,
    elements: BTreeMap<u64, Element>,
    kept: BTreeMap<u64, Vec<Message>>,
}

/// The PEs, and the messages under way.
pub(super) struct World {
    shape: Shape,
    pes: Vec<OnPe>,
    /// Each with a name that depends on nothing but what its sender had seen, and the PE that it comes to.
    pub(super) messages: Vec<(u64, usize, Message)>,
    /// What each PE has seen, and behind them who sends the first messages.
    pub(super) seen: Vec<u64>,
    pub(super) truth: Truth,
}

impl World {
    pub(super) fn new(shape: Shape) -> Self {
        let on_pe = |number: usize| {
            let home_of = |index: &u64| (*index / shape.arrays) as usize % shape.homes;
            let is_mine = |index: &u64| home_of(index) == number;
            let mine: Vec<u64> = (0..shape.elements).filter(is_mine).collect();
            let element = |index: &u64| {
                let standing = Some(Standing::NEW);
                (*index, Element { standing, ..element(*index) })
            };
            let home = || {
                let mut home = Home::default();
                home.rules.without = shape.without;
                home
            };
            OnPe {
                homes: (0..shape.arrays).map(|_| home()).collect(),
                counted: Counted::new(number, &mine),
                elements: mine.iter().map(element).collect(),
                kept: BTreeMap::new(),
            }
        };
        Self {
            shape,
            pes: (0..shape.pes).map(on_pe).collect(),
            messages: Vec::new(),
            seen: (0..=shape.pes as u64).collect(),
            truth: Truth::new(shape.elements),
        }
    }

    pub(super) fn is_without(&self, rule: Rule) -> bool {
        self.shape.without == Some(rule)
    }

    pub(super) fn home_of(&self, index: u64) -> usize {
        (index / self.shape.arrays) as usize % self.shape.homes
    }

    /// What a PE knows as the home of elements like this one, and the index of the element in its array.
    fn home(&mut self, at: usize, index: u64) -> (&mut Home<Contribution, ()>, Index) {
        let (array, key) = (index % self.shape.arrays, index / self.shape.arrays);
        (&mut self.pes[at].homes[array as usize], Index::from(key))
    }

    /// The numbers of the elements that are bound to one, and its own.
    fn bond(&self, index: u64) -> std::ops::Range<u64> {
        let first = index - index % self.shape.arrays;
        first..first + self.shape.arrays
    }

    /// Sends a message.
    fn send(&mut self, from: usize, to: usize, message: Message) {
        self.seen[from] = mixed(self.seen[from], 0);
        self.messages.push((self.seen[from], to, message));
    }

    /// Calls an element, from a PE that takes another one for its own.
    pub(super) fn call_element(&mut self, at: usize, index: u64, act: Act) {
        let number = self.truth.ask();
        let call = Call { index, act, number, sought: None, sends: 1, seeks: None };
        self.ask(at, Message::Call(call));
    }

    /// Has an element inserted.
    pub(super) fn insert_element(&mut self, index: u64, id: u64, on: usize) {
        let insert = Insert { index, on, id, sought: None, after: None };
        self.ask(self.home_of(index), Message::Insert(insert));
    }

    /// Sends a message from outside.
    fn ask(&mut self, to: usize, message: Message) {
        self.send(self.shape.pes, to, message);
    }

    /// Has every home carry out a broadcast.
    pub(super) fn broadcast(&mut self, number: u64) {
        (0..self.shape.homes).for_each(|home| self.ask(home, Message::Broadcast { number }));
    }

    fn keep(&mut self, at: usize, index: u64, message: Message) {
        self.pes[at].kept.entry(index).or_default().push(message);
    }

    /// Looks again at what was kept for an element.
    fn release(&mut self, at: usize, index: u64) {
        for message in self.pes[at].kept.remove(&index).unwrap_or_default() {
            self.send(at, at, message);
        }
    }

    fn decide(&mut self, at: usize, index: u64, (from, stay): (usize, Stay), to: usize) {
        let (asks, first) = ((index % self.shape.arrays) as usize, self.bond(index).start);
        let key = Index::from(index / self.shape.arrays);
        let mut homes: Vec<_> = self.pes[at].homes.iter_mut().collect();
        match wish(&mut homes, asks, key, (pe(from), stay), pe(to)) {
            BondWish::Granted(let_go) => {
                let member = |LetGo { number, left, stay }: &LetGo| (first + *number as u64, *left, *stay);
                let members = let_go.iter().map(member).collect();
                self.send(at, from, Message::Go { members, to });
            }
            BondWish::Keep(other) => {
                self.keep(at, first + other as u64, Message::Wish { index, from, stay, to });
            }
            BondWish::Obsolete => {}
        }
    }

    /// Processes a message that is under way.
    pub(super) fn process(&mut self, position: usize) {
        let (name, at, message) = self.messages.swap_remove(position);
        self.seen[at] = mixed(self.seen[at], name);
        match message {
            Message::Call(call) => self.call(at, call),
            Message::Copy(copy) => self.copy(at, copy),
            Message::Insert(insert) => self.insert(at, insert),
            Message::Broadcast { number } => self.carry_out(at, number),
            Message::Wish { index, from, stay, to } => self.decide(at, index, (from, stay), to),
            Message::Go { members, to } => self.go(at, members, to),
            news => {
                if let Err(cause) = self.take(at, news) {
                    self.truth.fail(format!("refused: {cause}"));
                }
            }
        }
        self.look_for_parted();
    }

    /// Looks whether all elements that are bound to each other are on one PE.
    fn look_for_parted(&mut self) {
        let mut seats = BTreeMap::new();
        for (at, on_pe) in self.pes.iter().enumerate() {
            for index in on_pe.elements.keys() {
                let bond = index / self.shape.arrays;
                if *seats.entry(bond).or_insert(at) != at {
                    self.truth.fail(format!("the elements of bond {bond} are parted"));
                }
            }
        }
    }

    /// Takes what a PE says of an element.
    fn take(&mut self, at: usize, news: Message) -> Result<(), String> {
        let (index, is_news) = match news {
            Message::State(members) => return self.seat(at, members),
            Message::Gone { index, from, stay, contributed } => {
                let (home, key) = self.home(at, index);
                home.gone(key, (pe(from), stay), contributed, ())?;
                self.settle(at, index);
                return Ok(());
            }
            Message::Contribution { index, number, contribution } => {
                let (home, key) = self.home(at, index);
                home.contribute(key, number, contribution)?;
                self.take_contributions(at, index);
                return Ok(());
            }
            Message::Stayed { index, from, stay } => {
                let (home, key) = self.home(at, index);
                (index, home.stayed(key, (pe(from), stay))?)
            }
            Message::Arrived { index, at: on, stay } => {
                let (home, key) = self.home(at, index);
                (index, home.arrived(key, (pe(on), stay))?)
            }
            Message::Found { index, sought } => {
                let (home, key) = self.home(at, index);
                (index, home.found(key, sought)?)
            }
            _ => unreachable!("that is no news"),
        };
        if is_news {
            self.release(at, index);
        }
        Ok(())
    }

    fn call(&mut self, at: usize, mut call: Call) {
        let index = call.index;
        let home = self.home_of(index);
        if at == home {
            let seeks = self.pes[at].counted.find(index);
            if call.seeks.is_some() && call.seeks != seeks {
                call.sends = 0;
            }
            call.seeks = seeks;
        }
        if self.pes[at].elements.contains_key(&index) {
            return self.run(at, call);
        }
        if at != home {
            call.sends = self.truth.count(call.sends);
            return self.send(at, home, Message::Call(call));
        }
        let (knows, key) = self.home(at, index);
        match knows.seek(key, call.sought) {
            Seek::AtHomeOrNowhere | Seek::Keep => {
                if !self.truth.is_alive(index) {
                    call.sends = 0;
                }
                self.keep(at, index, Message::Call(call));
            }
            Seek::Send { to, sought } => {
                call.sought = Some(sought);
                call.sends = self.truth.count(call.sends);
                self.send(at, to.0 as usize, Message::Call(call));
            }
        }
    }

    /// Runs a call of an element that is here.
    fn run(&mut self, at: usize, call: Call) {
        let Call { index, act, number, sought, sends, .. } = call;
        self.truth.deliver(number, sends);
        self.tell_found(at, index, sought);
        let element = self.pes[at].elements.get_mut(&index).expect("it is here");
        match act {
            Act::Nothing => {}
            Act::Move { to, refusals } => {
                (element.wants, element.refusals) = (Some(to), refusals);
                self.wish(at, index);
            }
            Act::End => self.end(at, index),
            Act::Succeed { on, id } => {
                self.end(at, index);
                let after = Some(self.truth.births(index));
                let insert = Insert { index, on, id, sought: None, after };
                self.send(at, self.home_of(index), Message::Insert(insert));
            }
            Act::Contribute(callback) => self.contribute(at, index, callback, None),
        }
    }

    fn tell_found(&mut self, at: usize, index: u64, sought: Option<Sought>) {
        if let Some(sought) = sought.filter(|sought| sought.is_pinned) {
            let home = self.home_of(index);
            self.send(at, home, Message::Found { index, sought });
        }
    }

    /// Has the elements of a bond go where one wishes to be, or ask whether they may.
    fn wish(&mut self, at: usize, index: u64) {
        let home = self.home_of(index);
        let element = self.pes[at].elements.get_mut(&index).expect("it is here");
        let Some(to) = element.wants.filter(|to| *to != at) else {
            element.wants = None;
            return;
        };
        if at == home {
            return self.leave_home(at, index, to);
        }
        if !element.has_wished {
            element.has_wished = true;
            let stay = element.traveller.as_ref().expect("it is elsewhere").stay;
            self.send(at, home, Message::Wish { index, from: at, stay, to });
        }
    }

    fn leave_home(&mut self, at: usize, index: u64, to: usize) {
        let together = !self.is_without(Rule::JointGrants);
        let mut members = Vec::new();
        for index in self.bond(index).filter(|other| together || *other == index) {
            let Some(mut element) = self.pes[at].elements.remove(&index) else { continue };
            let standing = element.standing.take().unwrap_or(Standing::NEW);
            let (knows, key) = self.home(at, index);
            element.traveller = Some(knows.leave(key, pe(to), standing));
            self.truth.moves += 1;
            members.push((index, element));
        }
        self.send(at, to, Message::State(members));
    }

    fn go(&mut self, at: usize, members: Vec<(u64, Stay, Stay)>, to: usize) {
        let is_it = |on_pe: &OnPe, (index, stay, _): &(u64, Stay, Stay)| {
            let traveller = on_pe.elements.get(index).and_then(|element| element.traveller.as_ref());
            traveller.is_some_and(|it| it.stay == *stay)
        };
        let here: Vec<_> = members.into_iter().filter(|member| is_it(&self.pes[at], member)).collect();
        let mut refuses = false;
        for (index, ..) in &here {
            let element = self.pes[at].elements.get_mut(index).expect("it is here");
            element.has_wished = false;
            refuses |= element.refusals > 0;
            element.refusals = element.refusals.saturating_sub(1);
        }
        if refuses {
            for (index, stay, _) in &here {
                let home = self.home_of(*index);
                self.send(at, home, Message::Stayed { index: *index, from: at, stay: *stay });
            }
            here.iter().for_each(|(index, ..)| self.wish(at, *index));
            return;
        }
        let leave = |(index, _, then)| {
            let mut element = self.pes[at].elements.remove(&index).expect("it is here");
            element.traveller.as_mut().expect("looked at before").stay = then;
            (index, element)
        };
        let left: Vec<_> = here.into_iter().map(leave).collect();
        if !left.is_empty() {
            self.truth.moves += left.len() as u64;
            self.send(at, to, Message::State(left));
        }
    }

    /// Takes elements that have come here.
    fn seat(&mut self, at: usize, members: Vec<(u64, Element)>) -> Result<(), String> {
        let indices: Vec<u64> = members.iter().map(|(index, _)| *index).collect();
        for (index, mut element) in members {
            let home = self.home_of(index);
            let traveller = element.traveller.clone().expect("it comes from elsewhere");
            if at == home {
                let (knows, key) = self.home(at, index);
                knows.come_home(key, pe(at), &traveller)?;
                element.traveller = None;
            } else {
                self.send(at, home, Message::Arrived { index, at, stay: traveller.stay });
            }
            if self.pes[at].elements.insert(index, element).is_some() {
                return Err("two elements have one index".to_owned());
            }
        }
        for index in &indices {
            if at == self.home_of(*index) {
                self.release(at, *index);
                self.settle(at, *index);
            }
        }
        for index in indices {
            // Another one has taken it along.
            if self.pes[at].elements.contains_key(&index) {
                self.wish(at, index);
            }
        }
        Ok(())
    }

    fn insert(&mut self, at: usize, mut insert: Insert) {
        let index = insert.index;
        let home = self.home_of(index);
        if self.pes[at].elements.contains_key(&index) {
            return self.truth.refuse((index, insert.id), insert.after);
        }
        if at != home {
            return self.send(at, home, Message::Insert(insert));
        }
        let (knows, key) = self.home(at, index);
        match knows.admit(key, insert.sought) {
            Admission::AtHomeOrNowhere => self.construct(at, insert),
            Admission::Keep => self.keep(at, index, Message::Insert(insert)),
            Admission::Ask { to, sought } => {
                insert.sought = Some(sought);
                self.send(at, to.0 as usize, Message::Insert(insert));
            }
            Admission::Exists => self.truth.refuse((index, insert.id), insert.after),
        }
    }

    fn construct(&mut self, at: usize, insert: Insert) {
        let (index, first) = (insert.index, self.bond(insert.index).start);
        let key = Index::from(index / self.shape.arrays);
        let on = match find_bond(self.pes[at].homes.iter(), key) {
            Lives::On(on) => on.0 as usize,
            Lives::UnderWay(other) => return self.keep(at, first + other as u64, Message::Insert(insert)),
            Lives::AtHomeOrNowhere => {
                let is_here = |other: u64| self.pes[at].elements.contains_key(&other);
                let beside = !self.is_without(Rule::BornBesideBond) && self.bond(index).any(is_here);
                if beside { at } else { insert.on }
            }
        };
        let id = insert.id;
        self.truth.bear(id, index);
        let on_pe = &mut self.pes[at];
        let standing = on_pe.counted.add_member(index, id);
        if on == at {
            on_pe.elements.insert(index, Element { standing: Some(standing), ..element(id) });
            return self.release(at, index);
        }
        let (knows, key) = self.home(at, index);
        let traveller = Some(knows.send_newborn(key, pe(on), standing));
        self.send(at, on, Message::State(vec![(index, Element { traveller, ..element(id) })]));
    }

    fn end(&mut self, at: usize, index: u64) {
        let element = self.pes[at].elements.remove(&index).expect("it is here");
        self.truth.end(element.id);
        let home = self.home_of(index);
        if let Some(traveller) = element.traveller {
            let (stay, contributed) = (traveller.stay, traveller.contributed());
            return self.send(at, home, Message::Gone { index, from: at, stay, contributed });
        }
        let (knows, key) = self.home(at, index);
        match knows.end_at_home(key, ()) {
            Ok(()) => self.settle(at, index),
            Err(()) => self.remove(at, index, element.standing.expect("it had no entry")),
        }
    }

    fn settle(&mut self, at: usize, index: u64) {
        let (knows, key) = self.home(at, index);
        match knows.settle(key) {
            Settled::Nothing => {}
            Settled::AtHome(standing) => {
                let element = self.pes[at].elements.get_mut(&index).expect("it is at home");
                element.standing = Some(standing);
            }
            Settled::Over(standing, ()) => self.remove(at, index, standing),
        }
    }

    fn remove(&mut self, at: usize, index: u64, standing: Standing) {
        self.pes[at].counted.remove_member(index, standing, &mut self.truth);
        self.release(at, index);
    }

    fn carry_out(&mut self, at: usize, number: u64) {
        self.pes[at].counted.hear(number, &mut self.truth);
        let arrays = self.shape.arrays;
        let elsewhere = self.pes[at].homes.iter_mut().zip(0..arrays);
        let elsewhere = elsewhere.flat_map(|(home, array)| {
            let number = move |(key, journey): (Index, _)| (key.low() * arrays + array, journey);
            home.call_elsewhere().into_iter().map(number)
        });
        for (index, journey) in elsewhere.collect::<Vec<_>>() {
            self.copy(at, Copy { index, journey, broadcast: number, sought: None, sends: 0 });
        }
        let elements = self.pes[at].elements.iter();
        let mine = elements.filter(|(_, element)| element.traveller.is_none());
        for index in mine.map(|(index, _)| *index).collect::<Vec<_>>() {
            self.hear(at, index, number);
        }
    }

    fn copy(&mut self, at: usize, mut copy: Copy) {
        let Copy { index, journey, broadcast, sought, .. } = copy;
        let home = self.home_of(index);
        let without_journeys = self.is_without(Rule::JourneyOfCopies);
        if at != home {
            let Some(element) = self.pes[at].elements.get_mut(&index) else {
                copy.sends = self.truth.count(copy.sends);
                return self.send(at, home, Message::Copy(copy));
            };
            if element.traveller.as_mut().expect("it is elsewhere").hear(journey) || without_journeys {
                self.truth.measure(copy.sends);
                self.tell_found(at, index, sought);
                self.hear(at, index, broadcast);
            }
            return;
        }
        let (knows, key) = self.home(at, index);
        match knows.seek_copy(key, journey, sought) {
            SeekCopy::Hear => {
                self.hear(at, index, broadcast);
                self.settle(at, index);
            }
            SeekCopy::Keep => self.keep(at, index, Message::Copy(copy)),
            SeekCopy::Send { to, sought } => {
                copy.sought = Some(sought);
                copy.sends = self.truth.count(copy.sends);
                self.send(at, to.0 as usize, Message::Copy(copy));
            }
            SeekCopy::Drop => {}
        }
    }

    /// Has an element that is here hear a broadcast.
    fn hear(&mut self, at: usize, index: u64, broadcast: u64) {
        let Some(element) = self.pes[at].elements.get(&index) else {
            return self.truth.fail("a broadcast is heard by nobody".to_owned());
        };
        self.truth.hear(broadcast, element.id);
        for more in 0..self.shape.contributions {
            self.contribute(at, index, broadcast + more, Some(broadcast));
        }
    }

    fn contribute(&mut self, at: usize, index: u64, callback: u64, within: Option<u64>) {
        let home = self.home_of(index);
        let element = self.pes[at].elements.get_mut(&index).expect("it is here");
        let contribution = Contribution { callback, within, by: element.id, nth: element.contributed };
        element.contributed += 1;
        self.truth.contribute((home, callback), counted::weight(element.id));
        if let Some(traveller) = &mut element.traveller {
            let number = traveller.contribute();
            return self.send(at, home, Message::Contribution { index, number, contribution });
        }
        let (knows, key) = self.home(at, index);
        match knows.contribute_at_home(key, contribution) {
            Ok(()) => self.take_contributions(at, index),
            Err(contribution) => {
                let OnPe { elements, counted, .. } = &mut self.pes[at];
                let standing = &mut elements.get_mut(&index).expect("it is here").standing;
                let before = standing.unwrap_or(Standing::NEW);
                *standing = Some(counted.add(index, contribution, before, &mut self.truth));
            }
        }
    }

    fn take_contributions(&mut self, at: usize, index: u64) {
        let (array, key) = (index % self.shape.arrays, Index::from(index / self.shape.arrays));
        let OnPe { homes, counted, .. } = &mut self.pes[at];
        while let Some((contribution, standing)) = homes[array as usize].next_contribution(key) {
            *standing = counted.add(index, contribution, *standing, &mut self.truth);
        }
        self.settle(at, index);
    }

    /// Looks at a world in which nothing is under way.
    pub(super) fn finish(&mut self) {
        for at in 0..self.pes.len() {
            let on_pe = &self.pes[at];
            for (index, kept) in &on_pe.kept {
                for message in kept {
                    match message {
                        Message::Call(call) if !self.truth.is_alive(*index) => self.truth.keep(call.number),
                        _ => self.truth.fail(format!("kept for ever: {message:?}")),
                    }
                }
            }
            if let Some(open) = on_pe.counted.each_open().next() {
                self.truth.fail(format!("a reduction is never over: {open}"));
            }
            if let Some(element) = on_pe.elements.values().find(|element| element.wants.is_some()) {
                self.truth.fail(format!("never comes where it wishes to be: {element:?}"));
            }
            let on_journey = |array: u64, (key, entry): (&Index, &Entry<Contribution, ()>)| {
                let Residence::Elsewhere { at, .. } = entry.residence else { return false };
                let index = key.low() * self.shape.arrays + array;
                entry.pins == 0 && self.pes[at.0 as usize].elements.contains_key(&index)
            };
            let mut homes = on_pe.homes.iter().zip(0..);
            if !homes.all(|(home, array)| home.entries.iter().all(|entry| on_journey(array, entry))) {
                self.truth.fail("an entry is left behind".to_owned());
            }
        }
        self.truth.finish();
    }
}

fn element(id: u64) -> Element {
    Element {
        id,
        standing: None,
        traveller: None,
        wants: None,
        has_wished: false,
        refusals: 0,
        contributed: 0,
    }
}
