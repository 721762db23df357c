//! Tournament: the least of many numbers, while they change one by one.
//!
//! A tree of eight ways whose inner values are the least below them. Eight numbers are one cache line and, where the processor has wide
//! registers, one or two comparisons: 10^5 numbers are six lines deep.

/// How many numbers meet at once.
const WAYS: usize = 8;

/// Those that meet.
type Meeting = [f64; WAYS];

/// Numbers and the least of them.
#[derive(Clone, Debug)]
pub(crate) struct Tournament {
    /// The numbers, and above each level the least of each meeting, up to a level of one meeting. What fills a meeting up is infinite.
    levels: Vec<Vec<Meeting>>,
}

impl Tournament {
    /// The tournament of these numbers; none is NaN.
    pub(crate) fn new(numbers: impl Iterator<Item = f64>) -> Self {
        let mut levels = vec![meetings(numbers)];
        while levels[levels.len() - 1].len() > 1 {
            let above = meetings(levels[levels.len() - 1].iter().map(least_of));
            levels.push(above);
        }
        Self { levels }
    }

    /// The position of the least number, of equal ones the first.
    #[inline]
    pub(crate) fn least(&self) -> usize {
        let descend = |at, level: &Vec<Meeting>| {
            let meeting = &level[at];
            let least = least_of(meeting);
            WAYS * at + meeting.iter().position(|number| *number == least).unwrap_or_default()
        };
        self.levels.iter().rev().fold(0, descend)
    }

    /// The number at this position.
    #[inline]
    pub(crate) fn number(&self, position: usize) -> f64 {
        self.levels[0][position / WAYS][position % WAYS]
    }

    /// Replaces the number at this position.
    #[inline]
    pub(crate) fn set(&mut self, position: usize, number: f64) {
        let (mut at, mut number) = (position, number);
        for level in &mut self.levels {
            let meeting = &mut level[at / WAYS];
            if std::mem::replace(&mut meeting[at % WAYS], number) == number {
                return;
            }
            (at, number) = (at / WAYS, least_of(meeting));
        }
    }
}

fn meetings(mut numbers: impl Iterator<Item = f64>) -> Vec<Meeting> {
    let mut meetings = Vec::new();
    while let Some(first) = numbers.next() {
        let mut meeting = [f64::INFINITY; WAYS];
        meeting[0] = first;
        meeting[1..].iter_mut().zip(numbers.by_ref()).for_each(|(place, number)| *place = number);
        meetings.push(meeting);
    }
    if meetings.is_empty() { vec![[f64::INFINITY; WAYS]] } else { meetings }
}

#[inline]
fn least_of(meeting: &Meeting) -> f64 {
    // `f64::min` would also look for NaN.
    meeting.iter().fold(f64::INFINITY, |least, number| if *number < least { *number } else { least })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn the_least_is_that_of_a_search_after_every_change() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for count in [1, 2, 7, 8, 9, 63, 64, 65, 520] {
            // Few values, so that many are equal.
            let mut numbers: Vec<f64> =
                (0..count).map(|_| f64::from(random.random_range(0..20_u32))).collect();
            let mut tournament = Tournament::new(numbers.iter().copied());
            for _ in 0..300 {
                let first = (0..count).min_by(|one, other| numbers[*one].total_cmp(&numbers[*other]));
                assert_eq!(Some(tournament.least()), first, "{numbers:?}");
                let changed = random.random_range(0..count);
                numbers[changed] = f64::from(random.random_range(0..20_u32));
                tournament.set(changed, numbers[changed]);
                assert_eq!(tournament.number(changed), numbers[changed]);
            }
        }
    }

    #[test]
    fn what_is_infinite_is_least_when_all_are() {
        let mut tournament = Tournament::new([1.0, 2.0].into_iter());
        tournament.set(0, f64::INFINITY);
        assert_eq!(tournament.least(), 1);
        tournament.set(1, f64::INFINITY);
        assert_eq!(tournament.least(), 0);
    }
}
