//! Chares that migrate: the bounds that `#[chare(array, migrate)]` asks for, the hooks, and the operations that follow from both.

use super::chare::{Chare, This, ThisRef};
use super::identity::AnyChare;
use super::movement::{Movement, MovingState};
use super::registration::read_apart;
use super::travelling::{TravellingCalls, read_value};
use crate::model::ids::PeId;
use chare_lrts::codec::{self, CodecError, Writer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;
use std::rc::Rc;

/// A state that may leave its PE: inside a process it is moved, between processes it is encoded.
///
/// Implemented by every type that is serializable, `Send` and owns its contents.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot move to another PE",
    label = "belongs to one PE",
    note = "the state of a chare that migrates may leave its process: derive `serde::Serialize` and `serde::Deserialize`"
)]
pub trait Movable: Serialize + DeserializeOwned + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Send + 'static> Movable for T {}

/// A chare type whose chares may move between PEs; `#[chare(array, migrate)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` stays where it was created",
    label = "does not migrate",
    note = "mark its impl block `#[chare(array, migrate)]`"
)]
pub trait Migrates: Chare {
    #[doc(hidden)]
    const ABOUT_TO_MOVE: Option<fn(&mut Self)> = None;
    #[doc(hidden)]
    const MOVED: Option<fn(&mut Self, PeId)> = None;
    #[doc(hidden)]
    const LOAD: Option<fn(&Self) -> f64> = None;
    #[doc(hidden)]
    const POSITION: Option<fn(&Self) -> [f64; 3]> = None;
    #[doc(hidden)]
    const SYNCS: bool = false;
    #[doc(hidden)]
    const OPERATIONS: &'static Movement;
}

/// A chare type whose chares take part in syncs; `#[chare(array, migrate, sync)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` takes no part in syncs",
    label = "is awaited at no sync",
    note = "mark its impl block `#[chare(array, migrate, sync)]`: then each of its elements is awaited at every sync"
)]
pub trait Syncs: Migrates {}

/// The state of a chare and the calls that wait with it.
struct Moving<C: Chare> {
    state: C,
    awaited: C::Awaited,
}

impl<C: Chare<Awaited: TravellingCalls> + Movable> MovingState for Moving<C> {
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&self.state)?;
        self.awaited.write(out)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Movement {
    /// The operations on chares of type `C`.
    pub const fn of<C>(let_go: fn()) -> Self
    where
        C: Migrates<Awaited: TravellingCalls>,
        // The compiler shows the next line, all of it, to whose state cannot leave.
        C: Movable, // No `Rc` (but `Arc`), no future, no `This`: they belong to one PE.
    {
        Self {
            take_out: |chare| {
                let chare = lent::<C>(chare);
                let state = chare.take_state()?;
                Some(Box::new(Moving { state, awaited: chare.awaited().take() }))
            },
            seat: |identity, moving| {
                let moving: Box<dyn Any> = moving;
                let moving = moving.downcast::<Moving<C>>();
                let Moving { state, awaited } = *moving.expect("it was taken out of a chare of this type");
                This::seat_with(identity, state, awaited)
            },
            decode: |bytes| {
                let moving = read_apart(|| decode::<C>(bytes))?;
                Ok(Box::new(moving))
            },
            can_be_written: |chare| lent::<C>(chare).awaited().can_be_written(),
            measure: measure::<C>,
            about_to_move: if C::ABOUT_TO_MOVE.is_some() { Some(about_to_move::<C>) } else { None },
            moved: if C::MOVED.is_some() { Some(moved::<C>) } else { None },
            load: if C::LOAD.is_some() { Some(load::<C>) } else { None },
            position: if C::POSITION.is_some() { Some(position::<C>) } else { None },
            syncs: C::SYNCS,
            let_go,
        }
    }
}

fn lent<C: Chare>(chare: &Rc<dyn AnyChare>) -> ThisRef<'_, C> {
    ThisRef::of(chare).expect("a chare moves by the operations of its own type")
}

fn decode<C: Chare<Awaited: TravellingCalls> + Movable>(bytes: &mut &[u8]) -> Result<Moving<C>, String> {
    Ok(Moving { state: read_value(bytes)?, awaited: C::Awaited::read(bytes)? })
}

/// Runs of numbers and memory are counted whole, so a state of long vectors costs as little as one of short ones.
fn measure<C: Chare<Awaited: TravellingCalls> + Movable>(chare: &Rc<dyn AnyChare>) -> Option<u64> {
    let chare = lent::<C>(chare);
    let bytes = chare.with(|state| {
        // What has no room is counted.
        codec::fill(&mut [], |out| {
            out.write(state)?;
            let awaited = chare.awaited();
            // It stays with calls that cannot leave.
            if awaited.can_be_written() { awaited.write(out) } else { Ok(()) }
        })
    });
    bytes.ok().map(|bytes| bytes as u64)
}

fn about_to_move<C: Migrates>(chare: &Rc<dyn AnyChare>) {
    C::ABOUT_TO_MOVE.into_iter().for_each(|hook| lent(chare).with(hook));
}

fn moved<C: Migrates>(chare: &Rc<dyn AnyChare>, from: PeId) {
    C::MOVED.into_iter().for_each(|hook| lent(chare).with(|chare| hook(chare, from)));
}

fn load<C: Migrates>(chare: &Rc<dyn AnyChare>) -> f64 {
    C::LOAD.map_or(0.0, |hook| lent(chare).with(|chare| hook(chare)))
}

fn position<C: Migrates>(chare: &Rc<dyn AnyChare>) -> [f64; 3] {
    C::POSITION.map_or([0.0; 3], |hook| lent(chare).with(|chare| hook(chare)))
}

/// A place in one to three dimensions as one in three.
#[must_use]
pub fn place<const N: usize>(coordinates: [f64; N]) -> [f64; 3] {
    const { assert!(1 <= N && N <= 3, "a position has one, two or three coordinates") };
    std::array::from_fn(|axis| coordinates.get(axis).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests;
