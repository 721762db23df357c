//! Misuse messages of the macro, in one table. A message says what is wrong or why it cannot be, then what to write instead.

use std::fmt;

/// A use of the attributes that they cannot accept.
#[derive(Debug)]
pub(crate) enum Misuse {
    // The block.
    NotAnImplBlock,
    TraitImpl,
    GenericBlock,
    NotANamedType,
    UnknownKind {
        found: String,
    },
    TwoKinds,
    IndexWithoutArray,
    UnknownPolicy {
        found: String,
    },
    MigrateWithoutArray,
    /// `sync` on a chare that does not migrate.
    SyncWithoutMigrate,
    // Helper attributes.
    Outside {
        attribute: &'static str,
    },
    NotOnAMethod {
        attribute: &'static str,
    },
    TwoRoles,
    UnknownOption {
        found: String,
    },
    DuplicateOption {
        option: &'static str,
    },
    ValuedOption {
        option: &'static str,
    },
    PriorityNotI32,
    TwoLanes,
    TwoDemands,
    DemandWithoutArray,
    DemandWithArguments,
    IdleReturn,
    InlineAsync,
    InlineNocopy,
    AwaitedForm,
    AwaitedOption,
    LocalOption,
    LocalForm,
    LocalBorrow,
    AggregateOption,
    AggregateWithOther,
    AggregateNocopy,
    AggregateReturn,
    AggregateOfOne,
    // The constructor.
    NoConstructor {
        chare: String,
    },
    TwoConstructors,
    AsyncConstructor,
    ConstructorReturn,
    ConstructorNocopy,
    ConstructorOption,
    ConditionalConstructor,
    // Entry methods.
    NoBody,
    MissingReceiver,
    ReceiverByValue,
    TypedReceiver,
    AsyncReceiver,
    PlainThis {
        handle: &'static str,
    },
    ThisOfAnother {
        handle: &'static str,
    },
    MisplacedThis {
        handle: &'static str,
    },
    AgainWithoutMigrate,
    AgainOfTrait,
    AgainNocopy,
    AgainAggregate,
    FieldOfThis {
        this: String,
        field: String,
    },
    BorrowedReturn,
    ImplTraitReturn,
    Generic,
    Qualified {
        qualifier: &'static str,
    },
    Pattern,
    ConditionalParameter,
    ImplTraitArgument,
    BorrowedArgument,
    TooManyArguments {
        limit: usize,
    },
    ReservedName {
        name: String,
    },
    CallbackName {
        name: String,
        entry: String,
    },
    // Nocopy parameters.
    UnknownNocopy,
    DuplicateNocopy,
    NocopyOutsideEntry,
    NocopyType,
    NocopyPostType,
    UnmarkedNocopy {
        mark: &'static str,
    },
    // Reference numbers.
    ReferenceOutsideAwaited,
    ReferenceNocopy,
    TwoReferences,
    ValuedReference,
    // Post methods.
    PostWithoutEntry,
    PostForUnknownEntry {
        entry: String,
    },
    PostForPlainEntry {
        entry: String,
    },
    PostMissing {
        entry: String,
        expected: String,
    },
    TwoPosts {
        entry: String,
    },
    AsyncPost,
    PostReturn,
    PostParameters {
        entry: String,
        expected: String,
    },
    // Hooks.
    ValuedHook {
        attribute: &'static str,
    },
    HookWithoutMigrate {
        attribute: &'static str,
    },
    TwoHooks {
        attribute: &'static str,
    },
    HookForm {
        attribute: &'static str,
        form: String,
    },
    // Traits.
    NotEntries,
    EntriesOption,
    GenericTrait,
    TraitEntryForm,
    TraitSelf,
    // Reducers.
    NotAReducer,
    GenericReducer,
    // Balancers.
    NotABalancer,
    UnknownNeed {
        found: String,
    },
    AsyncBalancer,
    UnsafeBalancer,
    GenericBalancer,
    BalancerParameters,
    BalancerReturn,
}

