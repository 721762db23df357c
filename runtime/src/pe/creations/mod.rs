//! Creations of one PE: the numbers that it gives to what it creates, the set of the singletons that were created on it, those that were given
//! to other PEs before, and the words for calls of those that are gone.

mod created;
mod epitaphs;
mod serials;
mod strays;

pub(crate) use created::CreatedChares;
pub(crate) use epitaphs::{Epitaph, Epitaphs};
pub(crate) use serials::Serials;
pub(crate) use strays::Strays;
