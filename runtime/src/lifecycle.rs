//! Chares come and go: constructed by a message, gone when they asked for it; and messages wait for those that are still to come.

use crate::collection::CollectionInfo;
use crate::early::{self, Awaited};
use crate::envelope::{Body, Create, Envelope, News};
use crate::error::JobError;
use crate::fold;
use crate::ids::{CollectionId, Index, PeId, SectionId, Target};
use crate::mailbox::Outcome;
use crate::members::LocalCollection;
use crate::message::Arguments;
use crate::object::Identity;
use crate::outbox;
use crate::pe::Pe;
use crate::queue::CallOptions;
use crate::registry::{ChareRegistration, show};
use crate::running::Running;
use crate::section;
use std::rc::Rc;
use std::sync::Arc;

/// Ends the job because a message cannot be delivered.
pub(crate) fn fail(pe: &Pe, what: String, cause: impl ToString) {
    pe.node.fail(JobError::Delivery { what, pe: pe.id, node: pe.node.id, cause: cause.to_string() });
}

/// Keeps a message until what it is for exists.
pub(crate) fn keep_for(pe: &Pe, awaited: Awaited, options: CallOptions, body: Body) -> Outcome {
    early::keep(pe, awaited, Envelope { options, body });
    Outcome::NotCounted
}

/// Looks again at what arrived before its chare or collection did; it was counted when it was sent. Whoever called what lives elsewhere
/// is told so on the way.
pub(crate) fn release_early(pe: &Pe, awaited: Awaited) {
    let early = pe.early.borrow_mut().release(awaited);
    early.into_iter().for_each(|envelope| outbox::forward(pe, pe.id, envelope));
}

fn construct(pe: &Pe, identity: Identity, chare: &'static ChareRegistration, arguments: Arguments) {
    let (target, identity) = (identity.target, Rc::new(identity));
    let running = Running { unborn: Some(Rc::clone(&identity)), ..Running::named("constructor") };
    match pe.run_as(running, || (chare.construct)(&identity, arguments)) {
        Ok(made) => {
            pe.places.borrow_mut().insert(target, made);
            remove_if_destroyed(pe, target);
        }
        Err(error) => fail(pe, format!("the constructor of {}", chare.name), error),
    }
}

/// A singleton comes.
pub(crate) fn create_chare(pe: &Pe, Create { id, chare, arguments }: Create) -> Outcome {
    if !pe.births.borrow_mut().note(id) {
        let cause = format!("{} was created before", show(chare.name, Target::Chare(id)));
        fail(pe, format!("creating {}", chare.name), cause);
        return Outcome::Processed;
    }
    construct(pe, Identity::new(Target::Chare(id), chare.name, 0), chare, arguments);
    release_early(pe, Awaited::Chare(id));
    Outcome::Processed
}

/// A collection comes, with the members that it begins with here.
pub(crate) fn create_members(pe: &Pe, info: Arc<CollectionInfo>, arguments: Arguments) -> Outcome {
    let (id, chare) = (info.id, info.chare);
    if pe.places.borrow().collection(id).is_some() {
        fail(pe, format!("creating {}", chare.name), "a collection of this number was created before");
        return Outcome::Processed;
    }
    // What was created before by the same PE, or what this is said to come after, is here first: constructors may rely on it.
    let before = id.serial.checked_sub(1).map(|serial| CollectionId { serial, ..id });
    let missing = before
        .into_iter()
        .chain(info.after())
        .find(|before| pe.places.borrow().collection(*before).is_none());
    if let Some(missing) = missing {
        let body = Body::CreateMembers { info, arguments };
        return keep_for(pe, Awaited::Collection(missing), CallOptions::new().expedited(), body);
    }
    if let Some(other) = info.bound_to() {
        let bound = pe.places.borrow().collection(other).map(|other| info.bind(&other.info));
        match bound {
            Some(Ok(())) => {}
            Some(Err(cause)) => {
                fail(pe, format!("creating {}", chare.name), cause);
                return Outcome::Processed;
            }
            None => {
                let body = Body::CreateMembers { info, arguments };
                return keep_for(pe, Awaited::Collection(other), CallOptions::new().expedited(), body);
            }
        }
    }
    let members = info.members_on(pe.id);
    pe.places.borrow_mut().insert_collection(LocalCollection::new(info, pe.id, members.len()));
    for index in members {
        construct(pe, Identity::new(Target::Member(id, index), chare.name, 0), chare, arguments.clone());
    }
    fold::report_creation(pe, id);
    release_early(pe, Awaited::Collection(id));
    Outcome::Processed
}

/// A member comes later than its collection.
pub(crate) fn create_member(
    pe: &Pe,
    (id, index): (CollectionId, Index),
    name: Option<Box<[u8]>>,
    arguments: Arguments,
) {
    let begun = pe.places.borrow_mut().collection_mut(id).map(|collection| {
        if let Some(name) = name {
            collection.names.insert(index, name);
        }
        (collection.info.chare, collection.contributions.add_member())
    });
    let Some((chare, next_reduction)) = begun else { unreachable!("a member comes after its collection") };
    construct(pe, Identity::new(Target::Member(id, index), chare.name, next_reduction), chare, arguments);
}

/// Removes a chare that asked for it, after the step of an entry in which it did.
#[inline]
pub(crate) fn remove_if_destroyed(pe: &Pe, target: Target) {
    if pe.destroyed.get() {
        remove(pe, target);
    }
}

#[cold]
fn remove(pe: &Pe, target: Target) {
    pe.destroyed.set(false);
    let removed = pe.places.borrow_mut().remove(target);
    let Some(removed) = removed else { return };
    let next_reduction = removed.identity().contributions.replace(Identity::GONE);
    if let Target::Member(id, index) = target {
        let contributed = pe.sections.borrow_mut().take_numbers(target);
        fold::remove_member(pe, id, next_reduction);
        let home = pe.places.borrow().collection(id).map(|collection| collection.info.home(index));
        match home {
            Some(home) if home != pe.id => {
                let news = News::Gone { collection: id, index, from: pe.id, contributed };
                let body = Body::News(Box::new(news));
                outbox::send(pe, home, Envelope { options: CallOptions::new().expedited(), body });
            }
            _ => section::leave(pe, target, &contributed),
        }
    }
    // Dropped after the borrow: the chare's state and its tasks may run code of the user.
    pe.tasks.drop_of(removed.identity());
    drop(removed);
}

/// As its home: a member that lived on another PE is gone, unless it has been inserted again elsewhere meanwhile.
pub(crate) fn forget_member(
    pe: &Pe,
    (id, index): (CollectionId, Index),
    from: PeId,
    contributed: &[(SectionId, u64)],
) {
    section::leave(pe, Target::Member(id, index), contributed);
    let mut places = pe.places.borrow_mut();
    places.forget(Target::Member(id, index));
    let away = &mut places.collection_mut(id).expect("looked at before").away;
    if away.get(&index) == Some(&from) {
        away.remove(&index);
    }
}
