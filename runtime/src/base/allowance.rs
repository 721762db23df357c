//! Allowance of memory: the bytes that one node keeps because of others, by purpose, and the bound that all purposes share.
//!
//! 1. Each purpose may hold a [`RESERVE_PART`]th of the allowance, whatever the others hold, and the first thing that it keeps, however
//!    long that is. What it holds beyond its reserve comes out of the rest, which is common to all. So a purpose that has used up the rest
//!    ends no job by a few bytes that another purpose needs.
//! 2. Nobody waits for memory: what is refused ends the job, in words that say who holds how much. So purposes that share cannot stand
//!    still for each other. The one exception are messages that are fetched, which wait for their turn: by rule 1 one of them is always
//!    being fetched, which takes the network alone, and its end lets the next one try. Senders that are held back wait for credit or for
//!    time, never for memory.
//! 3. Only what is kept is counted: a message that runs when its turn comes touches none of this.

use super::sync::{AtomicU64, Ordering};

/// What memory is kept for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    Early,
    Partials,
    Posts,
    Withheld,
    Fetched,
}

/// All purposes, in order, as an error names them.
const PURPOSES: [(Purpose, &str); 5] = [
    (Purpose::Early, "messages for what has not been created"),
    (Purpose::Partials, "contributions to reductions that are not over"),
    (Purpose::Posts, "calls that wait for posted buffers"),
    (Purpose::Withheld, "messages that other nodes have no room for"),
    (Purpose::Fetched, "long messages that are being fetched"),
];

/// Part of the allowance (1 / `RESERVE_PART`) that each purpose has for itself. A guess: a third is in reserve, two thirds are common.
const RESERVE_PART: u64 = 16;

/// The memory that one node keeps because of others; see the file's head.
pub(crate) struct Allowance {
    /// Bytes held for each purpose. Written by any thread; sums, on which no other memory depends. Two threads that take the last bytes at
    /// once may both be refused.
    held: [AtomicU64; PURPOSES.len()],
    bytes_max: u64,
}

impl Allowance {
    /// An allowance of so many bytes.
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { held: PURPOSES.map(|_| AtomicU64::new(0)), bytes_max }
    }

    /// Takes `bytes` for a purpose. One operation on one word, as long as the purpose's reserve lasts.
    ///
    /// # Errors
    /// When there is no room, in words that say who holds how much.
    pub(crate) fn take(&self, purpose: Purpose, bytes: u64) -> Result<(), String> {
        let (bytes, reserve) = (self.counted(bytes), self.bytes_max / RESERVE_PART);
        let before = self.of(purpose).fetch_add(bytes, Ordering::Relaxed);
        if before == 0 || before + bytes <= reserve {
            return Ok(());
        }
        let beyond = self.held().map(|held| held.saturating_sub(reserve)).fold(0, u64::saturating_add);
        if beyond <= self.bytes_max - reserve * PURPOSES.len() as u64 {
            return Ok(());
        }
        self.give_back(purpose, bytes);
        Err(self.explain())
    }

    /// Gives back `bytes` that are kept no longer.
    pub(crate) fn give_back(&self, purpose: Purpose, bytes: u64) {
        self.of(purpose).fetch_sub(self.counted(bytes), Ordering::Relaxed);
    }

    /// What is kept for messages on their way, in words, if anything is.
    #[cfg(feature = "sim")]
    pub(crate) fn kept_in_passing(&self) -> impl Iterator<Item = String> {
        let in_passing = PURPOSES
            .into_iter()
            .filter(|(purpose, _)| matches!(purpose, Purpose::Withheld | Purpose::Fetched));
        let kept = in_passing.map(|(purpose, name)| (self.of(purpose).load(Ordering::Relaxed), name));
        kept.filter(|(bytes, _)| *bytes > 0).map(|(bytes, name)| format!("{bytes} bytes for {name}"))
    }

    fn of(&self, purpose: Purpose) -> &AtomicU64 {
        &self.held[purpose as usize]
    }

    fn held(&self) -> impl Iterator<Item = u64> {
        self.held.iter().map(|held| held.load(Ordering::Relaxed))
    }

    /// Others say how long a thing is: what is longer than all counts as all, so that sums stay sums.
    fn counted(&self, bytes: u64) -> u64 {
        bytes.min(self.bytes_max)
    }

    #[cold]
    fn explain(&self) -> String {
        let holders = PURPOSES.iter().zip(self.held()).filter(|(_, held)| *held > 0);
        let holders: Vec<_> = holders.map(|((_, name), held)| format!("{held} by {name}")).collect();
        format!(
            "the {} bytes that this node may keep for others (a quarter of its share of the host's memory, or of its batch job's) are used \
             up: {}",
            self.bytes_max,
            holders.join(", ")
        )
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use Purpose::{Early, Fetched, Partials, Withheld};

    /// Each purpose has ten bytes for itself; 110 are common.
    fn allowance() -> Allowance {
        Allowance::new(160)
    }

    #[test]
    fn purposes_are_in_order() {
        assert!(PURPOSES.iter().zip(0..).all(|((purpose, _), place)| *purpose as usize == place));
    }

    #[test]
    fn the_last_common_byte_is_used_and_no_more() {
        let allowance = allowance();
        for _ in 0..60 {
            assert_eq!(allowance.take(Early, 1), Ok(()));
            assert_eq!(allowance.take(Withheld, 1), Ok(()));
        }
        assert_eq!(allowance.take(Early, 10), Ok(()));
        let refusal = allowance.take(Withheld, 1).unwrap_err();
        assert!(
            refusal.contains("the 160 bytes") && refusal.contains("70 by messages for what"),
            "{refusal}"
        );
        assert!(refusal.contains("60 by messages that other nodes") && !refusal.contains("reductions"));
        allowance.give_back(Early, 1);
        assert_eq!(allowance.take(Withheld, 1), Ok(()));
        assert!(allowance.take(Early, 1).is_err());
    }

    #[test]
    fn what_others_hold_takes_nobodys_reserve() {
        let allowance = allowance();
        assert_eq!(allowance.take(Withheld, 120), Ok(()));
        assert!(allowance.take(Withheld, 1).is_err());
        for _ in 0..10 {
            assert_eq!(allowance.take(Partials, 1), Ok(()));
        }
        assert!(allowance.take(Partials, 1).is_err());
    }

    #[test]
    fn one_thing_is_kept_however_long_it_is() {
        let allowance = allowance();
        assert_eq!(allowance.take(Fetched, u64::MAX), Ok(()));
        assert!(allowance.take(Fetched, u64::MAX).is_err());
        assert_eq!(allowance.take(Early, u64::MAX), Ok(()));
        allowance.give_back(Fetched, u64::MAX);
        allowance.give_back(Early, u64::MAX);
        assert!(allowance.held().all(|held| held == 0));
    }
}
