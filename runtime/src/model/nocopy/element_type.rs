//! Element types of buffers, told apart at run time.

use super::buffer::Element;
use std::any::TypeId;

/// An element type, told apart from others and named to humans.
#[derive(Clone, Copy)]
pub(crate) struct ElementType {
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
}

impl ElementType {
    pub(crate) fn of<T: Element>() -> Self {
        Self { id: TypeId::of::<T>(), name: std::any::type_name::<T>() }
    }
}
