//! Syntax trees of the macro: a block as it was written, and the chare that it means.
//!
//! `parse` makes a [`Block`], with the helper attributes taken off and method bodies as unread tokens: the compiler
//! reads bodies, and a broken body must not hide the block from it.
//! `check` makes a [`Chare`] of its sound parts; `expand` reads nothing else.

use proc_macro2::{Group, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt, quote};
use syn::{
    Attribute, Expr, Generics, Ident, ImplItem, ItemImpl, Meta, Path, Signature, Token, Type, Visibility,
    parse_quote,
};

/// An impl block as it was written.
#[derive(Debug)]
pub(crate) struct Block {
    /// The options in the parentheses of `#[chare(..)]`.
    pub(crate) options: Vec<ChareOption>,
    /// The block without its items.
    pub(crate) header: ItemImpl,
    pub(crate) items: Vec<Item>,
}

/// One thing in the parentheses of `#[chare(..)]`.
#[derive(Debug)]
pub(crate) enum ChareOption {
    /// `index = Type`
    Index { name: Ident, ty: Type },
    /// `on_panic = policy`
    OnPanic { name: Ident, policy: Expr },
    /// `migrate`
    Migrate(Ident),
    /// `sync`
    Sync(Ident),
    /// A kind, if it is known.
    Kind(Meta),
}

/// An item of the block.
#[derive(Debug)]
pub(crate) enum Item {
    Method(Method),
    /// A constant, type or macro: untouched.
    Other(ImplItem),
}

/// A function of the block.
#[derive(Debug)]
pub(crate) struct Method {
    /// Without the helper attributes.
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) visibility: Visibility,
    /// Without `#[nocopy]` and `#[reference]`.
    pub(crate) signature: Signature,
    /// None where a semicolon stands instead.
    pub(crate) body: Option<Group>,
    pub(crate) role: Role,
    /// The `#[nocopy]` parameters by their position.
    pub(crate) nocopy: Vec<NocopyMark>,
    /// The `#[reference]` parameters by their position.
    pub(crate) references: Vec<ReferenceMark>,
}

/// The role that a method's helper attribute gives it.
#[derive(Debug)]
pub(crate) enum Role {
    Helper,
    /// `#[entry]`, and the tokens of the attribute.
    Entry {
        mark: TokenStream,
        options: EntryOptions,
    },
    /// `#[post(entry)]`
    Post {
        entry: Ident,
    },
    /// `#[moved]` and its like
    Hook {
        mark: Attribute,
        moment: Moment,
    },
}

/// The moment at which a hook of a chare that migrates runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    /// Before its state leaves the PE.
    AboutToMove,
    /// On the new PE, before all calls.
    Moved,
    /// When somebody asks how much work the chare is.
    Load,
    /// When somebody asks where it lies.
    Position,
}

impl Moment {
    pub(crate) const ALL: [Self; 4] = [Self::AboutToMove, Self::Moved, Self::Load, Self::Position];

    /// The name of the helper attribute.
    pub(crate) fn attribute(self) -> &'static str {
        match self {
            Self::AboutToMove => "about_to_move",
            Self::Moved => "moved",
            Self::Load => "load",
            Self::Position => "position",
        }
    }
}

/// The options in the parentheses of `#[entry(..)]`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct EntryOptions {
    pub(crate) expedited: bool,
    pub(crate) priority: Option<i32>,
    pub(crate) demand: Option<Demand>,
    pub(crate) inline: bool,
    pub(crate) when_idle: bool,
    pub(crate) awaited: bool,
    pub(crate) immediate: bool,
    pub(crate) local: bool,
    pub(crate) aggregate: Option<Aggregate>,
}

/// The options in the parentheses of `aggregate(..)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Aggregate {
    pub(crate) buffer_bytes: Option<u32>,
    pub(crate) dimensions: Option<u32>,
    pub(crate) flush_after_us: Option<u32>,
}

impl EntryOptions {
    /// Whether an entry of a trait may have these options: they concern the caller alone.
    pub(crate) fn is_for_traits(self) -> bool {
        let Self { expedited, immediate, priority, .. } = self;
        self == Self { expedited, immediate, priority, ..Self::default() }
    }
}

/// Where an element is created that is called before it exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Demand {
    Here,
    Home,
}

/// A `#[nocopy]` on a parameter.
#[derive(Debug)]
pub(crate) struct NocopyMark {
    pub(crate) attribute: Attribute,
    /// The parameter's position, a receiver included.
    pub(crate) position: usize,
    /// `None` if the attribute says something unknown.
    pub(crate) passing: Option<Passing>,
}

