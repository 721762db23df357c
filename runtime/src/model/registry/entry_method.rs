//! Entry methods as types, and the registrations of chares and entries that follow from them; and hints of the compiler, which are bounds that
//! nothing satisfies, of methods that proxies have only to say why no message calls them.

use super::chare::{Chare, Constructor, This, ThisRef, bytes_of, lend, outlived};
use super::identity::AnyChare;
use super::name::type_id;
use super::registration::{
    Called, ChareRegistration, DESTRUCTION, Demand, EntryRegistration, IndexRegistration, NotCalled,
};
use crate::model::arguments::{Arguments, Message};
use crate::model::call_options::{CallOptions, Lane};
use crate::model::ids::EntryId;
use crate::model::nocopy::{NocopyArguments, NocopyKind, Posts};
use std::rc::Rc;

/// An entry method, as a type.
pub trait EntryMethod: 'static {
    /// The chare type that has the entry.
    type Chare: Chare;
    /// Its parameters, without the nocopy ones.
    type Arguments: Message;
    /// Its name.
    const NAME: &'static str;
    /// Its parameter types, as written.
    const SIGNATURE: &'static str;
    /// Its place in [`Chare::ENTRIES`].
    const INDEX: u16;
    /// The lane in which its calls are queued.
    const LANE: Lane = Lane::ByPriority;
    /// The priority of calls that name none; smaller runs first.
    const PRIORITY: i32 = 0;
    /// Whether a call creates its element if that does not exist, and where.
    const DEMAND: Option<Demand> = None;
    /// Whether a call of a chare on the caller's PE runs at once, as the call of a function.
    const INLINE: bool = false;
    /// Its nocopy parameters.
    const NOCOPY: &'static [NocopyKind] = &[];
    /// Runs the entry.
    fn invoke(this: ThisRef<'_, Self::Chare>, arguments: Self::Arguments, nocopy: NocopyArguments<'_>);
    /// Runs the entry's post method.
    fn post(_this: ThisRef<'_, Self::Chare>, _arguments: &Self::Arguments, _posts: Posts) {
        unreachable!("only entries with posted parameters have a post method")
    }
    /// Drops the arguments of a call that does not run, and tells who waits for a result.
    fn forsake(arguments: Self::Arguments) {
        drop(arguments);
    }
}

/// The static registration of entry `E`.
pub(crate) fn entry<E: EntryMethod>() -> &'static EntryRegistration {
    &E::Chare::ENTRIES[E::INDEX as usize]
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
                outlived::<E::Chare>(|| E::invoke(this, arguments, nocopy))
            },
            invoke_with_copy: |chare, arguments| {
                let this = lend::<E::Chare>(chare)?;
                let arguments = arguments.peek::<E::Arguments>().clone();
                outlived::<E::Chare>(|| E::invoke(this, arguments, NocopyArguments::new(None)))
            },
            post: |chare, arguments, posts| {
                E::post(lend::<E::Chare>(chare)?, arguments.peek(), posts);
                Ok(())
            },
            // Bytes that are no arguments are dropped as they are.
            forsake: |arguments| drop(arguments.take().map(E::forsake)),
            bundles: None,
        }
    }

    /// The registration of the entry that every member of an array has and that destroys the member.
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
            forsake: drop,
            bundles: None,
        }
    }
}

/// Asks the code that runs this entry to remove the chare.
fn destroy(chare: &Rc<dyn AnyChare>) -> Called {
    Err(Box::new(if chare.identity().is_gone() { NotCalled::Gone } else { NotCalled::Leaves }))
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
            on_panic: C::ON_PANIC,
            movement: C::MOVEMENT,
            destruction: EntryRegistration::destruction::<C>(),
            index: IndexRegistration::of::<C::Index>(),
        }
    }
}

/// A method that messages call.
#[diagnostic::on_unimplemented(
    message = "this method is no entry, so no message calls it",
    label = "a call of what is no entry",
    note = "mark the method `#[entry]`, or call it where the chare is: in its own entries, or by `local` of a member of a collection"
)]
pub trait MarkedEntry {}

/// An entry whose answer a call of all may await.
#[diagnostic::on_unimplemented(
    message = "an entry that returns something answers one caller, and of a call of all there would be many answers",
    label = "an answer of all",
    note = "call one member, such as `cells.at(3).value()`, or have all contribute to a reduction"
)]
pub trait AnsweredByAll {}
