//! Chares that migrate: the bounds that `#[chare(array, migrate)]` asks for, the hooks, and the operations that follow from both.

use super::chare::{Chare, This, ThisRef};
use super::identity::AnyChare;
use super::movement::{Movement, MovingState};
use super::registration::read_apart;
use crate::model::ids::PeId;
use chare_lrts::codec::{self, CodecError};
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
    note = "the state of a chare that migrates may leave the process: derive `serde::Serialize` and `serde::Deserialize`, and hold no `Rc`, no future, no `This` and no received buffer; mark a field that is made anew after a move `#[serde(skip)]`, and make it in `#[moved]`"
)]
pub trait Movable: Serialize + DeserializeOwned + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Send + 'static> Movable for T {}

/// A chare type whose chares may move between PEs; `#[chare(array, migrate)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` stays where it was created",
    label = "does not migrate",
    note = "mark its impl block `#[chare(array, migrate)]`"
)]
pub trait Migrates: Chare<Awaited: Send> + Movable {
    #[doc(hidden)]
    const ABOUT_TO_MOVE: Option<fn(&mut Self)> = None;
    #[doc(hidden)]
    const MOVED: Option<fn(&mut Self, PeId)> = None;
    #[doc(hidden)]
    const LOAD: Option<fn(&Self) -> f64> = None;
    #[doc(hidden)]
    const POSITION: Option<fn(&Self) -> [f64; 3]> = None;
    #[doc(hidden)]
    const OPERATIONS: &'static Movement = &Movement::of::<Self>();
}

/// The state of a chare and the calls that wait with it.
struct Moving<C: Migrates> {
    state: C,
    awaited: C::Awaited,
}

impl<C: Migrates> MovingState for Moving<C> {
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        codec::encode_into(&self.state, out)
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Movement {
    /// The operations on chares of type `C`.
    const fn of<C: Migrates>() -> Self {
        Self {
            take_out: |chare| {
                let (state, awaited) = lent::<C>(chare).take_out()?;
                Some(Box::new(Moving::<C> { state, awaited }))
            },
            seat: |identity, moving| {
                let moving: Box<dyn Any> = moving;
                let moving = moving.downcast::<Moving<C>>();
                let Moving { state, awaited } = *moving.expect("it was taken out of a chare of this type");
                This::seat_with(identity, state, awaited)
            },
            decode: |bytes| {
                let state = read_apart(|| codec::decode::<C>(bytes))?;
                Ok(Box::new(Moving::<C> { state, awaited: C::Awaited::default() }))
            },
            can_be_written: |chare| lent::<C>(chare).has_no_calls(),
            about_to_move: if C::ABOUT_TO_MOVE.is_some() { Some(about_to_move::<C>) } else { None },
            moved: if C::MOVED.is_some() { Some(moved::<C>) } else { None },
            load: if C::LOAD.is_some() { Some(load::<C>) } else { None },
            position: if C::POSITION.is_some() { Some(position::<C>) } else { None },
        }
    }
}

fn lent<C: Chare>(chare: &Rc<dyn AnyChare>) -> ThisRef<'_, C> {
    ThisRef::of(chare).expect("a chare moves by the operations of its own type")
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
mod tests {
    use super::super::registration::NotCalled;
    use super::super::{AwaitedEntry, Identity, Standing, lend};
    use super::*;
    use crate::base::panics;
    use crate::model::ids::{CollectionId, Index, Target};
    use chare_macros::chare;
    use serde::Deserialize;
    use std::marker::PhantomData;

    #[derive(Serialize, Deserialize)]
    struct Cell {
        row: Vec<f64>,
        #[serde(skip)]
        events: Vec<String>,
    }

    #[chare(array, migrate)]
    impl Cell {
        #[entry]
        fn new() -> Self {
            Self { row: vec![1.0, 2.0], events: Vec::new() }
        }

        #[entry(awaited)]
        fn ghost(#[reference] step: u64, side: u8);

        #[about_to_move]
        fn pack(&mut self) {
            self.events.push("packs".to_owned());
        }

        #[moved]
        fn settle(&mut self, from: PeId) {
            self.events.push(format!("came from {from}"));
        }

        #[load]
        fn work(&self) -> f64 {
            self.row[0]
        }

        #[position]
        fn place(&self) -> [f64; 2] {
            [self.row[0], self.row[1]]
        }
    }

    const MOVEMENT: &Movement = Cell::OPERATIONS;

    fn identity() -> Identity {
        let id = CollectionId { creator: PeId(0), serial: 0 };
        Identity::new(Target::Member(id, Index::from(3)), &"Cell", Standing::NEW)
    }

    fn cell() -> Rc<dyn AnyChare> {
        This::seat(identity(), Cell::new())
    }