/// A `#[reference]` on a parameter.
#[derive(Debug)]
pub(crate) struct ReferenceMark {
    pub(crate) attribute: Attribute,
    /// The parameter's position, a receiver included.
    pub(crate) position: usize,
}

impl Method {
    /// Whether the method only declares which calls an `async` entry awaits.
    pub(crate) fn is_awaited(&self) -> bool {
        matches!(self.role, Role::Entry { options: EntryOptions { awaited: true, .. }, .. })
    }

    /// Whether no message calls the method.
    pub(crate) fn is_local(&self) -> bool {
        matches!(self.role, Role::Entry { options: EntryOptions { local: true, .. }, .. })
    }
}

impl Block {
    /// The block for the compiler, with no helper attribute left and without methods that only declare.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let Self { mut header, items, .. } = self;
        let declares = |item: &Item| matches!(item, Item::Method(method) if matches!(method.role, Role::Entry { .. }) && method.body.is_none());
        let items = items.into_iter().filter(|item| !declares(item));
        header.items = items.map(|item| ImplItem::Verbatim(item.into_tokens())).collect();
        header.into_token_stream()
    }
}

impl Item {
    fn into_tokens(self) -> TokenStream {
        match self {
            Self::Other(item) => item.into_token_stream(),
            Self::Method(Method { attributes, visibility, signature, body, .. }) => {
                let mut tokens = TokenStream::new();
                tokens.append_all(attributes);
                visibility.to_tokens(&mut tokens);
                signature.to_tokens(&mut tokens);
                match body {
                    Some(body) => body.to_tokens(&mut tokens),
                    None => <Token![;]>::default().to_tokens(&mut tokens),
                }
                tokens
            }
        }
    }
}

/// A chare, sound in everything the macro can see.
#[derive(Debug)]
pub(crate) struct Chare {
    /// The last name of `path`, after which the proxies are named.
    pub(crate) name: Ident,
    /// The type as the block writes it.
    pub(crate) path: Path,
    /// The block's parameters; a chare that has some is registered for each type that the program asks for.
    pub(crate) generics: Generics,
    pub(crate) kind: Kind,
    pub(crate) on_panic: OnPanic,
    /// Its hooks, if it migrates.
    pub(crate) hooks: Option<Vec<Hook>>,
    /// Whether it takes part in syncs.
    pub(crate) syncs: bool,
    /// The type that names an element: an array's own, or the numbers of PEs and nodes.
    pub(crate) index: Type,
    /// The block's `#[cfg(..)]`, which all generated code repeats.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) constructor: Constructor,
    pub(crate) entries: Vec<Entry>,
    pub(crate) locals: Vec<LocalEntry>,
    pub(crate) hints: Vec<Hint>,
}

/// A method that the runtime calls when a chare moves, or to know whether it should.
#[derive(Debug)]
pub(crate) struct Hook {
    pub(crate) moment: Moment,
    pub(crate) method: Ident,
    /// Its `#[cfg(..)]`, which the code generated for it repeats.
    pub(crate) conditions: Vec<Attribute>,
}

/// A method that no message calls, which proxies have all the same, for what the compiler says about its calls.
#[derive(Debug)]
pub(crate) struct Hint {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    /// Its `#[cfg(..)]`, which all code generated for it repeats.
    pub(crate) conditions: Vec<Attribute>,
    /// How many arguments a call gives.
    pub(crate) parameters: usize,
    pub(crate) why: Why,
}

/// Why no message calls a method.
#[derive(Debug)]
pub(crate) enum Why {
    /// It is no entry.
    NoEntry,
    /// It is one that has an error of its own. What it returns, as far as that is sound.
    Unsound { result: Option<Box<Type>> },
}

/// A trait of entries, sound in everything the macro can see.
#[derive(Debug)]
pub(crate) struct EntryTrait {
    pub(crate) name: Ident,
    /// The trait of entries that it extends.
    pub(crate) base: Option<Path>,
    /// The proxy of one chare.
    pub(crate) proxy: Ident,
    /// The proxy of a whole collection.
    pub(crate) collection: Ident,
    /// The proxy of a section.
    pub(crate) section: Ident,
    pub(crate) visibility: Visibility,
    /// The trait's `#[cfg(..)]`, which all generated code repeats.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) entries: Vec<Entry>,
}

/// Which collection the chares form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Singleton,
    Array,
    Group,
    NodeGroup,
}

