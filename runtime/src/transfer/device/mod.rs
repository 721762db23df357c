//! Device arguments: nocopy arguments of which one end lies on a device, or both do.
//!
//! 1. A buffer keeps in itself what streams still do with it. So an argument moves at once, and who uses it next has a stream wait: nobody
//!    waits on a thread.
//! 2. Where both ends are on one device of this process, the buffer itself goes ([`within`]), or one step on the node's stream copies from
//!    layout to layout. All other ways lead across ([`across`]).
//! 3. A sender that waits for its buffer lends it: when the last handle of the loan is dropped, a stream is asked to be past all that
//!    others still do with it, and only then is the sender told ([`continuing`]).
//! 4. Steps of one turn of a PE are launched together ([`launching`]).
//! 5. Short arguments travel with their call ([`short`]).
//! 6. What goes to many goes into each process once ([`many`](self::many), and beyond it [`transfer::many`](super::many)).
//! 7. What is begun on a stream goes on by [`Node::later`], on a PE, and counts as a message on its way until then.

mod across;
mod arriving;
mod continuing;
mod ends;
mod launching;
mod many;
mod planning;
mod registered;
mod short;
mod values;
mod within;

pub(crate) use across::{describe, sender};
pub(crate) use arriving::arrived;
pub(crate) use continuing::continue_later;
pub(crate) use ends::check_device;
pub(super) use ends::{End, Origin};
pub(crate) use launching::{launch_steps, launch_steps_if_due};
pub(crate) use many::describe_to_many;
pub(super) use many::{packed, plan_for_process, plan_staged};
pub(crate) use planning::take_charge;
pub(super) use planning::{decline, plan};
pub(crate) use registered::{Unfilled, get, give_back, gone, put, transfer_failed};
pub(crate) use short::set_aside;
pub(crate) use values::place_values;
