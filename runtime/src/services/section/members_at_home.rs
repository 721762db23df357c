//! Tables of sections on one PE: the members that have their home here, and the number of reductions to which members that live here have
//! contributed.
//!
//! 1. A member has its seat at its home, wherever it lives. It belongs to the section until it is destroyed; an element that is inserted
//!    with the same index later is another one, and does not belong to the section.
//!    A member that was destroyed before the news of its section came gives up its seat at once; homes remember who was destroyed in
//!    collections into which members may come, where nothing else tells such a member from one that is to come.
//! 2. A member has one number for each section that it has contributed to. It stands in the member's seat where that is on the member's own
//!    PE, else in a table; the number goes along when the member leaves the PE.
//! 3. PEs that are neither a section's root nor home to a member keep nothing of the section but those numbers.

use super::calls::SectionCall;
use super::members::ByMember;
use super::message::ID;
use super::questions::Questions;
use super::reductions::Reductions;
use crate::model::call_options::CallOptions;
use crate::model::collection::CollectionInfo;
use crate::model::ids::{CollectionId, Index, PeId, SectionId, Target};
use crate::pe::{Pe, Promises};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// A member's place in its section.
pub(super) struct Seat {
    pub(super) target: Target,
    /// True until the member is destroyed.
    pub(super) is_taken: Cell<bool>,
    /// How often the member has contributed, if it lives here.
    next: Cell<u64>,
}

/// A section on one PE.
pub(super) struct LocalSection {
    /// Members that have their home here, in order. Shared with calls that are going through them.
    pub(super) seats: Rc<[Seat]>,
    /// The PE above in the tree; the root has none.
    pub(super) parent: Option<PeId>,
    /// Reductions over the members with their home here and the PEs right below.
    pub(super) reductions: Reductions,
    /// Whether the PE above knows that nobody contributes here any more.
    pub(super) has_ended: bool,
    /// Calls that this PE has received.
    pub(super) calls_heard: u64,
    /// How many calls are to be received before the section is forgotten, once it is dissolved.
    pub(super) calls_due: Option<u64>,
    /// At the root: the homes of all members, in the order of the tree.
    pub(super) homes: Arc<[PeId]>,
    /// At the root: calls that it has sent to the members' homes.
    pub(super) calls_made: u64,
    /// At the root: whether the section is dissolved.
    pub(super) is_dissolved: bool,
}

impl LocalSection {
    /// A section of members that are in order, none of them twice.
    pub(super) fn new(members: &[Target], parent: Option<PeId>, below: u64, homes: Arc<[PeId]>) -> Self {
        let seat = |target: &Target| Seat { target: *target, is_taken: Cell::new(true), next: Cell::new(0) };
        let seats = members.iter().map(seat).collect();
        let reductions = Reductions::new(members.len(), below);
        Self {
            seats,
            parent,
            reductions,
            has_ended: false,
            calls_heard: 0,
            calls_due: None,
            homes,
            calls_made: 0,
            is_dissolved: false,
        }
    }

    /// The seat of a member with its home here, also after its end.
    pub(super) fn seat(&self, target: Target) -> Option<&Seat> {
        Some(&self.seats[self.seat_number(target)?])
    }

    /// The number of a member's seat, also after its end.
    pub(super) fn seat_number(&self, target: Target) -> Option<usize> {
        self.seats.binary_search_by_key(&target, |seat| seat.target).ok()
    }
}

/// The tables of sections of a PE.
pub(super) fn state(pe: &Pe) -> &RefCell<Sections> {
    pe.state(ID)
}

