//! Dealt arguments: of a nocopy argument of many, the part that a member gets by its index, and the parts that a node needs.
//!
//! 1. When the call has come to a member, and not before, the member's part is taken by its index.
//! 2. A node that reads the memory in place has all parts. Any other is sent those of the members on it and below it in the tree, packed, if
//!    the caller knows where the members are: those of a collection that does not grow live at their homes.
//!
//! A partition from another node is an allegation: its decoding has checked that its parts share nothing; here their bounds are checked
//! against the memory.

use crate::model::call_options::CallOptions;
use crate::model::dealing::{Dealing, DealtParts};
use crate::model::ids::{CollectionId, PeId, Target};
use crate::model::nocopy::{Few, Leaving, Local};
use crate::pe::Pe;
use chare_layout::Raw;
use std::sync::Arc;

/// The nocopy arguments of a call of many for one of them.
///
/// # Errors
/// A member without a part, and a partition of other memory, in words.
pub(crate) fn for_member(
    pe: &Pe,
    options: &CallOptions,
    nocopy: Vec<Local>,
    member: Target,
) -> Result<Few<Local>, String> {
    let Some(dealt) = options.dealt() else { return Ok(Few::from_vec(nocopy)) };
    let deal = |(local, dealing): (Local, &Option<Dealing>)| match (local, dealing) {
        (Local::Host(leaving), Some(dealing)) => {
            take(leaving, part_of(pe, dealing, member)?).map(Local::Host)
        }
        (Local::Device(_), Some(_)) => Err("a buffer of a device is not dealt out".to_owned()),
        (local, None) => Ok(local),
    };
    nocopy.into_iter().zip(dealt).map(deal).collect()
}

/// The nodes that need the parts of an argument that goes to all members of a collection; `None` if it is not dealt out, or the caller does
/// not know.
pub(crate) fn parts(pe: &Pe, collection: CollectionId, dealing: Option<&Dealing>) -> Option<DealtParts> {
    let partition = &dealing?.partition;
    let places = pe.places.borrow();
    let info = &places.collection(collection)?.info;
    let mut nodes = Vec::new();
    for pe in (0..info.topology.pes()).map(PeId).filter(|_| !info.may_be_anywhere()) {
        let node = info.topology.node_of(pe);
        let numbers = info.members_on(pe).into_iter().filter_map(info.chare.index.place);
        nodes.extend(numbers.filter_map(|place| Some((partition.number_of(&place)?, node))));
    }
    nodes.sort_unstable();
    (!info.may_be_anywhere()).then(|| DealtParts::All(partition.clone(), nodes.into()))
}

/// The part that a member gets by its index.
fn part_of(pe: &Pe, dealing: &Dealing, member: Target) -> Result<Raw, String> {
    let chare = match member {
        Target::Member(collection, index) => {
            let places = pe.places.borrow();
            places.collection(collection).map(|local| (&local.info.chare.index, index))
        }
        Target::Chare(_) => None,
    };
    let place = chare.and_then(|(indices, index)| (indices.place)(index));
    place.and_then(|place| dealing.part_at(&place)).ok_or_else(|| {
        let who = chare.map_or_else(|| format!("{member:?}"), |(indices, index)| indices.show(index));
        format!(
            "a buffer is dealt out in {} parts, none of which is that of member {who}",
            dealing.partition.len()
        )
    })
}

/// A part of an argument: a piece of its memory where it lies side by side, else what the layout selects.
fn take(leaving: Leaving, part: Raw) -> Result<Leaving, String> {
    part.check_bounds(leaving.memory.len() as u64).map_err(|error| error.to_string())?;
    if part.is_contiguous() {
        let memory = leaving.memory.into_slice(part.origin() as usize, part.bytes() as usize);
        return Ok(Leaving { memory, lent: None, ..leaving });
    }
    Ok(Leaving { layout: Some(Arc::new(part)), ..leaving })
}
