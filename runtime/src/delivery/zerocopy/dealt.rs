//! Dealt arguments: of a nocopy argument of many, the part that a member gets by its index.
//!
//! A partition from another node is an allegation: its decoding has checked that its parts share nothing; here their bounds are checked
//! against the memory.

use crate::model::call_options::CallOptions;
use crate::model::ids::Target;
use crate::model::nocopy::{Leaving, Local};
use crate::pe::Pe;
use chare_layout::{Raw, RawPartition};
use std::sync::Arc;

/// The nocopy arguments of a call of many for one of them.
///
/// # Errors
/// A member without a part, and a partition of other memory, in words.
pub(crate) fn for_member<N: FromIterator<Local>>(
    pe: &Pe,
    options: &CallOptions,
    nocopy: &[Leaving],
    member: Target,
) -> Result<N, String> {
    let Some(dealt) = options.dealt() else { return Ok(nocopy.iter().cloned().map(Local::from).collect()) };
    let deal = |(leaving, partition): (&Leaving, &Option<RawPartition>)| match partition {
        Some(partition) => take(leaving, part_of(pe, partition, member)?).map(Local::from),
        None => Ok(leaving.clone().into()),
    };
    nocopy.iter().zip(dealt).map(deal).collect()
}

/// The part that a member gets by its index.
fn part_of(pe: &Pe, partition: &RawPartition, member: Target) -> Result<Raw, String> {
    let chare = match member {
        Target::Member(collection, index) => {
            let places = pe.places.borrow();
            places.collection(collection).map(|local| (&local.info.chare.index, index))
        }
        Target::Chare(_) => None,
    };
    let place = chare.and_then(|(indices, index)| (indices.place)(index));
    let number = place.and_then(|place| partition.number_of(&place));
    number.and_then(|number| partition.part(number)).ok_or_else(|| {
        let who = chare.map_or_else(|| format!("{member:?}"), |(indices, index)| indices.show(index));
        format!("a buffer is dealt out in {} parts, none of which is that of member {who}", partition.len())
    })
}

/// A part of an argument: a piece of its memory where it lies side by side, else what the layout selects.
fn take(leaving: &Leaving, part: Raw) -> Result<Leaving, String> {
    part.check_bounds(leaving.memory.len() as u64).map_err(|error| error.to_string())?;
    if part.is_contiguous() {
        let memory = leaving.memory.slice(part.origin() as usize, part.bytes() as usize);
        return Ok(Leaving { memory, ..leaving.clone() });
    }
    Ok(Leaving { layout: Some(Arc::new(part)), ..leaving.clone() })
}
