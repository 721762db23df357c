//! Surveys of syncs: what waits on a PE for the sync that is under way, and who has not come to it.

use super::state::{Syncs, state};
use crate::model::ids::Target;
use crate::model::registry::{Identity, show};
use crate::pe::{Pe, TellWait, Waits};

/// The most elements that are named.
const NAMED_MAX: usize = 3;

/// Tells which of the elements here have come to the sync that is under way, and which have not.
pub(super) fn tell(pe: &Pe, tell: &mut TellWait<'_>) {
    let Syncs { over, ref next, ref waiting, .. } = *state(pe).borrow();
    let places = pe.places.borrow();
    let members = || {
        let of_syncs = places.collections().filter(|collection| collection.info.syncs());
        of_syncs.flat_map(|collection| collection.members.within(0..collection.members.end()))
    };
    let come = waiting.values().filter(|waiting| waiting.sync == over).count();
    let has_come = |target: &Target| next.get(target).is_some_and(|next| *next > over);
    let lacking: Vec<&Identity> =
        members().map(|chare| chare.identity()).filter(|identity| !has_come(&identity.target)).collect();
    if come > 0 {
        let count = members().count();
        tell(Waits::Other, format!("sync {over}: {come} of {count} elements wait for its end"));
    }
    if let [first, ..] = &*lacking {
        let name = |identity: &&Identity| show(identity.name(), identity.target);
        let (names, count) = (lacking.iter().take(NAMED_MAX).map(name).collect::<Vec<_>>(), lacking.len());
        let (names, chare) = (names.join(", "), first.name());
        tell(
            Waits::Aside,
            format!("sync {over}: {count} elements have not come, such as {names} of {chare}"),
        );
    }
}
