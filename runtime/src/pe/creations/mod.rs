//! Creations of one PE: the numbers that it gives to what it creates, and the set of the singletons that were created on it.

mod created;
mod serials;

pub(crate) use created::CreatedChares;
pub(crate) use serials::Serials;
