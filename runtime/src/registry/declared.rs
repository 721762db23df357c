//! What `#[chare]` says of a type and of its entries, in types: the bounds of all that is generic over them.

use super::registration::EntryRegistration;
use crate::index::ArrayIndex;
use crate::message::Message;
use crate::object::ThisRef;
use crate::queue::Lane;
use crate::zerocopy::{NocopyArguments, Posts};

/// What `#[chare]` implements for the type of its `impl` block.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no chare",
    label = "no chare",
    note = "mark its impl block with `#[chare]`"
)]
pub trait Chare: Sized + 'static {
    /// The type's full name, equal in every process.
    const NAME: &'static str;
    /// The type's entry methods, in source order.
    const ENTRIES: &'static [EntryRegistration];
    /// One of [`kind`](super::kind).
    type Kind;
    /// What names a member of its collection.
    type Index: ArrayIndex;
    /// The calls of its awaited entries that wait with a chare: one [`Calls`](crate::macro_support::Calls) for each.
    type Awaited: Default + 'static;
    /// The proxy of the whole: of the collection, or of the one chare.
    type Proxy;
    /// The proxy of one chare.
    type Element;
    /// The constructor's marker.
    type Constructor: Constructor<Chare = Self>;
}

/// A chare's constructor, as a type.
pub trait Constructor: 'static {
    /// What it makes.
    type Chare: Chare;
    /// Its parameters.
    type Arguments: Message;
    /// Their types, as written.
    const SIGNATURE: &'static str;
    /// Calls it.
    fn construct(arguments: Self::Arguments) -> Self::Chare;
}

/// Which way a nocopy parameter receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NocopyKind {
    /// `#[nocopy]`: the runtime provides the memory.
    Received,
    /// `#[nocopy(post)]`: the post method does.
    Posted,
}

/// Where an element is created that is called before it exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Demand {
    /// `#[entry(create_here)]`: on the caller's PE.
    Here,
    /// `#[entry(create_home)]`: at its home.
    Home,
}

/// An entry method, as a type.
pub trait EntryMethod: 'static {
    /// Whose entry.
    type Chare: Chare;
    /// Its parameters but for the nocopy ones.
    type Arguments: Message;
    /// Its name.
    const NAME: &'static str;
    /// Its parameter types, as written.
    const SIGNATURE: &'static str;
    /// Its place in [`Chare::ENTRIES`].
    const INDEX: u16;
    /// Which calls its calls wait for.
    const LANE: Lane = Lane::ByPriority;
    /// Priority of calls that name none; smaller runs first.
    const PRIORITY: i32 = 0;
    /// Whether calls create an element that does not exist.
    const DEMAND: Option<Demand> = None;
    /// Whether a call of a chare on the caller's PE is one of a function.
    const INLINE: bool = false;
    /// Its nocopy parameters.
    const NOCOPY: &'static [NocopyKind] = &[];
    /// Runs it.
    fn invoke(this: ThisRef<'_, Self::Chare>, arguments: Self::Arguments, nocopy: NocopyArguments<'_>);
    /// Runs its post method.
    fn post(_this: ThisRef<'_, Self::Chare>, _arguments: &Self::Arguments, _posts: Posts) {
        unreachable!("only entries with posted parameters have a post method")
    }
}
