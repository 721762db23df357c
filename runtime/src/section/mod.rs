//! Sections: some members of one or several collections, called and reduced like a whole one.
//! `proxy -> **section** -> zerocopy, outbox`, and `inbox, dispatch -> **section** -> the members`
//!
//! 1. Whoever forms a section names its members. The PE that formed it is its *root*: all calls of the section go there.
//! 2. Each member has a *seat* at its home, which knows where it lives (see [`seats`]). So members may come late, move and go, and nobody
//!    has to be told but the home, which is told anyway.
//! 3. A call goes from the root down a tree of the nodes with seats (see [`tree`]): it is encoded once and comes to each node once, also with
//!    nocopy arguments. A home calls the members that are there, and sends on what is for those that live elsewhere: one message for each PE.
//! 4. A contribution goes to the member's home, and from there up the same tree, folded on its way (see [`reductions`]).
//! 5. Forming and dissolving cost the root one message for each home. A home forgets a section that is dissolved when it has heard all calls that
//!    the root made before.
//! 6. News that overtakes the section's waits. So that it does not wait for ever, the root is asked whether the section will come: its
//!    answer ends the job if somebody speaks to a section that is dissolved, or for one that it is no member of.

pub(crate) mod calls;
mod contributing;
mod delivery;
mod dissolving;
mod forming;
mod news;
mod reductions;
mod seats;
mod spreading;
mod tree;

pub(crate) use calls::{CallOfSection, Leg, Multicast, SectionCall};
pub(crate) use contributing::{contribute, leave};
pub(crate) use delivery::deliver;
pub(crate) use dissolving::dissolve;
pub(crate) use forming::form;
pub(crate) use news::{SectionMessage, hear};
pub(crate) use seats::Sections;
pub(crate) use spreading::{accept, call, run};
