//! The sender's side of nocopy arguments in memory of the host: bytes that travel with a message, memory that is lent until its receivers have
//! released it, and the ends of registrations.

pub(crate) mod deregistration;
pub(crate) mod eager;
pub(crate) mod send;
