//! Contributions on one PE to a collection's reductions: how they are told apart, counted and folded while members come and go.
//!
//! 1. Reductions are told apart by their [names](Name): their callbacks, and the broadcasts within which members contribute, where these
//!    are known. The n-th of the reductions of one name takes each member's n-th contribution of that name. So members may contribute to
//!    reductions of different names in any order: several clients may call one collection and reduce over it, each for itself.
//! 2. A PE numbers reductions in the order in which they begin on it. That order is its own: see [`super::statements`] for how PEs
//!    understand each other.
//! 3. A member that contributes to them in order needs one number, that of the next: it has contributed to all before. A reduction to
//!    which members contribute ahead of an earlier one remembers those members by index. Only then is there more to do for a contribution
//!    than to fold it into the others.
//! 4. A PE *closes* a reduction once: when all members that are on the PE have contributed to it, or died. A PE without members closes it
//!    when it is told of it.
//! 5. A reduction to which a member contributes within a broadcast belongs to that broadcast: who missed the broadcast takes no part in
//!    it, and so that all who hear the broadcast do, a PE closes the reduction only after it carried the broadcast out. Who is born takes
//!    part in all other reductions that the PE has not closed. See [`super::newborns`].
//! 6. A PE that has no members in the beginning, and on which none can be born, takes no part: no PE waits for it.

use super::line::Line;
use super::newborns::Newborns;
use super::partial::Name;
use super::reducers::Data;
use super::statements::{Begun, Said};
use crate::model::callback::ErasedCallback;
use crate::model::ids::{BroadcastId, Index};
use crate::model::reduction::{Partial, Share};
use crate::model::registry::Standing;
use rustc_hash::FxHashSet;

/// The cause of refusal of a newborn's contribution.
const MISSED: &str = "it was inserted after the call of all elements in whose course it contributes, so it takes no part in what that \
                      call began; call all elements anew, or let none of those who were called call it";

/// The refusal of a contribution, in words.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The member takes no part in the reduction.
    Missed(&'static str),
    /// The contribution does not fit those of other members.
    Misfit(String),
}

/// What a PE says when it closes a reduction: the number of the statement, and the partial.
pub(crate) type Closed = (u64, Box<Partial>);

/// What has come together of a reduction on this PE.
enum Folded {
    /// Nothing, for this callback.
    Nothing(ErasedCallback),
    /// Contributions of members that contributed to all earlier ones.
    InOrder(Share),
    /// Contributions, some of them of these members, which have not contributed to all earlier ones.
    Ahead(Share, FxHashSet<Index>),
}

/// A reduction that this PE has not closed.
struct Open {
    folded: Folded,
    within: Option<BroadcastId>,
    contributed: u64,
    /// Members that are still on this PE and have contributed, or take no part.
    present: u64,
}

impl Open {
    fn name(&self) -> Name {
        let callback = match &self.folded {
            Folded::Nothing(callback) => *callback,
            Folded::InOrder(share) | Folded::Ahead(share, _) => share.callback,
        };
        Name { callback, within: self.within }
    }

    fn has_ahead(&self, member: Index) -> bool {
        matches!(&self.folded, Folded::Ahead(_, members) if members.contains(&member))
    }

    /// Forgets that a member has contributed ahead of earlier reductions. Returns whether it had.
    fn forget_ahead(&mut self, member: Index) -> bool {
        match &mut self.folded {
            Folded::Ahead(_, members) => members.remove(&member),
            Folded::Nothing(_) | Folded::InOrder(_) => false,
        }
    }

    /// Adds a share, of a member that has not contributed to all earlier reductions if it is `ahead`.
    fn add(&mut self, share: Share, ahead: Option<Index>) -> Result<(), String> {
        let nothing = Folded::Nothing(share.callback);
        let (mut folded, mut members) = match std::mem::replace(&mut self.folded, nothing) {
            Folded::Nothing(_) => (None, None),
            Folded::InOrder(folded) => (Some(folded), None),
            Folded::Ahead(folded, members) => (Some(folded), Some(members)),
        };
        match &mut folded {
            Some(folded) => folded.absorb(share)?,
            none => *none = Some(share),
        }
        if let Some(member) = ahead {
            members.get_or_insert_default().insert(member);
        }
        let folded = folded.expect("a share was added");
        self.folded = match members {
            None => Folded::InOrder(folded),
            Some(members) => Folded::Ahead(folded, members),
        };
        self.contributed += 1;
        self.present += 1;
        Ok(())
    }
}

/// The contributions on this PE to the reductions of one collection.
pub(crate) struct Contributions {
    line: Line<Open>,
    /// Members on this PE, born or being born.
    present: u64,
    newborns: Newborns,
    said: Said,
    /// Whether members may be born here.
    may_come: bool,
    /// Whether this PE has said that no member will be on it any more.
    has_left: bool,
}

/// A reduction that is not closed on a PE, for reports.
pub(crate) struct OpenReduction {
    number: u64,
    pub(crate) name: Name,
    pub(crate) contributed: u64,
}

