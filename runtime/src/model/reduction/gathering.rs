//! Gathering of partials on a node's first PE: from the PEs of the node and the nodes right below, its *children*, until all have said a
//! reduction; then it goes up the tree, or is over at the root.
//!
//! 1. Each child's statements are taken in the order of their numbers; those that come early wait.
//! 2. A child's partial goes to the first reduction of that name that the child has not said. If there is none, a reduction begins.
//! 3. A reduction is whole when all children have said it, or [left](super::statements). What is whole is handed up at once: a reduction
//!    that began earlier does not hold it up.
//! 4. In a collection that may grow, children are told of what has begun and they have not said.

use super::line::Line;
use super::partial::{Name, Partial};
use super::statements::{Begun, Said, TOLD_MAX};
use crate::base::allowance::{Allowance, Purpose};
use crate::model::ids::PeId;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::collections::BTreeMap;

chare_lrts::knob! {
    /// How many statements of a child are taken before it is told in any case.
    fn tell_every() -> u64 = 64, or [1, 3, 1_024];
}

/// A statement of a place to the one above.
#[derive(Serialize, Deserialize)]
pub(crate) enum Statement {
    /// All below have closed a reduction.
    Closed(Box<Partial>),
    /// No member will be below any more, and all reductions are said that members contributed to.
    Left,
}

/// A set of children.
#[derive(Clone, Default)]
struct Children(SmallVec<[u64; 2]>);

impl Children {
    fn insert(&mut self, child: usize) {
        if self.0.len() <= child / 64 {
            self.0.resize(child / 64 + 1, 0);
        }
        self.0[child / 64] |= 1 << (child % 64);
    }

    fn contains(&self, child: usize) -> bool {
        self.0.get(child / 64).is_some_and(|word| word >> (child % 64) & 1 != 0)
    }

    fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// A PE of the node, or a node right below, by its first PE.
struct Child {
    pe: PeId,
    /// How many of its statements were taken.
    heard: u64,
    /// It has said all reductions before this one.
    next: u64,
    early: BTreeMap<u64, (Statement, u64)>,
    /// How many statements were taken when it was told last.
    told_at: u64,
}

/// A reduction that is not whole here.
struct Waiting {
    partial: Box<Partial>,
    /// The memory in bytes that it takes of the node's allowance.
    bytes: u64,
    /// The children that have said it or left.
    said: Children,
    /// The children that were told of it as it is known.
    told: Children,
}

/// What a node's first PE gathers of one collection's reductions.
pub(crate) struct Gathering {
    children: Vec<Child>,
    left: Children,
    line: Line<Waiting>,
    said: Said,
    grows: bool,
}

impl Gathering {
    /// That of a node with these PEs and first PEs of nodes below, in any order.
    pub(crate) fn new(mut children: Vec<PeId>, grows: bool) -> Self {
        children.sort_unstable();
        let child = |pe| Child { pe, heard: 0, next: 0, early: BTreeMap::new(), told_at: 0 };
        let children = children.into_iter().map(child).collect();
        Self { children, left: Children::default(), line: Line::default(), said: Said::new(grows), grows }
    }

    /// Takes a child's statement. What is whole now goes to `whole`, in order. What waits takes of the node's allowance.
    ///
    /// # Errors
    /// When it is no child, or the statement came before, or contributions do not fit together, or there is no room for them, in words.
    pub(crate) fn take(
        &mut self,
        (from, number): (PeId, u64),
        statement: Statement,
        allowance: &Allowance,
        whole: &mut SmallVec<[Statement; 1]>,
    ) -> Result<(), String> {
        let place = self.place_of(from)?;
        let child = &mut self.children[place];
        if number != child.heard {
            let bytes = match &statement {
                Statement::Closed(partial) => partial.memory_bytes(),
                Statement::Left => 0,
            };
            self.reserve(bytes, allowance)?;
            chare_lrts::sometimes!("a statement about reductions overtook another");
            let child = &mut self.children[place];
            let again = number < child.heard || child.early.insert(number, (statement, bytes)).is_some();
            return if again { Err(format!("{from} says something again")) } else { Ok(()) };
        }
        self.take_next(place, statement, allowance, whole)?;
        loop {
            let child = &mut self.children[place];
            let Some((statement, bytes)) = child.early.remove(&child.heard) else { return Ok(()) };
            allowance.give_back(Purpose::Partials, bytes);
            self.take_next(place, statement, allowance, whole)?;
        }
    }

    fn place_of(&self, pe: PeId) -> Result<usize, String> {
        let place = self.children.binary_search_by_key(&pe, |child| child.pe);
        place.map_err(|_| format!("{pe} takes no part in it here"))
    }

    fn reserve(&self, bytes: u64, allowance: &Allowance) -> Result<(), String> {
        allowance.take(Purpose::Partials, bytes).map_err(|used_up| {
            let begun = self.line.len();
            format!(
                "{begun} reductions have begun that are not over, and {used_up}; make sure that no member is so far ahead of the \
                 others"
            )
        })
    }

