//! Travelling calls: calls that wait for awaited entries of a chare that moves, as they are inside a process and encoded between processes.
//!
//! 1. Inside a process the tables move with their calls.
//! 2. Between processes the calls are written in the order in which they came, each with its reference number and its parameters, and put
//!    into a new table in the same order. Nobody waits for calls of a chare that moves, so nobody knows a call by the number that it had.
//! 3. A call stays in its process if a parameter does: elements on a device, and parts of posted buffers. Then the chare stays, too, until
//!    somebody has awaited the call.

use super::awaited::{AwaitedEntry, CallTable, Calls};
use super::identity::AwaitedCalls;
use crate::model::arguments::Message;
use chare_lrts::codec::{self, CodecError, Writer};
use serde::de::DeserializeOwned;

/// An awaited entry of a chare that migrates.
pub trait TravellingEntry: AwaitedEntry<Reference: Message, Parameters: Send> {
    /// Whether a call with these parameters can leave the process.
    fn can_be_written(parameters: &Self::Parameters) -> bool;
    /// Writes the parameters of a call that can.
    ///
    /// # Errors
    /// When a parameter refuses to be encoded.
    fn write(parameters: &Self::Parameters, out: &mut Writer<'_>) -> Result<(), CodecError>;
    /// Reads parameters from the front of `bytes`.
    ///
    /// # Errors
    /// When the bytes are none, in words.
    fn read(bytes: &mut &[u8]) -> Result<Self::Parameters, String>;
}

/// The calls that wait with a chare which migrates; `#[chare]` implements it.
pub trait TravellingCalls: AwaitedCalls + Default + Send {
    /// Takes all calls out.
    fn take(&self) -> Self;
    /// Whether all calls can leave the process. Looks at each.
    fn can_be_written(&self) -> bool;
    /// Writes the calls.
    ///
    /// # Errors
    /// When a parameter refuses to be encoded.
    fn write(&self, out: &mut Writer<'_>) -> Result<(), CodecError>;
    /// Reads calls from the front of `bytes`.
    ///
    /// # Errors
    /// When the bytes are none, in words.
    fn read(bytes: &mut &[u8]) -> Result<Self, String>;
}

/// The calls of a chare without awaited entries.
impl TravellingCalls for () {
    fn take(&self) -> Self {}

    fn can_be_written(&self) -> bool {
        true
    }

    fn write(&self, _out: &mut Writer<'_>) -> Result<(), CodecError> {
        Ok(())
    }

    fn read(_bytes: &mut &[u8]) -> Result<Self, String> {
        Ok(())
    }
}

impl<E: TravellingEntry> Calls<E> {
    /// As [`TravellingCalls::can_be_written`].
    pub fn can_be_written(&self) -> bool {
        let all =
            |table: &CallTable<_, _>| table.calls().all(|(_, parameters)| E::can_be_written(parameters));
        self.look(all).unwrap_or(true)
    }

    /// As [`TravellingCalls::write`].
    ///
    /// # Errors
    /// As there.
    pub fn write(&self, out: &mut Writer<'_>) -> Result<(), CodecError> {
        let write = |table: &CallTable<_, _>| {
            let calls = table.calls();
            out.write(&calls.len())?;
            for (reference, parameters) in calls {
                out.write(reference)?;
                E::write(parameters, out)?;
            }
            Ok(())
        };
        match self.look(write) {
            Some(written) => written,
            None => out.write(&0_usize),
        }
    }

    /// As [`TravellingCalls::read`].
    ///
    /// # Errors
    /// As there.
    pub fn read(bytes: &mut &[u8]) -> Result<Self, String> {
        let calls = Self::default();
        // A call takes some bytes: a count that is too large runs out of them.
        for _ in 0..read_value::<usize>(bytes)? {
            let (reference, parameters) = (read_value(bytes)?, E::read(bytes)?);
            // Nobody waits yet.
            let _: [_; 2] = calls.table().borrow_mut().put(reference, parameters);
        }
        Ok(calls)
    }
}

/// Reads a value from the front of `bytes`.
///
/// # Errors
/// When the bytes are none, in words.
pub fn read_value<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, String> {
    codec::decode_next(bytes).map_err(|error| error.to_string())
}
