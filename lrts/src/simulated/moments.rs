//! Moments for which something is planned, each by a number, and the first of them: a tournament, to whose next round of every two the earlier
//! one goes on.

/// The moment at which nothing is planned.
const NEVER: u64 = u64::MAX;

/// What is planned for when; see the file's head. A change takes as many steps as there are rounds at most, and so does the look for the first.
///
/// ```
/// use chare_lrts::simulated::Moments;
///
/// let mut moments = Moments::of(3);
/// moments.set(2, Some(40));
/// moments.set(1, Some(40));
/// assert_eq!(moments.first(), Some((40, 1)));
/// moments.set(1, None);
/// assert_eq!((moments.get(1), moments.first()), (None, Some((40, 2))));
/// ```
pub struct Moments {
    /// The winner first, then the rounds from the last to the first: what plays for the place `at` stands at `2 * at` and behind.
    rounds: Vec<u64>,
}

impl Moments {
    /// Nothing is planned for any of so many.
    pub fn of(count: usize) -> Self {
        Self { rounds: vec![NEVER; 2 * count.next_power_of_two()] }
    }

    fn place(&self, number: usize) -> usize {
        self.rounds.len() / 2 + number
    }

    /// When something is planned for a number.
    ///
    /// # Panics
    /// For a number beyond those that there are.
    #[inline]
    pub fn get(&self, number: usize) -> Option<u64> {
        Some(self.rounds[self.place(number)]).filter(|moment| *moment != NEVER)
    }

    /// Plans something for a number, in the place of what was planned, or nothing. What is planned for the last moment of all is never.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    pub fn set(&mut self, number: usize, moment: Option<u64>) {
        let mut at = self.place(number);
        self.rounds[at] = moment.unwrap_or(NEVER);
        while at > 1 {
            at /= 2;
            let earlier = self.rounds[2 * at].min(self.rounds[2 * at + 1]);
            if std::mem::replace(&mut self.rounds[at], earlier) == earlier {
                break;
            }
        }
    }

    /// The first moment for which anything is planned.
    #[inline]
    pub fn first_moment(&self) -> Option<u64> {
        Some(self.rounds[1]).filter(|moment| *moment != NEVER)
    }

    /// The first moment for which anything is planned, and for which number; the least, if there are several.
    pub fn first(&self) -> Option<(u64, usize)> {
        let moment = self.first_moment()?;
        let mut at = 1;
        while at < self.place(0) {
            at = 2 * at + usize::from(self.rounds[2 * at] != moment);
        }
        Some((moment, at - self.place(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn the_first_of_all_is_the_first_of_a_list() {
        let mut dice = ChaCha8Rng::seed_from_u64(1);
        for count in [1, 2, 3, 64, 66] {
            let (mut moments, mut list) = (Moments::of(count), vec![None; count]);
            for _ in 0..1_000 {
                let number = dice.random_range(0..count);
                let moment = dice.random_bool(0.7).then(|| dice.random_range(0..20));
                moments.set(number, moment);
                list[number] = moment;
                let planned =
                    list.iter().enumerate().filter_map(|(number, moment)| Some(((*moment)?, number)));
                assert_eq!(moments.first(), planned.min());
                assert_eq!(moments.get(number), moment);
            }
        }
    }
}
