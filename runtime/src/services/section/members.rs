//! Table of members: what is kept of each member for each of its sections.
//!
//! Most members are in one section, some in thousands. The first section of a member stands in the table itself; many are found, added and
//! removed without a look at the others.

use crate::model::ids::{SectionId, Target};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// A value for each member of each section.
pub(super) struct ByMember<V>(FxHashMap<Target, BySection<V>>);

/// The values of one member, at least one.
enum BySection<V> {
    One(SectionId, V),
    Many(Box<FxHashMap<SectionId, V>>),
}

impl<V: Default> ByMember<V> {
    /// The value of a member of a section, a new one if there was none.
    pub(super) fn value(&mut self, member: Target, section: SectionId) -> &mut V {
        let values = match self.0.entry(member) {
            Entry::Vacant(free) => free.insert(BySection::One(section, V::default())),
            Entry::Occupied(taken) => taken.into_mut(),
        };
        if let BySection::One(first, value) = values
            && *first != section
        {
            let first = (*first, std::mem::take(value));
            *values = BySection::Many(Box::new(FxHashMap::from_iter([first])));
        }
        match values {
            BySection::One(_, value) => value,
            BySection::Many(values) => values.entry(section).or_default(),
        }
    }

    /// The sections for which there are values of a member.
    pub(super) fn sections(&self, member: Target) -> impl Iterator<Item = SectionId> {
        let (one, many) = match self.0.get(&member) {
            None => (None, None),
            Some(BySection::One(section, _)) => (Some(*section), None),
            Some(BySection::Many(values)) => (None, Some(values.keys().copied())),
        };
        one.into_iter().chain(many.into_iter().flatten())
    }

    /// Takes out the value of a member of a section, if there is one.
    pub(super) fn remove(&mut self, member: Target, section: SectionId) -> Option<V> {
        let (value, is_last) = match self.0.get_mut(&member)? {
            BySection::One(only, value) => ((*only == section).then(|| std::mem::take(value))?, true),
            BySection::Many(values) => (values.remove(&section)?, values.is_empty()),
        };
        if is_last {
            self.0.remove(&member);
        }
        Some(value)
    }

    /// Takes out all values of a member.
    pub(super) fn take(&mut self, member: Target) -> Vec<(SectionId, V)> {
        match self.0.remove(&member) {
            None => Vec::new(),
            Some(BySection::One(section, value)) => vec![(section, value)],
            Some(BySection::Many(values)) => values.into_iter().collect(),
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V> Default for ByMember<V> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{CollectionId, Index, PeId};

    #[test]
    fn each_section_of_a_member_has_its_own_value_until_it_is_removed() {
        let member =
            |number: u64| Target::Member(CollectionId { creator: PeId(0), serial: 0 }, Index::from(number));
        let section = |serial| SectionId { creator: PeId(0), serial };
        let mut table = ByMember::<u64>::default();
        for serial in [0, 1, 0, 2] {
            *table.value(member(1), section(serial)) += 1;
        }
        *table.value(member(2), section(1)) += 10;
        assert_eq!(table.remove(member(2), section(0)), None);
        assert_eq!(table.remove(member(1), section(7)), None);
        assert_eq!(table.remove(member(1), section(1)), Some(1));
        assert_eq!(table.sections(member(1)).count(), 2);
        let mut kept = table.take(member(1));
        kept.sort_by_key(|(section, _)| section.serial);
        assert_eq!(kept, [(section(0), 2), (section(2), 1)]);
        assert_eq!((table.take(member(1)), table.take(member(2))), (vec![], vec![(section(1), 10)]));
        *table.value(member(3), section(0)) = 5;
        *table.value(member(3), section(1)) = 6;
        let removed = [0, 1, 1].map(|serial| table.remove(member(3), section(serial)));
        assert_eq!(removed, [Some(5), Some(6), None]);
        assert!(table.is_empty());
    }
}
