//! Homes of elements that move: the entries that a PE keeps of the elements of one collection that have their home on it and live
//! elsewhere, or of which something is still under way.
//!
//! The home of an element follows from its index. All that is about the element is put into one order there: its birth, its moves, its end,
//! the broadcasts that it hears and its contributions to reductions. What is called a *stay* is the time that the element spends on one
//! PE, and a *journey* all stays elsewhere from when it leaves its home, or is constructed elsewhere, until it is at home and nothing of the
//! journey is under way any more. Messages come in any order.
//!
//! 1. **Grants.** Only the home changes where an element lives, by a grant with a fresh [number](Stay). A message about another number than
//!    the entry's is old and ignored. An element that is at home leaves it by a function call, which is always granted.
//! 2. **One thing is under way.** An entry is *at home*, *coming* (it left its home, or is constructed elsewhere), *elsewhere*, *moving*,
//!    *lost* (it has ended, and the news of that are under way) or *ended* (the news have come, contributions lag). A move is granted to
//!    who is elsewhere, and an index is inserted anew when there is no entry of it.
//! 3. **Who may not go.** A PE that gets "go" for an element that it has under that number and that is not free answers "stayed"; one that
//!    does not have it answers nothing: it has ended there, and the news of that are under way under the old number.
//! 4. **Keeping.** What cannot be decided now is kept by the home's PE and looked at again when something has settled: calls, copies and
//!    insertions while one thing is under way, wishes also while a pin is out. A wish may overtake "arrived" or "stayed" of its element:
//!    it is kept as well.
//! 5. **Searches.** A call that the home sends to where an element lives carries the [number](Sought) of the stay. If it comes back while
//!    the entry is still of that stay and nothing is under way, the element has ended: a PE sends on only calls of who is not there, and
//!    nobody leaves without a grant. The element is lost from then on, and what comes for it is kept until the news of its end have come. If
//!    the entry is of another stay by then, the call is sent for the second time and *pinned*: no move is granted until the PE where it is
//!    delivered, that is run or put aside beside the element, says "found". So a call is sent five times at most in search of one element:
//!    by a stale caller, that PE, the home, that PE, and the home.
//! 6. **Copies.** A broadcast comes to homes only, and each calls its elements: those at home like members anywhere, the others by a call
//!    each, a *copy*, which carries the number of the element's [journey](Journey). It is dropped where another journey's element has the
//!    index, or the home knows of no such journey, or the element has ended. The element counts the copies that it hears and takes the count
//!    along, so the home knows whether some are still out when it has come back; until they have come the journey is not over, and they are
//!    still its own. A PE asks whose a copy is when it runs the copy, not when it queues it.
//! 7. **Contributions.** An element elsewhere numbers its contributions and sends them to its home, which takes them in that order and
//!    counts the element as present on itself, from its birth on: as if it lived there. The entry keeps its [`Standing`] meanwhile. When it
//!    has come home and some lag, its next ones wait behind them.
//! 8. **Ends.** The PE where an element has ended tells the home, under the number of the stay and with the count of contributions. The news
//!    stand for "arrived" and "stayed" as well, which they may have overtaken: those are old then. They take effect when all contributions
//!    have been taken. An element that is at home ends by a function call.
//! 9. What no PE that keeps these rules says is refused in words.
//!
//! What holds elements of bound arrays together, [`bond`] says.

mod answers;
pub(crate) mod bond;
mod contributions;
mod entry;
#[cfg(test)]
mod every_order;
mod rules;
#[cfg(test)]
mod tests;

pub(crate) use answers::{Admission, BondWish, LetGo, Lives, Seek, SeekCopy, Settled, Whereabouts};

use answers::Wish;

use crate::model::ids::{Index, PeId};
use crate::model::registry::Standing;
use crate::model::travel::{Journey, Sought, Stay, Traveller};
use entry::{Entry, Residence, Search};
use rules::{Rule, Rules};
use rustc_hash::FxHashMap;
use std::collections::hash_map;