impl fmt::Display for Misuse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Misuse::*;
        match self {
            NotAnImplBlock => {
                out.write_str("#[chare] stands on the chare's impl block: write `#[chare] impl Name { .. }`")
            }
            TraitImpl => out.write_str(
                "#[chare] stands on the chare's own impl block, not on the implementation of a trait: write `impl Name { .. }`",
            ),
            GenericBlock => out.write_str(
                "a generic chare is written for all its types, `impl<T> Name<T>`, and borrows nothing: leave lifetimes out, and ask for the types that the program uses by `chare::instantiate!(Name<f64>)`",
            ),
            NotANamedType => out.write_str("a chare is a struct or an enum: write `impl Name { .. }`"),
            UnknownKind { found } => write!(
                out,
                "`{found}` is no kind of chare: write #[chare] for a single one, #[chare(array)], #[chare(group)] or #[chare(nodegroup)]"
            ),
            TwoKinds => out.write_str("a chare has one kind: keep one of `array`, `group` and `nodegroup`"),
            IndexWithoutArray => {
                out.write_str("only an array has indices of its own: write #[chare(array, index = TYPE)]")
            }

            UnknownPolicy { found } => write!(
                out,
                "`{found}` is nothing that may follow from a panic: write on_panic = end, where the job ends, on_panic = answer, where the caller gets an error and the chare goes on, or on_panic = renew, where the chare is also made anew"
            ),
            SyncWithoutMigrate => out.write_str(
                "the elements that are balanced at syncs are those that move: write #[chare(array, migrate, sync)]",
            ),
            MigrateWithoutArray => out.write_str(
                "only an element of an array moves, for the name of any other chare is its place: write #[chare(array, migrate)]; an array of one element moves, too",
            ),

            Outside { attribute } => {
                write!(out, "use #[{attribute}] inside an impl block marked #[chare], and not inside #[cfg_attr(..)]")
            }
            NotOnAMethod { attribute } => write!(out, "#[{attribute}] stands on a method"),
            TwoRoles => out.write_str("a method has one role: keep one #[entry], one #[post(..)] or one hook"),
            UnknownOption { found } => write!(
                out,
                "`{found}` is no option of an entry: the options are `aggregate`, `awaited`, `create_here`, `create_home`, `expedited`, `immediate`, `inline`, `local`, `priority = NUMBER` and `when_idle`"
            ),
            DuplicateOption { option } => write!(out, "`{option}` is given twice: keep one"),
            ValuedOption { option } => write!(out, "`{option}` takes no value: write #[entry({option})]"),
            PriorityNotI32 => out.write_str(
                "a priority is an `i32` literal, and the smaller one runs first: write for example #[entry(priority = -5)]",
            ),
            TwoLanes => out.write_str(
                "an entry waits in one way for its turn: keep one of `priority`, `expedited`, `immediate` and `when_idle`",
            ),
            TwoDemands => out.write_str(
                "an element that does not exist is created in one place: keep one of `create_here` and `create_home`",
            ),
            DemandWithoutArray => out.write_str(
                "only an element of an array is created on demand: write #[chare(array)], or leave out `create_here` and `create_home`",
            ),
            DemandWithArguments => out.write_str(
                "nobody gives arguments to the constructor of an element that is created on demand: let the constructor take none",
            ),
            IdleReturn => out.write_str(
                "an entry that runs when its PE is idle says whether it wants to run again: write `fn name(&mut self) -> bool`, without arguments and not `async`",
            ),
            InlineAsync => out.write_str(
                "an inline entry is over when its call returns: remove `async` or `inline`",
            ),
            AwaitedForm => out.write_str(
                "an awaited entry is declared, for no call runs it: write `#[entry(awaited)] fn name(ARGUMENTS);`, without receiver, `async` and body, and await its calls in an `async` entry, `this.when(Self::name).await`",
            ),
            AwaitedOption => out.write_str(
                "the calls of an awaited entry wait until an `async` entry asks for them: remove `inline` or `when_idle`",
            ),
            LocalOption => out.write_str(
                "a local entry is called like a function and waits for nothing: write #[entry(local)] alone",
            ),
            LocalForm => out.write_str(
                "a local entry is called like a function: let it take `&mut self` or `&self`, and remove `async` and #[nocopy]",
            ),
            LocalBorrow => out.write_str(
                "the chare is lent to its local entry for the length of the call: return a value that borrows nothing",
            ),
            AggregateOption => out.write_str(
                "aggregation has the options `buffer_bytes = NUMBER`, `dimensions = NUMBER` (1, 2 or 3) and `flush_after_us = NUMBER`: write for example #[entry(aggregate(buffer_bytes = 4096, dimensions = 2))]",
            ),
            AggregateWithOther => out.write_str(
                "calls that travel together are plain ones of elements that exist: beside `aggregate`, keep none but `expedited`, `immediate` or `priority`",
            ),
            AggregateNocopy => out.write_str(
                "calls that travel together are small and carry all they say: pass the data as a regular argument, or remove `aggregate`",
            ),
            AggregateReturn => out.write_str(
                "nobody waits for one of many calls that travel together: return nothing and answer by a call, or remove `aggregate`",
            ),
            AggregateOfOne => out.write_str(
                "only calls of an array's, group's or nodegroup's elements travel together: write #[chare(array)] or another kind of collection, or remove `aggregate`",
            ),
            InlineNocopy => out.write_str(
                "an inline call moves its arguments where they are needed already: remove #[nocopy] or `inline`",
            ),

            NoConstructor { chare } => write!(
                out,
                "`{chare}` has no constructor: mark the function that makes the chare, `#[entry] fn new(..) -> Self`"
            ),
            TwoConstructors => out.write_str(
                "a chare has one constructor, the #[entry] without a receiver: remove #[entry] here, or take `&mut self`",
            ),
            AsyncConstructor => out.write_str(
                "a constructor cannot be `async`: make the chare at once, and wait in an `async` entry",
            ),
            ConstructorReturn => out.write_str(
                "an #[entry] without a receiver is the constructor, which returns `Self`; for an entry method, take `&mut self`",
            ),
            ConstructorNocopy => out.write_str(
                "a constructor takes no nocopy parameters: pass the data as a regular argument, or to an entry of the new chare",
            ),
            ConstructorOption => out.write_str("a constructor takes no options: write #[entry]"),
            ConditionalConstructor => out.write_str(
                "a chare always has its constructor: put #[cfg(..)] on the impl block or into the constructor's body",
            ),

            NoBody => out.write_str(
                "an entry has a body; if an `async` entry awaits its calls instead, declare it without a receiver and mark it #[entry(awaited)]",
            ),
            MissingReceiver => out.write_str(
                "an entry method takes `&mut self` or `&self`, and an `async` one takes `this: This<Self>`; only the constructor has no receiver, and it returns `Self`",
            ),
            ReceiverByValue => {
                out.write_str("an entry cannot take the chare out of the runtime: take `&mut self` or `&self`")
            }
            TypedReceiver => out.write_str("an entry's receiver is `&mut self` or `&self`, without a type"),
            AsyncReceiver => out.write_str(
                "other entries run while an `async` entry waits, so it cannot hold the chare: take `this: This<Self>` and reach the chare with `this.with(|chare| ..)`",
            ),
            PlainThis { handle } => write!(
                out,
                "only an `async` entry takes `{handle}<Self>`: write `async fn`, or take `&mut self`"
            ),
            ThisOfAnother { handle } => {
                write!(out, "an entry starts on its own chare: write `this: {handle}<Self>`")
            }
            MisplacedThis { handle } => write!(
                out,
                "`{handle}<Self>` is no argument: it is the first parameter of an `async` entry, instead of a receiver"
            ),
            AgainWithoutMigrate => out.write_str(
                "a chare without `migrate` never moves, so its entries are called once: write #[chare(array, migrate)] on the block, or take `this: This<Self>`",
            ),
            AgainOfTrait => out.write_str(
                "chares that stay implement the trait, too, and are called once: take `this: This<Self>`",
            ),
            AgainNocopy => out.write_str(
                "an entry that may be called again gets its arguments again, and a buffer comes once: pass the data as a regular argument, or take `this: This<Self>`",
            ),
            AgainAggregate => out.write_str(
                "calls that travel together are small and many, and of this one everything is kept until it is over: remove `aggregate`, or take `this: This<Self>`",
            ),
            FieldOfThis { this, field } => write!(
                out,
                "`{this}` is a handle, for other entries run while this one waits: reach the chare's `{field}` by `{this}.with(|chare| chare.{field})`"
            ),
            BorrowedReturn => out.write_str(
                "a result travels to another PE or node and cannot borrow: return the value, `String` for `&str`, `Vec<T>` for `&[T]`",
            ),
            ImplTraitReturn => {
                out.write_str("a result becomes a message, which has one type: write the type out")
            }
            Generic => out.write_str(
                "an entry has no generic parameters, for its messages have one type: write the types out",
            ),
            Qualified { qualifier } => {
                write!(out, "the runtime calls this for messages from anywhere: remove `{qualifier}`")
            }
            Pattern => out.write_str(
                "a parameter of an entry is a name, which the proxy's method repeats: write `name: Type` and take it apart in the body",
            ),
            ConditionalParameter => {
                out.write_str("a parameter cannot be conditional: put #[cfg(..)] on the whole method")
            }
            ImplTraitArgument => out.write_str("an argument becomes part of a message, which has one type: write the type out"),
            BorrowedArgument => out.write_str(
                "an argument travels to another PE or node and cannot borrow: take the value, `String` for `&str`, `Vec<T>` for `&[T]`",
            ),
            TooManyArguments { limit } => {
                write!(out, "an entry takes at most {limit} regular arguments: put some of them into a struct")
            }
            ReservedName { name } => {
                write!(out, "every proxy of this kind has a method `{name}` of its own: give the entry another name")
            }
            CallbackName { name, entry } => write!(
                out,
                "the proxy's `{name}` makes callbacks that call the entry `{entry}`: give one of the two entries another name"
            ),

            UnknownNocopy => out.write_str(
                "write #[nocopy] to receive in place, or #[nocopy(post)] to receive into a buffer that the post method gives",
            ),
            DuplicateNocopy => out.write_str("a parameter has one #[nocopy]: keep one"),
            NocopyOutsideEntry => {
                out.write_str("#[nocopy] stands on an argument of a method that is marked #[entry]")
            }
            NocopyType => out.write_str(
                "a #[nocopy] parameter is a `Received<T>` or a `ReceivedView<T>`, or a `DeviceReceived<T>` on a device; to receive into a buffer of your own, write #[nocopy(post)] and `Posted<T>` or `DevicePosted<T>`",
            ),
            NocopyPostType => out.write_str(
                "a #[nocopy(post)] parameter is a `Posted<T>`, or a `DevicePosted<T>` on a device; to receive in place, write #[nocopy] and `Received<T>` or `DeviceReceived<T>`",
            ),
            UnmarkedNocopy { mark } => write!(out, "a parameter of this type is received without a copy: mark it {mark}"),

            ReferenceOutsideAwaited => out.write_str(
                "#[reference] tells the calls of an entry from each other that is awaited: mark the entry #[entry(awaited)], or remove it",
            ),
            ReferenceNocopy => out.write_str("a reference number travels in the message: mark a regular argument"),
            TwoReferences => out.write_str(
                "an entry has one reference number: keep one #[reference], and make it a tuple if it takes several numbers",
            ),
            ValuedReference => out.write_str("write #[reference] alone: it stands on the argument that is the reference number"),

            PostWithoutEntry => out.write_str("name the entry that this method posts buffers for: write #[post(entry_name)]"),
            PostForUnknownEntry { entry } => {
                write!(out, "this block has no entry `{entry}`: name one that has a #[nocopy(post)] parameter")
            }
            PostForPlainEntry { entry } => write!(
                out,
                "the entry `{entry}` has no #[nocopy(post)] parameter to post a buffer for: mark one, or remove this post method"
            ),
            PostMissing { entry, expected } => write!(
                out,
                "the entry `{entry}` needs a method that gives the buffers: add `#[post({entry})] fn {entry}_post({expected})`"
            ),
            TwoPosts { entry } => write!(out, "the entry `{entry}` has another post method already: keep one"),
            AsyncPost => out.write_str("a post method gives its buffers at once: remove `async`"),
            PostReturn => out.write_str("a post method returns nothing: give each buffer with `Post::post`, or `Post::post_device` on a device"),
            PostParameters { entry, expected } => {
                write!(out, "the post method of `{entry}` has these parameters: `({expected})`")
            }

            ValuedHook { attribute } => write!(out, "write #[{attribute}] alone"),
            HookWithoutMigrate { attribute } => write!(
                out,
                "a chare without `migrate` never moves, so nothing calls #[{attribute}]: write #[chare(array, migrate)] on the block, or remove it"
            ),
            TwoHooks { attribute } => write!(out, "another method is marked #[{attribute}] already: keep one"),
            HookForm { attribute, form } => write!(out, "the runtime calls #[{attribute}] in this form: write `{form}`"),

            NotEntries => out.write_str(
                "#[entries] stands on a trait whose entries chares implement, or on its implementation for a chare: write `#[entries] trait Name { .. }` or `#[entries] impl Name for Chare { .. }`",
            ),
            EntriesOption => out.write_str(
                "#[entries] has one option, for a trait: `extends = Name` names the trait of entries whose methods its proxies have, too",
            ),
            GenericTrait => out.write_str(
                "every process finds a trait of entries by its name, so it is one trait: use one without generic parameters",
            ),
            TraitEntryForm => out.write_str(
                "an entry of a trait has no options but `expedited`, `immediate` and `priority`, and no post method: leave that to entries of the chare itself",
            ),
            TraitSelf => out.write_str(
                "the callers of a trait's entry do not know the chare's type: write a type out that is the same for all",
            ),

            NotAReducer => out.write_str(
                "#[reducer] stands on the implementation of the trait for a struct or an enum: write `#[reducer] impl Reducer for Name { .. }`",
            ),
            GenericReducer => out.write_str(
                "every process finds a reducer by its name, so it is one type: use a type without generic parameters",
            ),

            NotABalancer => out.write_str(
                "#[balancer] stands on a function: write `#[chare::balancer] fn name(loads: &Loads, moves: &mut Moves) { .. }`",
            ),
            UnknownNeed { found } => write!(
                out,
                "`{found}` is nothing that a balancer can ask for: write #[chare::balancer], or #[chare::balancer(needs = edges)] for one that looks at who calls whom"
            ),
            AsyncBalancer => out.write_str(
                "a balancer has all that it looks at, and waits for nothing: leave out `async`",
            ),
            UnsafeBalancer => {
                out.write_str("the runtime calls a balancer and knows of no conditions: leave out `unsafe`")
            }
            GenericBalancer => out.write_str(
                "a balancer is found by its name, so it is one function: leave out the generic parameters",
            ),
            BalancerParameters => out.write_str(
                "a balancer takes the loads and plans moves: write `fn name(loads: &Loads, moves: &mut Moves)`",
            ),
            BalancerReturn => out.write_str(
                "a balancer says what it plans by `moves.to(object, pe)`, and returns nothing: leave out the return type",
            ),
        }
    }
}
