//! Predictions: a model of this machine, and how far what it says is from what is measured. `cargo xtask fit` and `cargo xtask predict`.

mod fit;
mod predict;
mod skeletons;

pub(crate) use fit::run as fit;
pub(crate) use predict::run as predict;
