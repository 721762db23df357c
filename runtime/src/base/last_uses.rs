//! Order of last uses, for tables of which the least recently used goes.

use std::collections::BTreeMap;

/// Things in the order of their last uses.
pub(crate) struct LastUses<K> {
    by_time: BTreeMap<u64, K>,
    uses: u64,
}

impl<K> Default for LastUses<K> {
    fn default() -> Self {
        Self { by_time: BTreeMap::new(), uses: 0 }
    }
}

impl<K> LastUses<K> {
    /// Notes the first use of a thing. Returns its time, by which the thing is named from then on.
    pub(crate) fn begin(&mut self, thing: K) -> u64 {
        self.uses += 1;
        self.by_time.insert(self.uses, thing);
        self.uses
    }

    /// Notes that the thing that was used at this time last is used again, and makes its time the new one.
    pub(crate) fn renew(&mut self, time: &mut u64) {
        if let Some(thing) = self.by_time.remove(time) {
            *time = self.begin(thing);
        }
    }

    /// Forgets the thing that was used at this time last.
    pub(crate) fn end(&mut self, time: u64) {
        self.by_time.remove(&time);
    }

    /// All things, the least recently used first.
    pub(crate) fn oldest_first(&self) -> impl Iterator<Item = &K> {
        self.by_time.values()
    }
}

#[cfg(test)]
mod tests {
    use super::LastUses;

    #[test]
    fn what_is_used_again_is_the_most_recently_used() {
        let mut uses = LastUses::default();
        let mut times = [1, 2, 3].map(|thing| uses.begin(thing));
        uses.renew(&mut times[0]);
        uses.end(times[1]);
        assert_eq!(uses.oldest_first().copied().collect::<Vec<_>>(), [3, 1]);
    }
}
