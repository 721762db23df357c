//! Contributions on one PE to a collection's reductions: how they are counted and folded while members come and go.
//!
//! 1. A member's n-th contribution, counted from the reduction with which the member began, belongs to the collection's reduction of
//!    that number. A PE *closes* a reduction once: when all members that are on the PE have contributed to it.
//! 2. The partial with which a PE closes a reduction says what its members contributed, how many contributions that is, and how many
//!    contributions the PE *expects* of members born on it: births less deaths. A member that dies contributes no more to reductions to
//!    which it had not contributed.
//! 3. A reduction is over when all PEs that take part have closed it and, over all PEs, as many contributions came as are expected. A
//!    member that comes from another PE and contributes to a reduction that its new PE has closed is expected by the PE on which it was
//!    born: its contribution follows on its own.
//! 4. A PE without members closes a reduction when the PE is told that the reduction has begun.
//! 5. A reduction to which a member contributes within a broadcast belongs to that broadcast. A member that is born on a PE begins with
//!    the first reduction that the PE has not closed and that belongs to no broadcast which the PE carried out before the birth: who does
//!    not hear a call is not awaited in what it begins. So that all who hear it are, a PE closes the reduction only after it carried the
//!    broadcast out. See [`super::newborns`].
//! 6. A PE that has no members in the beginning, and on which none can be born, takes no part: no PE waits for it, and contributions
//!    from that PE follow as by rule 3.
//!
//! The protocol is that of Charm++'s `CkReductionMgr`, with counts that are summed instead of messages about migrations.

use super::newborns::Newborns;
use super::reducers::Data;
use super::telling::Begun;
use crate::model::callback::ErasedCallback;
use crate::model::ids::BroadcastId;
use crate::model::reduction::{Partial, Share, Tally};
use std::collections::VecDeque;

/// In place of the number of a member's next reduction: the member is a newborn of the cohort that the other bits name.
pub(crate) const NEWBORN: u64 = 1 << 63;

/// The cause of refusal of a newborn's contribution.
const MISSED: &str = "it was inserted after the call of all elements in whose course it contributes, so it takes no part in what that \
                      call began; call all elements anew, or let none of those who were called call it";

/// A reduction that this PE has not closed.
#[derive(Default)]
struct Open {
    share: Option<Share>,
    /// Whether anybody is known to have contributed, on whatever PE.
    has_begun: bool,
    /// Contributions in the share.
    contributed: u64,
    /// The broadcast to which the reduction belongs, as far as this PE knows.
    within: Option<BroadcastId>,
    /// Members that are still on this PE and have contributed, or begin with a later reduction.
    present: u64,
    /// Members of this PE that begin with this reduction and began when an earlier one was open.
    joining: u64,
    /// Members that died on this PE and for which this is the first reduction without them.
    leaving: u64,
}

/// The contributions on this PE to the reductions of one collection.
pub(crate) struct Contributions {
    takes_part: bool,
    /// The first reduction that is not closed.
    first: u64,
    open: VecDeque<Open>,
    /// Members on this PE, born or being born, without newborns.
    present: u64,
    newborns: Newborns,
    /// Births less deaths on this PE, as far as they count for the first open reduction.
    expected: i64,
}

impl Contributions {
    pub(crate) fn new(members: u64, takes_part: bool) -> Self {
        let expected = members as i64;
        Self {
            takes_part,
            first: 0,
            open: VecDeque::new(),
            present: members,
            newborns: Newborns::default(),
            expected,
        }
    }

    fn open(&mut self, number: u64) -> &mut Open {
        let place = (number - self.first) as usize;
        while self.open.len() <= place {
            self.open.push_back(Open::default());
        }
        &mut self.open[place]
    }

    /// Adds the contribution of one more member on this PE, if it is numbers or nothing, and if other members have contributed and more are
    /// to, so that nothing else follows from it. Returns whether it was added; [`Contributions::add`] takes any contribution.
    #[inline]
    pub(crate) fn join(
        &mut self,
        number: u64,
        within: Option<BroadcastId>,
        data: &Data,
        callback: &ErasedCallback,
    ) -> bool {
        // For a closed reduction the difference wraps around, to more than are ever open.
        let open = self.open.get_mut(number.wrapping_sub(self.first) as usize);
        let is_between = |open: &&mut Open| open.present + 1 < self.present;
        let Some(open) = open.filter(is_between) else { return false };
        if within.is_some() && open.within.is_none() {
            return false;
        }
        let joined = open.share.as_mut().is_some_and(|share| share.join(data, callback));
        open.contributed += u64::from(joined);
        open.present += u64::from(joined);
        joined
    }

