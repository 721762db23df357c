//! Contributions of members to their sections' reductions: to the members' homes, up the tree, to the callback.

use super::members_at_home::{show, state};
use super::message::{Contributor, SectionEvent, tell};
use super::reductions::Reductions;
use crate::delivery::fire::fire;
use crate::model::ids::{SectionId, Target};
use crate::model::reduction::Share;
use crate::model::registry::Identity;
use crate::pe::Pe;

/// Adds the contribution of a member that lives here to the section's next reduction.
pub(crate) fn contribute(pe: &Pe, identity: &Identity, section: SectionId, share: Share) {
    let member = identity.target;
    let Target::Member(id, index) = member else { unreachable!("its caller has an index") };
    let home = pe.places.borrow().collection(id).map(|collection| collection.info.home(index));
    let home = home.expect("a member's collection is known on its PE");
    let number = state(pe).borrow_mut().count(member, section);
    if home == pe.id && state(pe).borrow().get(section).is_some() {
        add(pe, section, (number, Contributor::Member(member)), share);
    } else {
        let by = Contributor::Member(member);
        tell(pe, home, section, SectionEvent::Contributed { number, by, share });
    }
}

/// Adds a contribution of a member with its home here, or from below. The section is known here.
pub(super) fn add(pe: &Pe, section: SectionId, (number, by): (u64, Contributor), share: Share) {
    take_in(pe, section, by, |reductions, contributor| reductions.add(contributor, number, share));
}

/// Takes note that somebody has left after so many contributions.
pub(super) fn end(pe: &Pe, section: SectionId, who: Contributor, contributions: u64) {
    take_in(pe, section, who, |reductions, contributor| reductions.leave(contributor, contributions));
}

fn take_in(
    pe: &Pe,
    section: SectionId,
    by: Contributor,
    change: impl FnOnce(&mut Reductions, usize) -> Result<(), String>,
) {
    let taken = {
        let mut sections = state(pe).borrow_mut();
        let Some(local) = sections.get_mut(section) else { return };
        let contributor = match by {
            Contributor::Below(place) => local.reductions.place_below(place).map_err(Ok),
            Contributor::Member(member) => local.seat_number(member).ok_or(Err(member)),
        };
        contributor.and_then(|contributor| change(&mut local.reductions, contributor).map_err(Ok))
    };
    match taken {
        Ok(()) => advance(pe, section),
        Err(Ok(cause)) => pe.fail(what(section), cause),
        Err(Err(stranger)) => {
            let cause = format!("{} contributed, which is no member of it", show(pe, stranger));
            pe.fail(what(section), cause);
        }
    }
}

fn what(section: SectionId) -> String {
    format!("a reduction over {section}")
}

/// At the home of a member that is gone: ends its contributions, of which it has made so many to these sections.
pub(super) fn member_gone(pe: &Pe, member: Target, contributed: &[(SectionId, u64)]) {
    let sections = {
        let mut sections = state(pe).borrow_mut();
        if is_of_growing(pe, member) {
            sections.note_gone(member);
        }
        contributed.iter().for_each(|(section, end)| sections.note_end(*section, member, *end));
        sections.leave(member)
    };
    for section in sections {
        if let Some(seat) = state(pe).borrow().get(section).and_then(|local| local.seat(member)) {
            seat.is_taken.set(false);
        }
        let contributions = contributed.iter().find(|(of, _)| *of == section).map_or(0, |(_, count)| *count);
        end(pe, section, Contributor::Member(member), contributions);
    }
}

fn is_of_growing(pe: &Pe, member: Target) -> bool {
    let Target::Member(id, _) = member else { return false };
    pe.places.borrow().collection(id).is_some_and(|collection| collection.info.may_be_anywhere())
}

/// At the home of a member that was destroyed before the news of a section came: the member has no part in it but what it contributed.
pub(super) fn give_up_seat(pe: &Pe, section: SectionId, member: Target) {
    let contributions = state(pe).borrow_mut().give_up(section, member);
    end(pe, section, Contributor::Member(member), contributions);
}

/// Sends on the reductions that are complete.
fn advance(pe: &Pe, section: SectionId) {
    loop {
        let mut sections = state(pe).borrow_mut();
        let Some(local) = sections.get_mut(section) else { return };
        let parent = local.parent;
        let Some((number, share)) = local.reductions.complete() else {
            let end = local.reductions.end().filter(|_| !local.has_ended);
            local.has_ended |= end.is_some();
            drop(sections);
            if let (Some(parent), Some(contributions)) = (parent, end) {
                tell(pe, parent, section, SectionEvent::Ended { by: pe.id, contributions });
            }
            return;
        };
        drop(sections);
        match parent {
            Some(parent) => {
                let by = Contributor::Below(pe.id);
                tell(pe, parent, section, SectionEvent::Contributed { number, by, share });
            }
            None => {
                let callback = share.callback;
                match share.finish() {
                    Ok(result) => fire(pe, callback, result),
                    Err(cause) => pe.fail(what(section), cause),
                }
            }
        }
    }
}
