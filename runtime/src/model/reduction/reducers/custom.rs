//! Custom reducers: the program's own, known to every process by their names.

use crate::model::arguments::{Arguments, Message};
use crate::model::registry::linked::Linked;
use crate::model::registry::name::hash_of;
use chare_lrts::codec::CodecError;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A value that knows how two of its kind become one; contributed by [`reduce`](crate::reduce()).
///
/// Values fold as they arrive, on the way as well as at its end, and in no particular order: `fold` has to be associative and
/// commutative. `#[reducer]` on the implementation makes it known to every process of the job.
///
/// ```
/// use chare::prelude::*;
/// use serde::{Deserialize, Serialize};
///
/// /// The longest of many words.
/// #[derive(Clone, Serialize, Deserialize)]
/// struct Longest(String);
///
/// #[reducer]
/// impl Reducer for Longest {
///     fn fold(&mut self, other: Self) {
///         // Equally long ones by the alphabet: the result must not depend on the order.
///         if (other.0.len(), &self.0) > (self.0.len(), &other.0) {
///             *self = other;
///         }
///     }
/// }
///
/// struct Word;
///
/// #[chare(group)]
/// impl Word {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     fn compare(&mut self, longest: Callback<Longest>) {
///         let word = "x".repeat(chare::my_pe().0 as usize);
///         self.contribute(reduce(Longest(word)), longest);
///     }
/// }
///
/// let job = chare::Job::in_process(1, 3).run(|| async {
///     let (longest, done) = chare::future::<Longest>();
///     WordProxy::create().compare(done);
///     assert_eq!(longest.await.0, "xx");
/// });
/// assert_eq!(job.unwrap(), 0);
/// ```
pub trait Reducer: Message {
    /// The type's full name, equal in every process; written by `#[reducer]`.
    const NAME: &'static str;

    /// Folds another value into this one.
    fn fold(&mut self, other: Self);
}

/// The id of a reducer: the hash of its name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct ReducerId(u64);

impl ReducerId {
    pub(crate) const fn of(name: &str) -> Self {
        Self(hash_of(name))
    }
}

/// The registration of a reducer.
#[derive(Debug)]
pub struct ReducerRegistration {
    pub(crate) name: &'static str,
    pub(crate) fold: fn(&mut Arguments, Arguments) -> Result<(), CodecError>,
}

impl ReducerRegistration {
    /// The registration of a reducer's type.
    pub const fn of<R: Reducer>() -> Self {
        Self {
            name: R::NAME,
            fold: |mine, theirs| {
                let mut folded: R = mine.take_in_place()?;
                folded.fold(theirs.take()?);
                *mine = Arguments::new(folded);
                Ok(())
            },
        }
    }
}

inventory::collect!(ReducerRegistration);

/// The reducers of this program.
pub(crate) fn reducers() -> &'static Linked<ReducerId, ReducerRegistration> {
    static REDUCERS: OnceLock<Linked<ReducerId, ReducerRegistration>> = OnceLock::new();
    REDUCERS.get_or_init(|| {
        Linked::collect(
            inventory::iter::<ReducerRegistration>(),
            |reducer| reducer.name,
            |reducer| ReducerId::of(reducer.name),
        )
    })
}