    fn leave(chare: &Rc<dyn AnyChare>) -> Box<dyn MovingState> {
        assert!(chare.is_free_to_move());
        let moving = (MOVEMENT.take_out)(chare).unwrap();
        chare.identity().standing.set(Standing::MOVED);
        moving
    }

    #[test]
    fn inside_a_process_a_state_moves_as_it_is() {
        let here = cell();
        let row = lent::<Cell>(&here).with(|cell| cell.row.as_ptr());
        let moving = leave(&here);
        assert!(moving.bytes() >= size_of::<Cell>());
        assert!((MOVEMENT.take_out)(&here).is_none());
        let there = (MOVEMENT.seat)(identity(), moving);
        lent::<Cell>(&there).with(|cell| assert_eq!((cell.row.as_ptr(), &*cell.row), (row, &[1.0, 2.0][..])));
        drop(here);
        lent::<Cell>(&there).with(|cell| assert_eq!(cell.row, [1.0, 2.0]));
    }

    #[test]
    fn between_processes_it_is_equal() {
        let here = cell();
        lent::<Cell>(&here).with(|cell| cell.row.push(3.0));
        let mut bytes = vec![7];
        leave(&here).write(&mut bytes).unwrap();
        let there = (MOVEMENT.seat)(identity(), (MOVEMENT.decode)(&bytes[1..]).unwrap());
        lent::<Cell>(&there).with(|cell| assert_eq!(cell.row, [1.0, 2.0, 3.0]));
        for len in 1..bytes.len() {
            assert!((MOVEMENT.decode)(&bytes[1..len]).is_err(), "{len} bytes of {}", bytes.len());
        }
    }

    #[test]
    fn what_has_moved_takes_no_calls_and_says_so() {
        let here = cell();
        let this = lent::<Cell>(&here).keep();
        let moving = (MOVEMENT.take_out)(&here);
        here.identity().standing.set(Standing::MOVED);
        assert!(moving.is_some() && !here.is_free());
        assert!(matches!(lend::<Cell>(&here).map(|_| ()), Err(cause) if matches!(*cause, NotCalled::Gone)));
        let cause = panics::catch(|| this.with(|cell| cell.row.len())).unwrap_err();
        assert!(cause.contains("has moved to another PE"), "{cause}");
    }

    #[test]
    fn a_handle_keeps_its_chare_where_it_is() {
        let here = cell();
        let this = lent::<Cell>(&here).keep();
        assert!(here.is_free() && !here.is_free_to_move());
        let second = this.clone();
        drop(this);
        assert!(!here.is_free_to_move());
        drop(second);
        assert!(here.is_free_to_move());
        lent::<Cell>(&here).with(|_| assert!(!here.is_free_to_move()));
    }

    #[test]
    fn hooks_are_there_and_run() {
        let here = cell();
        (MOVEMENT.about_to_move.unwrap())(&here);
        let there = (MOVEMENT.seat)(identity(), leave(&here));
        (MOVEMENT.moved.unwrap())(&there, PeId(2));
        lent::<Cell>(&there).with(|cell| assert_eq!(cell.events, ["packs", "came from PE 2"]));
        assert_eq!((MOVEMENT.load.unwrap())(&there), 1.0);
        assert_eq!((MOVEMENT.position.unwrap())(&there), [1.0, 2.0, 0.0]);
    }

    /// The sides of the calls that wait for a step, in their order.
    fn sides<E>(chare: &Rc<dyn AnyChare>, _: fn() -> PhantomData<E>, step: u64) -> Vec<u8>
    where
        E: AwaitedEntry<Chare = Cell, Reference = u64, Parameters = (u64, u8)>,
    {
        let this = lent::<Cell>(chare);
        let mut table = E::calls(this.awaited()).table().borrow_mut();
        let mut from = 0;
        let take = || table.take(Some(&step), &mut from, |_| true);
        std::iter::from_fn(take).map(|taken| taken.parameters.1).collect()
    }

    fn put<E>(chare: &Rc<dyn AnyChare>, _: fn() -> PhantomData<E>, step: u64, side: u8)
    where
        E: AwaitedEntry<Chare = Cell, Reference = u64, Parameters = (u64, u8)>,
    {
        lent::<Cell>(chare).put_aside::<E>(step, (step, side));
    }

    #[test]
    fn calls_that_wait_go_along_in_their_order() {
        let here = cell();
        for (step, side) in [(7, 3), (8, 0), (7, 1), (7, 2)] {
            put(&here, Cell::ghost, step, side);
        }
        assert!(!(MOVEMENT.can_be_written)(&here));
        let there = (MOVEMENT.seat)(identity(), leave(&here));
        put(&there, Cell::ghost, 7, 4);
        assert_eq!(sides(&there, Cell::ghost, 7), [3, 1, 2, 4]);
        assert_eq!(sides(&there, Cell::ghost, 8), [0]);
        assert_eq!(sides(&here, Cell::ghost, 7), []);
    }
}
