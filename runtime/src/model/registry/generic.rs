//! Generic chares: one definition, registered for each type that the program asks for.

/// A generic chare's type that the program uses. [`instantiate!`](crate::instantiate) implements it.
#[diagnostic::on_unimplemented(
    message = "the program does not ask for the chare `{Self}`",
    label = "it is generic, and not registered for this type",
    note = "messages find chares by their types' names: write `chare::instantiate!({Self});` beside the chare or one of the types in it"
)]
pub trait Instantiated {
    /// The type's full name, equal in every process.
    const NAME: &'static str;
}

/// Registers types of a generic chare, so that messages find them. Written in the crate of the chare, or of a type that is its argument.
///
/// ```
/// use chare::prelude::*;
///
/// struct Stack<T> {
///     values: Vec<T>,
/// }
///
/// #[chare]
/// impl<T: chare::Message> Stack<T> {
///     #[entry]
///     fn new() -> Self {
///         Self { values: Vec::new() }
///     }
///
///     #[entry]
///     fn push(&mut self, value: T) {
///         self.values.push(value);
///     }
///
///     #[entry]
///     fn pop(&mut self) -> Option<T> {
///         self.values.pop()
///     }
/// }
///
/// chare::instantiate!(Stack<u32>, Stack<String>);
///
/// let code = chare::Job::in_process(1, 2).run(|| async {
///     let words = StackProxy::<String>::create();
///     words.push("word".to_owned());
///     chare::quiescence().await;
///     assert_eq!(words.pop().await.as_deref(), Some("word"));
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
#[macro_export]
macro_rules! instantiate {
    ($($chare:ty),+ $(,)?) => {$(
        impl $crate::Instantiated for $chare {
            const NAME: &'static str =
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!($chare));
        }

        $crate::macro_support::inventory::submit! {
            $crate::macro_support::ChareRegistration::of::<$chare>()
        }
    )+};
}