/// What follows from a panic in an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnPanic {
    End,
    Answer,
    Renew,
}

#[derive(Debug)]
pub(crate) struct Constructor {
    pub(crate) name: Ident,
    pub(crate) visibility: Visibility,
    /// Its documentation, which the proxies repeat.
    pub(crate) docs: Vec<Attribute>,
    pub(crate) parameters: Parameters,
}

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Ident,
    /// The type that stands for it.
    pub(crate) marker: Path,
    pub(crate) visibility: Visibility,
    /// Its documentation, which the proxies repeat.
    pub(crate) docs: Vec<Attribute>,
    /// Its `#[cfg(..)]`, which all code generated for it repeats.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) is_async: bool,
    /// Whether it may be called again from the top: its receiver is an `Again`.
    pub(crate) is_again: bool,
    pub(crate) options: EntryOptions,
    pub(crate) parameters: Parameters,
    /// The type that it returns to its caller, if any.
    pub(crate) result: Option<Type>,
    /// The method that gives the posted buffers; set if and only if a parameter is [`Passing::Posted`].
    pub(crate) post: Option<Ident>,
}

/// An entry that is called like a function, on the chare's own PE.
#[derive(Debug)]
pub(crate) struct LocalEntry {
    pub(crate) visibility: Visibility,
    /// Its documentation, which the proxies repeat.
    pub(crate) docs: Vec<Attribute>,
    /// Its `#[cfg(..)]`, which its proxy's method repeats.
    pub(crate) conditions: Vec<Attribute>,
    /// Of the proxy's method: on `&self`, with the chare's name for `Self`.
    pub(crate) signature: Signature,
    /// The names of its parameters.
    pub(crate) arguments: Vec<Ident>,
}

/// The parameters of a constructor or entry, without a receiver or `This`.
#[derive(Debug)]
pub(crate) struct Parameters {
    /// In source order; the callback for the result comes last.
    pub(crate) list: Vec<Parameter>,
    /// The source that they stand in: an error about the message as a whole belongs there.
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Ident,
    /// With the chare's name for `Self`, so that it means the same in a proxy.
    pub(crate) ty: Type,
    pub(crate) passing: Passing,
    /// Whether it tells the calls of an awaited entry from each other.
    pub(crate) is_reference: bool,
}

/// How an argument gets from the caller to the entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Passing {
    /// Inside the message.
    Regular,
    /// `#[nocopy]`
    Received,
    /// `#[nocopy(post)]`
    Posted,
    /// Inside the message, put there by the proxy: the callback for the result.
    Reply,
}

impl Chare {
    /// Whether the chare stands for many types.
    pub(crate) fn is_generic(&self) -> bool {
        !self.generics.params.is_empty()
    }

    /// The generic parameters, bounded to registered types.
    pub(crate) fn bounds(&self) -> Generics {
        let (mut generics, path) = (self.generics.clone(), &self.path);
        if self.is_generic() {
            generics.make_where_clause().predicates.push(parse_quote!(#path: ::chare::Instantiated));
        }
        generics
    }

    /// A generated type that has the chare's parameters.
    pub(crate) fn with_arguments(&self, name: &Ident) -> TokenStream {
        let (_, arguments, _) = self.generics.split_for_impl();
        quote!(#name #arguments)
    }
}

impl Entry {
    /// Whether buffers travel beside its messages. Callbacks, which carry a message only, cannot call such an entry.
    pub(crate) fn takes_nocopy(&self) -> bool {
        self.parameters.beside().next().is_some()
    }
}

impl Passing {
    /// Whether the argument travels beside the message.
    pub(crate) fn is_beside(self) -> bool {
        matches!(self, Self::Received | Self::Posted)
    }
}

impl Parameters {
    /// Those that are part of the message.
    pub(crate) fn in_message(&self) -> impl Iterator<Item = &Parameter> {
        self.list.iter().filter(|parameter| !parameter.passing.is_beside())
    }

    /// Those that travel beside the message: nocopy parameters of both kinds.
    pub(crate) fn beside(&self) -> impl Iterator<Item = &Parameter> {
        self.list.iter().filter(|parameter| parameter.passing.is_beside())
    }

    /// Those that the post method sees: received ones are not there yet when it runs, and it has no part in a result.
    pub(crate) fn seen_by_post(&self) -> impl Iterator<Item = &Parameter> {
        let is_seen = |passing| matches!(passing, Passing::Regular | Passing::Posted);
        self.list.iter().filter(move |parameter| is_seen(parameter.passing))
    }
}
