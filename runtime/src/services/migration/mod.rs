//! Moves of elements between PEs: wished for by the element, granted by its home, carried out by the PE that the element leaves and the one
//! where it arrives. Where calls of the element go meanwhile, `services/array` says, by what the home knows.
//!
//! ```text
//! old PE                        home                           new PE
//!   |-- Wish -------------------->|
//!   |<-- Go ----------------------|   keeps what comes from now on
//!   |   free? else Stayed         |
//!   |-- State --------------------------------------------------->|
//!   |                             |<-- Arrived -------------------|
//!   |                             |-- what was kept ------------->|
//! ```
//!
//! An element that is at home leaves at once. The rules of the home stand in [`crate::model::home`].
//!
//! 1. An element wishes to move by [`migrate_to`](crate::ThisMigrant::migrate_to); the last wish counts. The wish goes to the home when
//!    the element is *free*: none of its entries runs or waits, no call of it waits for buffers, and nobody holds a `This` of it; or
//!    when all that waits are calls that may be made again ([`again`](crate::services::again)), which go along. One that
//!    [holds itself](crate::ThisMigrant::hold) where it is is not free.
//! 2. An element that is not free any more when its home lets it go stays, and its wish goes to the home again when it is free.
//! 3. Inside a process the state itself moves: nothing is encoded, and nothing is copied but the value.
//! 4. Services put what they keep of the element into its parcel, and take it out where the element arrives. What the PE itself keeps of the
//!    element (its name, the arguments of its constructor) goes beside the state.
//! 5. Elements of bound arrays that have one index move together: a wish of one is a wish of all, which are free when each is; one message
//!    takes all states, and all are seated before anything of them runs.
//! 6. `#[about_to_move]` runs before the state leaves, `#[moved]` before any call on the new PE, both like entries.

mod arriving;
mod leaving;
mod message;
mod telling;

use crate::base::typed_box::TypedBox;
use crate::model::call_options::CallOptions;
use crate::model::envelope::opened;
use crate::model::ids::{NodeId, Target};
use crate::model::registry::{find_chare, read_apart};
use crate::node::{Arrival, Delivery, Node, NodeService};
use crate::pe::early::Missing;
use crate::pe::queued::Outcome;
use crate::pe::{ChareEvent, Pe, Service};
use chare_lrts::codec;
use message::{MoveFrame, MoveMessage, Moving, MovingFrame, News};
use smallvec::SmallVec;
use telling::{grant, hear, options, tell_home};

pub(crate) use leaving::{bond_of, destination, hold, plan, wish};
pub(crate) use message::ID;

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |node, arrival| arrive(node, arrival), ..NodeService::NONE },
    state: || TypedBox::new(()),
    deliver: |pe, options, message| receive(pe, options, opened(message)),
    poll: leaving::ask_all,
    before_rest: leaving::ask_all,
    event: Some(|pe, event| match event {
        ChareEvent::Gone { chare, .. } => leaving::end(pe, chare.target),
        ChareEvent::Found { member: Target::Member(id, index), sought } => {
            tell_home(pe, (*id, *index), News::Found { sought: *sought });
        }
        ChareEvent::Constructed { member: (id, index), stay } => {
            tell_home(pe, (*id, *index), News::Arrived { at: pe.id, stay: *stay });
        }
        _ => {}
    }),
    waits: telling::tell_under_way,
    ..Service::named(ID, "moves of elements")
};

/// Takes in a message about a move from another node.
///
/// # Errors
/// The part of the message that does not fit this program, in words.
fn arrive(node: &Node, Arrival { source, said, .. }: Arrival<'_>) -> Result<Option<Delivery>, String> {
    let (frame, mut rest): (MoveFrame, &[u8]) =
        codec::decode_front(said).map_err(|error| error.to_string())?;
    let (to, message) = match frame {
        MoveFrame::News { to, member, news } => (to, MoveMessage::News { member, news }),
        MoveFrame::Go { to, index, let_go, on } => {
            (to, MoveMessage::Go { index, let_go: let_go.into(), to: on })
        }
        MoveFrame::States { to, elements } => {
            let mut moving = SmallVec::new();
            for _ in 0..elements {
                moving.push(Box::new(read(node, source, &mut rest)?));
            }
            if moving.is_empty() || !rest.is_empty() {
                return Err(format!("{elements} elements move, and {} bytes stand behind them", rest.len()));
            }
            (to, MoveMessage::States(moving))
        }
    };
    Ok(Some(Delivery { to, options: options(), message: Box::new(message) }))
}

/// Reads an element under way from the front of what another node says.
///
/// # Errors
/// The part that does not fit this program, in words.
fn read(node: &Node, source: NodeId, said: &mut &[u8]) -> Result<Moving, String> {
    let MovingFrame { record, chare, renewal, parcel } =
        codec::decode_next(said).map_err(|error| error.to_string())?;
    let chare = find_chare(chare)?;
    let refused = |cause: String| format!("the state of a {} that moves: {cause}", chare.name);
    let movement = chare.movement.ok_or_else(|| refused("it may not".to_owned()))?;
    record.check(&chare.index, &node.topology, source).map_err(refused)?;
    let state = (movement.decode)(said).map_err(refused)?;
    let renewal = renewal.map(|bytes| read_apart(|| (chare.decode)(&bytes))).transpose().map_err(refused)?;
    Ok(Moving { record, chare, renewal, parcel: parcel.into(), state })
}

fn receive(pe: &Pe, options: CallOptions, message: MoveMessage) -> Outcome {
    let missing = {
        let places = pe.places.borrow();
        let missing = message.find_missing(|id| places.collection(id).is_some());
        missing.map(|id| (id, places.has_ended(id)))
    };
    match missing {
        None => {}
        Some((_, true)) => {
            // News of what was over before they came: an end tells of an arrival, too.
            chare_lrts::sometimes!("news of a move came after the end of their collection");
            return Outcome::Processed;
        }
        // A message of another PE may be faster than the news of the collection.
        Some((id, false)) => {
            chare_lrts::sometimes!("news of a move came before their collection");
            return pe.keep(Missing::Collection(id), options, message.into());
        }
    }
    match message {
        MoveMessage::States(moving) => arriving::seat(pe, moving),
        MoveMessage::Go { index, let_go, to } => leaving::go(pe, index, &let_go, to),
        MoveMessage::News { member, news: News::Wish { from, stay, to } } => {
            return grant(pe, member, (from, stay), to);
        }
        MoveMessage::News { member, news } => hear(pe, member, news),
    }
    Outcome::Processed
}