/// The entries of one collection at one home, with contributions `C`, and `E` that comes along with the news of an end. Each operation
/// costs a hash or two. An element that is at home and has no journey has no entry.
pub(crate) struct Home<C, E> {
    entries: FxHashMap<Index, Entry<C, E>>,
    /// The latest grant.
    granted: Stay,
    rules: Rules,
}

impl<C, E> Default for Home<C, E> {
    fn default() -> Self {
        Self { entries: FxHashMap::default(), granted: Stay::NONE, rules: Rules::default() }
    }
}

/// A fresh number.
fn grant(granted: &mut Stay) -> Stay {
    *granted = granted.next();
    *granted
}

impl<C, E> Home<C, E> {
    /// Where an element lives.
    pub(crate) fn find(&self, index: Index) -> Whereabouts {
        match self.entries.get(&index).map(|entry| &entry.residence) {
            None | Some(Residence::Home) => Whereabouts::AtHomeOrNowhere,
            Some(Residence::Elsewhere { at, .. }) => Whereabouts::On(*at),
            Some(_) => Whereabouts::UnderWay,
        }
    }

    /// The elements that are under way: from which PE, if that is not the home, and to which.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = (Index, Option<PeId>, PeId)> {
        self.entries.iter().filter_map(|(index, entry)| match entry.residence {
            Residence::Coming { to, .. } => Some((*index, None, to)),
            Residence::Moving { from, to, .. } => Some((*index, Some(from), to)),
            _ => None,
        })
    }

    /// Begins the journey of an element that is constructed elsewhere, which the home counts with this standing. There must be no element
    /// of the index.
    pub(crate) fn send_newborn(&mut self, index: Index, to: PeId, standing: Standing) -> Traveller {
        assert!(!self.entries.contains_key(&index), "an index is inserted when there is no entry of it");
        self.leave(index, to, standing)
    }

    /// Lets an element go that is at home; the home's PE has kept this standing, or the journey is not over and the standing is in the
    /// entry.
    pub(crate) fn leave(&mut self, index: Index, to: PeId, standing: Standing) -> Traveller {
        let stay = grant(&mut self.granted);
        let entry = self.entries.entry(index).or_insert_with(|| Entry::new(Journey::begin(stay), standing));
        assert!(matches!(entry.residence, Residence::Home), "an element leaves its home when it is there");
        entry.residence = Residence::Coming { to, stay };
        Traveller::new(entry.journey, stay, entry.contributions.leave())
    }

    /// Says whether an element that lives on PE `from` may go to another one.
    fn may_go(&self, index: Index, (from, stay): (PeId, Stay), to: PeId) -> Wish {
        let Some(entry) = self.entries.get(&index) else { return Wish::Obsolete };
        let is_of = |at: PeId, other: Stay| at == from && other == stay;
        match entry.residence {
            Residence::Elsewhere { at, stay: of } if is_of(at, of) && at != to => {}
            Residence::Coming { to: at, stay: of } if is_of(at, of) => {
                chare_lrts::sometimes!("a wish to move overtook the news that the element had come");
                return Wish::Keep;
            }
            Residence::Moving { from: at, left: of, .. } | Residence::Moving { to: at, stay: of, .. }
                if is_of(at, of) =>
            {
                if self.rules.hold(Rule::OneThingUnderWay) {
                    chare_lrts::sometimes!("a wish to move came while a move was under way");
                    return Wish::Keep;
                }
            }
            _ => return Wish::Obsolete,
        }
        if entry.pins > 0 {
            chare_lrts::sometimes!("a wish to move waited for a pinned call");
            return Wish::Keep;
        }
        Wish::Allowed
    }

    /// Takes note that PE `from` could not let an element go. Returns whether that is news: then what was kept for it is looked at again.
    ///
    /// # Errors
    /// When nobody let it go, in words.
    pub(crate) fn stayed(&mut self, index: Index, (from, stay): (PeId, Stay)) -> Result<bool, String> {
        let Some(entry) = self.find_entry(index, stay)? else { return Ok(false) };
        match entry.residence {
            Residence::Moving { from: at, left, .. } if at == from && left == stay => {
                chare_lrts::sometimes!("an element that was let go stayed");
                entry.residence = Residence::Elsewhere { at: from, stay };
                Ok(true)
            }
            Residence::Elsewhere { stay: of, .. } if of == stay => {
                Err(format!("{from} says that it could not leave, and nobody let it go"))
            }
            _ => Ok(false),
        }
    }

    /// Takes note that an element has arrived on PE `at`. Returns whether that is news: then what was kept for it is looked at again.
    ///
    /// # Errors
    /// When it was not sent there, or has arrived before, in words.
    pub(crate) fn arrived(&mut self, index: Index, (at, stay): (PeId, Stay)) -> Result<bool, String> {
        let Some(entry) = self.find_entry(index, stay)? else { return Ok(false) };
        match entry.residence {
            Residence::Coming { to, stay: of } | Residence::Moving { to, stay: of, .. } if of == stay => {
                if to != at {
                    return Err(format!("{at} says that it has arrived, and it was sent to {to}"));
                }
                entry.residence = Residence::Elsewhere { at, stay };
                Ok(true)
            }
            Residence::Elsewhere { stay: of, .. } if of == stay => {
                Err(format!("{at} says that it has arrived, which it had before"))
            }
            _ => Ok(false),
        }
    }

    /// Takes an element that arrives at its home, on PE `here`. What was kept for it is looked at again, and its journey may be over: see
    /// [`Home::settle`].
    ///
    /// # Errors
    /// When it was not sent there, or its counts cannot be, in words.
    pub(crate) fn come_home(
        &mut self,
        index: Index,
        here: PeId,
        traveller: &Traveller,
    ) -> Result<(), String> {
        let entry = self.find_entry(index, traveller.stay)?;
        let is_it = |entry: &&mut Entry<C, E>| {
            let sent = matches!(entry.residence, Residence::Moving { to, stay, .. } if to == here && stay == traveller.stay);
            sent && entry.journey == traveller.journey
        };
        let entry = entry.filter(is_it).ok_or("it comes home, and was not sent there")?;
        let copies = entry.copies.checked_sub(traveller.heard);
        let copies = copies.ok_or("it comes home, and has heard more broadcasts than there were")?;
        entry.contributions.end(traveller.contributed)?;
        entry.copies = copies;
        entry.residence = Residence::Home;
        Ok(())
    }

    /// Takes the news of PE `from` that an element has ended there, after so many contributions. They may take effect at once: see
    /// [`Home::settle`].
    ///
    /// # Errors
    /// When it was not there, or has contributed more, in words.
    pub(crate) fn gone(
        &mut self,
        index: Index,
        (from, stay): (PeId, Stay),
        contributed: u64,
        news: E,
    ) -> Result<(), String> {
        let rules = self.rules;
        let is_it = |entry: &&mut Entry<C, E>| match entry.residence {
            Residence::Elsewhere { at, stay: of } | Residence::Lost { at, stay: of } => {
                (at, of) == (from, stay)
            }
            Residence::Coming { to, stay: of } => (to, of) == (from, stay) && rules.hold(Rule::EndIsArrival),
            Residence::Moving { from: at, left, to, stay: of } => {
                [(at, left), (to, of)].contains(&(from, stay)) && rules.hold(Rule::EndIsArrival)
            }
            Residence::Home | Residence::Ended(_) => false,
        };
        let entry = self.find_entry(index, stay)?.filter(is_it);
        let coming = entry.as_ref().and_then(|entry| entry.residence.coming());
        if coming == Some(stay) {
            chare_lrts::sometimes!("the news of an end overtook those of an arrival");
        }
        let entry = entry.ok_or_else(|| format!("{from} says that it has ended, and it was not there"))?;
        if rules.hold(Rule::CountAtEnd) {
            entry.contributions.end(contributed)?;
        } else {
            entry.contributions.cut();
        }
        entry.residence = Residence::Ended(news);
        Ok(())
    }

    /// Takes note that an element that was at home has ended. It may take effect at once: see [`Home::settle`].
    ///
    /// # Errors
    /// With `news`, when it had no journey: it is over.
    pub(crate) fn end_at_home(&mut self, index: Index, news: E) -> Result<(), E> {
        let Some(entry) = self.entries.get_mut(&index) else { return Err(news) };
        assert!(matches!(entry.residence, Residence::Home), "an element ends at home when it is there");
        entry.residence = Residence::Ended(news);
        Ok(())
    }

    /// Says what has become final of an element: asked after each [`Home::come_home`], [`Home::gone`], [`Home::end_at_home`], heard copy, and
    /// contribution.
    pub(crate) fn settle(&mut self, index: Index) -> Settled<E> {
        let hash_map::Entry::Occupied(entry) = self.entries.entry(index) else { return Settled::Nothing };
        let is_settled = match &entry.get().residence {
            Residence::Home => entry.get().copies == 0 || !self.rules.hold(Rule::CopiesOfJourney),
            Residence::Ended(_) => true,
            _ => false,
        };
        if !is_settled || !entry.get().contributions.are_taken() {
            return Settled::Nothing;
        }
        let Entry { residence, standing, .. } = entry.remove();
        match residence {
            Residence::Ended(news) => Settled::Over(standing, news),
            _ => Settled::AtHome(standing),
        }
    }

    /// Says where a call goes that has come here; `sought` is what the call has carried since this home sent it.
    pub(crate) fn seek(&mut self, index: Index, sought: Option<Sought>) -> Seek {
        let Some(entry) = self.entries.get_mut(&index) else { return Seek::AtHomeOrNowhere };
        match entry.search(sought, self.rules) {
            Search::Home => Seek::AtHomeOrNowhere,
            Search::UnderWay | Search::Ended => Seek::Keep,
            Search::On(to, sought) => Seek::Send { to, sought },
        }
    }

    /// Calls the elements that are not at home: gives the journey of each, for a copy of the broadcast that this home carries out. Costs a look
    /// at every entry.
    pub(crate) fn call_elsewhere(&mut self) -> Vec<(Index, Journey)> {
        let call = |(index, entry): (&Index, &mut Entry<C, E>)| {
            let is_away =
                !matches!(entry.residence, Residence::Home | Residence::Lost { .. } | Residence::Ended(_));
            entry.copies += u64::from(is_away);
            is_away.then_some((*index, entry.journey))
        };
        self.entries.iter_mut().filter_map(call).collect()
    }

    /// Says where a copy of a broadcast goes that is here, for an element on a journey. If that is here the journey may be over, when the
    /// element has heard it: see [`Home::settle`].
    pub(crate) fn seek_copy(&mut self, index: Index, journey: Journey, sought: Option<Sought>) -> SeekCopy {
        let is_it =
            |entry: &&mut Entry<C, E>| entry.journey == journey || !self.rules.hold(Rule::JourneyOfCopies);
        let Some(entry) = self.entries.get_mut(&index).filter(is_it) else {
            chare_lrts::sometimes!("a copy of a broadcast came when its element's journey was over");
            return SeekCopy::Drop;
        };
        match entry.search(sought, self.rules) {
            Search::UnderWay => {
                chare_lrts::sometimes!("a copy of a broadcast waited for an element under way");
                SeekCopy::Keep
            }
            Search::On(to, sought) => SeekCopy::Send { to, sought },
            Search::Ended => SeekCopy::Drop,
            // One more than there are comes from somebody who makes copies up.
            Search::Home if entry.copies == 0 && self.rules.hold(Rule::JourneyOfCopies) => SeekCopy::Drop,
            Search::Home => {
                entry.copies = entry.copies.saturating_sub(1);
                SeekCopy::Hear
            }
        }
    }

    /// Says where an insertion goes that has come here; `sought` is what it has carried since this home sent it.
    pub(crate) fn admit(&mut self, index: Index, sought: Option<Sought>) -> Admission {
        let Some(entry) = self.entries.get_mut(&index) else { return Admission::AtHomeOrNowhere };
        match (&entry.residence, sought) {
            (Residence::Home, _) => Admission::Exists,
            // It has moved since the insertion came here.
            (Residence::Elsewhere { stay, .. }, Some(sought)) if sought.stay != *stay => {
                chare_lrts::sometimes!("an insertion found out that an element of its index had moved");
                Admission::Exists
            }
            _ => match entry.search(sought, self.rules) {
                Search::On(to, sought) => Admission::Ask { to, sought },
                _ => Admission::Keep,
            },
        }
    }

    /// Takes note that a pinned call was delivered. Returns whether wishes that were kept are looked at again.
    ///
    /// # Errors
    /// When no call was pinned, in words.
    pub(crate) fn found(&mut self, index: Index, sought: Sought) -> Result<bool, String> {
        let Some(entry) = self.find_entry(index, sought.stay)? else { return Ok(false) };
        if !matches!(entry.residence, Residence::Elsewhere { stay, .. } if stay == sought.stay) {
            return Ok(false);
        }
        entry.pins = entry.pins.checked_sub(1).ok_or("a call has found it that nobody sent")?;
        chare_lrts::sometimes!("a pinned call was delivered");
        Ok(entry.pins == 0)
    }

    /// Takes the contribution of this number, of an element elsewhere or of one that was; see [`Home::next_contribution`].
    ///
    /// # Errors
    /// When there can be none of that number, in words.
    pub(crate) fn contribute(&mut self, index: Index, number: u64, contribution: C) -> Result<(), String> {
        let entry =
            self.entries.get_mut(&index).ok_or("it contributes from elsewhere, and is on no journey")?;
        entry.contributions.put(number, contribution)
    }

    /// Takes a contribution of an element that is at home, behind those that lag.
    ///
    /// # Errors
    /// With the contribution, when its journey is over: the home's PE keeps its standing.
    pub(crate) fn contribute_at_home(&mut self, index: Index, contribution: C) -> Result<(), C> {
        match self.entries.get_mut(&index) {
            Some(entry) if self.rules.hold(Rule::LaggingFirst) => {
                entry.contributions.put_last(contribution);
                Ok(())
            }
            _ => Err(contribution),
        }
    }

    /// Gives the next contribution whose turn it is, and its element's standing, which changes by it; asked for until there is none.
    pub(crate) fn next_contribution(&mut self, index: Index) -> Option<(C, &mut Standing)> {
        let entry = self.entries.get_mut(&index)?;
        Some((entry.contributions.take()?, &mut entry.standing))
    }

    /// The elements that wait for something under way, and for what: none once nothing is in flight.
    #[cfg(feature = "sim")]
    pub(crate) fn unsettled(&self) -> impl Iterator<Item = (Index, &'static str)> {
        self.entries.iter().filter_map(|(index, entry)| Some((*index, entry.unsettled()?)))
    }

    /// The entry of an index, for a message about a stay.
    ///
    /// # Errors
    /// When there was no such stay, in words.
    fn find_entry(&mut self, index: Index, stay: Stay) -> Result<Option<&mut Entry<C, E>>, String> {
        if stay > self.granted {
            return Err("a stay is told of that nobody granted".to_owned());
        }
        Ok(self.entries.get_mut(&index))
    }
}
