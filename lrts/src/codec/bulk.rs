//! Bulk values: runs of numbers as one copy, and memory as a handle, which serde's own interface cannot say.
//!
//! 1. serde offers elements one by one. Which container offers them shows in the *type* of the iterator (encoding) or of
//!    the visitor (decoding); its id is compared with those of the containers we know. Once compiled, the comparison is a constant.
//! 2. `typeid` compares types up to lifetimes. So what is recognised is used only in ways that no lifetime matters to: borrowed for
//!    less than it was, or owning no borrow.
//! 3. Recognition is a matter of speed alone: what is not recognised goes element by element, to the same bytes.
//! 4. serde's visitor of `Vec<N>` is private; `Vec<N>` shows it to anybody whose deserializer it is given ([`Probe`]). A visitor of
//!    somebody else, even one that makes a `Vec<N>`, is not it, and sees every element.

#![expect(
    unsafe_code,
    reason = "sees through generic parameters once their type ids match, and copies runs of numbers whole"
)]

use super::fault::{Fault, FaultKind};
use super::filling::{Fill, Filling};
use super::lend::{LentBytes, LentVisitor, Shared};
use crate::memory::Memory;
use crate::memory::huge::{HUGE_BYTES_MIN, ask_for_huge_pages};
use bytemuck::Pod;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use std::any::TypeId;
use std::collections::TryReserveError;
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

/// Numbers, and short arrays of them, lie in memory as they are on the wire. No such type has a lifetime in it.
const LOOKS_ALIKE: bool = cfg!(all(target_endian = "little", target_pointer_width = "64"));

/// A plain number or a short array (a point, a row) of them.
trait Number: Pod + for<'de> Deserialize<'de> {}

/// What a macro makes of each number, in turn. Nothing that it makes should be generic over more than the number: each such thing is compiled
/// once for each number and for each of all that is written or read.
macro_rules! each_number {
    ($each:ident) => {
        each_number! { $each u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64 }
    };
    ($each:ident $($number:ident)*) => {$(
        $each!($number);
        $each!([$number; 2]);
        $each!([$number; 3]);
        $each!([$number; 4]);
    )*};
}

macro_rules! number {
    ($number:ty) => {
        impl Number for $number {}
    };
}

each_number!(number);

/// How many elements `elements` has and their bytes, if it borrows a vector or slice of numbers.
#[inline]
pub(super) fn as_run<I>(elements: &I) -> Option<(usize, &[u8])> {
    let (id, place) = (typeid::of::<I>(), std::ptr::from_ref(elements).cast::<()>());
    macro_rules! attempt {
        ($number:ty) => {
            if id == TypeId::of::<&'static Vec<$number>>() {
                // SAFETY: `I` is `&'x Vec<_>` of this number for some lifetime 'x (rule 2), which outlives the borrow of `elements`; what is
                // read through it is borrowed no longer than `elements` is.
                return Some(unsafe { vector_as_run::<$number>(place) });
            }
            if id == TypeId::of::<&'static [$number]>() {
                // SAFETY: as above, for `&'x [_]`.
                return Some(unsafe { slice_as_run::<$number>(place) });
            }
        };
    }
    if LOOKS_ALIKE {
        each_number!(attempt);
    }
    None
}

/// # Safety
/// There is a `&Vec<N>`, which outlives what is returned.
#[inline]
unsafe fn vector_as_run<'a, N: Number>(place: *const ()) -> (usize, &'a [u8]) {
    // SAFETY: the caller's.
    let run: &'a Vec<N> = unsafe { *place.cast() };
    (run.len(), bytemuck::cast_slice(run))
}

/// # Safety
/// There is a `&[N]`, which outlives what is returned.
#[inline]
unsafe fn slice_as_run<'a, N: Number>(place: *const ()) -> (usize, &'a [u8]) {
    // SAFETY: the caller's.
    let run: &'a [N] = unsafe { *place.cast() };
    (run.len(), bytemuck::cast_slice(run))
}

