//! Deregistration of memory: ends registrations, and hands memory back when no transfer touches it.
//!
//! 1. A thread may learn that a transfer is over before this node's own network has let go of the memory: another thread may be the first
//!    to take the answer to the last bytes that the network sent.
//! 2. So memory whose registration ends is deregistered, and handed back when no claim is left: mostly at once, else by [`reap`].
//! 3. Memory that waits counts as a message on its way: there is no quiescence before it is handed back.

use crate::node::Node;
use crate::node::lending::registration_cache::Ended;
use crate::pe::Pe;
use chare_lrts::{Held, RegionKey};

/// Ends a registration; `hand_back` runs now or from [`reap`], without a lock.
pub(crate) fn close(node: &Node, key: &RegionKey, hand_back: impl FnOnce(&Node, Held) + Send + 'static) {
    let deregister = || match node.network.regions().deregister(key) {
        Ok(Some(held)) => Some(held),
        Ok(None) => {
            chare_lrts::sometimes!("a registration ended while its memory was touched");
            node.outside.sent.add_shared(1);
            None
        }
        Err(_) => unreachable!("a registration is closed once, by its owner"),
    };
    if let Some((held, hand_back)) = node.deregistrations.end(*key, deregister, hand_back) {
        hand_back(node, held);
    } else if Pe::try_current(|_| ()).is_none() {
        // A PE reaps again once it has announced its sleep; other threads leave that to a PE.
        node.wake(0);
    }
}

/// Frees memory of ended registrations, and hands back the memory of closed ones. Returns whether there was any.
pub(crate) fn reap(node: &Node) -> bool {
    let drained = node.network.regions().reap();
    let any = !drained.is_empty();
    for (key, held) in drained {
        if let Some(hand_back) = node.deregistrations.take(&key) {
            hand_back(node, held);
            node.outside.processed.add_shared(1);
        }
    }
    any
}

/// Ends a registration of lent memory; `then` runs when this node holds the memory for no receiver any more.
pub(crate) fn end(node: &Node, ended: Ended, then: impl FnOnce(&Node) + Send + 'static) {
    let Ended { key, memory } = ended;
    close(node, &key, move |node, held| {
        drop((held, memory));
        then(node);
    });
}

#[cfg(test)]
mod tests {
    use crate::job::in_process::Job;
    use crate::model::nocopy::{NocopyArgument, Registration, SendBuffer, Sent};
    use crate::pe::Pe;
    use crate::transfer::lend::send;
    use crate::transfer::take::remote_memory;
    use chare_lrts::claim::ClaimMode;
    use std::sync::Arc;

    #[test]
    fn a_sender_hears_when_its_own_network_has_let_go_of_the_buffer() {
        let ways = [Registration::Now, Registration::Lazily];
        let code = Job::in_process(1, 1).run(move || async move {
            for (registration, keep) in ways.map(|way| [(way, false), (way, true)]).concat() {
                let node = Pe::current(|pe| Arc::clone(&pe.node));
                let regions = node.network.regions();
                let (sent, on_sent) = crate::future::<Sent<u8>>();
                let buffer = SendBuffer::from(vec![1; 100]).registration(registration).on_sent(on_sent);
                let buffer = if keep { buffer.keep_registered() } else { buffer };
                let leaving = send::take_charge(&node, buffer.erase().expect_host("this test"));
                let lent = node.transfers.lend(regions, leaving);
                let (key, token) = lent.unwrap_or_else(|_| unreachable!("there is room"));
                let claim = regions.claim(&key, 0, key.len, ClaimMode::Read).expect("it is live");

                // The receiver's release, before the network has let go.
                node.outside.sent.add_shared(1);
                remote_memory::released(&node, None, token, 60).expect("it is out");
                assert!(node.deregistrations.are_waiting());
                drop(claim);
                let sent = sent.await;
                assert_eq!(sent.transferred(), 60);
                sent.into_buffer().try_into_mut().expect("nobody else holds it");
                assert!(!node.deregistrations.are_waiting());
            }
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
