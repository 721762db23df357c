//! Counts of syncs at a home: how many of its elements have come to the sync that is under way.
//!
//! 1. Syncs are numbered from 0; sync n + 1 begins for an element when sync n is over. An element that waits is of the number that its PE knows
//!    to be under way, or of its own next one.
//! 2. A home is *complete* for a sync when as many have come as elements have their home there, and says so once. Who is born after that is
//!    awaited in the next sync: what it says of an earlier one is not counted.
//! 3. A home without elements is complete for a sync when it is asked, not before: somebody else has to begin it.
//! 4. Who ends takes part no more, and what it said of the sync that is under way is taken back. The two may come in either order.

/// The counts of one home.
#[derive(Default)]
pub(super) struct Counts {
    /// The home has said of all syncs before this one that it is complete.
    next: u64,
    /// How many have come to that sync, less those of them that have ended.
    come: i64,
    /// Which syncs have been asked for: all before this one.
    asked: u64,
}

impl Counts {
    /// Takes note that an element has come to a sync. None comes to a later one than the next: that is over only when all homes are complete.
    pub(super) fn come(&mut self, sync: u64) {
        self.come += i64::from(sync == self.next);
    }

    /// Takes note of the end of an element whose next sync would have been this one.
    pub(super) fn end(&mut self, next: u64) {
        if next > self.next {
            chare_lrts::sometimes!("an element ended that had come to the sync under way");
            self.come -= 1;
        }
    }

    /// Takes note that somebody has begun a sync.
    pub(super) fn ask(&mut self, sync: u64) {
        self.asked = self.asked.max(sync.saturating_add(1));
    }

    /// The sync for which the home is complete with `living` elements, if it has not said so. Returns also whether somebody else has begun it.
    pub(super) fn complete(&mut self, living: u64) -> Option<(u64, bool)> {
        let is_asked = self.asked > self.next;
        let is_complete = self.come == living as i64 && (living > 0 || is_asked);
        is_complete.then(|| {
            self.come = 0;
            self.next += 1;
            (self.next - 1, is_asked)
        })
    }

    /// The sync that is under way here, and how many have come to it.
    #[cfg(test)]
    fn under_way(&self) -> (u64, i64) {
        (self.next, self.come)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_complete_once_when_all_have_come() {
        let mut counts = Counts::default();
        (0..2).for_each(|_| counts.come(0));
        assert_eq!(counts.complete(3), None);
        counts.come(0);
        assert_eq!(counts.complete(3), Some((0, false)));
        assert_eq!(counts.complete(3), None);
        (0..3).for_each(|_| counts.come(1));
        counts.ask(1);
        assert_eq!(counts.complete(3), Some((1, true)));
    }

    #[test]
    fn a_home_without_elements_waits_until_it_is_asked() {
        let mut counts = Counts::default();
        assert_eq!(counts.complete(0), None);
        counts.ask(0);
        assert_eq!((counts.complete(0), counts.complete(0)), (Some((0, true)), None));
    }

    #[test]
    fn who_ends_is_taken_back_in_either_order() {
        let mut counts = Counts::default();
        counts.come(0);
        counts.end(1);
        assert_eq!((counts.complete(1), counts.under_way()), (None, (0, 0)));
        counts.end(1);
        counts.come(0);
        assert_eq!((counts.complete(1), counts.under_way()), (None, (0, 0)));
        counts.end(0);
        assert_eq!(counts.under_way(), (0, 0), "it had not come");
    }

    #[test]
    fn who_is_born_after_a_sync_is_complete_is_awaited_in_the_next() {
        let mut counts = Counts::default();
        counts.come(0);
        assert_eq!(counts.complete(1), Some((0, false)));
        counts.come(0);
        assert_eq!(counts.under_way(), (1, 0), "the newborn's PE does not know yet that it is over");
        (0..2).for_each(|_| counts.come(1));
        assert_eq!(counts.complete(2), Some((1, false)));
    }
}
