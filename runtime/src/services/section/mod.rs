//! Sections: some members of one or several collections, called and reduced like a whole collection. A call of a whole collection, and a
//! reduction over one, never stands here.
//! `api/proxy -> **services/section** -> transfer, delivery/outbox`, and
//! `delivery/inbox, delivery/dispatch -> **services/section** -> the members`
//!
//! 1. A section is formed by naming its members. The PE that forms it is its *root*: all calls of the section go there.
//! 2. Each member has a *seat* at its home, which knows where the member lives (see [`members_at_home`]). So members may come late, move
//!    and go, and nobody has to be told but the home, which is told anyway.
//! 3. A call goes from the root down a tree of the nodes with seats (see [`tree`]): it is encoded once and comes to each node once, also
//!    with nocopy arguments. A home calls the members that are there, and sends the call on to those that live elsewhere: one message for
//!    each PE.
//! 4. A contribution goes to the member's home, and from there up the same tree, combined with others on its way (see [`reductions`]).
//! 5. Forming and dissolving cost the root one message for each home. A home forgets a section that is dissolved when it has received all
//!    calls that the root made before.
//! 6. News that overtakes the news of its section waits. So that it does not wait for ever, the PE asks the root whether the section will
//!    come: the root's answer ends the job if the section is dissolved, or if the news speaks for a chare that is no member of the
//!    section.

mod calls;
mod contributing;
mod delivery;
mod dissolving;
mod forming;
mod members;
mod members_at_home;
mod message;
mod multicast;
mod questions;
mod receiving;
mod reductions;
mod tree;

pub(crate) use calls::SectionCall;
pub(crate) use contributing::contribute;
pub(crate) use dissolving::dissolve;
#[cfg(feature = "sim")]
pub(crate) use dissolving::unforgotten;
pub(crate) use forming::{form, tell_when_formed};
pub(crate) use message::ID;
pub(crate) use multicast::call_given;

use crate::base::typed_box::TypedBox;
use crate::model::call_options::CallOptions;
use crate::model::envelope::opened;
use crate::model::ids::SectionId;
use crate::node::{Arrival, Delivery, Node, NodeService};
use crate::pe::queued::Outcome;
use crate::pe::{CallOfMany, ChareEvent, Pe, Service};
use calls::CallFrame;
use chare_lrts::codec;
use members_at_home::{Sections, state};
use message::{SectionFrame, SectionMessage, SectionNews};
use std::cell::RefCell;
use std::sync::Arc;

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive, ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Sections::default())),
    deliver: |pe, options, message| receive(pe, options, opened(message)),
    event: Some(hear_of_element),
    fire: Some(fire),
    promises: |pe, tell| state(pe).borrow().each_promise(pe.id, tell),
    clear: |pe| drop(state(pe).take()),
    ..Service::named(ID, "sections")
};

fn receive(pe: &Pe, options: CallOptions, message: SectionMessage) -> Outcome {
    match message {
        SectionMessage::Call(call) => multicast::run(pe, options, call),
        SectionMessage::Staged(call) => {
            multicast::call(pe, options, call);
            Outcome::Processed
        }
        SectionMessage::Multicast(multicast) => delivery::deliver(pe, options, multicast),
        SectionMessage::News(message) => receiving::receive(pe, message),
        SectionMessage::Frame(..) => unreachable!("frames are for other nodes"),
    }
}

/// Takes in a message about a section from another node.
///
/// # Errors
/// The part of the message that does not fit this program or this job, in words.
fn arrive(node: &Arc<Node>, arrival: Arrival<'_>) -> Result<Option<Delivery>, String> {
    let (told, rest): (SectionFrame<SectionNews, CallFrame>, &[u8]) =
        codec::decode_front(arrival.said).map_err(|error| error.to_string())?;
    match told {
        SectionFrame::News { to, message } => {
            let message = Box::new(SectionMessage::News(message));
            Ok(Some(Delivery { to, options: CallOptions::new(), message }))
        }
        SectionFrame::Call(frame) => multicast::arrive(node, arrival, frame, rest).map(|()| None),
    }
}

/// Takes in an event of an element: a member that leaves takes along the numbers of its reductions; its home gives up its seats.
fn hear_of_element(pe: &Pe, event: &mut ChareEvent<'_>) {
    match event {
        ChareEvent::Gone { chare, parcel, .. } | ChareEvent::Leaves { chare, parcel } => {
            let contributed = state(pe).borrow_mut().take_numbers(chare.target);
            if !contributed.is_empty() {
                parcel.put(ID, contributed);
            }
        }
        ChareEvent::Arrives { member, parcel } => match parcel.take::<Vec<(SectionId, u64)>>(ID) {
            Ok(contributed) => {
                let contributed = contributed.unwrap_or_default();
                state(pe).borrow_mut().bring_numbers(*member, contributed);
            }
            Err(cause) => pe.fail("the arrival of an element".to_owned(), cause),
        },
        ChareEvent::Forgotten { member, parcel, .. } => match parcel.take::<Vec<(SectionId, u64)>>(ID) {
            Ok(contributed) => {
                contributing::member_gone(pe, *member, &contributed.unwrap_or_default());
            }
            Err(cause) => pe.fail("news of a member".to_owned(), cause),
        },
        ChareEvent::Born { collection } => state(pe).borrow_mut().note_collection(|| {
            let places = pe.places.borrow();
            Arc::clone(&places.collection(*collection).expect("it has come").info)
        }),
        ChareEvent::Ended { collection } => state(pe).borrow_mut().end(*collection),
        _ => {}
    }
}

/// Calls all members, because a callback leads to them.
fn fire(pe: &Pe, call: CallOfMany) {
    let CallOfMany { many: (creator, serial), options, entry, arguments, reference } = call;
    let section = SectionId { creator, serial };
    multicast::call(pe, options, SectionCall { section, entry, arguments, nocopy: Vec::new(), reference });
}