    fn take_next(
        &mut self,
        place: usize,
        statement: Statement,
        allowance: &Allowance,
        whole: &mut SmallVec<[Statement; 1]>,
    ) -> Result<(), String> {
        self.children[place].heard += 1;
        match statement {
            Statement::Closed(partial) => whole.extend(self.fold(place, partial, allowance)?),
            Statement::Left => {
                self.left.insert(place);
                self.line.iter_mut().for_each(|(_, waiting)| waiting.said.insert(place));
                while let Some(number) = self.first_whole() {
                    whole.extend(self.hand_up(number, allowance));
                }
                if self.is_left() {
                    whole.push(Statement::Left);
                }
            }
        }
        Ok(())
    }

    fn first_whole(&self) -> Option<u64> {
        let mut line = self.line.from(0);
        line.find(|(_, waiting)| waiting.said.len() == self.children.len()).map(|(number, _)| number)
    }

    /// Adds a child's partial to its reduction; returns that if it is whole.
    fn fold(
        &mut self,
        place: usize,
        partial: Box<Partial>,
        allowance: &Allowance,
    ) -> Result<Option<Statement>, String> {
        let name = partial.name();
        let found = self.find(place, name);
        let said = found.and_then(|number| self.line.get(number)).map_or(&self.left, |found| &found.said);
        let is_whole = said.len() + 1 == self.children.len();
        if found.is_none() && is_whole {
            // It is over before it would stand in the line.
            return Ok(Some(Statement::Closed(partial)));
        }
        let bytes = if is_whole { 0 } else { partial.memory_bytes() };
        self.reserve(bytes, allowance)?;
        let number = found.unwrap_or_else(|| self.open(name));
        let waiting = self.line.get_mut(number).expect("it was found, or has begun");
        if waiting.partial.within.is_none() && name.within.is_some() {
            waiting.told.clear();
        }
        waiting.bytes += bytes;
        waiting.said.insert(place);
        waiting.partial.absorb(*partial)?;
        self.advance(place);
        Ok(if is_whole { self.hand_up(number, allowance) } else { None })
    }

    /// The first reduction of a name that a child has not said.
    fn find(&self, place: usize, name: Name) -> Option<u64> {
        let is_it = |(_, waiting): &(u64, &Waiting)| {
            !waiting.said.contains(place) && waiting.partial.name().fits(&name)
        };
        self.line.from(self.children[place].next).find(is_it).map(|(number, _)| number)
    }

    fn open(&mut self, name: Name) -> u64 {
        let partial = Box::new(Partial::empty(name));
        let (said, told) = (self.left.clone(), Children::default());
        self.line.push(Waiting { partial, bytes: 0, said, told })
    }

    /// Leaves out of later searches what a child has said.
    fn advance(&mut self, place: usize) {
        let child = &mut self.children[place];
        let unsaid = self.line.from(child.next).find(|(_, waiting)| !waiting.said.contains(place));
        child.next = unsaid.map_or_else(|| self.line.end(), |(number, _)| number);
    }

    fn hand_up(&mut self, number: u64, allowance: &Allowance) -> Option<Statement> {
        let Waiting { partial, bytes, .. } = self.line.take(number)?;
        allowance.give_back(Purpose::Partials, bytes);
        Some(Statement::Closed(partial))
    }

    /// Whether all children have left.
    pub(crate) fn is_left(&self) -> bool {
        self.left.len() == self.children.len()
    }

    /// The number of a statement that goes to the node above.
    pub(crate) fn say(&mut self, statement: &Statement) -> u64 {
        self.said.say(match statement {
            Statement::Closed(partial) => Some(partial.name()),
            Statement::Left => None,
        })
    }

    /// Takes note of the reductions that have begun and await this node, as the node above knows.
    ///
    /// # Errors
    /// When this node has not said what it is said to have said, or there is no room, in words: other nodes may say anything.
    pub(crate) fn begin(&mut self, begun: Begun, allowance: &Allowance) -> Result<(), String> {
        if self.is_left() {
            return Ok(());
        }
        let mut known = SmallVec::<[u64; 1]>::new();
        for name in self.said.missing(begun)? {
            let is_it = |(number, waiting): &(u64, &Waiting)| {
                waiting.partial.name().fits(&name) && !known.contains(number)
            };
            let found = self.line.from(0).find(is_it).map(|(number, _)| number);
            let number = match found {
                Some(number) => number,
                None => {
                    let bytes = Partial::empty(name).memory_bytes();
                    self.reserve(bytes, allowance)?;
                    let number = self.open(name);
                    self.line.get_mut(number).expect("it has begun").bytes = bytes;
                    number
                }
            };
            let waiting = self.line.get_mut(number).expect("it was found, or has begun");
            if waiting.partial.within.is_none() && name.within.is_some() {
                waiting.partial.within = name.within;
                waiting.told.clear();
            }
            known.push(number);
        }
        Ok(())
    }

