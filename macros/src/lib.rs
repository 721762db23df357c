//! Macros of `chare`. [`chare`](macro@chare) takes an impl block and returns the same block, its proxies and its registration.
//!
//! ```text
//! tokens -- parse --> Block -- check --> Chare -- expand --> tokens
//!                       \________ errors, all of them ________/
//! ```
//! 1. The block itself always goes back to the compiler, without the helper attributes, whatever is wrong with it.
//! 2. All misuses are reported at once, each where it stands (`errors`: the table of messages).
//! 3. Generated code is thin: it calls `::chare::macro_support` and decides nothing.

mod ast;
mod balancer;
mod check;
mod entry_trait;
mod errors;
mod expand;
mod layout;
mod misuse;
mod parse;
mod reducer;

use errors::{Errors, Misuse};
use proc_macro2::TokenStream;

/// Makes a chare of the type whose impl block it stands on.
///
/// The block gets a proxy type (a collection: one for the whole, one for an element) with one method for each entry, which
/// sends a message instead of calling. The block's own functions stay what they are.
///
/// | on the block | the chares are | proxies of `Cell` |
/// |---|---|---|
/// | `#[chare]` | created one by one | `CellProxy` |
/// | `#[chare(array)]` | a collection with indices, which are `u64` | `CellProxy`, `CellElementProxy` |
/// | `#[chare(array, index = usize)]`, `index = (u32, u32)` | a collection with indices of this type | `CellProxy`, `CellElementProxy` |
/// | `#[chare(group)]` | one for each PE | `CellProxy`, `CellElementProxy` |
/// | `#[chare(nodegroup)]` | one for each node | `CellProxy`, `CellElementProxy` |
///
/// Each of them may say what follows from a panic in an entry, `#[chare(array, on_panic = answer)]`:
///
/// | `on_panic =` | what follows |
/// |---|---|
/// | `end`, or nothing | the job ends, on all nodes, and says which entry panicked where |
/// | `answer` | that is said, too, but the job goes on, and so does the chare, with the state that the panic left. Whoever awaits the entry's result panics in turn, or gets an error by `proxy.ask().checked().await`. An entry whose result was to go to anything else than a future ends the job. |
/// | `renew` | as `answer`, and the chare is constructed anew, in its place, from a clone of the arguments that it was made of, which are kept for that. Its waiting `async` entries are dropped. |
///
/// What an entry calls like a function, by `local` and the like, panics as a part of it. A panic in a constructor or a post method, or in a `drop` at the job's end, always ends the job.
///
/// Elements of `#[chare(array, migrate)]`, of any `index` and `on_panic`, may move to other PEs while the job runs; whoever calls them notices
/// nothing. Their type is `Serialize`, `DeserializeOwned` and `Send`. Inside a process the value itself moves, without a copy of what it owns;
/// between processes it is encoded, and fields marked `#[serde(skip)]` stay behind. The calls that wait for its awaited entries go along. An
/// element stays where it is while something would be left behind: an entry runs or waits for something, a task or a closure has a `This`; and, if
/// it is to go to another process, a call of an awaited entry waits with elements on a device or in a part of a buffer that a post method gave.
/// An element that never moves costs no more than one of an array without `migrate`.
///
/// Such a chare may have hooks, each at most once: ordinary methods that the runtime calls, and no message. A panic in one ends the job, also
/// where the chares outlive panics of entries.
///
/// | on a method | the runtime calls it |
/// |---|---|
/// | `#[about_to_move] fn pack(&mut self)` | before the state leaves its PE |
/// | `#[moved] fn settle(&mut self, from: PeId)` | on the new PE, before all calls: the place to make anew what did not go along |
/// | `#[load] fn work(&self) -> f64` | to know how much work the element is, in any unit that all elements share, instead of the time that was measured |
/// | `#[position] fn place(&self) -> [f64; 3]` | to know where the element lies among the others, in one, two or three dimensions: `[f64; 1]` and `[f64; 2]` will do |
///
/// | on a function | it is |
/// |---|---|
/// | `#[entry] fn new(..) -> Self` | the constructor: each chare has exactly one, of any name; its visibility is that of the proxies |
/// | `#[entry] fn step(&mut self, ..)` | an entry method: `&mut self` or `&self`, up to 12 regular arguments |
/// | `#[entry] fn ask(&mut self, ..) -> T` | an entry whose result comes back: the proxy of one chare returns a `Future<T>`; up to 11 regular arguments |
/// | `#[entry] async fn run(this: This<Self>, ..)` | an entry method that may wait; other entries run meanwhile |
/// | `#[entry(awaited)] fn ghost(..);` | an entry that no call runs: an `async` entry awaits its calls, `this.when(Self::ghost).await` |
/// | `#[entry(aggregate)]` | an entry whose calls travel together, many in one message: for elements of collections, with regular arguments and no result; calls of all, of sections and with options travel alone |
/// | `#[entry(aggregate(buffer_bytes = 4096, dimensions = 2, flush_after_us = 100))]` | the same, with the bytes that a buffer holds (16,384 bytes without), the dimensions of the grid of PEs (1), and how long a call waits at most on a PE that is busy with short entries (1,000 microseconds) |
/// | `#[entry(expedited)]` | an entry that overtakes the queue |
/// | `#[entry(priority = -5)]` | an entry with a priority, an `i32`: smaller runs first; without, it is 0 |
/// | `#[entry(create_here)]` | an entry that creates the element of an array that it calls if there is none, on the caller's PE; its constructor takes no arguments |
/// | `#[entry(create_home)]` | the same, at the element's home |
/// | `#[entry(immediate)]` | an entry that overtakes expedited ones, too |
/// | `#[entry(local)] fn look(&self, ..) -> T` | an entry that is called like a function, with arguments and a result of any type; its chare must be on the caller's PE |
/// | `#[entry(inline)]` | an entry that is called like a function where its chare is on the caller's PE and not in an entry, and the stack has room; else by a message |
/// | `#[entry(when_idle)] fn idle(&mut self) -> bool` | an entry whose calls wait until their PE has nothing else to do; it runs again for as long as it returns `true` |
/// | `#[post(step)] fn give(&mut self, ..)` | the post method of the entry `step`: takes its regular arguments by reference and each `Posted<T>` as `Post<T>` |
/// | nothing | an ordinary function, which no message reaches |
///
/// | on a parameter of an entry | its type | a caller passes | the entry sees |
/// |---|---|---|---|
/// | nothing | any message type | the value | the value |
/// | `#[nocopy]` | `Received<T>` | `Vec<T>`, `Buffer<T>` or `SendBuffer<T>` | the sender's memory, or memory of the runtime |
/// | `#[nocopy(post)]` | `Posted<T>` | the same | the buffer that the post method gave, filled |
/// | `#[nocopy]` | `DeviceReceived<T>` | `SendDeviceBuffer<T>`, or as above | the sender's memory of the device, or memory of the PE's device |
/// | `#[nocopy(post)]` | `DevicePosted<T>` | the same | the device buffer that the post method gave by `Post::post_device`, filled |
/// | `#[reference]` | any that hashes | the value | the value: one of an awaited entry, by which its calls are told from each other |
///
/// Documentation, `#[cfg]` and `#[deprecated]` of a method hold for the proxies' methods too. For every entry without
/// nocopy parameters, such as `step`, the proxies also have `step_callback`. Generated code refers to the crate `::chare`,
/// so a dependency on it keeps that name.
///
/// A block may be generic, `impl<T: Message> Stack<T>`: its proxies have the same parameters, and `chare::instantiate!(Stack<f64>)` registers the types
/// that the program uses.
///
#[cfg_attr(not(doctest), doc = include_str!("../docs/chare.md"))]
///
/// An array whose elements may move:
///
#[cfg_attr(not(doctest), doc = include_str!("../docs/migrate.md"))]
///
/// # Errors
/// Every misuse is an error of the compiler's where it stands, all of a block at once. A wrong argument in a call of a
/// proxy is an ordinary type error in that call.
#[proc_macro_attribute]
pub fn chare(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    expand_chare(options.into(), item.into()).into()
}

