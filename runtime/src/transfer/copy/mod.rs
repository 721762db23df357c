//! Copies of nocopy arguments by layouts, and long copies: the plans, the reads and writes of what layouts select, and the pieces in which
//! one process copies alone or two together.

pub(crate) mod helping;
pub(crate) mod laid_out;
pub(in crate::transfer) mod long_copy;
pub(crate) mod packing;
pub(in crate::transfer) mod planned;
pub(in crate::transfer) mod rates;
pub(crate) mod scattered_put;
pub(in crate::transfer) mod selected_read;
mod series;
mod stretches;