/// The tables of sections of one PE; see the file's head.
#[derive(Default)]
pub(super) struct Sections {
    /// In boxes, so that the table's free places are small.
    pub(super) known: FxHashMap<SectionId, Box<LocalSection>>,
    /// Sections formed on this PE whose members' homes are not known yet.
    forming: FxHashMap<SectionId, Forming>,
    /// The sections of members that have their home here.
    memberships: ByMember<()>,
    /// For members that live here and have no seat here, or none yet: how often they have contributed to each section.
    next: ByMember<u64>,
    /// The members of growing collections that have their home here and were destroyed.
    gone: FxHashMap<CollectionId, FxHashSet<Target>>,
    /// For members that were destroyed before the news of a section came: how often they contributed to it.
    ends: FxHashMap<SectionId, FxHashMap<Target, u64>>,
    /// On roots: who waits until a section is formed.
    pub(super) questions: Questions,
}

/// A section on the PE that forms it, until it is known.
#[derive(Default)]
struct Forming {
    /// The calls of it that were made here.
    calls: Vec<(CallOptions, SectionCall)>,
    /// Collections that were known here meanwhile: those of members may have ended when the section is formed, and their homes have what
    /// the members contributed.
    collections: Vec<Arc<CollectionInfo>>,
}

/// The state of a section on the PE that formed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Standing {
    Known,
    Forming,
    Unknown,
}

impl Sections {
    /// Tells of the callbacks of reductions that have begun here, on PE `here`.
    pub(super) fn each_promise(&self, here: PeId, tell: &mut Promises<'_>) {
        for (section, local) in &self.known {
            if let Some((number, come, awaited, callback)) = local.reductions.first_open() {
                let purpose = format!(
                    "reduction {number} over {section}: {come} of {awaited} contributions have come to {here}"
                );
                tell(&callback, purpose);
            }
        }
    }

    /// Takes note of a section that this PE forms, and of the collections of its members that are known here.
    pub(super) fn announce(&mut self, section: SectionId, collections: Vec<Arc<CollectionInfo>>) {
        self.forming.insert(section, Forming { calls: Vec::new(), collections });
    }

    /// Takes note of a collection that has come to be known here.
    pub(super) fn note_collection(&mut self, collection: impl Fn() -> Arc<CollectionInfo>) {
        self.forming.values_mut().for_each(|forming| forming.collections.push(collection()));
    }

    /// The home of a member of a section that this PE forms, if its collection was known here meanwhile.
    pub(super) fn home_while_forming(
        &self,
        section: SectionId,
        (collection, index): (CollectionId, Index),
    ) -> Option<PeId> {
        let mut known = self.forming.get(&section)?.collections.iter();
        known.find(|known| known.id == collection).map(|known| known.home(index))
    }

    /// Keeps a call until the section is formed.
    ///
    /// # Errors
    /// The call, if the section is not being formed here.
    pub(super) fn keep_call(
        &mut self,
        options: CallOptions,
        call: SectionCall,
    ) -> Result<(), (CallOptions, SectionCall)> {
        match self.forming.get_mut(&call.section) {
            Some(forming) => {
                forming.calls.push((options, call));
                Ok(())
            }
            None => Err((options, call)),
        }
    }

    pub(super) fn standing(&self, section: SectionId) -> Standing {
        match self.known.get(&section) {
            Some(local) if !local.is_dissolved => Standing::Known,
            None if self.forming.contains_key(&section) => Standing::Forming,
            _ => Standing::Unknown,
        }
    }

    /// Takes a section in. Returns the calls that have waited for it.
    pub(super) fn insert(
        &mut self,
        section: SectionId,
        local: LocalSection,
    ) -> Vec<(CallOptions, SectionCall)> {
        for seat in local.seats.iter() {
            self.memberships.value(seat.target, section);
            seat.next.set(self.next.remove(seat.target, section).unwrap_or(0));
        }
        self.known.insert(section, Box::new(local));
        self.forming.remove(&section).unwrap_or_default().calls
    }

    pub(super) fn get(&self, section: SectionId) -> Option<&LocalSection> {
        self.known.get(&section).map(Box::as_ref)
    }

    /// Whether a member with its home here belongs to a section.
    pub(super) fn has_seat(&self, section: SectionId, target: Target) -> bool {
        let seat = self.get(section).and_then(|local| local.seat(target));
        seat.is_some_and(|seat| seat.is_taken.get())
    }

