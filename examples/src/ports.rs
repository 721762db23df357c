//! Ports of Charm++'s zero-copy tests and examples: the start, the numbers and the checks that they share.

pub use crate::start::run;
use chare::{
    ArrayOptions, Buffer, BufferMut, Element, PeId, RegisteredSource, RegisteredTarget, Registration,
    SendBuffer,
};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// When memory is registered: Charm++ has most of its examples once for each of these.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub enum RegistrationMode {
    /// When it turns out to be needed
    #[default]
    Unreg,
    /// At once
    Reg,
    /// With the runtime's pool, in which it lies
    Prereg,
}

/// When the memory of nocopy arguments is registered.
impl From<RegistrationMode> for Registration {
    fn from(mode: RegistrationMode) -> Self {
        match mode {
            RegistrationMode::Unreg => Self::Lazily,
            RegistrationMode::Reg => Self::Now,
            RegistrationMode::Prereg => Self::Pooled,
        }
    }
}

impl RegistrationMode {
    /// A nocopy argument.
    pub fn send<T: Element>(self, buffer: impl Into<Buffer<T>>) -> SendBuffer<T> {
        SendBuffer::from(buffer.into()).registration(self.into())
    }

    /// Elements that others get.
    pub fn source<T: Element>(self, values: Vec<T>) -> RegisteredSource<T> {
        match self {
            Self::Unreg => RegisteredSource::lazily(values),
            Self::Reg => RegisteredSource::register(values),
            Self::Prereg => RegisteredSource::register(BufferMut::from_fn(values.len(), |at| values[at])),
        }
    }

    /// Room for so many elements that others put.
    pub fn target<T: Element>(self, len: usize) -> RegisteredTarget<T> {
        match self {
            Self::Unreg => RegisteredTarget::lazily(vec![T::zeroed(); len]),
            Self::Reg => RegisteredTarget::register(vec![T::zeroed(); len]),
            Self::Prereg => RegisteredTarget::register(BufferMut::zeroed(len)),
        }
    }
}

/// An even number of array elements, which work in pairs: element `i` and element `n - 1 - i`.
///
/// # Errors
/// When it is odd, no number, or none.
pub fn parse_even(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        Ok(0) => Err("there must be two elements at least".to_owned()),
        Ok(number) if number.is_multiple_of(2) => Ok(number),
        Ok(_) => Err("elements work in pairs: their number must be even".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The numbers from 0 on.
pub fn indices(len: usize) -> Vec<i32> {
    (0..len as i32).collect()
}

/// Checks that `values` are the numbers from `first` on.
///
/// # Panics
/// At the first that is not.
#[track_caller]
pub fn assert_indices(values: &[i32], first: usize) {
    let wrong = (first as i32..).zip(values).position(|(expected, value)| expected != *value);
    assert_eq!(wrong, None, "a position in {} values from {first} on", values.len());
}

/// Checks that `values` are all `constant`.
///
/// # Panics
/// At the first that is not.
#[track_caller]
pub fn assert_constant<T: PartialEq + std::fmt::Debug>(values: &[T], constant: T) {
    let wrong = values.iter().find(|value| **value != constant);
    assert_eq!(wrong, None, "among {} values that were to be {constant:?}", values.len());
}

/// Numbers between 1 and 100 without a visible order.
pub fn integers(len: usize) -> Vec<i32> {
    (0..len).map(|position| (position * 7919 % 100) as i32 + 1).collect()
}

/// As [`integers`], halved.
pub fn doubles(len: usize) -> Vec<f64> {
    integers(len).into_iter().map(|integer| f64::from(integer) / 2.0).collect()
}

/// As [`integers`], as characters.
pub fn characters(len: usize) -> Vec<u8> {
    integers(len).into_iter().map(|integer| integer as u8).collect()
}

/// Two elements on the first and on the last PE, which live on different nodes if there are several.
pub fn both_ends() -> ArrayOptions {
    let last = PeId(chare::pes() - 1);
    ArrayOptions::new(2).place_by(|index| if index == 0 { PeId(0) } else { last })
}
