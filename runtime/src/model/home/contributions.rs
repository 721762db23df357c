//! Contributions of an element on its journey: each is taken once, in the order in which the element made them.

use std::collections::BTreeMap;

/// More contributions than an element makes in its life.
const CONTRIBUTIONS_MAX: u64 = 1 << 62;

/// Contributions that come in any order, with the numbers that the element gave them.
pub(super) struct InOrder<C> {
    /// How many have been taken.
    taken: u64,
    /// The one whose turn it is: mostly there is none but this.
    next: Option<C>,
    /// Those that have overtaken others.
    ahead: BTreeMap<u64, C>,
    /// How many the element has made, where that is known: it is at home, or has ended.
    made: Option<u64>,
}

impl<C> Default for InOrder<C> {
    fn default() -> Self {
        Self { taken: 0, next: None, ahead: BTreeMap::new(), made: Some(0) }
    }
}

impl<C> InOrder<C> {
    /// Takes the contribution with a number.
    ///
    /// # Errors
    /// When it has come before, or the element has made fewer, in words.
    pub(super) fn put(&mut self, number: u64, contribution: C) -> Result<(), String> {
        let has_come = match number == self.taken {
            true => self.next.is_some(),
            false => number < self.taken || self.ahead.contains_key(&number),
        };
        if has_come {
            return Err(format!("its contribution {number} comes twice"));
        }
        if number >= self.made.unwrap_or(CONTRIBUTIONS_MAX) {
            return Err(format!("its contribution {number} comes, and it has not made so many"));
        }
        if number == self.taken {
            self.next = Some(contribution);
        } else {
            chare_lrts::sometimes!("a contribution of an element elsewhere overtook another");
            self.ahead.insert(number, contribution);
        }
        Ok(())
    }

    /// Takes one of an element that is at home, behind all that it made before.
    pub(super) fn put_last(&mut self, contribution: C) {
        let made = self.made.as_mut().expect("it is at home");
        let number = *made;
        *made += 1;
        chare_lrts::sometimes!("a contribution at home waited behind those of a journey");
        self.put(number, contribution).expect("it is the next");
    }

    /// Gives the one whose turn it is, if it has come.
    pub(super) fn take(&mut self) -> Option<C> {
        let next = self.next.take().or_else(|| self.ahead.remove(&self.taken))?;
        self.taken += 1;
        Some(next)
    }

    /// Takes note that the element leaves its home; returns how many it has made.
    pub(super) fn leave(&mut self) -> u64 {
        self.made.take().expect("it was at home")
    }

    /// Takes note that the element has come home, or has ended, and has made so many.
    ///
    /// # Errors
    /// When more have come, in words.
    pub(super) fn end(&mut self, made: u64) -> Result<(), String> {
        let last = self.ahead.last_key_value().map_or(0, |(number, _)| number + 1);
        let come = last.max(self.taken + u64::from(self.next.is_some()));
        if !(come..=CONTRIBUTIONS_MAX).contains(&made) {
            return Err(format!("it is said to have contributed {made} times"));
        }
        self.made = Some(made);
        Ok(())
    }

    /// Whether all that the element has made are known and have been taken.
    pub(super) fn are_taken(&self) -> bool {
        self.made == Some(self.taken)
    }

    /// Forgets those that lag.
    pub(super) fn cut(&mut self) {
        self.made = Some(self.taken);
    }
}