    /// Adds the contribution of a member on this PE to a reduction. Returns the partial that is to be sent at once, if any.
    ///
    /// # Errors
    /// When the contribution does not fit those of other members, in words.
    pub(crate) fn add(
        &mut self,
        number: u64,
        within: Option<BroadcastId>,
        share: Share,
    ) -> Result<Option<Partial>, String> {
        if number < self.first || !self.takes_part {
            let tally = Tally { closed: 0, contributed: 1, expected: 0 };
            return Ok(Some(Partial { number, tally, within, share: Some(share) }));
        }
        let open = self.open(number);
        open.has_begun = true;
        open.within = open.within.or(within);
        open.contributed += 1;
        open.present += 1;
        match &mut open.share {
            Some(mine) => mine.absorb(share)?,
            none => *none = Some(share),
        }
        Ok(None)
    }

    /// Takes note that this PE carries out a broadcast over the collection.
    pub(crate) fn hear(&mut self, broadcast: BroadcastId) {
        self.newborns.hear(broadcast);
    }

    /// Counts a member that is being born on this PE. Returns the reduction with which the member begins, or [`NEWBORN`] and its cohort
    /// if that is not known yet.
    pub(crate) fn add_member(&mut self) -> u64 {
        match self.newborns.add() {
            Some(cohort) => NEWBORN | cohort,
            None => {
                self.present += 1;
                self.expected += 1;
                self.first
            }
        }
    }

    /// Lets a newborn begin, which contributes for the first time, maybe within a broadcast. Returns the reduction with which it begins.
    ///
    /// # Errors
    /// When the newborn missed the broadcast, in words.
    pub(crate) fn begin_member(&mut self, newborn: u64, within: Option<BroadcastId>) -> Result<u64, String> {
        let cohort = newborn & !NEWBORN;
        if self.newborns.missed(cohort, within) {
            return Err(MISSED.to_owned());
        }
        let missed = |open: &&Open| self.newborns.missed(cohort, open.within);
        let before = self.open.iter().take_while(missed).count();
        self.newborns.remove(cohort);
        self.present += 1;
        let number = self.first + before as u64;
        if before == 0 {
            self.expected += 1;
        } else {
            self.open(number).joining += 1;
            self.open.iter_mut().take(before).for_each(|open| open.present += 1);
        }
        Ok(number)
    }

    /// Removes a member that dies on this PE and would have contributed to reduction `next` next. Returns whether it was the last member.
    pub(crate) fn remove_member(&mut self, next: u64) -> bool {
        if next >= NEWBORN {
            self.newborns.remove(next & !NEWBORN);
            return self.present == 0 && self.newborns.is_empty();
        }
        self.present -= 1;
        if next > self.first {
            self.open(next).leaving += 1;
            let before = (next - self.first) as usize;
            self.open.iter_mut().take(before).for_each(|open| open.present -= 1);
        } else {
            self.expected -= 1;
        }
        self.present == 0 && self.newborns.is_empty()
    }

    /// Takes note that reductions have begun.
    ///
    /// # Errors
    /// When more reductions than can be under way would have begun, in words: other nodes may say anything.
    pub(crate) fn begin(&mut self, news: Begun) -> Result<(), String> {
        for number in news.numbers(self.first)? {
            let open = self.open(number);
            open.has_begun = true;
            open.within = open.within.or(news.within);
        }
        Ok(())
    }

    /// The first reduction that this PE has not closed: its number, how many members have contributed to it here, and the callback that
    /// they named.
    pub(crate) fn first_open(&self) -> (u64, u64, Option<ErasedCallback>) {
        let open = self.open.front();
        let callback = open.and_then(|open| open.share.as_ref()).map(|share| share.callback);
        (self.first, open.map_or(0, |open| open.contributed), callback)
    }

    /// Closes the next reduction, if it can be closed.
    pub(crate) fn close(&mut self) -> Option<Partial> {
        let front = self.open.front();
        let is_complete = match self.present {
            0 => front.is_some_and(|open| open.has_begun),
            present => front.is_some_and(|open| open.present == present),
        };
        let is_decided = || self.newborns.are_out_of(front.and_then(|open| open.within));
        if !is_complete || !self.takes_part || !is_decided() {
            return None;
        }
        let Open { share, contributed, within, .. } = self.open.pop_front().unwrap_or_default();
        let tally = Tally { closed: 1, contributed, expected: self.expected };
        let number = self.first;
        self.first += 1;
        self.expected += self.open.front().map_or(0, |open| open.joining as i64 - open.leaving as i64);
        Some(Partial { number, tally, within, share })
    }
}

#[cfg(test)]
mod tests;
