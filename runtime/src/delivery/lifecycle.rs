//! Lifecycle of chares: constructed by a message, removed at their own request or at that of others.

use crate::model::arguments::Arguments;
use crate::model::envelope::Create;
use crate::model::ids::Target;
use crate::model::parcel::Parcel;
use crate::model::registry::{ChareRegistration, Identity, OnPanic, Standing, show};
use crate::node::timeline::Kind;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::running::Running;
use crate::pe::{ChareEvent, Pe};
use std::rc::Rc;

/// Constructs a chare and enters it into the tables of its PE; maybe inside an entry, which wants it at once.
pub(crate) fn construct(
    pe: &Pe,
    identity: Identity,
    chare: &'static ChareRegistration,
    arguments: Arguments,
) {
    let (target, identity) = (identity.target, Rc::new(identity));
    let running = Running { unborn: Some(Rc::clone(&identity)), ..Running::named("constructor") };
    let kept = (chare.on_panic == OnPanic::Renew).then(|| arguments.clone());
    match pe.run_inside(Kind::Constructor, running, || (chare.construct)(&identity, arguments)) {
        Ok(made) => {
            if let Some(arguments) = kept {
                pe.renewals.borrow_mut().insert(target, arguments);
            }
            pe.places.borrow_mut().insert(target, made);
            remove_if_destroyed(pe, target);
        }
        Err(error) => pe.fail(format!("the constructor of {}", chare.name), error),
    }
}

/// Creates a singleton, and queues the messages that arrived before it.
pub(crate) fn create_chare(pe: &Pe, Create { id, chare, arguments }: Create) -> Outcome {
    if !pe.created_chares.borrow_mut().note(id) {
        let cause = format!("{} was created before", show(chare.name, Target::Chare(id)));
        pe.fail(format!("creating {}", chare.name), cause);
        return Outcome::Processed;
    }
    construct(pe, Identity::new(Target::Chare(id), &chare.name, Standing::NEW), chare, arguments);
    pe.release_early(Missing::Chare(id));
    Outcome::Processed
}

/// Removes a chare that asked for it, after the step of an entry in which it asked.
#[inline]
pub(crate) fn remove_if_destroyed(pe: &Pe, target: Target) {
    if pe.destroyed.get() {
        remove(pe, target);
    }
}

/// The one place where a chare ends.
#[cold]
fn remove(pe: &Pe, target: Target) {
    pe.destroyed.set(false);
    let (traveller, removed) = {
        let mut places = pe.places.borrow_mut();
        (places.take_traveller(target), places.remove(target))
    };
    let Some(removed) = removed else { return };
    let left = removed.identity().standing.replace(Standing::GONE);
    let mut parcel = Parcel::default();
    pe.tell(ChareEvent::Gone { chare: removed.identity(), left, traveller, parcel: &mut parcel });
    debug_assert!(
        parcel.is_empty(),
        "a service put something in after `array` had sent the parcel: see job/services"
    );
    if let Target::Chare(id) = target
        && id.home != pe.id
    {
        pe.tell(ChareEvent::StrayEnded { id });
    }
    // After the borrow: dropping the chare's state may run code of the user.
    pe.drop_chare(removed);
}
