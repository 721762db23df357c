//! Dealt arguments: of a nocopy argument of many, the part that a member gets by its index.
//!
//! A partition from another node is an allegation: its decoding has checked that its parts share nothing; here their bounds are checked
//! against the memory.

use crate::model::call_options::CallOptions;
use crate::model::ids::Target;
use crate::model::nocopy::Leaving;
use crate::model::registry::{registry, show, type_id};
use chare_layout::RawPartition;

/// The nocopy arguments of a call of many for one of its members, a chare of the type with this name.
///
/// # Errors
/// A member without a part, and a partition of other memory, in words.
pub(crate) fn for_member<N: FromIterator<Leaving>>(
    nocopy: &[Leaving],
    options: &CallOptions,
    (chare, target): (&str, Target),
) -> Result<N, String> {
    let Some(dealt) = options.dealt() else { return Ok(nocopy.iter().cloned().collect()) };
    let part = |(leaving, partition): (&Leaving, &Option<RawPartition>)| match partition {
        Some(partition) => part(leaving, partition, (chare, target)),
        None => Ok(leaving.clone()),
    };
    nocopy.iter().zip(dealt).map(part).collect()
}

fn part(
    leaving: &Leaving,
    partition: &RawPartition,
    (chare, target): (&str, Target),
) -> Result<Leaving, String> {
    let parts = partition.len();
    let place = match target {
        Target::Member(_, index) => {
            registry().chare(type_id(chare)).and_then(|registration| (registration.index.place)(index))
        }
        Target::Chare(_) => None,
    };
    let number = place.and_then(|place| partition.number_of(&place));
    let part = number.and_then(|number| partition.part(number));
    let part = part.ok_or_else(|| {
        format!("a buffer is dealt out in {parts} parts, none of which is that of {}", show(chare, target))
    })?;
    part.check_bounds(leaving.memory.len() as u64).map_err(|error| error.to_string())?;
    let part = if part.is_contiguous() {
        let memory = leaving.memory.slice(part.origin() as usize, part.bytes() as usize);
        Leaving { memory, ..leaving.clone() }
    } else {
        Leaving { layout: Some(part), ..leaving.clone() }
    };
    Ok(part)
}
