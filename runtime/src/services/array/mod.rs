//! Arrays, groups and nodegroups: their creation, insertions, and their homes' knowledge of members that are elsewhere or gone. How a
//! call reaches a member, and what an entry does, never stands here.
//! `api/proxy -> **services/array** -> delivery/outbox`, and
//! `delivery/inbox, delivery/dispatch -> **services/array** -> delivery/lifecycle`

mod absence;
mod creation;
mod ending;
mod insertion;
mod message;

pub(crate) use creation::{bring_forward, create};
pub(crate) use ending::done_inserting;
pub(crate) use insertion::insert;
pub(crate) use message::ID;

use crate::base::typed_box::TypedBox;
use crate::model::call_options::CallOptions;
use crate::model::envelope::opened;
use crate::model::ids::Target;
use crate::model::registry::find_chare;
use crate::node::{Arrival, Delivery, Node, NodeService};
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe, Service};
use crate::services::broadcast::tree::check_root;
use chare_lrts::codec;
use message::{ArrayFrame, ArrayMessage, Insert};
use std::sync::Arc;

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive, ..NodeService::NONE },
    deliver: |pe, options, message| receive(pe, options, opened(message)),
    event: Some(|pe, event| match event {
        ChareEvent::Gone { chare, traveller, parcel, .. } => {
            if let Target::Member(collection, index) = chare.target {
                absence::tell_home(pe, (collection, index), traveller.take(), std::mem::take(*parcel));
            }
        }
        ChareEvent::Over { collection } => ending::tell_end(pe, *collection),
        ChareEvent::Forgotten { member: Target::Member(collection, _), .. } => {
            ending::count_death(pe, *collection);
        }
        _ => {}
    }),
    absent: Some(absence::reroute),
    state: || TypedBox::new(creation::Own::default()),
    clear: |pe| drop(creation::own(pe).take()),
    ..Service::named(ID, "arrays")
};

fn receive(pe: &Pe, options: CallOptions, message: ArrayMessage) -> Outcome {
    match message {
        ArrayMessage::CreateMembers { info, arguments } => creation::create_members(pe, info, arguments),
        ArrayMessage::CreateNext => creation::create_next(pe),
        ArrayMessage::Insert(insert) => insertion::arrive(pe, insert),
        ArrayMessage::DoneInserting(collection) => ending::announce_end(pe, collection),
        ArrayMessage::Closing { collection, from, insertions } => {
            ending::close(pe, collection, from, insertions)
        }
        ArrayMessage::Located { target, at } => {
            pe.places.borrow_mut().learn(target, at);
            Outcome::Processed
        }
        ArrayMessage::Gone { member, from, stay, parcel } => {
            absence::forget(pe, options, member, from, stay, parcel)
        }
        ArrayMessage::HomesOver { collection, homes } => ending::count_homes(pe, collection, homes),
        ArrayMessage::NobodyIsLeft(collection) => ending::leave(pe, collection),
        ArrayMessage::Ended(collection) => ending::end(pe, collection),
    }
}

/// Takes in a message about a collection from another node.
///
/// # Errors
/// The part of the message that does not fit this program or this job, in words.
fn arrive(node: &Arc<Node>, Arrival { frame, said, .. }: Arrival<'_>) -> Result<Option<Delivery>, String> {
    let (told, rest): (ArrayFrame, &[u8]) = codec::decode_front(said).map_err(|error| error.to_string())?;
    let (to, options, message) = match told {
        ArrayFrame::Insert { to, order, chare } => {
            let chare = find_chare(chare)?;
            let checked = chare.index.check(order.index, order.name.as_deref());
            checked.map_err(|cause| format!("the insertion of a {}: {cause}", chare.name))?;
            let arguments = (chare.decode)(rest).map_err(|error| error.to_string())?;
            (to, insertion::options(), ArrayMessage::Insert(Insert { order, chare, arguments }))
        }
        ArrayFrame::Located { to, target, at } => {
            (to, CallOptions::new(), ArrayMessage::Located { target, at })
        }
        ArrayFrame::Gone { to, member, from, stay, parcel } => {
            (to, CallOptions::new(), ArrayMessage::Gone { member, from, stay, parcel: parcel.into() })
        }
        ArrayFrame::Members { root, blueprint } => {
            check_root(node, root)?;
            creation::arrive(node, root, *blueprint, (frame, rest))?;
            node.outside.processed.add_shared(1);
            return Ok(None);
        }
        ArrayFrame::Closing { root, collection, from, insertions } => {
            check_root(node, root)?;
            ending::arrive(node, root, (collection, from), &insertions, frame);
            node.outside.processed.add_shared(1);
            return Ok(None);
        }
        ArrayFrame::HomesOver { to, collection, homes } => {
            (to, CallOptions::new(), ArrayMessage::HomesOver { collection, homes })
        }
        ArrayFrame::NobodyIsLeft { collection } => {
            ending::arrive_from_root(node, collection, frame, || ArrayMessage::NobodyIsLeft(collection))?;
            return Ok(None);
        }
        ArrayFrame::Ended { collection } => {
            ending::arrive_from_root(node, collection, frame, || ArrayMessage::Ended(collection))?;
            return Ok(None);
        }
    };
    Ok(Some(Delivery { to, options, message: Box::new(message) }))
}

/// The number of members that a frame of another node would create, if it creates a range of them: for fuzzers, which must not take all
/// memory of a host.
#[cfg(feature = "fuzzing")]
pub(crate) fn announced_members(said: &[u8]) -> Option<u64> {
    match codec::decode_front(said) {
        Ok((ArrayFrame::Members { blueprint, .. }, _)) => blueprint.elements.range().map(|range| range.len()),
        _ => None,
    }
}
