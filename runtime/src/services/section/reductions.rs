//! Reductions of a section at one place of its tree, where members and the places below contribute alike.
//!
//! 1. Contributors are members and places below. Each contributes once to each reduction until it leaves: a member by its end, a place
//!    below when nobody contributes there any more.
//! 2. Reductions are told apart by their callbacks: any number of clients may call a section and reduce over it at a time. With each
//!    callback, a contributor's n-th contribution belongs to the n-th reduction.
//! 3. A place numbers reductions as they begin there, and contributions as it hears of them: both numbers are its own. What a contributor
//!    says is numbered and taken in that order, and its end comes behind all that it says.
//! 4. A reduction is complete when all contributors that are there have contributed, and goes up at once: it does not wait for others.

use crate::model::callback::ErasedCallback;
use crate::model::ids::PeId;
use crate::model::reduction::Share;
use std::collections::VecDeque;

/// The reductions of a section at one place of its tree; see the file's head.
pub(super) struct Reductions {
    /// The number of contributors that have not left.
    present: u64,
    /// For each contributor, the first reduction to which it has not contributed, or [`LEFT`]: members by their seats, then places below.
    next: Box<[u64]>,
    /// The places below that have spoken; at most `places_max` of them.
    places: Box<[PeId]>,
    places_max: u32,
    /// The number of the first in `open`.
    first: u64,
    /// In the order of their numbers; without memory as long as there are none, as in most sections most of the time.
    open: VecDeque<Open>,
    /// How many contributions came ahead of an earlier reduction that is open.
    ahead: u32,
    /// How many reductions are complete and were not taken.
    complete: u32,
    /// How many reductions were taken.
    taken: u64,
    /// What was heard ahead of its turn: in a box, as nearly always there is nothing.
    early: Option<Box<Queue>>,
}

/// In the place of a contributor's next reduction: it has left.
const LEFT: u64 = u64::MAX;

struct Open {
    /// `None` when it was taken.
    share: Option<Share>,
    contributions: u64,
    /// How many of the contributions are of contributors that have left since.
    of_left: u64,
    /// Who has contributed and has not contributed to an earlier one.
    ahead: Vec<usize>,
}

/// What was heard ahead of its turn, in any order.
#[derive(Default)]
struct Queue {
    early: Vec<Early>,
}

struct Early {
    contributor: usize,
    number: u64,
    said: Said,
}

enum Said {
    Contribution(Share),
    End,
}

impl Open {
    fn is_complete(&self, present: u64) -> bool {
        self.share.is_some() && self.contributions - self.of_left >= present
    }
}

impl Reductions {
    /// Reductions over so many members and places below.
    pub(super) fn new(members: usize, places_max: u64) -> Self {
        Self {
            present: places_max.saturating_add(members as u64),
            next: vec![0; members].into(),
            places: Box::default(),
            places_max: u32::try_from(places_max).unwrap_or(u32::MAX),
            first: 0,
            open: VecDeque::new(),
            ahead: 0,
            complete: 0,
            taken: 0,
            early: None,
        }
    }

    /// The contributor that a place below is.
    ///
    /// # Errors
    /// When there is no such place, in words: other nodes may send anything.
    pub(super) fn place_below(&mut self, pe: PeId) -> Result<usize, String> {
        let members = self.next.len() - self.places.len();
        if let Some(number) = self.places.iter().position(|place| *place == pe) {
            return Ok(members + number);
        }
        if self.places.len() >= self.places_max as usize {
            return Err(format!("{pe} speaks for none of its members"));
        }
        self.places = with(std::mem::take(&mut self.places), pe);
        self.next = with(std::mem::take(&mut self.next), 0);
        Ok(self.next.len() - 1)
    }

    /// Takes in a contributor's contribution `number`.
    ///
    /// # Errors
    /// When the contribution does not fit those of others, in words.
    pub(super) fn add(&mut self, contributor: usize, number: u64, share: Share) -> Result<(), String> {
        self.hear(contributor, number, Said::Contribution(share))
    }

    /// Removes a contributor that leaves after so many contributions.
    ///
    /// # Errors
    /// When it has left, in words.
    pub(super) fn leave(&mut self, contributor: usize, contributions: u64) -> Result<(), String> {
        self.hear(contributor, contributions, Said::End)
    }

    fn hear(&mut self, contributor: usize, number: u64, mut said: Said) -> Result<(), String> {
        if self.heard(contributor).is_none_or(|heard| number < heard) {
            return Err("a member contributed to it that is none, or is another one by now".to_owned());
        }
        if self.heard(contributor) != Some(number) {
            self.early.get_or_insert_default().early.push(Early { contributor, number, said });
            return Ok(());
        }
        loop {
            match said {
                Said::Contribution(share) => self.contribute(contributor, share)?,
                Said::End => self.remove(contributor),
            }
            match self.take_early(contributor) {
                Some(next) => said = next,
                None => return Ok(()),
            }
        }
    }