/// How a run of numbers is read at once.
struct NumberReader {
    element_bytes: usize,
    /// The visitor of a vector of them.
    visitor: fn() -> Option<TypeId>,
    /// Writes a vector of the bytes of all to a place for one.
    ///
    /// # Safety
    /// There is room for a vector of this number, which is written if there is no error.
    read: unsafe fn(&[u8], *mut ()) -> Result<(), Fault>,
}

impl NumberReader {
    const fn of<N: Number>() -> Self {
        Self { element_bytes: size_of::<N>(), visitor: visitor_of_vector::<N>, read: read_vector::<N> }
    }
}

/// # Safety
/// There is room for a `Vec<N>` at `place`.
unsafe fn read_vector<N: Number>(bytes: &[u8], place: *mut ()) -> Result<(), Fault> {
    let run = copy_elements::<N>(bytes).map_err(|_| FaultKind::Memory(bytes.len()))?;
    // SAFETY: the caller's.
    unsafe { place.cast::<Vec<N>>().write(run) };
    Ok(())
}

/// How a run of numbers is read at once into the vector that a visitor makes.
pub(super) struct RunReader<T> {
    number: NumberReader,
    /// It makes a `T`, up to lifetimes, of which there are none in a vector of numbers.
    vector: PhantomData<fn() -> T>,
}

impl<T> RunReader<T> {
    /// The bytes of one element.
    pub(super) fn element_bytes(&self) -> usize {
        self.number.element_bytes
    }

    /// The vector whose bytes are these.
    pub(super) fn read(&self, bytes: &[u8]) -> Result<T, Fault> {
        let mut vector = MaybeUninit::<T>::uninit();
        // SAFETY: `run_reader` makes a reader of this number for its vectors alone, so there is room for one, and one is there without an
        // error.
        unsafe {
            (self.number.read)(bytes, vector.as_mut_ptr().cast())?;
            Ok(vector.assume_init())
        }
    }
}

/// The reader of runs, if the visitor is serde's own for a vector of numbers.
#[inline]
pub(super) fn run_reader<'de, V: Visitor<'de>>() -> Option<RunReader<V::Value>> {
    let number = number_of_vector(typeid::of::<V::Value>())?;
    let is_serdes_own = (number.visitor)() == Some(typeid::of::<V>());
    is_serdes_own.then_some(RunReader { number, vector: PhantomData })
}

/// The reader of the numbers in the vector that has this id, if one has.
#[inline(always)]
fn number_of_vector(id: TypeId) -> Option<NumberReader> {
    macro_rules! attempt {
        ($number:ty) => {
            if id == TypeId::of::<Vec<$number>>() {
                return Some(NumberReader::of::<$number>());
            }
        };
    }
    if LOOKS_ALIKE {
        each_number!(attempt);
    }
    None
}

/// The elements that `bytes` are, in one copy; a last part of an element is left out.
///
/// # Errors
/// When there is no memory for them.
///
/// ```
/// assert_eq!(chare_lrts::codec::copy_elements::<u16>(&[1, 0, 2, 0])?, [1, 2]);
/// # Ok::<(), std::collections::TryReserveError>(())
/// ```
pub fn copy_elements<T: Pod>(bytes: &[u8]) -> Result<Vec<T>, TryReserveError> {
    let count = bytes.len().checked_div(size_of::<T>()).unwrap_or(0);
    let mut elements = Vec::<T>::new();
    elements.try_reserve_exact(count)?;
    if bytes.len() >= HUGE_BYTES_MIN {
        ask_for_huge_pages(elements.spare_capacity_mut());
    }
    // SAFETY: the vector has room for `count` elements, which are no longer than `bytes`; a new allocation overlaps
    // nothing; any bytes are elements because `T: Pod`, so all `count` of them are initialised.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), elements.as_mut_ptr().cast(), count * size_of::<T>());
        elements.set_len(count);
    }
    Ok(elements)
}

/// The memory behind a value that is lendable.
pub(super) fn as_memory<T: ?Sized>(value: &T) -> Option<&Memory> {
    if typeid::of::<T>() != typeid::of::<Shared<'static>>() {
        return None;
    }
    // SAFETY: `T` is `Shared<'x>` for some lifetime 'x (rule 2), which outlives the borrow of `value`.
    let shared: &Shared<'_> = unsafe { &*std::ptr::from_ref(value).cast() };
    Some(shared.0)
}

