//! Transfers of registered device memory: reads and writes of a peer's, and what the owner does for them.
//!
//! ```text
//! get:  reader --Get--> owner --Offered--> reader     then as a posted argument comes from the owner
//! put:  writer --Put--> owner                         then as a posted argument comes from the writer; --Written--> writer
//! either:               owner --Refused--> who asked
//! ```
//! 1. Each transfer is that of a posted device argument, so every way of those serves it.
//! 2. Writes of one target follow one another. The writer is told when its elements are there, or the streams that bring them are past
//!    that.
//! 3. A handle is an allegation: its token, its length and its layout are checked by the memory's owner, who refuses what does not fit and
//!    goes on. Who asked is told, once, with its buffer; it decides whether the job ends.
//! 4. A device that fails on either side fails the transfer on both. A target whose buffer goes with that refuses all later writes.

mod landing;
mod reads;
mod writes;

pub(super) use landing::on_answer;
pub(crate) use landing::{Unfilled, transfer_failed};
pub(crate) use reads::get;
pub(super) use reads::on_get;
pub(super) use writes::on_put;
pub(crate) use writes::{give_back, gone, put};