    /// Takes what a contributor said ahead of its turn, which has come.
    fn take_early(&mut self, contributor: usize) -> Option<Said> {
        self.early.as_ref()?;
        let heard = self.heard(contributor)?;
        let early = &mut self.early.as_mut()?.early;
        let is_due = |early: &Early| early.contributor == contributor && early.number == heard;
        let place = early.iter().position(is_due)?;
        let said = early.swap_remove(place).said;
        if early.is_empty() {
            self.early = None;
        }
        Some(said)
    }

    /// How many contributions of a contributor were taken in, if it has not left.
    fn heard(&self, contributor: usize) -> Option<u64> {
        let next = self.next[contributor];
        let ahead = match self.ahead {
            0 => 0,
            _ => self.open.iter().filter(|open| open.ahead.contains(&contributor)).count() as u64,
        };
        (next != LEFT).then(|| next + ahead)
    }

    fn contribute(&mut self, contributor: usize, share: Share) -> Result<(), String> {
        let from = (self.next[contributor] - self.first) as usize;
        let is_its = |place: &usize| {
            let Open { share: begun, ahead, .. } = &self.open[*place];
            begun.as_ref().is_some_and(|begun| begun.callback == share.callback)
                && !ahead.contains(&contributor)
        };
        let place = (from..self.open.len()).find(is_its).unwrap_or(self.open.len());
        let added = match self.open.get_mut(place) {
            Some(open) => {
                open.contributions += 1;
                open.share.as_mut().map_or(Ok(()), |begun| begun.absorb(share))
            }
            None => {
                if self.open.is_empty() {
                    // Nearly always there is one at a time.
                    self.open.reserve_exact(1);
                }
                self.open.push_back(Open {
                    share: Some(share),
                    contributions: 1,
                    of_left: 0,
                    ahead: Vec::new(),
                });
                Ok(())
            }
        };
        self.complete += u32::from(self.open[place].is_complete(self.present));
        if place == from {
            self.next[contributor] += 1;
            self.pass_by(contributor);
        } else {
            self.open[place].ahead.push(contributor);
            self.ahead += 1;
        }
        added
    }

    /// Moves a contributor's next reduction past those to which it has contributed ahead.
    fn pass_by(&mut self, contributor: usize) {
        while self.ahead > 0
            && let Some(open) = self.open.get_mut((self.next[contributor] - self.first) as usize)
            && let Some(place) = open.ahead.iter().position(|other| *other == contributor)
        {
            open.ahead.swap_remove(place);
            self.ahead -= 1;
            self.next[contributor] += 1;
        }
    }

    fn remove(&mut self, contributor: usize) {
        let next = std::mem::replace(&mut self.next[contributor], LEFT);
        self.present -= 1;
        for (number, open) in (self.first..).zip(&mut self.open) {
            let ahead = open.ahead.iter().position(|other| *other == contributor);
            if let Some(place) = ahead {
                open.ahead.swap_remove(place);
                self.ahead -= 1;
            }
            open.of_left += u64::from(number < next || ahead.is_some());
        }
        self.complete = self.open.iter().filter(|open| open.is_complete(self.present)).count() as u32;
    }

    /// Takes the next reduction that is complete, and how many were taken before.
    pub(super) fn complete(&mut self) -> Option<(u64, Share)> {
        if self.complete == 0 {
            return None;
        }
        let open = self.open.iter_mut().find(|open| open.is_complete(self.present))?;
        let share = open.share.take()?;
        self.complete -= 1;
        while self.open.pop_front_if(|open| open.share.is_none()).is_some() {
            self.first += 1;
        }
        if self.open.is_empty() {
            self.open = VecDeque::new();
        }
        self.taken += 1;
        Some((self.taken - 1, share))
    }

    /// The first reduction to which contributions have come: its number, how many have come, how many are awaited in all, and the callback.
    pub(super) fn first_open(&self) -> Option<(u64, u64, u64, ErasedCallback)> {
        let Open { share, contributions, of_left, .. } = self.open.front()?;
        let share = share.as_ref()?;
        Some((self.first, *contributions, self.present.saturating_add(*of_left), share.callback))
    }

    /// How many reductions there were in all, if nobody contributes any more.
    pub(super) fn end(&self) -> Option<u64> {
        (self.present == 0 && self.complete == 0).then_some(self.taken)
    }
}