impl Contributions {
    /// Those of a collection that begins with `members` members on this PE, and may grow or not.
    pub(crate) fn new(members: u64, grows: bool) -> Self {
        let said = Said::new(grows);
        Self {
            line: Line::default(),
            present: members,
            newborns: Newborns::default(),
            said,
            may_come: grows,
            has_left: false,
        }
    }

    /// Adds the contribution of one more member on this PE, if it is numbers or nothing, and if other members have contributed and more are
    /// to, all in order, so that nothing else follows from it. Returns whether it was added; [`Contributions::add`] takes any contribution.
    #[inline]
    pub(crate) fn join(
        &mut self,
        number: u64,
        within: Option<BroadcastId>,
        data: &Data,
        callback: &ErasedCallback,
    ) -> bool {
        let is_between = |open: &&mut Open| open.present + 1 < self.present;
        let Some(open) = self.line.dense_mut(number).filter(is_between) else { return false };
        if within.is_some() && open.within != within {
            return false;
        }
        let Folded::InOrder(share) = &mut open.folded else { return false };
        let joined = share.join(data, callback);
        open.contributed += u64::from(joined);
        open.present += u64::from(joined);
        joined
    }

    /// Adds the contribution of a member on this PE. Returns the member's standing after it, and what this PE closes by the contribution, if
    /// anything.
    ///
    /// # Errors
    /// When the contribution does not fit those of other members, or the member takes no part in the reduction.
    pub(crate) fn add(
        &mut self,
        (member, standing): (Index, Standing),
        within: Option<BroadcastId>,
        share: Share,
    ) -> Result<(Standing, Option<Closed>), Refusal> {
        let newborn = self.newborn(member, standing);
        let next = newborn.unwrap_or(standing.next());
        let is_newborn = newborn.is_some();
        if is_newborn && within.is_some_and(|broadcast| self.newborns.missed(member, broadcast)) {
            return Err(Refusal::Missed(MISSED));
        }
        let name = Name { callback: share.callback, within };
        let (first, found) = self.find((member, next), name);
        if found.is_none() && self.is_complete_by_one(within) {
            // It is over before it would stand in the line, so it has no number there.
            let next = if first.is_some() { next } else { self.line.end() };
            if is_newborn {
                self.newborns.set_next(member, next);
            }
            let Share { callback, data } = share;
            let partial = Box::new(Partial { callback, within, contributed: 1, data: Some(data) });
            let closed = Some((self.said.say(Some(name)), partial));
            return Ok((if is_newborn { Standing::NEWBORN } else { Standing::before(next) }, closed));
        }
        let number = found.unwrap_or_else(|| self.open(name));
        let is_ahead = first.is_some_and(|first| first < number);
        self.learn(number, within);
        let open = self.line.get_mut(number).expect("it was found, or has begun");
        open.add(share, is_ahead.then_some(member)).map_err(Refusal::Misfit)?;
        let next = if is_ahead { next } else { number + 1 };
        let closed = self.close_one(number);
        if is_newborn {
            self.newborns.set_next(member, next);
            return Ok((Standing::NEWBORN, closed));
        }
        Ok((Standing::before(next), closed))
    }

    /// The first reduction to which a newborn may not have contributed, if this is one.
    fn newborn(&self, member: Index, standing: Standing) -> Option<u64> {
        (standing == Standing::NEWBORN).then(|| self.newborns.next(member)).flatten()
    }

    /// Of the reductions from `next` on to which a member has not contributed: the first, and the first of this name.
    fn find(&self, (member, next): (Index, u64), name: Name) -> (Option<u64>, Option<u64>) {
        let awaits =
            |(_, open): &(u64, &Open)| !open.has_ahead(member) && !self.has_missed(member, open.within);
        let mut awaiting = self.line.from(next).filter(awaits).peekable();
        let first = awaiting.peek().map(|(number, _)| *number);
        (first, awaiting.find(|(_, open)| open.name().fits(&name)).map(|(number, _)| number))
    }

    fn has_missed(&self, member: Index, broadcast: Option<BroadcastId>) -> bool {
        broadcast.is_some_and(|broadcast| self.newborns.missed(member, broadcast))
    }

    /// Opens a reduction.
    fn open(&mut self, Name { callback, within }: Name) -> u64 {
        let present = within.map_or(0, |broadcast| self.newborns.count_missed(broadcast));
        self.line.push(Open { folded: Folded::Nothing(callback), within, contributed: 0, present })
    }

    /// Takes note that a reduction belongs to a broadcast.
    fn learn(&mut self, number: u64, within: Option<BroadcastId>) {
        let Some(broadcast) = within else { return };
        let Some(open) = self.line.get_mut(number).filter(|open| open.within.is_none()) else { return };
        open.within = within;
        if self.newborns.count_missed(broadcast) == 0 {
            return;
        }
        let has_contributed =
            |member| open.has_ahead(member) || self.newborns.next(member).is_some_and(|next| number < next);
        let missed = self.newborns.that_missed(broadcast).filter(|member| !has_contributed(*member));
        let missed = missed.count() as u64;
        open.present += missed;
    }

