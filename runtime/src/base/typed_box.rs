#![expect(unsafe_code, reason = "a type that is known by the id that is kept beside the value")]
//! A box with a value of any type, and the way back to what it is.
//!
//! `Any` calls a function to learn a type, which takes as long as what is done with some of these values. So the type's id stands here,
//! beside the box. [`TypedBox::new`] alone puts the two together, and nothing exchanges one without the other.

use std::any::{Any, TypeId};

/// See the file's head.
pub(crate) struct TypedBox {
    /// Of what is in the box.
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
    /// If it is of another type.
    #[inline]
    pub(crate) fn get<T: Any>(&self) -> &T {
        assert!(self.type_id == TypeId::of::<T>(), "a box is opened as what it was filled with");
        let value: *const dyn Any = &*self.value;
        // SAFETY: `new` boxed a `T` for the id of this type, and ids of different types differ; the box is borrowed for as long as
        // what is returned.
        unsafe { &*value.cast::<T>() }
    }
}

#[cfg(test)]
mod tests {
    use super::TypedBox;

    #[test]
    fn a_box_gives_what_it_was_filled_with() {
        assert_eq!(TypedBox::new(vec![1u8, 2]).get::<Vec<u8>>(), &[1, 2]);
    }

    #[test]
    #[should_panic(expected = "opened as what it was filled with")]
    fn a_box_is_not_opened_as_anything_else() {
        TypedBox::new(1u32).get::<i32>();
    }
}
