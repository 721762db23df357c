//! Movement of chares: the operations by which the state of a chare leaves its PE and is seated on another one, with its type erased.
//!
//! 1. Inside a process the state moves as it is: what it owns stays where it lies. It is encoded only for another process.
//! 2. The calls of awaited entries that wait with a chare are a part of what moves, in their order.
//! 3. The cell that a state has left holds none any more, for ever. Who lets the state leave gives the chare the standing
//!    [`GONE`](super::identity::Standing::GONE), so that calls which have found the chare look for it anew.
//! 4. Hooks are the user's code. Who runs them does it as for an entry: they may call and contribute.

use super::identity::{AnyChare, Identity};
use crate::model::ids::PeId;
use chare_lrts::codec::{CodecError, Writer};
use std::any::Any;
use std::rc::Rc;

/// The state of a chare on its way, with the calls that wait with it.
pub(crate) trait MovingState: Any + Send {
    /// Writes the encoding, which [`Movement::decode`] reads in another process.
    ///
    /// # Errors
    /// When the state refuses to be encoded.
    fn encode(&self, out: &mut Writer<'_>) -> Result<(), CodecError>;

    /// The memory that the state takes itself, in bytes, without what it owns elsewhere.
    fn bytes(&self) -> usize;
}

/// An operation on one chare.
type Of<T> = fn(&Rc<dyn AnyChare>) -> T;

type Decode = fn(&mut &[u8]) -> Result<Box<dyn MovingState>, String>;

type Moved = fn(&Rc<dyn AnyChare>, PeId);

/// The operations on the chares of one type that move. Each one panics for a chare or a state of another type.
#[derive(Debug)]
pub struct Movement {
    /// Takes the state and the calls that wait out of a chare, for ever; `None`, and nothing is taken, while the state is borrowed or has left.
    pub(crate) take_out: Of<Option<Box<dyn MovingState>>>,
    /// Makes a chare for the table of another PE.
    pub(crate) seat: fn(Identity, Box<dyn MovingState>) -> Rc<dyn AnyChare>,
    /// Reads a state that came from another process, from the front of some bytes.
    ///
    /// # Errors
    /// Bytes that are none, and a panic of the user's `Deserialize`, in words.
    pub(crate) decode: Decode,
    /// Whether the chare could move to another process: no call waits with it whose parameters stay in this one.
    pub(crate) can_be_written: Of<bool>,
    /// Counts the bytes of what [`MovingState::encode`] would write: `None` where that is refused. The state must not be borrowed.
    pub(crate) measure: Of<Option<u64>>,
    /// Runs `#[about_to_move]`, before the state is taken out.
    pub(crate) about_to_move: Option<Of<()>>,
    /// Runs `#[moved]`, which gets the PE from which the chare came.
    pub(crate) moved: Option<Moved>,
    /// Asks `#[load]`.
    pub(crate) load: Option<Of<f64>>,
    /// Asks `#[position]`; 0 stands in the coordinates that the chare does not have.
    pub(crate) position: Option<Of<[f64; 3]>>,
    /// Whether the chares take part in syncs.
    pub(crate) syncs: bool,
    /// Called when a handle of a chare was dropped, which may have kept it where it is.
    pub(crate) let_go: fn(),
}
