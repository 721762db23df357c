//! Handles of registered device memory: what a peer needs to read or write it.

use crate::model::nocopy::{Element, Lender, ToldLayout};
use chare_layout::{Layout, LayoutError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// Registered device memory of some node, and what is meant of it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RemoteDevice {
    pub(crate) owner: Lender,
    /// Bytes of all that is registered.
    pub(crate) bytes: u64,
    pub(crate) layout: Option<ToldLayout>,
}

macro_rules! handle {
    ($(#[$docs:meta])* $handle:ident, $check:expr) => {
        $(#[$docs])*
        #[derive(Serialize, Deserialize)]
        #[serde(bound = "")]
        pub struct $handle<T> {
            pub(crate) remote: RemoteDevice,
            elements: PhantomData<fn() -> T>,
        }

        impl<T: Element> $handle<T> {
            pub(crate) fn new(owner: Lender, bytes: u64) -> Self {
                Self { remote: RemoteDevice { owner, bytes, layout: None }, elements: PhantomData }
            }

            /// What a layout selects of the registered elements, for a transfer in the layout's order; of several layouts the last one.
            ///
            /// # Panics
            /// If the layout selects what lies outside the elements, or, of what is to be written, an element twice.
            pub fn only(&self, layout: &Layout<T>) -> Self {
                let check: fn(&Layout<T>) -> Result<(), LayoutError> = $check;
                let checked = layout.check_bounds(self.remote.bytes).and_then(|()| check(layout));
                checked.unwrap_or_else(|error| panic!("a layout of a handle: {error}"));
                let layout = Some(ToldLayout(Arc::clone(layout.raw())));
                Self { remote: RemoteDevice { layout, ..self.remote.clone() }, elements: PhantomData }
            }

            /// How many elements are meant.
            pub fn len(&self) -> usize {
                let selected = |ToldLayout(layout): &ToldLayout| layout.bytes();
                self.remote.layout.as_ref().map_or(self.remote.bytes, selected) as usize / size_of::<T>()
            }

            /// Whether none are.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                Self { remote: self.remote.clone(), elements: PhantomData }
            }
        }

        impl<T: Element> fmt::Debug for $handle<T> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (name, node) = (stringify!($handle), self.remote.owner.node);
                write!(out, "{name}({} elements on a device of {node})", self.len())
            }
        }
    };
}

handle!(
    /// Registered elements on a device, for any PE to read by [`rget_device`](crate::rget_device). Small, serializable, reusable.
    DeviceSourceHandle,
    |_| Ok(())
);
handle!(
    /// Registered elements on a device, for any PE to write by [`rput_device`](crate::rput_device). Small, serializable, reusable.
    DeviceTargetHandle,
    |layout| layout.check_target()
);