fn expand_chare(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let Some(mut block) = parse::parse(options, item.clone(), &mut errors) else {
        let mut tokens = item;
        tokens.extend(errors.into_tokens());
        return tokens;
    };
    let chare = check::check(&block, &mut errors);
    let generated = chare.as_ref().map(expand::expand);
    if let Some(chare) = &chare {
        block.header.generics = chare.bounds();
    }
    let mut tokens = block.into_tokens();
    tokens.extend(generated);
    tokens.extend(errors.into_tokens());
    tokens
}

/// Marks the constructor and the entry methods in an impl block marked [`chare`](macro@chare), which documents it.
///
/// # Errors
/// Anywhere else it is an error of the compiler's, which says so.
#[proc_macro_attribute]
pub fn entry(_options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse_outside("entry", item.into()).into()
}

/// Makes the methods of a trait entries, which any chare may implement.
///
/// On a trait, it adds the proxy of the trait: `ShapeProxy::of(&circle)` reaches the chare `circle` by the entries of `Shape`, as long as its
/// type implements them, and can be sent to a chare that knows no circles; `ShapeCollectionProxy::of(&circles)` reaches all members of a
/// collection, `ShapeSectionProxy::of(&some)` those of a section, `ShapeSectionProxy::form(shapes)` a new section of any types. On the
/// implementation, it makes that known to the runtime; without it, the compiler misses an item.
///
/// An entry of a trait takes `&mut self` or `&self`, or is `async` and takes `this: This<Self>`; it has the arguments of other entries, returns
/// something or nothing, and may be `expedited`, `immediate` or have a `priority`. It may have a body, which implementations replace. Methods without
/// `#[entry]` are ordinary ones.
///
/// `#[entries(extends = Shape)] trait Solid` is a trait whose chares implement `Shape`, too: `SolidProxy` has the methods of `ShapeProxy`
/// besides its own, and becomes one by `ShapeProxy::from(solid)`; so do the proxies of collections and sections. A trait extends one other,
/// and what that one extends.
///
#[cfg_attr(not(doctest), doc = include_str!("../docs/entries.md"))]
///
/// # Errors
/// Every misuse is an error of the compiler's where it stands.
#[proc_macro_attribute]
pub fn entries(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    entry_trait::expand(options.into(), item.into()).into()
}

