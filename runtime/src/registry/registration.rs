//! What the runtime keeps of a chare type and of its entries, their types forgotten.

use super::declared::{Chare, Constructor, Demand, EntryMethod, NocopyKind};
use super::name::type_id;
use super::show;
use crate::aggregation::BundleOperations;
use crate::codec::CodecError;
use crate::ids::{ChareTypeId, EntryId, Index};
use crate::index::ArrayIndex;
use crate::message::Arguments;
use crate::object::{AnyChare, Identity, This, ThisRef, bytes_of};
use crate::pe::Pe;
use crate::queue::{CallOptions, Lane};
use crate::zerocopy::{NocopyArguments, Posts};
use std::any::TypeId;
use std::fmt;
use std::rc::Rc;

/// Why an entry was not called.
#[derive(Debug)]
pub(crate) enum NotCalled {
    /// The chare was destroyed.
    Gone,
    /// In words.
    Misdirected(String),
}

/// In a box: that there is none is told in a register.
pub(crate) type Called = Result<(), Box<NotCalled>>;

pub(crate) type Invoke = fn(&Rc<dyn AnyChare>, &mut Arguments, NocopyArguments<'_>) -> Called;

type InvokeWithCopy = fn(&Rc<dyn AnyChare>, &Arguments) -> Called;

type Post = fn(&Rc<dyn AnyChare>, &Arguments, Posts) -> Called;

/// A chare as its entries see it.
///
/// # Errors
/// When it was destroyed, or is of another type: the target of a message from another node is an allegation.
#[inline]
pub(crate) fn lend<C: Chare>(chare: &Rc<dyn AnyChare>) -> Result<ThisRef<'_, C>, Box<NotCalled>> {
    match ThisRef::of(chare) {
        Some(this) if !this.identity().is_gone() => Ok(this),
        _ => Err(refuse(chare, C::NAME)),
    }
}

#[cold]
fn refuse(chare: &Rc<dyn AnyChare>, expected: &str) -> Box<NotCalled> {
    let identity = chare.identity();
    let Identity { name, target, .. } = identity;
    Box::new(if identity.is_gone() {
        NotCalled::Gone
    } else {
        let target = show(name, *target);
        NotCalled::Misdirected(format!("the call is for {target}, which is a {name} and no {expected}"))
    })
}

impl fmt::Display for NotCalled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Gone => "it was destroyed",
            Self::Misdirected(why) => why,
        })
    }
}

impl From<CodecError> for Box<NotCalled> {
    #[cold]
    fn from(error: CodecError) -> Self {
        Self::new(NotCalled::Misdirected(error.to_string()))
    }
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
    /// Where calls travel together.
    pub(crate) bundles: Option<BundleOperations>,
}

impl EntryRegistration {
    /// The registration of an entry's marker type.
    pub const fn of<E: EntryMethod>() -> Self {
        Self {
            chare: E::Chare::NAME,
            name: E::NAME,
            id: EntryId { chare_type: type_id(E::Chare::NAME), index: E::INDEX },
            options: CallOptions::of_entry(E::PRIORITY, E::LANE),
            demand: E::DEMAND,
            nocopy: E::NOCOPY,
            signature: E::SIGNATURE,
            decode: Arguments::decode::<E::Arguments>,
            invoke: |chare, arguments, nocopy| {
                let this = lend::<E::Chare>(chare)?;
                let arguments = arguments.take_in_place()?;
                E::invoke(this, arguments, nocopy);
                Ok(())
            },
            invoke_with_copy: |chare, arguments| {
                let this = lend::<E::Chare>(chare)?;
                E::invoke(this, arguments.peek::<E::Arguments>().clone(), NocopyArguments::new(None));
                Ok(())
            },
            post: |chare, arguments, posts| {
                E::post(lend::<E::Chare>(chare)?, arguments.peek(), posts);
                Ok(())
            },
            bundles: None,
        }
    }

    /// The entry that every member of an array has: it goes.
    const fn destruction<C: Chare>() -> Self {
        Self {
            chare: C::NAME,
            name: "destroy",
            id: EntryId { chare_type: type_id(C::NAME), index: DESTRUCTION },
            options: CallOptions::of_entry(0, Lane::ByPriority),
            demand: None,
            nocopy: &[],
            signature: "",
            decode: Arguments::decode::<()>,
            invoke: |chare, _, _| destroy(chare),
            invoke_with_copy: |chare, _| destroy(chare),
            post: |_, _, _| unreachable!("it has no posted parameters"),
            bundles: None,
        }
    }

    /// Whether a post method must run before the entry.
    pub(crate) fn has_posts(&self) -> bool {
        self.nocopy.contains(&NocopyKind::Posted)
    }

    /// What an error calls the transfer of one of its nocopy arguments.
    pub(crate) fn fetching(&self) -> String {
        format!("fetching a nocopy argument of {}::{}", self.chare, self.name)
    }
}

/// Has the chare removed when this entry is over.
fn destroy(chare: &Rc<dyn AnyChare>) -> Called {
    if chare.identity().is_gone() {
        return Err(Box::new(NotCalled::Gone));
    }
    Pe::current(|pe| pe.destroyed.set(true));
    Ok(())
}

/// The static registration of entry `E`.
pub(crate) fn entry<E: EntryMethod>() -> &'static EntryRegistration {
    &E::Chare::ENTRIES[E::INDEX as usize]
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
    const fn of<I: ArrayIndex>() -> Self {
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

impl ChareRegistration {
    /// The registration of a chare type.
    pub const fn of<C: Chare>() -> Self {
        Self {
            name: C::NAME,
            id: type_id(C::NAME),
            entries: C::ENTRIES,
            constructor: C::Constructor::SIGNATURE,
            bytes: bytes_of::<C>(),
            decode: Arguments::decode::<<C::Constructor as Constructor>::Arguments>,
            construct: |identity, arguments| {
                let state = C::Constructor::construct(arguments.take()?);
                Ok(This::seat(identity.clone(), state))
            },
            destruction: EntryRegistration::destruction::<C>(),
            index: IndexRegistration::of::<C::Index>(),
        }
    }
}

inventory::collect!(ChareRegistration);
