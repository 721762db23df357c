//! Which PE a chare lives on. `envelope -> **location** -> outbox`

use crate::ids::{PeId, Target};
use crate::pe::{Awaited, Pe};

/// What this PE knows about a chare's place.
pub(crate) enum Location {
    /// It lives there.
    At(PeId),
    /// Its collection has not been heard of here yet.
    Unknown(Awaited),
    /// Its collection has no such member.
    Nowhere(String),
}

/// Where a chare lives, as far as this PE knows.
pub(crate) fn locate(pe: &Pe, target: Target) -> Location {
    match target {
        Target::Chare(id) => Location::At(id.home),
        Target::Member(collection, index) => match pe.collections.borrow().get(&collection) {
            None => Location::Unknown(Awaited::Collection(collection)),
            Some(local) => match local.info.locate(index) {
                Some(pe) => Location::At(pe),
                None => Location::Nowhere(format!(
                    "{} has {} members, there is no member {}",
                    local.info.chare.name, local.info.len, index.0
                )),
            },
        },
    }
}
