//! Balance: which objects are to move where, so that no PE takes longer than others.

mod naming;
mod strategies;

pub use naming::BalancerError;
pub(crate) use naming::Strategies;
