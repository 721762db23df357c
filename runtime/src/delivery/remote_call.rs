//! Remote call: a call to another node with one nocopy argument in memory of the host, written into a frame at once.
//! `api/proxy -> **delivery/remote_call** -> delivery/outbox -> transfer -> delivery/outbound -> node/posting -> lrts`
//!
//! No message is made of the call first: no box, no erased arguments. What goes another way, the outbox sends.

use super::outbound::{Weight, pack_plain, post};
use super::outbox::locate_elsewhere;
use crate::model::arguments::Message;
use crate::model::envelope::PlainCall;
use crate::model::ids::{PeId, Target};
use crate::model::nocopy::{Outgoing, lent_bytes};
use crate::model::registry::EntryRegistration;
use crate::node::ways_taken::Argument;
use crate::pe::Pe;
use crate::transfer::lend::eager::{self, Eager};
use crate::transfer::lend::send;
use crate::transfer::ways;
use chare_lrts::codec::{CodecError, Fill, Writer};

/// Calls an entry of one chare, by the entry's own options, if the call is one that is written at once; takes the argument then, and returns
/// whether.
#[inline]
pub(crate) fn call<T: Message>(
    pe: &Pe,
    callee: (&Target, &'static EntryRegistration),
    arguments: &T,
    argument: &mut Option<Outgoing>,
) -> bool {
    // One instance serves all entries.
    call_written(pe, callee, &|out| out.write(arguments), argument)
}

fn call_written(
    pe: &Pe,
    (target, entry): (&Target, &'static EntryRegistration),
    arguments: &dyn Fn(&mut Writer<'_>) -> Result<(), CodecError>,
    argument: &mut Option<Outgoing>,
) -> bool {
    let (&[kind], Some(Outgoing::Host(outgoing))) = (entry.nocopy, &*argument) else { return false };
    if kind.is_of_device() || outgoing.dealt.is_some() {
        return false;
    }
    let Some((to, block)) = locate(pe, target, entry) else { return false };
    let peer = pe.node.topology.node_of(to);
    let released = pe.releases.take_for(peer);
    if let Some(eager) = Eager::of(kind, outgoing) {
        let packed = pack_plain(pe, entry, |out| {
            block.write_eager(out, &released, &eager);
            arguments(out)
        });
        eager.count(&pe.counters);
        let noted = Argument { entry, position: 0 };
        pe.node.ways_taken.note_sent(noted, ways::SHORT.words(), eager.bytes());
        eager::hand_back(&pe.node, argument.take());
        post(pe, to, Weight::of_call(&entry.options, 0), packed);
    } else if let Some(Outgoing::Host(outgoing)) = argument.take() {
        let leaving = send::take_charge(&pe.node, outgoing);
        let bytes = leaving.bytes();
        let (choice, described) = send::describe_one(&pe.node, peer, kind, leaving);
        pe.node.ways_taken.note_sent(Argument { entry, position: 0 }, choice.words(), bytes);
        let described = [described];
        let lent = lent_bytes(&described);
        let packed = pack_plain(pe, entry, |out| {
            block.write_described(out, &released, &described)?;
            arguments(out)
        });
        drop(described);
        post(pe, to, Weight::of_call(&entry.options, lent), packed);
    }
    true
}

/// The PE of another node to which a call of the chare goes, as far as this PE knows, and the call's block, if it says no more than a
/// block can.
fn locate(pe: &Pe, target: &Target, entry: &EntryRegistration) -> Option<(PeId, PlainCall)> {
    let is_within = matches!(target, Target::Member(collection, _) if pe.within(*collection).is_some());
    if is_within || pe.sees_calls() {
        return None;
    }
    // A PE that the job has not is the outbox's to tell of.
    let to = locate_elsewhere(pe, target).filter(|to| to.0 < pe.node.topology.pes())?;
    Some((to, PlainCall::new(pe.node.rank_here(pe.id)?, to, *target, entry.id)?))
}
