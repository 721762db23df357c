//! Registrations of chare types and of their entries, as the runtime keeps them: with their types erased.

use super::identity::{AnyChare, Identity, OnPanic};
use super::movement::Movement;
use crate::base::panics;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::ids::{ChareTypeId, EntryId, Index};
use crate::model::index::{self, ArrayIndex};
use crate::model::nocopy::{NocopyArguments, NocopyKind, Posts};
use chare_lrts::codec::CodecError;
use std::any::{Any, TypeId};
use std::fmt;
use std::rc::Rc;

/// The reason that an entry was not called, or not to its end.
#[derive(Debug)]
pub(crate) enum NotCalled {
    /// The chare was destroyed, or has moved away.
    Gone,
    /// The chare is to be destroyed, as the message asked.
    Leaves,
    /// The chare is not of this type: the target of a message from another node is an allegation.
    OtherType(&'static str),
    /// The type of the chare does not implement this trait: as above.
    Unimplemented(&'static str),
    /// The bytes are no arguments of this entry.
    Undecodable(String),
    /// The entry panicked, and its chare outlives that.
    Panicked(String),
}

/// The outcome of a call. The reason stands in a box, so that a register tells that there is none.
pub(crate) type Called = Result<(), Box<NotCalled>>;

impl From<CodecError> for Box<NotCalled> {
    #[cold]
    fn from(error: CodecError) -> Self {
        Self::new(NotCalled::Undecodable(error.to_string()))
    }
}

pub(crate) type Invoke = fn(&Rc<dyn AnyChare>, &mut Arguments, NocopyArguments<'_>) -> Called;

type InvokeWithCopy = fn(&Rc<dyn AnyChare>, &Arguments) -> Called;

type Post = fn(&Rc<dyn AnyChare>, &Arguments, Posts) -> Called;

/// The place where a call creates an element that does not exist yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// `#[entry(create_here)]`: on the caller's PE.
    Here,
    /// `#[entry(create_home)]`: at its home.
    Home,
}

/// The registration of an entry method.
#[derive(Debug)]
pub struct EntryRegistration {
    pub(crate) chare: &'static str,
    pub(crate) name: &'static str,
    pub(crate) id: EntryId,
    /// The options of calls when the caller gives none.
    pub(crate) options: CallOptions,
    pub(crate) demand: Option<Demand>,
    pub(crate) nocopy: &'static [NocopyKind],
    pub(crate) signature: &'static str,
    pub(crate) decode: fn(&[u8]) -> Result<Arguments, CodecError>,
    pub(crate) invoke: Invoke,
    /// Runs the entry of one of many chares that get the same arguments, and no nocopy ones: each chare gets a copy of its own.
    pub(crate) invoke_with_copy: InvokeWithCopy,
    pub(crate) post: Post,
    /// Drops the arguments of a call that does not run, because its chare is gone or the call is late, and tells who waits for a result.
    pub(crate) forsake: fn(Arguments),
    /// For an entry whose calls travel together: the operations on many calls, whose type only the service that bundles them knows.
    pub(crate) bundles: Option<Attached>,
}

/// A value beside an entry, whose type only the code that attached it knows.
#[derive(Clone, Copy)]
pub(crate) struct Attached(pub(crate) &'static (dyn Any + Sync));

impl fmt::Debug for Attached {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Attached(..)")
    }
}

impl EntryRegistration {
    /// Whether a post method must run before the entry.
    pub(crate) fn has_posts(&self) -> bool {
        self.nocopy.iter().any(|kind| kind.is_posted())
    }

    /// The arguments of a call that came from another process.
    ///
    /// # Errors
    /// Bytes that are none, in words that name the entry.
    #[inline]
    pub(crate) fn decode(&self, bytes: &[u8]) -> Result<Arguments, String> {
        let refused = |cause: String| format!("the arguments of {}::{}: {cause}", self.chare, self.name);
        read_apart(|| (self.decode)(bytes)).map_err(refused)
    }

    /// The name that an error gives to the transfer of one of the entry's nocopy arguments.
    pub(crate) fn fetching(&self) -> String {
        format!("fetching a nocopy argument of {}::{}", self.chare, self.name)
    }
}

/// Reads values of the user from a message. A panic of a `Deserialize` is one of whoever sent the message, not of the code that this PE runs.
///
/// # Errors
/// Bytes that are none, and a panic, in words.
#[inline]
pub(crate) fn read_apart<T, E: ToString>(read: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match panics::catch(read) {
        Ok(value) => value.map_err(|error| error.to_string()),
        Err(cause) => Err(format!("reading them panicked: {cause}")),
    }
}

/// The index of the entry that destroys a member, behind all entries that a chare declares.
pub(super) const DESTRUCTION: u16 = u16::MAX;

type Construct = fn(&Identity, Arguments) -> Result<Rc<dyn AnyChare>, CodecError>;

/// The registration of a chare type.
#[derive(Debug)]
pub struct ChareRegistration {
    pub(crate) name: &'static str,
    pub(crate) id: ChareTypeId,
    pub(crate) entries: &'static [EntryRegistration],
    pub(super) constructor: &'static str,
    /// The memory that one chare of the type takes at least, in bytes.
    pub(crate) bytes: u64,
    pub(crate) decode: fn(&[u8]) -> Result<Arguments, CodecError>,
    pub(crate) construct: Construct,
    pub(crate) on_panic: OnPanic,
    /// The operations by which chares of the type move, if they may.
    pub(crate) movement: Option<&'static Movement>,
    /// The entry that destroys a member.
    pub(crate) destruction: EntryRegistration,
    pub(crate) index: IndexRegistration,
}

inventory::collect!(ChareRegistration);

/// The registration of the type that names a chare's members.
#[derive(Debug)]
pub(crate) struct IndexRegistration {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: fn() -> &'static str,
    /// How many integers an index consists of; 0 where it is no integer or tuple.
    pub(crate) dimensions: usize,
    show: fn(Index) -> Option<String>,
    /// Whether bits are an index of the type, and no digest of one.
    holds: fn(Index) -> bool,
    /// The coordinates of an index that has some; see [`ArrayIndex::place`].
    pub(crate) place: fn(Index) -> Option<Vec<u64>>,
}

impl IndexRegistration {
    pub(crate) const fn of<I: ArrayIndex>() -> Self {
        Self {
            type_id: TypeId::of::<I>(),
            type_name: std::any::type_name::<I>,
            dimensions: I::DIMENSIONS,
            show: |index| I::unpack(index).map(|index| format!("{index:?}")),
            holds: |index| I::unpack(index).is_some(),
            place: |index| I::unpack(index)?.place(),
        }
    }

    /// Looks at an index that another node names, with the name that it brings if it is a digest.
    ///
    /// # Errors
    /// When its bits are no index of the type, or the name is none of this index, in words.
    pub(crate) fn check(&self, index: Index, name: Option<&[u8]>) -> Result<(), String> {
        match name {
            None if (self.holds)(index) => Ok(()),
            None => Err(format!(
                "its index {:#034x} is no {}, nor does it bring a name",
                index.bits(),
                (self.type_name)()
            )),
            Some(_) if self.dimensions != 0 => Err("its index is of integers, and brings a name".to_owned()),
            Some(name) => index::check_name(index, name),
        }
    }

    /// An index for humans: as the user knows it, or its bits if it is a digest.
    pub(crate) fn show(&self, index: Index) -> String {
        (self.show)(index).unwrap_or_else(|| format!("{:#034x}", index.bits()))
    }
}
