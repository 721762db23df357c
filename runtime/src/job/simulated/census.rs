//! Census of a simulated job: the messages that are in plain sight, for comparison with what the runtime counts.

use super::cast::Cast;
use crate::model::envelope::{Body, Envelope};
use crate::model::ids::NodeId;
use crate::node::credit::Cost;
use crate::node::mailbox::Work;
use crate::pe::Pe;
use crate::pe::queued::Queued;
use crate::services::timers;
use std::rc::Rc;

/// What a census finds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Found {
    /// Messages that quiescence has to wait for, at the least.
    pub(super) counted: u64,
    /// Everything that was looked at.
    pub(super) seen: u64,
}

/// Looks at what waits in queues and mailboxes, at messages that came too early, and at timers. What is on the ways between PEs of a node,
/// and what services keep, it does not see.
pub(super) fn take(cast: &Cast<'_>) -> Found {
    let mut found = Found::default();
    for at in &cast.pes {
        let mut see = |is_counted: bool| {
            found.seen += 1;
            found.counted += u64::from(is_counted);
        };
        at.pe.queue.borrow().iter().for_each(|queued| see(is_counted(queued)));
        at.pe.mailbox.each(|work| see(is_work_counted(work)));
        at.pe.early.borrow().waiting().for_each(|_| see(true));
        (0..timers::set(&at.pe)).for_each(|_| see(true));
    }
    found
}

/// What messages of a node have cost that wait on these PEs, at the least.
pub(super) fn cost_waiting<'a>(pes: impl Iterator<Item = &'a Rc<Pe>>, source: NodeId) -> u64 {
    let mut bytes = 0;
    for pe in pes {
        let mut add = |cost: Cost| {
            if cost.source == source {
                bytes += u64::from(cost.bytes);
            }
        };
        pe.queue.borrow().iter().for_each(|queued| add(queued.cost()));
        pe.mailbox.each(|work| {
            if let Work::Message(_, cost) = work {
                add(*cost);
            }
        });
    }
    bytes
}

fn is_counted(queued: &Queued) -> bool {
    match queued {
        Queued::Call(_) | Queued::NocopyCall(..) => true,
        Queued::Work(work) => is_work_counted(work),
        Queued::Done => false,
    }
}

fn is_work_counted(work: &Work) -> bool {
    match work {
        Work::Message(Envelope { body: Body::System(message), .. }, _) => message.is_counted(),
        Work::Message(..) | Work::Waited(_) | Work::Task(_) => true,
        Work::Way(_) | Work::Begin(_) => false,
    }
}