/// Marks a post method in an impl block marked [`chare`](macro@chare), which documents it.
///
/// # Errors
/// Anywhere else it is an error of the compiler's, which says so.
#[proc_macro_attribute]
pub fn post(_options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse_outside("post", item.into()).into()
}

/// Marks the hook that runs before an element of an array moves, in an impl block marked [`chare`](macro@chare), which documents it.
///
/// # Errors
/// Anywhere else it is an error of the compiler's, which says so.
#[proc_macro_attribute]
pub fn about_to_move(
    _options: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
) -> proc_macro::TokenStream {
    refuse_outside("about_to_move", item.into()).into()
}

/// Marks the hook that runs when an element of an array has moved, in an impl block marked [`chare`](macro@chare), which documents it.
///
/// # Errors
/// Anywhere else it is an error of the compiler's, which says so.
#[proc_macro_attribute]
pub fn moved(_options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse_outside("moved", item.into()).into()
}

/// Marks the hook that says how much work an element of an array is, in an impl block marked [`chare`](macro@chare), which documents it.
///
/// # Errors
/// Anywhere else it is an error of the compiler's, which says so.
#[proc_macro_attribute]
pub fn load(_options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse_outside("load", item.into()).into()
}

/// Marks the hook that says where an element of an array lies, in an impl block marked [`chare`](macro@chare), which documents it.
///
/// # Errors
/// Anywhere else it is an error of the compiler's, which says so.
#[proc_macro_attribute]
pub fn position(_options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    refuse_outside("position", item.into()).into()
}

/// Makes the type of an `impl Reducer for Name` known to every process of a job. The trait documents how it is used.
///
/// # Errors
/// On anything but that implementation, and on generic types, it is an error of the compiler's.
#[proc_macro_attribute]
pub fn reducer(_options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    reducer::expand(item.into()).into()
}

/// Makes a balancer of a function: `+balancer spread` then has `spread` say which objects move.
///
/// The function stays what it is, so a test calls it by `chare::balance_by(spread, &loads)`, without a job. It takes `&Loads` and
/// `&mut Moves`, and returns nothing. Its name is no other balancer's of the program, nor one of those that are there: that is found out when
/// the name is asked for.
///
/// | | gets |
/// |---|---|
/// | `#[chare::balancer]` | loads without edges |
/// | `#[chare::balancer(needs = edges)]` | also who called whom, which is counted only if the balancer asks |
///
#[cfg_attr(not(doctest), doc = include_str!("../docs/balancer.md"))]
///
/// # Errors
/// Every misuse is an error of the compiler's where it stands, all at once.
#[proc_macro_attribute]
pub fn balancer(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    balancer::expand(options.into(), item.into()).into()
}

/// Makes layouts of fields of a struct: what of each element of a buffer is meant, and the type of what is packed.
///
/// `#[layout(place(x, id))]` on a struct `Particle` adds
///
/// | | |
/// |---|---|
/// | `Particle::place()` | the `chare::layout::Layout<Particle, ParticlePlace>` of one particle; its extent is a particle, so `repeat` and `of` make it one of many |
/// | `ParticlePlace` | the struct of a packed element: the fields `x` and `id` in this order, `#[repr(C)]`, plain data that may be the element of a nocopy buffer |
///
/// Both are as visible as the struct; the fields keep their visibility and documentation. A struct may have several such names, each with
/// fields of its own, and a field may have several names. Fields are found by `offset_of!`, so the struct may have any representation.
///
/// The packed stream has the named fields one behind the other, in the order of the names and without gaps, so the packed struct may
/// have none either. An order of fields that asks for one does not compile, and the error names the field. Nobody reorders them instead:
/// who reads a stream by another layout counts on the order that was written.
///
/// Cost: the layout is made once; each call shares it. It is packed in one pass by the kernels of `chare::layout`, as any other one.
///
#[cfg_attr(not(doctest), doc = include_str!("../docs/layout.md"))]
///
/// # Errors
/// A name without fields, an unknown field, one that is named twice, a struct without named fields or with generic parameters, a field
/// that is no plain data, and gaps are errors of the compiler's where they stand, all of a struct at once.
#[proc_macro_derive(Layout, attributes(layout))]
pub fn layout(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    layout::expand(item.into()).into()
}

/// Gives the item back with an error: an attribute that the compiler sees stood where `#[chare]` did not see it.
fn refuse_outside(attribute: &'static str, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    errors.report(
        proc_macro2::Ident::new(attribute, proc_macro2::Span::call_site()),
        Misuse::Outside { attribute },
    );
    let mut tokens = item;
    tokens.extend(errors.into_tokens());
    tokens
}