    pub(super) fn get_mut(&mut self, section: SectionId) -> Option<&mut LocalSection> {
        self.known.get_mut(&section).map(Box::as_mut)
    }

    /// Removes a section with all that is kept for members that have their home here.
    pub(super) fn remove(&mut self, section: SectionId) -> Option<Box<LocalSection>> {
        let local = self.known.remove(&section)?;
        self.ends.remove(&section);
        for seat in local.seats.iter() {
            self.memberships.remove(seat.target, section);
        }
        Some(local)
    }

    /// Removes and returns the sections of a member that is gone.
    pub(super) fn leave(&mut self, target: Target) -> impl Iterator<Item = SectionId> + use<> {
        self.memberships.take(target).into_iter().map(|(section, ())| section)
    }

    /// Remembers that a member of a growing collection, with its home here, was destroyed.
    pub(super) fn note_gone(&mut self, target: Target) {
        if let Target::Member(collection, _) = target {
            self.gone.entry(collection).or_default().insert(target);
        }
    }

    /// Forgets the members of a collection that has ended.
    pub(super) fn end(&mut self, collection: CollectionId) {
        self.gone.remove(&collection);
    }

    /// Whether a member that is nowhere is one that was destroyed, in a growing collection.
    pub(super) fn was_noted(&self, target: Target) -> bool {
        let Target::Member(collection, _) = target else { return false };
        self.gone.get(&collection).is_some_and(|gone| gone.contains(&target))
    }

    /// Remembers how many reductions a member that is gone has contributed to, of a section that is not known here yet.
    pub(super) fn note_end(&mut self, section: SectionId, target: Target, end: u64) {
        if !self.known.contains_key(&section) {
            self.ends.entry(section).or_default().insert(target, end);
        }
    }

    /// Whether a member contributed to a section and was destroyed, before the news of the section came.
    pub(super) fn has_ended(&self, section: SectionId, target: Target) -> bool {
        self.ends.get(&section).is_some_and(|ends| ends.contains_key(&target))
    }

    /// Gives up the seat of a member that was destroyed before it had one. Returns how often it contributed.
    pub(super) fn give_up(&mut self, section: SectionId, target: Target) -> u64 {
        if let Some(seat) = self.get(section).and_then(|local| local.seat(target)) {
            seat.is_taken.set(false);
        }
        self.memberships.remove(target, section);
        self.ends.get_mut(&section).and_then(|ends| ends.remove(&target)).unwrap_or(0)
    }

    /// Counts a contribution of a member that lives here; returns its number among them.
    pub(super) fn count(&mut self, target: Target, section: SectionId) -> u64 {
        if let Some(seat) = self.get(section).and_then(|local| local.seat(target)) {
            return seat.next.replace(seat.next.get() + 1);
        }
        let next = self.next.value(target, section);
        *next += 1;
        *next - 1
    }

    /// Forgets the count of a member's contributions to a section that is dissolved.
    pub(super) fn forget(&mut self, target: Target, section: SectionId) {
        self.next.remove(target, section);
    }

    /// Takes out the numbers that go with a member that leaves this PE: how often it has contributed.
    pub(super) fn take_numbers(&mut self, target: Target) -> Vec<(SectionId, u64)> {
        let in_seats = self.memberships.sections(target).filter_map(|section| {
            let next = self.get(section)?.seat(target)?.next.take();
            (next > 0).then_some((section, next))
        });
        let in_seats: Vec<_> = in_seats.collect();
        self.next.take(target).into_iter().chain(in_seats).collect()
    }

    /// Takes in the numbers that have come with a member: how often it has contributed.
    pub(super) fn bring_numbers(&mut self, target: Target, numbers: Vec<(SectionId, u64)>) {
        for (section, next) in numbers {
            match self.get(section).and_then(|local| local.seat(target)) {
                Some(seat) => seat.next.set(next),
                None => *self.next.value(target, section) = next,
            }
        }
    }