    /// Takes note that this PE carries out a broadcast over the collection.
    pub(crate) fn hear(&mut self, broadcast: BroadcastId) {
        self.newborns.hear(broadcast);
    }

    /// Counts a member that is being born on this PE.
    pub(crate) fn add_member(&mut self, member: Index) -> Standing {
        self.present += 1;
        let first = self.line.first();
        if !self.newborns.add(member, first) {
            return Standing::before(first);
        }
        for (_, open) in self.line.iter_mut() {
            let has_missed = open.within.is_some_and(|broadcast| self.newborns.have_heard(broadcast));
            open.present += u64::from(has_missed);
        }
        Standing::NEWBORN
    }

    /// Removes a member that dies on this PE.
    pub(crate) fn remove_member(&mut self, member: Index, standing: Standing) {
        self.present -= 1;
        let newborn = self.newborn(member, standing);
        let next = newborn.unwrap_or(standing.next());
        for (number, open) in self.line.iter_mut() {
            let has_missed = open.within.is_some_and(|broadcast| self.newborns.missed(member, broadcast));
            // Forgotten in any case: another one may be born with its index.
            let was_ahead = open.forget_ahead(member);
            if number < next || was_ahead || has_missed {
                open.present -= 1;
            }
        }
        if newborn.is_some() {
            self.newborns.remove(member);
        }
    }

    /// How many members are counted here, born or being born.
    pub(crate) fn present(&self) -> u64 {
        self.present
    }

    /// Takes note that no member will be born here any more.
    pub(crate) fn end_births(&mut self) {
        self.may_come = false;
    }

    /// Takes note of the reductions that have begun and await this PE, as the first PE of its node knows.
    ///
    /// # Errors
    /// When this PE has not said what it is said to have said, in words: other nodes may say anything.
    pub(crate) fn begin(&mut self, begun: Begun) -> Result<(), String> {
        if self.has_left {
            return Ok(());
        }
        let mut known = Vec::new();
        for name in self.said.missing(begun)? {
            let is_it = |(number, open): &(u64, &Open)| open.name().fits(&name) && !known.contains(number);
            let found = self.line.from(0).find(is_it).map(|(number, _)| number);
            let number = found.unwrap_or_else(|| self.open(name));
            self.learn(number, name.within);
            known.push(number);
        }
        Ok(())
    }

    /// Closes a reduction that can be closed, if there is one. Returns the partial, and the number of this statement.
    pub(crate) fn close(&mut self) -> Option<Closed> {
        let number = self.line.from(0).find(|(_, open)| self.is_complete(open))?.0;
        self.close_one(number)
    }

    /// Says that no member will be on this PE any more, once, if none is there, none can come, and nothing that members contributed to waits
    /// here. Returns the number of this statement.
    pub(crate) fn leave(&mut self) -> Option<u64> {
        let leaves = self.present == 0 && !self.may_come && !self.has_left && self.line.len() == 0;
        self.has_left |= leaves;
        leaves.then(|| self.said.say(None))
    }

    /// The reductions that are not closed.
    pub(crate) fn each_open(&self) -> impl Iterator<Item = OpenReduction> {
        let tell = |(number, open): (u64, &Open)| OpenReduction {
            number,
            name: open.name(),
            contributed: open.contributed,
        };
        self.line.from(0).map(tell)
    }

    /// Whether a member is awaited in a reduction that is not closed.
    pub(crate) fn is_awaited(
        &self,
        (member, standing): (Index, Standing),
        reduction: &OpenReduction,
    ) -> bool {
        let next = self.newborn(member, standing).unwrap_or(standing.next());
        let open = self.line.get(reduction.number);
        open.is_some_and(|open| {
            next <= reduction.number && !open.has_ahead(member) && !self.has_missed(member, open.within)
        })
    }

    fn is_complete(&self, open: &Open) -> bool {
        open.present == self.present
            && open.within.is_none_or(|broadcast| self.newborns.have_heard(broadcast))
    }

    /// Whether a reduction to which nobody has contributed is complete by one contribution.
    fn is_complete_by_one(&self, within: Option<BroadcastId>) -> bool {
        let absent = within.map_or(0, |broadcast| self.newborns.count_missed(broadcast));
        absent + 1 == self.present && within.is_none_or(|broadcast| self.newborns.have_heard(broadcast))
    }

    fn close_one(&mut self, number: u64) -> Option<Closed> {
        self.line.get(number).filter(|open| self.is_complete(open))?;
        let open = self.line.take(number)?;
        let Name { callback, within } = open.name();
        let data = match open.folded {
            Folded::Nothing(_) => None,
            Folded::InOrder(share) | Folded::Ahead(share, _) => Some(share.data),
        };
        let statement = self.said.say(Some(Name { callback, within }));
        Some((statement, Box::new(Partial { callback, within, contributed: open.contributed, data })))
    }
}

#[cfg(test)]
mod tests;
