//! Type-erased values: one value of any type in storage of one size, in place if the value is small, else in a box.
//!
//! A message's arguments travel in this form, so that a call of small arguments allocates nothing.
//!
//! 1. The [`Operations`] of a type and a place filled by [`Erased::new`] of the same type are kept together, and no code
//!    exchanges one without the other. All `unsafe` here rests on that.
//! 2. Whether a value stands in its place or in a box follows from its type alone: [`fits`].
//! 3. The value leaves by [`Erased::take`] or is dropped, never both: a place whose value was taken holds [`Nothing`] afterwards.
//! 4. A value that needs only the first word of its place, for itself or for the pointer to its box, can stand in that word
//!    alone: [`Short`].

#![expect(unsafe_code, reason = "storage in place of a type that only its two ends know")]

use chare_lrts::codec::{CodecError, Writer};
use std::any::TypeId;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};

/// Room in place, in words: four numbers, or a `Vec` and one more. A larger value costs an allocation; a larger room
/// would cost every message's move.
const WORDS: usize = 4;

type Word = MaybeUninit<u64>;
type Inline = [Word; WORDS];

/// A type whose values can be erased.
pub(crate) trait Content: Clone + Send + 'static {
    /// Writes the value's encoding.
    ///
    /// # Errors
    /// When the type's serialization refuses.
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError>;
}

/// The operations on a value whose type the caller does not know. Each is called with a place that holds a value of that type.
struct Operations {
    type_id: TypeId,
    /// Whether a value uses no more than the first word of its place.
    is_short: bool,
    encode: unsafe fn(&Inline, &mut Writer<'_>) -> Result<(), CodecError>,
    clone: unsafe fn(&Inline) -> Erased,
    /// Drops the place's value; the place is empty afterwards. `None` where the value needs no drop.
    drop: Option<unsafe fn(&mut Inline)>,
}

/// The content of a place whose value was taken.
#[derive(Clone)]
struct Nothing;

impl Content for Nothing {
    fn encode(&self, _: &mut Writer<'_>) -> Result<(), CodecError> {
        Ok(())
    }
}

/// The type of a content that is not known: `Send`, as [`Content`] asks, and not `Sync`, which no code asks of it.
type Unknown = PhantomData<Cell<()>>;

/// A value whose type only its maker and its taker know.
pub(crate) struct Erased {
    operations: &'static Operations,
    place: Inline,
    content: Unknown,
}

/// Whether values of a type stand in place.
const fn fits<T>() -> bool {
    size_of::<T>() <= size_of::<Inline>() && align_of::<T>() <= align_of::<Inline>()
}

/// The address of the value: in the place, or where the box in the place points.
///
/// # Safety
/// The place holds a value of type `T`.
unsafe fn find<T>(place: &Inline) -> *const T {
    if fits::<T>() {
        place.as_ptr().cast()
    } else {
        // SAFETY: `new` wrote the pointer of a box of `T` into a place of a `T` that does not fit; the place is
        // aligned for it.
        unsafe { place.as_ptr().cast::<*const T>().read() }
    }
}

/// Moves the value out; the place is empty afterwards.
///
/// # Safety
/// The place holds a value of type `T`.
unsafe fn move_out<T>(place: &mut Inline) -> T {
    if fits::<T>() {
        // SAFETY: the place holds a `T`, in place because it fits; the caller treats the place as empty from now on.
        unsafe { place.as_ptr().cast::<T>().read() }
    } else {
        // SAFETY: the place holds the pointer that `Box::into_raw` gave for a `T`; it becomes a box again once, because
        // the caller treats the place as empty from now on.
        unsafe { *Box::from_raw(place.as_ptr().cast::<*mut T>().read()) }
    }
}

/// # Safety
/// The place holds a value of type `T`.
unsafe fn encode<T: Content>(place: &Inline, out: &mut Writer<'_>) -> Result<(), CodecError> {
    // SAFETY: `find` points to a live `T`, borrowed no longer than the place.
    let value: &T = unsafe { &*find(place) };
    value.encode(out)
}

/// # Safety
/// The place holds a value of type `T`.
unsafe fn clone<T: Content>(place: &Inline) -> Erased {
    // SAFETY: `find` points to a live `T`, borrowed no longer than the place.
    let value: &T = unsafe { &*find(place) };
    Erased::new(value.clone())
}

/// # Safety
/// The place holds a value of type `T`; it is empty after this.
unsafe fn drop_in<T: Content>(place: &mut Inline) {
    if fits::<T>() {
        // SAFETY: the place holds a `T` of its own, in place because it fits.
        unsafe { place.as_mut_ptr().cast::<T>().drop_in_place() };
    } else {
        // SAFETY: the place holds the pointer that `Box::into_raw` gave for a `T`; it becomes a box again once.
        drop(unsafe { Box::from_raw(place.as_ptr().cast::<*mut T>().read()) });
    }
}

struct OperationsOf<T>(T);

impl<T: Content> OperationsOf<T> {
    const TABLE: &'static Operations = &Operations {
        type_id: TypeId::of::<T>(),
        is_short: !fits::<T>() || size_of::<T>() <= size_of::<Word>(),
        encode: encode::<T>,
        clone: clone::<T>,
        drop: if fits::<T>() && !needs_drop::<T>() { None } else { Some(drop_in::<T>) },
    };
}

