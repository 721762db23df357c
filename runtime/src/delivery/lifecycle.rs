//! Lifecycle of chares: constructed by a message, removed at their own request or at that of others.

use crate::model::arguments::Arguments;
use crate::model::envelope::Create;
use crate::model::ids::Target;
use crate::model::parcel::Parcel;
use crate::model::registry::{ChareRegistration, Identity, OnPanic, Standing, show};
use crate::node::timeline::Kind;
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::running::Whose;
use crate::pe::{ChareEvent, Pe};
use std::rc::Rc;

/// Constructs a chare and enters it into the tables of its PE; maybe inside an entry, which wants it at once.
pub(crate) fn construct(
    pe: &Pe,
    identity: Identity,
    chare: &'static ChareRegistration,
    arguments: Arguments,
) {
    let (target, identity) = (identity.target, share(pe, identity));
    let whose = Whose::Unborn(Rc::clone(&identity));
    let kept = (chare.on_panic == OnPanic::Renew).then(|| arguments.clone());
    let constructed =
        pe.run_inside(Kind::Constructor, (whose, "constructor"), || (chare.construct)(&identity, arguments));
    pe.spare_identity.set(Some(identity));
    match constructed {
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

/// The identity of a chare, to be seen by its constructor: in the memory of the one before, unless somebody holds on to that, as a task does
/// that a constructor has begun.
fn share(pe: &Pe, identity: Identity) -> Rc<Identity> {
    if let Some(mut spare) = pe.spare_identity.take()
        && let Some(place) = Rc::get_mut(&mut spare)
    {
        *place = identity;
        return spare;
    }
    Rc::new(identity)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use crate::model::ids::ChareId;

    #[test]
    fn an_identity_that_somebody_holds_on_to_stays_whose_it_is() {
        let code = Job::in_process(1, 1).run(|| async {
            Pe::current(|pe| {
                let chare = |serial| Target::Chare(ChareId { home: pe.id, creator: pe.id, serial });
                let share = |serial| share(pe, Identity::new(chare(serial), &"Dummy", Standing::NEW));
                let first = share(1);
                pe.spare_identity.set(Some(Rc::clone(&first)));
                let second = share(2);
                assert_eq!([first.target, second.target], [1, 2].map(chare));
                let place = Rc::as_ptr(&second);
                pe.spare_identity.set(Some(second));
                let third = share(3);
                assert_eq!((Rc::as_ptr(&third), third.target), (place, chare(3)), "nobody holds on to it");
            });
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
