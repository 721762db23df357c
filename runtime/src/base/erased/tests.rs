//! Erased values: lifetimes, alignment, and types that do not match.

use super::*;
use chare_lrts::codec;
use std::sync::Arc;

/// A value that counts its living copies by the strong count of an `Arc`; as large and as aligned as the test likes.
#[derive(Clone)]
struct Counted<Rest>(Arc<()>, Rest);

impl<Rest: Clone + Send + 'static> Content for Counted<Rest> {
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&7u8)
    }
}

fn lives<Rest: Clone + Send + PartialEq + std::fmt::Debug + 'static>(rest: Rest, in_place: bool) {
    assert_eq!(fits::<Counted<Rest>>(), in_place);
    let living = Arc::new(());
    let erased = Erased::new(Counted(Arc::clone(&living), rest.clone()));
    let copy = erased.clone();
    assert_eq!(Arc::strong_count(&living), 3, "the value and its copy");
    let mut bytes = Vec::new();
    codec::append(&mut bytes, |writer| copy.encode(writer)).unwrap();
    assert_eq!(bytes, [7]);
    assert_eq!(copy.peek::<Counted<Rest>>().unwrap().1, rest);
    drop(copy);
    assert_eq!(Arc::strong_count(&living), 2, "dropped once");
    let erased = match erased.shorten() {
        Ok(short) => vec![short].pop().unwrap().widen(),
        Err(long) => long,
    };
    let mut moved = vec![erased].pop().unwrap();
    let value = moved.take::<Counted<Rest>>().expect("its own type");
    assert!(moved.take::<Counted<Rest>>().is_none() && moved.peek::<Counted<Rest>>().is_none());
    drop(moved);
    assert_eq!((Arc::strong_count(&living), value.1), (2, rest), "moved, not copied");
    drop(value.0);
    assert_eq!(Arc::strong_count(&living), 1, "nothing is left behind");
}

#[test]
fn a_value_lives_once_in_place_and_in_a_box() {
    lives((), true);
    lives([1u64, 2, 3], true);
    lives([1u64, 2, 3, 4], false);
    lives([9u8; 1000], false);
}

#[derive(Clone, Debug, PartialEq)]
#[repr(align(16))]
struct Wide(u8);

#[derive(Clone, Debug, PartialEq)]
#[repr(align(64))]
struct CacheLine;

#[test]
fn alignment_beyond_the_place_goes_into_a_box() {
    lives(Wide(3), false);
    lives(CacheLine, false);
}

impl Content for CacheLine {
    fn encode(&self, _: &mut Writer<'_>) -> Result<(), CodecError> {
        Ok(())
    }
}

#[test]
fn values_without_size_come_and_go() {
    assert!(Erased::new(Nothing).take::<Nothing>().is_some());
    let aligned = Erased::new(CacheLine);
    let address = std::ptr::from_ref(aligned.peek::<CacheLine>().unwrap()) as usize;
    assert_eq!(address % 64, 0, "even nothing is aligned");
    assert!(aligned.clone().take::<CacheLine>().is_some());
}

#[test]
fn one_word_and_whatever_is_in_a_box_are_short() {
    fn is_short<T: Clone + Send + 'static>(rest: T) -> bool {
        let living = Arc::new(());
        let short = Erased::new(Counted(Arc::clone(&living), rest)).shorten();
        assert_eq!(Arc::strong_count(&living), 2);
        let is_short = short.is_ok();
        drop(short);
        assert_eq!(Arc::strong_count(&living), 1, "dropped once");
        is_short
    }
    assert!(is_short(()) && is_short([0u8; 25]) && is_short(Wide(1)));
    assert!(!is_short(1u8) && !is_short([0u8; 24]));
    assert!(Erased::new(Nothing).shorten().is_ok());
}

#[test]
fn another_type_is_not_given_and_nothing_is_lost() {
    let living = Arc::new(());
    let mut erased = Erased::new(Counted(Arc::clone(&living), 1u8));
    assert!(erased.peek::<Counted<u16>>().is_none());
    assert!(erased.take::<Counted<u16>>().is_none());
    assert_eq!(Arc::strong_count(&living), 2);
    drop(erased);
    assert_eq!(Arc::strong_count(&living), 1);
}

#[test]
fn a_panic_while_cloning_loses_nothing() {
    struct Refuses(Arc<()>);
    impl Clone for Refuses {
        fn clone(&self) -> Self {
            panic!("it refuses")
        }
    }
    impl Content for Refuses {
        fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
            out.write(&Arc::strong_count(&self.0))
        }
    }
    let living = Arc::new(());
    let erased = Erased::new(Refuses(Arc::clone(&living)));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| erased.clone())).is_err());
    drop(erased);
    assert_eq!(Arc::strong_count(&living), 1);
}