    /// Whether nothing is kept.
    #[cfg(test)]
    fn is_empty(&self) -> bool {
        self.known.is_empty()
            && self.forming.is_empty()
            && self.memberships.is_empty()
            && self.next.is_empty()
    }
}

/// A member for humans.
pub(super) fn show(pe: &Pe, member: Target) -> String {
    let places = pe.places.borrow();
    match member {
        Target::Member(id, index) => match places.collection(id) {
            Some(known) => {
                format!("member {} of {}", known.info.chare.index.show(index), known.info.chare.name)
            }
            None => format!("member {:#x}", index.bits()),
        },
        Target::Chare(_) => "a singleton".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::collection::dummies;
    use crate::model::topology::Topology;

    fn member(number: u64) -> Target {
        Target::Member(CollectionId { creator: PeId(0), serial: 0 }, Index::from(number))
    }

    fn section(serial: u32) -> SectionId {
        SectionId { creator: PeId(0), serial }
    }

    fn local(members: &[Target]) -> LocalSection {
        LocalSection::new(members, None, 0, Arc::default())
    }

    #[test]
    fn the_homes_of_those_whose_collection_ends_are_known_until_the_section_is_formed() {
        let mut sections = Sections::default();
        let array = Arc::new(dummies(4, Topology::on_one_host(2, 1)));
        let home = |sections: &Sections, serial| {
            sections.home_while_forming(section(serial), (array.id, Index::from(3_u64)))
        };
        sections.announce(section(0), vec![Arc::clone(&array)]);
        sections.announce(section(1), Vec::new());
        assert_eq!([0, 1].map(|serial| home(&sections, serial)), [Some(PeId(1)), None]);
        sections.note_collection(|| Arc::clone(&array));
        assert_eq!(home(&sections, 1), Some(PeId(1)));
        sections.insert(section(1), local(&[]));
        assert_eq!((home(&sections, 1), home(&sections, 2)), (None, None));
    }

    #[test]
    fn a_section_that_is_dissolved_leaves_nothing() {
        let mut sections = Sections::default();
        sections.announce(section(0), Vec::new());
        assert_eq!(sections.standing(section(0)), Standing::Forming);
        assert!(sections.insert(section(0), local(&[member(1), member(2)])).is_empty());
        assert!(sections.insert(section(1), local(&[member(2)])).is_empty());
        assert_eq!(sections.standing(section(0)), Standing::Known);
        assert_eq!((sections.count(member(2), section(1)), sections.count(member(2), section(1))), (0, 1));
        sections.count(member(2), section(0));
        assert!(sections.remove(section(0)).is_some());
        assert_eq!(sections.standing(section(0)), Standing::Unknown);
        assert_eq!(sections.take_numbers(member(2)), [(section(1), 2)]);
        assert_eq!(sections.leave(member(2)).collect::<Vec<_>>(), [section(1)]);
        assert!(sections.remove(section(1)).is_some());
        assert!(sections.is_empty());
    }

    #[test]
    fn a_member_that_contributes_before_it_has_a_seat_is_counted_on() {
        let mut sections = Sections::default();
        assert_eq!(sections.count(member(1), section(0)), 0);
        sections.insert(section(0), local(&[member(1)]));
        assert_eq!(sections.count(member(1), section(0)), 1);
        assert_eq!(sections.take_numbers(member(1)), [(section(0), 2)]);
        // Another one in its place is a stranger to the section.
        assert_eq!(sections.count(member(1), section(0)), 0);
        // One that has its home elsewhere, and moves on.
        assert_eq!((sections.count(member(2), section(0)), sections.count(member(2), section(0))), (0, 1));
        assert_eq!(sections.take_numbers(member(2)), [(section(0), 2)]);
        sections.count(member(2), section(0));
        sections.forget(member(2), section(0));
        assert!(sections.remove(section(0)).is_some());
        assert!(sections.is_empty());
    }
}