    /// The news that children are to be told now.
    pub(crate) fn news(&mut self) -> Vec<(PeId, Begun)> {
        if !self.grows {
            return Vec::new();
        }
        let mut news = Vec::new();
        for (place, child) in self.children.iter_mut().enumerate() {
            let is_missing = |(_, waiting): &(u64, &Waiting)| !waiting.said.contains(place);
            let missing = || self.line.from(child.next).filter(is_missing).take(TOLD_MAX);
            let is_due = child.heard >= child.told_at + tell_every();
            if !is_due && missing().all(|(_, waiting)| waiting.told.contains(place)) {
                continue;
            }
            let (numbers, names): (Vec<u64>, Vec<Name>) =
                missing().map(|(number, waiting)| (number, waiting.partial.name())).unzip();
            for number in numbers {
                self.line.get_mut(number).expect("it is missing").told.insert(place);
            }
            chare_lrts::sometimes!("a child was told of reductions that it has not said");
            child.told_at = child.heard;
            news.push((child.pe, Begun { heard: child.heard, missing: names }));
        }
        news
    }

    /// The reductions that wait here, each with its children: those that have said it, and those that have not.
    pub(crate) fn each_waiting(&self) -> impl Iterator<Item = (&Partial, [Vec<PeId>; 2])> {
        self.line.from(0).map(|(_, waiting)| {
            let children = || self.children.iter().enumerate();
            let (said, silent): (Vec<_>, Vec<_>) =
                children().partition(|(place, _)| waiting.said.contains(*place));
            (&*waiting.partial, [said, silent].map(|of| of.into_iter().map(|(_, child)| child.pe).collect()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;
    use crate::model::ids::Index;
    use crate::model::reduction::reducers::sum;

    fn closed(reference: u64) -> Statement {
        let callback = Callback::<u64>::ignore().with_reference(reference).erase();
        let data = Some(sum(1_u64).of_member(Index::from(0), || 0));
        Statement::Closed(Box::new(Partial { callback, within: None, contributed: 1, data }))
    }

    /// Lets PEs, in an order, say something; returns what is whole, as reference number and sum.
    fn gather(statements: impl IntoIterator<Item = (u32, u64, Statement)>) -> Vec<Option<(u64, u64)>> {
        let allowance = Allowance::new(u64::MAX / 2);
        let mut gathering = Gathering::new(vec![PeId(2), PeId(7)], false);
        let mut whole = SmallVec::new();
        for (pe, number, statement) in statements {
            gathering.take((PeId(pe), number), statement, &allowance, &mut whole).unwrap();
        }
        let show = |statement| match statement {
            Statement::Closed(partial) => {
                let reference = partial.callback.reference;
                Some((reference, partial.finish().unwrap().take().ok().unwrap()))
            }
            Statement::Left => None,
        };
        whole.into_iter().map(show).collect()
    }

    #[test]
    fn partials_meet_by_name_and_those_of_one_name_in_order() {
        let one = [(2, 0, closed(1)), (2, 1, closed(2)), (2, 2, closed(1))];
        let other = [(7, 1, closed(1)), (7, 2, closed(1)), (7, 0, closed(2))];
        let whole = gather(one.into_iter().chain(other));
        assert_eq!(whole, [Some((2, 2)), Some((1, 2)), Some((1, 2))]);
    }

    #[test]
    fn who_has_left_is_awaited_no_more() {
        let whole = gather([
            (2, 0, closed(1)),
            (7, 1, Statement::Left),
            (2, 1, closed(2)),
            (7, 0, closed(2)),
            (2, 2, closed(3)),
            (2, 3, Statement::Left),
        ]);
        assert_eq!(whole, [Some((2, 2)), Some((1, 1)), Some((3, 1)), None]);
    }

    #[test]
    fn what_is_no_statement_is_refused() {
        let allowance = Allowance::new(u64::MAX / 2);
        let mut gathering = Gathering::new(vec![PeId(2), PeId(7)], false);
        let mut take =
            |pe, number| gathering.take((PeId(pe), number), closed(1), &allowance, &mut SmallVec::new());
        assert!(take(3, 0).unwrap_err().contains("PE 3"));
        assert!(take(2, 0).is_ok() && take(2, 0).is_err());
        assert!(take(2, 5).is_ok() && take(2, 5).is_err());
    }

    #[test]
    fn the_last_byte_of_room_is_used_and_no_more() {
        let Statement::Closed(partial) = closed(0) else { unreachable!() };
        // A sixteenth of the allowance is in reserve for each of the four other purposes.
        let allowance = Allowance::new(3 * partial.memory_bytes() * 16 / 12);
        let mut gathering = Gathering::new(vec![PeId(2), PeId(7)], false);
        let mut whole = SmallVec::new();
        let mut add = |pe, number, reference| {
            gathering.take((PeId(pe), number), closed(reference), &allowance, &mut whole)
        };
        assert!((0..3).all(|number| add(2, number, number).is_ok()));
        assert_eq!(add(7, 0, 1), Ok(()), "it is whole, and takes no room any more");
        assert_eq!(add(2, 3, 3), Ok(()));
        let refusal = add(2, 4, 4).unwrap_err();
        assert!(refusal.contains("3 reductions"), "{refusal}");
    }
}
