//! Reads of registered device memory, at the reader and at the memory's owner.

use super::landing::{Unfilled, land, refuse_here};
use crate::model::arguments::Arguments;
use crate::model::nocopy::{
    Descriptor, DeviceFrame, DeviceRefusal, LeavingDevice, Local, PostedDevice, Release, RemoteDevice,
    ToldLayout,
};
use crate::node::Node;
use crate::node::devices::{Answer, Lent, OnAnswer, Sender};
use crate::transfer::copy::laid_out::in_words;
use crate::transfer::device::across::{offer, send};
use crate::transfer::device::ends::Origin;
use chare_device::DeviceBufferMut;
use chare_lrts::{NodeId, Token};
use std::sync::Arc;

/// Reads what a handle names into memory of a device here; `then` takes the buffer, or hears why it is not filled.
pub(crate) fn get(
    node: &Arc<Node>,
    from: RemoteDevice,
    into: PostedDevice,
    then: impl FnOnce(&Arc<Node>, Result<DeviceBufferMut<u8>, Unfilled>) + Send + 'static,
) {
    let (owner, bytes) = (from.owner, into.bytes as u64);
    node.outside.sent.add_shared(1);
    let then = move |node: &Arc<Node>, landed| {
        then(node, landed);
        node.outside.processed.add_shared(1);
    };
    if owner.node == node.id {
        return match registered_source(node, owner.token, bytes, from.layout) {
            Ok((leaving, _)) => land(node, Origin::Here(Local::Device(leaving)), node.id, into, then),
            Err(refusal) => {
                then(node, Err(Unfilled { cause: refusal.of(node.id), buffer: Some(into.buffer) }));
            }
        };
    }
    let transfer = node.devices.begun.give_out(answered(owner.node, bytes, into, then));
    let said = DeviceFrame::Get { source: owner.token, bytes, layout: from.layout, transfer };
    if let Err(cause) = send(node, owner.node, said) {
        refuse_here(node, owner.node, transfer, cause);
    }
}

/// What takes the answer to a read of so many bytes.
fn answered(
    owner: NodeId,
    bytes: u64,
    into: PostedDevice,
    then: impl FnOnce(&Arc<Node>, Result<DeviceBufferMut<u8>, Unfilled>) + Send + 'static,
) -> OnAnswer<Node> {
    Box::new(move |node, source, answer| {
        match answer {
            _ if source != owner => {
                return Err(format!("{source} answers what {owner} was asked"));
            }
            Answer::Refused(refusal) => {
                then(node, Err(Unfilled { cause: refusal.of(source), buffer: Some(into.buffer) }));
            }
            Answer::Offered(offered) if (offered.owner.node, offered.bytes) == (source, bytes) => {
                land(node, Origin::There(Descriptor::Device(offered)), source, into, then);
            }
            Answer::Offered(offered) => {
                return Err(format!("{source} offers {} bytes instead of {bytes}", offered.bytes));
            }
            Answer::Written => return Err(format!("{source} has written what was to be read")),
        }
        Ok(())
    })
}

/// Offers a node registered memory that it wants to read, or refuses it.
///
/// # Errors
/// An answer that is too long for a message, in words.
pub(in crate::transfer::device) fn on_get(
    node: &Arc<Node>,
    (peer, transfer): (NodeId, Token),
    source: Token,
    bytes: u64,
    layout: Option<ToldLayout>,
) -> Result<(), String> {
    let said = match registered_source(node, source, bytes, layout) {
        Ok((leaving, sender)) => {
            let offered = offer(node, Lent { leaving, sender, is_registered: true });
            DeviceFrame::Offered { transfer, offered }
        }
        Err(cause) => DeviceFrame::Refused { transfer, cause },
    };
    send(node, peer, said)
}

/// What is wanted of registered memory of this node, whose release tells who wants to know; and the entry that registered it.
///
/// # Errors
/// What does not fit.
fn registered_source(
    node: &Arc<Node>,
    token: Token,
    bytes: u64,
    layout: Option<ToldLayout>,
) -> Result<(LeavingDevice, Sender), DeviceRefusal> {
    let source = node.devices.sources.look(token, Arc::clone).ok_or(DeviceRefusal::Stale)?;
    let layout = layout.map(|ToldLayout(layout)| layout);
    if let Some(layout) = &layout {
        let checked = layout.check_bounds(source.buffer.len() as u64);
        checked.map_err(|error| DeviceRefusal::Misfit(in_words(error)))?;
    }
    let leaving = LeavingDevice { buffer: source.buffer.clone(), layout, release: None };
    if leaving.bytes() as u64 != bytes {
        let cause = format!("{bytes} bytes of a device buffer, of which {} are meant", leaving.bytes());
        return Err(DeviceRefusal::Misfit(cause));
    }
    let release = source.notify.lock().map(|notify| {
        let weak = Arc::downgrade(node);
        Release::new(bytes, true, move |bytes| {
            if let Some(node) = weak.upgrade() {
                node.fire(notify, Arguments::new(bytes));
            }
        })
    });
    Ok((LeavingDevice { release, ..leaving }, Arc::clone(&source.whose)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use crate::model::nocopy::{DeviceDescriptor, Lender};
    use crate::node::devices::DeviceChoice;
    use crate::pe::Pe;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// What another node says is compared with what it was asked; a refusal gives the buffer back.
    #[test]
    fn answers_that_do_not_fit_are_refused_in_words() {
        let job = Job::in_process(1, 1).device(DeviceChoice::software(1));
        let code = job.run(|| async {
            let node = Pe::current(|pe| Arc::clone(&pe.node));
            let device = node.devices.of(0).expect("a device").device.clone();
            let (owner, came_back) = (NodeId(1), Arc::new(AtomicU32::new(0)));
            let answer = |source, answer| {
                let buffer = DeviceBufferMut::<u8>::new(&device, 100).expect("it has room");
                let into = PostedDevice { buffer, bytes: 100, layout: None, before: None };
                let came_back = Arc::clone(&came_back);
                let take = answered(owner, 100, into, move |_, landed| {
                    let unfilled = landed.expect_err("nothing comes");
                    assert_eq!(unfilled.buffer.map(|buffer| buffer.len()), Some(100));
                    came_back.fetch_add(1, Ordering::Relaxed);
                });
                take(&node, source, answer)
            };
            let offered = |node, bytes| {
                let owner = Lender { node, token: 5 };
                Answer::Offered(DeviceDescriptor { owner, bytes, uuid: [0; 16], answered: None })
            };
            for (source, lie, words) in [
                (NodeId(2), Answer::Refused(DeviceRefusal::Stale), "node 2"),
                (owner, offered(owner, 99), "99 bytes instead of 100"),
                (owner, offered(NodeId(2), 100), "instead of"),
                (owner, Answer::Written, "was to be read"),
            ] {
                let refused = answer(source, lie).expect_err("it is a lie");
                assert!(refused.contains(words), "{refused}");
            }
            assert_eq!(came_back.load(Ordering::Relaxed), 0);
            answer(owner, Answer::Refused(DeviceRefusal::Stale)).expect("it may be refused");
            assert_eq!(came_back.load(Ordering::Relaxed), 1);
            let nobody = crate::transfer::device::registered::on_answer(&node, owner, 77, Answer::Written)
                .expect_err("none asked");
            assert!(nobody.contains("not under way"), "{nobody}");
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
