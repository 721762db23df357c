//! Contributions of members to their sections' reductions: to the members' homes, up the tree, to the callback.

use super::members_at_home::{show, state};
use super::message::tell;
use super::news::SectionEvent;
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
        add(pe, section, (number, Some(member)), share);
    } else {
        tell(pe, home, section, SectionEvent::Contributed { number, member: Some(member), share });
    }
}

/// Adds a contribution of a member with its home here, or from below. The section is known here.
pub(super) fn add(pe: &Pe, section: SectionId, (number, member): (u64, Option<Target>), share: Share) {
    let added = {
        let mut sections = state(pe).borrow_mut();
        let local = sections.get_mut(section).expect("its caller looked");
        match member {
            Some(member) if local.seat(member).is_none() => Err(member),
            _ => Ok(local.reductions.add(number, share)),
        }
    };
    match added {
        Ok(Ok(())) => advance(pe, section),
        Ok(Err(cause)) => pe.fail(what(section), cause),
        Err(stranger) => {
            let cause = format!("{} contributed, which is no member of it", show(pe, stranger));
            pe.fail(what(section), cause);
        }
    }
}

fn what(section: SectionId) -> String {
    format!("a reduction over {section}")
}

/// Takes note that nobody below contributes to reduction `end` or to later ones.
pub(super) fn end_below(pe: &Pe, section: SectionId, end: u64) {
    let left = state(pe).borrow_mut().get_mut(section).map(|local| local.reductions.leave(end));
    match left {
        Some(Err(cause)) => pe.fail(what(section), cause),
        _ => advance(pe, section),
    }
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
        let end = contributed.iter().find(|(of, _)| *of == section).map_or(0, |(_, count)| *count);
        end_below(pe, section, end);
    }
}

fn is_of_growing(pe: &Pe, member: Target) -> bool {
    let Target::Member(id, _) = member else { return false };
    pe.places.borrow().collection(id).is_some_and(|collection| collection.info.may_be_anywhere())
}

/// At the home of a member that was destroyed before the news of a section came: the member has no part in it but what it contributed.
pub(super) fn give_up_seat(pe: &Pe, section: SectionId, member: Target) {
    let end = state(pe).borrow_mut().give_up(section, member);
    end_below(pe, section, end);
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
            if let (Some(parent), Some(end)) = (parent, end) {
                tell(pe, parent, section, SectionEvent::Ended { end });
            }
            return;
        };
        drop(sections);
        match parent {
            Some(parent) => {
                tell(pe, parent, section, SectionEvent::Contributed { number, member: None, share });
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