/// What fills, behind a value that does.
#[inline]
pub(super) fn as_filling<T: ?Sized>(value: &T) -> Option<&dyn Fill> {
    if typeid::of::<T>() != typeid::of::<Filling<'static>>() {
        return None;
    }
    // SAFETY: `T` is `Filling<'x>` for some lifetime 'x (rule 2), which outlives the borrow of `value`.
    let filling: &Filling<'_> = unsafe { &*std::ptr::from_ref(value).cast() };
    Some(filling.0)
}

/// Gives the visitor of [`LentBytes`] its memory.
pub(super) fn visit_memory<'de, V: Visitor<'de>>(visitor: V, memory: Memory) -> Result<V::Value, Fault> {
    assert_eq!(typeid::of::<V>(), TypeId::of::<LentVisitor>(), "the decoder has recognised the visitor");
    drop(visitor);
    let bytes = LentBytes::<'de>::Beside(memory);
    // SAFETY: `V` is `LentVisitor`, which has no lifetime; the value of that as a `Visitor<'de>` is `LentBytes<'de>`.
    Ok(unsafe { retype::<LentBytes<'de>, V::Value>(bytes) })
}

/// # Safety
/// `A` and `B` are the same type.
unsafe fn retype<A, B>(value: A) -> B {
    let value = ManuallyDrop::new(value);
    // SAFETY: the same type by the caller's promise; the original is never dropped or used again.
    unsafe { std::mem::transmute_copy::<ManuallyDrop<A>, B>(&value) }
}

/// Initialised bytes as room for an encoder, which writes nothing but initialised bytes.
pub(super) fn as_room(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: same layout; the encoder overwrites bytes by bytes (`write_copy_of_slice` of a `&[u8]`) and nothing else
    // in this module's parent sees the result.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// A deserializer that reads nothing and tells which visitor it was given.
struct Probe;

#[derive(Debug)]
struct Seen(Option<TypeId>);

fn visitor_of_vector<N: Number>() -> Option<TypeId> {
    Vec::<N>::deserialize(Probe).err().and_then(|Seen(visitor)| visitor)
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Seen;

    #[inline(always)]
    fn deserialize_seq<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
        Err(Seen(Some(typeid::of::<V>())))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
        Err(Seen(None))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl de::Error for Seen {
    fn custom<T: Display>(_: T) -> Self {
        Self(None)
    }
}

impl Display for Seen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a probe reads nothing")
    }
}

impl std::error::Error for Seen {}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    /// A deserializer that tells whether the visitor which it was given has a reader of runs.
    struct Asks;

    impl<'de> Deserializer<'de> for Asks {
        type Error = Seen;

        fn deserialize_seq<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
            Err(Seen(run_reader::<V>().map(|_| typeid::of::<V>())))
        }

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Seen> {
            Err(Seen(None))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct tuple tuple_struct map struct enum identifier ignored_any
        }
    }

    fn is_read_at_once<T: for<'de> Deserialize<'de>>() -> bool {
        matches!(T::deserialize(Asks), Err(Seen(Some(_))))
    }

    #[test]
    fn runs_of_numbers_are_one_copy_and_nothing_else_is() {
        macro_rules! check {
            ($number:ty) => {
                let run = vec![<$number>::zeroed(); 3];
                let seen = Some((3, bytemuck::cast_slice(&run)));
                assert_eq!((as_run(&&run), as_run(&&run[..])), (seen, seen), stringify!($number));
                assert!(is_read_at_once::<Vec<$number>>(), stringify!($number));
            };
        }
        each_number!(check);
        assert!(as_run(&&vec![true]).is_none() && as_run(&&[[1_u8; 5]][..]).is_none());
        assert!(!is_read_at_once::<Vec<bool>>() && !is_read_at_once::<Vec<[u8; 5]>>());
        assert!(!is_read_at_once::<std::collections::VecDeque<u8>>());
    }
}