impl Erased {
    /// Erases a value's type; a small value costs no allocation.
    #[inline]
    pub(crate) fn new<T: Content>(value: T) -> Self {
        let mut place = [Word::uninit(); WORDS];
        if fits::<T>() {
            // SAFETY: the place is large enough and aligned for a `T`, and empty.
            unsafe { place.as_mut_ptr().cast::<T>().write(value) };
        } else {
            // SAFETY: the place is large enough and aligned for a pointer, and empty.
            unsafe { place.as_mut_ptr().cast::<*mut T>().write(Box::into_raw(Box::new(value))) };
        }
        Self { operations: OperationsOf::<T>::TABLE, place, content: PhantomData }
    }

    #[inline]
    fn is<T: Content>(&self) -> bool {
        self.operations.type_id == TypeId::of::<T>()
    }

    /// Gives the value, if it is a `T`, and leaves [`Nothing`] in its place. A value of another type stays.
    #[inline]
    pub(crate) fn take<T: Content>(&mut self) -> Option<T> {
        if !self.is::<T>() {
            return None;
        }
        self.operations = OperationsOf::<Nothing>::TABLE;
        // SAFETY: the type was compared; from now on the place counts as one of `Nothing`, which needs no bytes.
        Some(unsafe { move_out::<T>(&mut self.place) })
    }

    /// The same value in less room.
    ///
    /// # Errors
    /// The unchanged value, when it needs more than one word.
    #[inline]
    pub(crate) fn shorten(self) -> Result<Short, Self> {
        if !self.operations.is_short {
            return Err(self);
        }
        let Self { operations, place: [word, ..], content } = *ManuallyDrop::new(self);
        Ok(Short { operations, word, content })
    }

    /// Whether the value needs a drop.
    #[inline]
    pub(crate) fn needs_drop(&self) -> bool {
        self.operations.drop.is_some()
    }

    /// Looks at the value, if it is a `T`.
    pub(crate) fn peek<T: Content>(&self) -> Option<&T> {
        // SAFETY: the type was compared; the value lives as long as the borrow of `self`.
        self.is::<T>().then(|| unsafe { &*find::<T>(&self.place) })
    }

    /// Writes the value's encoding.
    ///
    /// # Errors
    /// When the type's serialization refuses.
    pub(crate) fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        // SAFETY: the operations are those of the value's type.
        unsafe { (self.operations.encode)(&self.place, out) }
    }
}

/// An erased value that takes one word at most.
pub(crate) struct Short {
    operations: &'static Operations,
    word: Word,
    content: Unknown,
}

impl Short {
    /// The same value, in storage with room for every type.
    #[inline]
    pub(crate) fn widen(self) -> Erased {
        // SAFETY: `self` is neither dropped nor used after this.
        unsafe { ManuallyDrop::new(self).move_out() }
    }

    /// Moves the value out.
    ///
    /// # Safety
    /// The word counts as empty afterwards.
    #[inline]
    unsafe fn move_out(&self) -> Erased {
        let mut place = [Word::uninit(); WORDS];
        place[0] = self.word;
        Erased { operations: self.operations, place, content: self.content }
    }
}

impl Drop for Short {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: no code looks at the word after a drop.
        drop(unsafe { self.move_out() });
    }
}

impl Clone for Erased {
    fn clone(&self) -> Self {
        // SAFETY: the operations are those of the value's type.
        unsafe { (self.operations.clone)(&self.place) }
    }
}

impl Drop for Erased {
    #[inline]
    fn drop(&mut self) {
        if let Some(drop) = self.operations.drop {
            // SAFETY: the operations are those of the value's type; the place is not looked at after a drop.
            unsafe { drop(&mut self.place) }
        }
    }
}

#[cfg(test)]
mod tests;
