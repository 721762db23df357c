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
use std::rc::Rc;

/// Why an entry was not called, in words.
pub(crate) type Misdirected = String;

pub(crate) type Invoke =
    fn(&Rc<dyn AnyChare>, &mut Arguments, NocopyArguments<'_>) -> Result<(), Misdirected>;

type InvokeWithCopy = fn(&Rc<dyn AnyChare>, &Arguments) -> Result<(), Misdirected>;

type Post = fn(&Rc<dyn AnyChare>, &Arguments, Posts) -> Result<(), Misdirected>;

/// A chare as an entry of `E` sees it.
///
/// # Errors
/// When it is of another type: the target of a message from another node is an allegation.
#[inline]
pub(crate) fn lend<E: EntryMethod>(chare: &Rc<dyn AnyChare>) -> Result<ThisRef<'_, E::Chare>, Misdirected> {
    ThisRef::of(chare).ok_or_else(|| misdirected(chare, E::Chare::NAME))
}

#[cold]
fn misdirected(chare: &Rc<dyn AnyChare>, expected: &str) -> Misdirected {
    let Identity { name, target, .. } = chare.identity();
    format!("the call is for {}, which is a {name} and no {expected}", show(name, *target))
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
                let this = lend::<E>(chare)?;
                let arguments = arguments.take_in_place().map_err(|error| error.to_string())?;
                E::invoke(this, arguments, nocopy);
                Ok(())
            },
            invoke_with_copy: |chare, arguments| {
                let this = lend::<E>(chare)?;
                E::invoke(this, arguments.peek::<E::Arguments>().clone(), NocopyArguments::new(None));
                Ok(())
            },
            post: |chare, arguments, posts| {
                E::post(lend::<E>(chare)?, arguments.peek(), posts);
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
            invoke: |_, _, _| {
                Pe::current(|pe| pe.destroyed.set(true));
                Ok(())
            },
            invoke_with_copy: |_, _| {
                Pe::current(|pe| pe.destroyed.set(true));
                Ok(())
            },
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
