//! Typed boxes: a value of any type in a box, beside the id of its type.
//!
//! `Any` calls a function to learn a type, and that takes as long as the work that is done with some of these values. So the type's id
//! stands here, beside the box. [`TypedBox::new`] alone puts the two together, and no code exchanges one without the other.

#![expect(unsafe_code, reason = "a type that is known by the id that is kept beside the value")]

use std::any::{Any, TypeId};

/// A boxed value and the id of its type.
pub(crate) struct TypedBox {
    /// The type of the value in the box.
    type_id: TypeId,
    value: Box<dyn Any>,
}

impl TypedBox {
    pub(crate) fn new<T: Any>(value: T) -> Self {
        Self { type_id: TypeId::of::<T>(), value: Box::new(value) }
    }

    /// The value.
    ///
    /// # Panics
    /// If the value is of another type.
    #[inline]
    pub(crate) fn get<T: Any>(&self) -> &T {
        assert!(self.type_id == TypeId::of::<T>(), "a box is opened as what it was filled with");
        let value: *const dyn Any = &*self.value;
        // SAFETY: `new` boxed a `T` for the id of this type, and ids of different types differ; the box is borrowed for as long as
        // the returned reference.
        unsafe { &*value.cast::<T>() }
    }

    /// The value, if it is of this type.
    #[inline]
    pub(crate) fn get_mut<T: Any>(&mut self) -> Option<&mut T> {
        let value: *mut dyn Any = &mut *self.value;
        // SAFETY: as in `get`; the box is borrowed mutably for as long as the returned reference.
        (self.type_id == TypeId::of::<T>()).then(|| unsafe { &mut *value.cast::<T>() })
    }
}

#[cfg(test)]
mod tests {
    use super::TypedBox;

    #[test]
    fn a_box_gives_what_it_was_filled_with() {
        let mut filled = TypedBox::new(vec![1u8, 2]);
        filled.get_mut::<Vec<u8>>().expect("it was filled with one").push(3);
        assert_eq!(filled.get::<Vec<u8>>(), &[1, 2, 3]);
        assert_eq!(filled.get_mut::<Vec<i8>>(), None);
    }

    #[test]
    #[should_panic(expected = "opened as what it was filled with")]
    fn a_box_is_not_opened_as_anything_else() {
        TypedBox::new(1u32).get::<i32>();
    }
}
