//! Hints of the compiler: bounds that nothing satisfies, of methods that proxies have only to say why no message calls them.

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
