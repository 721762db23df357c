//! What travels between chares: any serializable, cloneable value; and its type-erased form.
//!
//! A value is boxed once by the caller. Inside a process the box itself travels; it is encoded only when it leaves the process, and decoded once on arrival.

use chare_lrts::codec::{self, CodecError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::Any;

/// What an argument of an entry method, the value of a callback or a readonly value must be.
///
/// Implemented by every type that is serializable, cloneable (broadcasts clone inside a process), `Send` and
/// owns its contents.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of an entry method",
    note = "arguments may leave the process: derive `Clone`, `serde::Serialize` and `serde::Deserialize`, and hold no borrows"
)]
pub trait Message: Serialize + DeserializeOwned + Clone + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + 'static> Message for T {}

/// A boxed message whose type only its sender and its receiver know.
trait Erased: Any + Send {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), CodecError>;
    fn clone_boxed(&self) -> Box<dyn Erased>;
}

impl<T: Message> Erased for T {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        codec::encode_into(self, out)
    }

    fn clone_boxed(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }
}

/// The arguments of a call in flight.
pub(crate) struct Arguments(Form);

enum Form {
    /// The caller's own value.
    Typed(Box<dyn Erased>),
    /// A value from another process whose type is known only where it will be taken.
    Encoded(Vec<u8>),
}

impl Arguments {
    /// Boxes a value: the one allocation of a call.
    pub(crate) fn new<T: Message>(value: T) -> Self {
        Self(Form::Typed(Box::new(value)))
    }

    /// Keeps a value's encoding until somebody who knows the type takes it.
    pub(crate) fn encoded(bytes: Vec<u8>) -> Self {
        Self(Form::Encoded(bytes))
    }

    /// Decodes a value of a known type.
    ///
    /// # Errors
    /// When the bytes are no such value.
    pub(crate) fn decode<T: Message>(bytes: &[u8]) -> Result<Self, CodecError> {
        codec::decode::<T>(bytes).map(Self::new)
    }

    /// Unboxes the value.
    ///
    /// # Errors
    /// When an encoded value is none of this type.
    ///
    /// # Panics
    /// If the value was boxed as another type: a bug in generated code.
    pub(crate) fn take<T: Message>(self) -> Result<T, CodecError> {
        match self.0 {
            Form::Typed(boxed) => {
                let boxed: Box<dyn Any> = boxed;
                Ok(*boxed.downcast::<T>().expect("arguments have the type of their entry"))
            }
            Form::Encoded(bytes) => codec::decode(&bytes),
        }
    }

    /// Looks at the value.
    ///
    /// # Panics
    /// If the value is encoded or was boxed as another type: entry arguments are decoded on arrival.
    pub(crate) fn peek<T: Message>(&self) -> &T {
        match &self.0 {
            Form::Typed(boxed) => {
                let any: &dyn Any = &**boxed;
                any.downcast_ref::<T>().expect("arguments have the type of their entry")
            }
            Form::Encoded(_) => unreachable!("entry arguments are decoded on arrival"),
        }
    }

    /// The encoding of a value that came from another process and has not been taken.
    pub(crate) fn as_encoded(&self) -> Option<&[u8]> {
        match &self.0 {
            Form::Typed(_) => None,
            Form::Encoded(bytes) => Some(bytes),
        }
    }

    /// Appends the value's encoding; it stays what it is.
    ///
    /// # Errors
    /// When the type's serialization refuses.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match &self.0 {
            Form::Typed(boxed) => boxed.encode(out),
            Form::Encoded(bytes) => {
                out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

impl Clone for Arguments {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Form::Typed(boxed) => Form::Typed(boxed.clone_boxed()),
            Form::Encoded(bytes) => Form::Encoded(bytes.clone()),
        })
    }
}

impl std::fmt::Debug for Arguments {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Arguments(..)")
    }
}