/// A list with one more: it takes no more memory than it needs.
fn with<T>(list: Box<[T]>, one: T) -> Box<[T]> {
    let mut list = list.into_vec();
    list.reserve_exact(1);
    list.push(one);
    list.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;
    use crate::model::ids::Index;
    use crate::model::reduction::reducers::sum;

    /// One of two callbacks.
    fn callback(client: u64) -> ErasedCallback {
        let callback = Callback::<u64>::ignore();
        if client == 0 { callback.erase() } else { callback.with_reference(client).erase() }
    }

    fn say(state: &mut Reductions, contributor: usize, number: u64, client: u64) -> Result<(), String> {
        state.add(
            contributor,
            number,
            Share::new(sum(1u64).of_member(Index::from(0), || 0), callback(client)),
        )
    }

    fn add(state: &mut Reductions, contributor: usize, number: u64) {
        say(state, contributor, number, 0).unwrap();
    }

    /// The reductions that are complete now, and their sums.
    fn complete(state: &mut Reductions) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| state.complete())
            .map(|(number, share)| (number, share.finish().unwrap().take().unwrap()))
            .collect()
    }

    #[test]
    fn reductions_complete_when_all_have_contributed() {
        let mut state = Reductions::new(2, 0);
        for (contributor, number) in [(0, 0), (0, 1), (1, 1)] {
            add(&mut state, contributor, number);
        }
        assert_eq!(complete(&mut state), []);
        add(&mut state, 1, 0);
        assert_eq!(complete(&mut state), [(0, 2), (1, 2)]);
        assert_eq!(state.end(), None);
    }

    #[test]
    fn who_leaves_is_awaited_up_to_its_end() {
        let mut state = Reductions::new(2, 1);
        let below = state.place_below(PeId(3)).unwrap();
        // The contributions of the one that leaves may come after this news.
        state.leave(below, 2).unwrap();
        for number in [0, 1, 2] {
            add(&mut state, 0, number);
            add(&mut state, 1, number);
        }
        assert_eq!(complete(&mut state), []);
        add(&mut state, below, 0);
        assert_eq!(complete(&mut state), [(0, 3)]);
        add(&mut state, below, 1);
        assert_eq!(complete(&mut state), [(1, 3), (2, 2)]);
        state.leave(0, 3).unwrap();
        add(&mut state, 1, 3);
        assert_eq!(complete(&mut state), [(3, 1)]);
        state.leave(1, 5).unwrap();
        assert_eq!(state.end(), None, "one contribution is on its way");
        add(&mut state, 1, 4);
        assert_eq!(complete(&mut state), [(4, 1)]);
        assert_eq!(state.end(), Some(5));
        assert!(state.leave(1, 5).is_err());
        assert!(state.place_below(PeId(4)).is_err(), "there is one place below");
    }

    #[test]
    fn a_contribution_of_one_that_has_left_is_refused() {
        let mut state = Reductions::new(2, 0);
        add(&mut state, 0, 0);
        assert!(say(&mut state, 0, 0, 0).is_err(), "it was said before");
        state.leave(0, 1).unwrap();
        assert!(say(&mut state, 0, 1, 0).is_err());
        add(&mut state, 1, 0);
        assert_eq!(complete(&mut state), [(0, 2)]);
    }

    /// Two clients, each with two reductions: contributors come to them in every order, and what they say arrives in every order.
    #[test]
    fn reductions_of_several_clients_are_told_apart_in_every_order() {
        let orders = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 0], [1, 1, 0, 0]];
        let mut arrivals = Vec::new();
        for numbers in 0..4_u64.pow(4) {
            let order = [0, 1, 2, 3].map(|digit| numbers / 4_u64.pow(digit) % 4);
            let is_each = (0..4).all(|number| order.contains(&number));
            arrivals.extend(is_each.then_some(order));
        }
        assert_eq!(arrivals.len(), 24);
        for (first, second) in
            orders.iter().flat_map(|first| orders.iter().map(move |second| (first, second)))
        {
            for arrival in &arrivals {
                let mut state = Reductions::new(2, 0);
                let mut sums = Vec::new();
                for number in *arrival {
                    for (contributor, order) in [first, second].into_iter().enumerate() {
                        say(&mut state, contributor, number, order[number as usize]).unwrap();
                        while let Some((_, share)) = state.complete() {
                            let of_first = share.callback == callback(0);
                            let sum: u64 = share.finish().unwrap().take().unwrap();
                            sums.push((of_first, sum));
                        }
                    }
                }
                sums.sort_unstable();
                assert_eq!(sums, [(false, 2), (false, 2), (true, 2), (true, 2)]);
                assert!(state.open.is_empty() && state.early.is_none() && state.ahead == 0);
            }
        }
    }

    #[test]
    fn who_leaves_counts_in_what_it_contributed_to_ahead() {
        let mut state = Reductions::new(3, 0);
        for (contributor, number, client) in [(0, 0, 0), (1, 0, 1), (1, 1, 0)] {
            say(&mut state, contributor, number, client).unwrap();
        }
        state.leave(0, 1).unwrap();
        say(&mut state, 2, 0, 1).unwrap();
        assert_eq!(complete(&mut state), [(0, 2)], "over the two that are left");
        say(&mut state, 2, 1, 0).unwrap();
        assert_eq!(complete(&mut state), [(1, 3)]);
        state.leave(1, 2).unwrap();
        state.leave(2, 2).unwrap();
        assert_eq!(state.end(), Some(2));
    }
}
