//! Arguments of messages: serializable, cloneable values of any type, and their type-erased form.
//!
//! Inside a process the value itself travels, inside the envelope if it is small (see [`crate::base::erased`]); it is encoded
//! only when it leaves the process, and decoded once on arrival.

use crate::base::erased::{Content, Erased, Short};
use chare_lrts::codec::{self, CodecError, Writer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::any::type_name;

/// A value that can travel between chares: an argument of an entry method, the value of a callback or a readonly value.
///
/// Implemented by every type that is serializable, cloneable (broadcasts clone inside a process), `Send` and
/// owns its contents.
///
/// Inside a process the value is moved. Between processes it is encoded: at the speed of a copy for vectors and slices of numbers and of
/// short arrays of them (`Vec<f64>`, `Box<[[f32; 3]]>`), wherever they are inside the value; field by field for all else. A vector of
/// structs that are plain old data is best a [`Buffer`](crate::Buffer), which is copied whole, too. Values nest at most 256 deep.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of an entry method",
    note = "arguments may leave the process: derive `Clone`, `serde::Serialize` and `serde::Deserialize`, and hold no borrows"
)]
pub trait Message: Serialize + DeserializeOwned + Clone + Send + 'static {}

impl<T: Serialize + DeserializeOwned + Clone + Send + 'static> Message for T {}

impl<T: Message> Content for T {
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(self)
    }
}

/// A value from another process whose type is known only where it will be taken.
#[derive(Clone)]
struct Encoded(Vec<u8>);

impl Content for Encoded {
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write_encoded(&self.0);
        Ok(())
    }
}

/// The arguments of a call in flight: the caller's own value, or one that is still [`Encoded`].
#[derive(Clone)]
pub(crate) struct Arguments(Erased);

/// Arguments that take one word: nearly all that are a single number, and all that stand in a box.
pub(crate) struct ShortArguments(Short);

impl ShortArguments {
    /// The same arguments with room for more.
    #[inline]
    pub(crate) fn widen(self) -> Arguments {
        Arguments(self.0.widen())
    }
}

impl Arguments {
    /// The same arguments in less room.
    ///
    /// # Errors
    /// The unchanged arguments, when they take more than one word.
    #[inline]
    pub(crate) fn shorten(self) -> Result<ShortArguments, Self> {
        self.0.shorten().map(ShortArguments).map_err(Self)
    }

    /// Erases a value's type; a small value costs no allocation.
    #[inline]
    pub(crate) fn new<T: Message>(value: T) -> Self {
        Self(Erased::new(value))
    }

    /// Keeps a value's encoding until code that knows the type takes the value.
    pub(crate) fn encoded(bytes: Vec<u8>) -> Self {
        Self(Erased::new(Encoded(bytes)))
    }

    /// Keeps the encoding that `write` writes.
    ///
    /// # Errors
    /// When `write` refuses.
    pub(crate) fn encoded_by(
        write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
    ) -> Result<Self, CodecError> {
        let mut bytes = Vec::new();
        codec::append(&mut bytes, write)?;
        Ok(Self::encoded(bytes))
    }

    /// Decodes a value of a known type.
    ///
    /// # Errors
    /// When the bytes do not encode a `T`.
    pub(crate) fn decode<T: Message>(bytes: &[u8]) -> Result<Self, CodecError> {
        codec::decode::<T>(bytes).map(Self::new)
    }

    /// Gives the value.
    ///
    /// # Errors
    /// When the value is encoded and its bytes do not encode a `T`.
    ///
    /// # Panics
    /// If the value is of another type: a bug in generated code.
    pub(crate) fn take<T: Message>(mut self) -> Result<T, CodecError> {
        self.take_in_place()
    }

    /// Gives the value as [`Arguments::take`] does, and leaves the emptied arguments where they are.
    #[inline]
    pub(crate) fn take_in_place<T: Message>(&mut self) -> Result<T, CodecError> {
        match self.0.take::<T>() {
            Some(value) => Ok(value),
            None => self.decode_in_place(),
        }
    }

    #[cold]
    fn decode_in_place<T: Message>(&mut self) -> Result<T, CodecError> {
        let Encoded(bytes) = self.0.take().unwrap_or_else(|| {
            panic!("these arguments are no `{}`, as their entry takes", type_name::<T>());
        });
        codec::decode(&bytes)
    }

    /// Whether there is a value that needs a drop; there is none once the value was taken.
    #[inline]
    pub(crate) fn needs_drop(&self) -> bool {
        self.0.needs_drop()
    }

    /// Looks at the value.
    ///
    /// # Panics
    /// If the value is encoded or of another type: entry arguments are decoded on arrival.
    pub(crate) fn peek<T: Message>(&self) -> &T {
        self.0.peek::<T>().expect("arguments have the type of their entry and are decoded on arrival")
    }

    /// The encoding of a value that came from another process and has not been taken.
    pub(crate) fn as_encoded(&self) -> Option<&[u8]> {
        self.0.peek::<Encoded>().map(|Encoded(bytes)| &bytes[..])
    }

    /// Appends the value's encoding; the value stays as it is.
    ///
    /// # Errors
    /// When the type's serialization refuses.
    pub(crate) fn encode_into(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        codec::append(out, |writer| self.encode(writer))
    }

    /// The length of the value's encoding, in bytes; 0 when the type's serialization refuses.
    pub(crate) fn encoded_bytes(&self) -> usize {
        codec::fill(&mut [], |writer| self.encode(writer)).unwrap_or(0)
    }

    /// Writes the value's encoding; the value stays as it is.
    ///
    /// # Errors
    /// When the type's serialization refuses.
    pub(crate) fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        self.0.encode(out)
    }
}

impl std::fmt::Debug for Arguments {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Arguments(..)")
    }
}
