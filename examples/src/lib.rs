//! Example programs of `chare`; `README.md` says which question each answers.

pub mod ddtbench;
pub mod devices;
pub mod loads;
pub mod memory;
pub mod pair;
pub mod picture;
pub mod ports;
pub mod start;
pub mod stencil;
