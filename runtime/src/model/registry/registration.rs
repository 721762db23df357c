//! Registrations: what the runtime keeps of a chare type and of its entries, their types forgotten.

use super::identity::{AnyChare, Identity};
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::ids::{ChareTypeId, EntryId, Index};
use crate::model::index::ArrayIndex;
use crate::model::nocopy::{NocopyArguments, NocopyKind, Posts};
use chare_lrts::codec::CodecError;
use std::any::{Any, TypeId};
use std::fmt;
use std::rc::Rc;

/// Why an entry was not called.
#[derive(Debug)]
pub(crate) enum NotCalled {
    /// The chare was destroyed.
    Gone,
    /// The chare is to be destroyed: that is what the message asked for.
    Leaves,
    /// The chare is none of this type: the target of a message from another node is an allegation.
    OtherType(&'static str),
    /// The type of the chare does not implement this trait: as above.
    Unimplemented(&'static str),
    /// The arguments are none of this entry.
    Undecodable(String),
}

/// In a box: that there is none is told in a register.
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

/// Where an element is created that is called before it exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// `#[entry(create_here)]`: on the caller's PE.
    Here,
    /// `#[entry(create_home)]`: at its home.
    Home,
}

/// What the runtime keeps of an entry method.
#[derive(Debug)]
pub struct EntryRegistration {
    pub(crate) chare: &'static str,
    pub(crate) name: &'static str,
    pub(crate) id: EntryId,
    /// How calls are queued when the caller does not say.
    pub(crate) options: CallOptions,
    pub(crate) demand: Option<Demand>,
    pub(crate) nocopy: &'static [NocopyKind],
    pub(crate) signature: &'static str,
    pub(crate) decode: fn(&[u8]) -> Result<Arguments, CodecError>,
    pub(crate) invoke: Invoke,
    /// The same for one of many who get the same arguments, and no nocopy ones: each a copy of its own.
    pub(crate) invoke_with_copy: InvokeWithCopy,
    pub(crate) post: Post,
    /// Where calls travel together: what can be done to many of them, known to whoever lets them.
    pub(crate) bundles: Option<Attached>,
}

/// Something beside an entry whose type only those know who attached it.
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
        self.nocopy.contains(&NocopyKind::Posted)
    }

    /// What an error calls the transfer of one of its nocopy arguments.
    pub(crate) fn fetching(&self) -> String {
        format!("fetching a nocopy argument of {}::{}", self.chare, self.name)
    }
}

/// The index of the entry that destroys, behind all that a chare declares.
pub(super) const DESTRUCTION: u16 = u16::MAX;

type Construct = fn(&Identity, Arguments) -> Result<Rc<dyn AnyChare>, CodecError>;

/// What the runtime keeps of a chare type.
#[derive(Debug)]
pub struct ChareRegistration {
    pub(crate) name: &'static str,
    pub(crate) id: ChareTypeId,
    pub(crate) entries: &'static [EntryRegistration],
    pub(super) constructor: &'static str,
    /// What one of them takes at least.
    pub(crate) bytes: u64,
    pub(crate) decode: fn(&[u8]) -> Result<Arguments, CodecError>,
    pub(crate) construct: Construct,
    /// Destroys a member.
    pub(crate) destruction: EntryRegistration,
    pub(crate) index: IndexRegistration,
}

inventory::collect!(ChareRegistration);

/// What the runtime keeps of the type that names a chare's members.
#[derive(Debug)]
pub(crate) struct IndexRegistration {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: fn() -> &'static str,
    /// 0 where it is no integer or tuple.
    pub(crate) dimensions: usize,
    show: fn(Index) -> Option<String>,
}

impl IndexRegistration {
    pub(super) const fn of<I: ArrayIndex>() -> Self {
        Self {
            type_id: TypeId::of::<I>(),
            type_name: std::any::type_name::<I>,
            dimensions: I::DIMENSIONS,
            show: |index| I::unpack(index).map(|index| format!("{index:?}")),
        }
    }

    /// An index for humans: as the user knows it, or its bits where those are a digest.
    pub(crate) fn show(&self, index: Index) -> String {
        (self.show)(index).unwrap_or_else(|| format!("{:#034x}", index.bits()))
    }
}
