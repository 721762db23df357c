//! Tests of chares that migrate: what leaves arrives, as it is and encoded.

use super::*;
use crate::base::panics;
use crate::model::callback::FutureId;
use crate::model::ids::{CollectionId, Index, Target};
use crate::model::nocopy::{
    Arrived, ArrivedArgument, DeviceReceived, NocopyParameter, Post, Posted, Received, ReceivedView,
};
use crate::model::registry::{AwaitedEntry, Identity, NotCalled, Standing, lend};
use crate::model::reply::Reply;
use chare_device::{DeviceBufferMut, Software};
use chare_lrts::codec;
use chare_macros::chare;
use serde::{Deserialize, Deserializer, Serializer};
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

    #[entry(awaited)]
    fn go();

    #[entry(awaited)]
    fn rows(#[nocopy] row: Received<f64>, #[nocopy] view: ReceivedView<u16>, name: String) -> u32;

    #[entry(awaited)]
    fn land(#[nocopy(post)] row: Posted<u32>);

    #[post(land)]
    fn give(&mut self, row: Post<u32>) {
        drop(row);
    }

    #[entry(awaited)]
    fn of_device(#[nocopy] row: DeviceReceived<f32>);

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
    chare.identity().standing.set(Standing::GONE);
    moving
}

/// Appends the encoding of a state.
fn write(state: &dyn MovingState, out: &mut Vec<u8>) {
    codec::append(out, |writer| state.encode(writer)).unwrap();
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
    write(&*leave(&here), &mut bytes);
    let there = (MOVEMENT.seat)(identity(), (MOVEMENT.decode)(&mut &bytes[1..]).unwrap());
    lent::<Cell>(&there).with(|cell| assert_eq!(cell.row, [1.0, 2.0, 3.0]));
    for len in 1..bytes.len() {
        assert!((MOVEMENT.decode)(&mut &bytes[1..len]).is_err(), "{len} bytes of {}", bytes.len());
    }
}

struct Bomb;

impl Serialize for Bomb {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Bomb {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("as a user's may")
    }
}

#[chare(array, migrate)]
impl Bomb {
    #[entry]
    fn new() -> Self {
        Self
    }
}

#[test]
fn a_panic_while_a_state_is_read_is_an_error_in_words() {
    let chare = This::seat(identity(), Bomb);
    let mut bytes = Vec::new();
    write(&*(Bomb::OPERATIONS.take_out)(&chare).unwrap(), &mut bytes);
    let refused = (Bomb::OPERATIONS.decode)(&mut &*bytes);
    assert!(refused.is_err_and(|cause| cause.contains("as a user's may")));
    let without_hooks = Bomb::OPERATIONS;
    assert!(without_hooks.about_to_move.is_none() && without_hooks.moved.is_none());
    assert!(without_hooks.load.is_none() && without_hooks.position.is_none());
}

#[test]
fn what_has_moved_takes_no_calls_and_says_so() {
    let here = cell();
    let this = lent::<Cell>(&here).keep();
    let moving = (MOVEMENT.take_out)(&here);
    here.identity().standing.set(Standing::GONE);
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

fn put<E: AwaitedEntry<Chare = Cell>>(
    chare: &Rc<dyn AnyChare>,
    _: fn() -> PhantomData<E>,
    calls: impl IntoIterator<Item = (E::Reference, E::Parameters)>,
) {
    let calls = calls.into_iter();
    calls.for_each(|(reference, parameters)| lent::<Cell>(chare).put_aside::<E>(reference, parameters));
}

/// Takes the calls that wait, in their order: all, or those with a reference number.
fn take<E: AwaitedEntry<Chare = Cell>>(
    chare: &Rc<dyn AnyChare>,
    _: fn() -> PhantomData<E>,
    reference: Option<E::Reference>,
) -> Vec<E::Parameters> {
    let this = lent::<Cell>(chare);
    let mut table = E::calls(this.awaited()).table().borrow_mut();
    let mut from = 0;
    std::iter::from_fn(|| table.take(reference.as_ref(), &mut from, |_| true))
        .map(|taken| taken.parameters)
        .collect()
}

/// Lets a chare move, as it is and encoded.
fn on_both_ways(chare: impl Fn() -> Rc<dyn AnyChare>, check: impl Fn(Rc<dyn AnyChare>)) {
    let here = chare();
    check((MOVEMENT.seat)(identity(), leave(&here)));
    let here = chare();
    assert!((MOVEMENT.can_be_written)(&here));
    let mut bytes = Vec::new();
    write(&*leave(&here), &mut bytes);
    check((MOVEMENT.seat)(identity(), (MOVEMENT.decode)(&mut &*bytes).unwrap()));
    for len in 0..bytes.len() {
        assert!((MOVEMENT.decode)(&mut &bytes[..len]).is_err(), "{len} bytes of {}", bytes.len());
    }
    bytes.push(7);
    let mut rest = &*bytes;
    assert!((MOVEMENT.decode)(&mut rest).is_ok());
    assert_eq!(rest, [7], "what stands behind it is the next one's");
}

#[test]
fn calls_that_wait_go_along_in_their_order() {
    let ghost = |step: u64, side: u8| (step, (step, side));
    let here = || {
        let here = cell();
        put(&here, Cell::ghost, [ghost(7, 3), ghost(8, 0), ghost(7, 1), ghost(7, 2)]);
        put(&here, Cell::go, [(0, ()), (5, ()), (0, ())]);
        here
    };
    on_both_ways(here, |there| {
        put(&there, Cell::ghost, [ghost(7, 4)]);
        let sevens = [3, 1, 2, 4].map(|side| (7, side));
        assert_eq!(take(&there, Cell::ghost, Some(7)), sevens);
        assert_eq!(take(&there, Cell::ghost, None), [(8, 0)]);
        assert_eq!(take(&there, Cell::go, Some(0)).len(), 2);
        assert_eq!(take(&there, Cell::go, None).len(), 1);
    });
}

#[test]
fn a_call_with_elements_on_a_device_stays_in_its_process() {
    let here = cell();
    let buffer = DeviceBufferMut::<u8>::new(&Software::default().open(), 8).unwrap().freeze();
    let row = DeviceReceived::from_arrived(ArrivedArgument(Arrived::Device(buffer))).unwrap();
    let alone = (MOVEMENT.measure)(&here);
    put(&here, Cell::of_device, [(0, row)]);
    assert!(here.is_free_to_move() && !(MOVEMENT.can_be_written)(&here));
    assert!((MOVEMENT.measure)(&here) <= alone, "a balancer asks what would travel: not that call");
    let there = (MOVEMENT.seat)(identity(), leave(&here));
    assert_eq!(take(&there, Cell::of_device, None)[0].len(), 2);
    assert!((MOVEMENT.can_be_written)(&there));
}

#[test]
fn buffers_of_calls_that_wait_go_along_with_their_elements() {
    let here = || {
        let here = cell();
        let row = Received { buffer: vec![0.5, 1.5].into(), release: None };
        let view = ReceivedView::of(vec![1, 2, 3].into());
        let reply = Reply::to_future(FutureId { pe: PeId(3), slot: 1, generation: 2 });
        put(&here, Cell::rows, [(0, (row, view, "rows".to_owned(), reply))]);
        here
    };
    on_both_ways(here, |there| {
        let calls = take(&there, Cell::rows, None);
        let [(row, view, name, _)] = &calls[..] else { panic!("{} calls", calls.len()) };
        assert_eq!((&**row, &*view.to_vec(), &**name), (&[0.5, 1.5][..], &[1, 2, 3][..], "rows"));
    });
}
