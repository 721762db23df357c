//! The receiver's side of nocopy arguments: reads them in place, fetches them, or copies them into posted buffers.
//!
//! A call whose arguments have to be fetched waits in a [`Gathering`], whose last transfer delivers it.

use super::destination::Destination;
use super::gathering::{Fetch, Gathering, Plan};
use super::remote_memory::{landing, release_to, send_release, view};
use crate::model::envelope::Call;
use crate::model::nocopy::{Arrived, Descriptor, Leaving, Lender, Nocopy, NocopyKind, PostedMemory};
use crate::node::Node;
use chare_lrts::MemoryMut;
use std::sync::Arc;

/// Brings a call's nocopy arguments in, posted ones into the buffers that were `given`, in declaration order. Returns the call when it is
/// ready; else the call is delivered to its destination later.
///
/// # Errors
/// Buffers that do not fit, keys that name nothing, in words.
pub(crate) fn land(
    node: &Arc<Node>,
    destination: Destination,
    mut call: Call,
    given: Vec<PostedMemory>,
) -> Result<Option<Call>, String> {
    let mut posted = given.into_iter();
    let kinds = call.entry.nocopy.iter().copied();
    let mut given = |kind| match kind {
        NocopyKind::Posted => posted.next(),
        NocopyKind::Received => None,
    };
    let gathering = match call.nocopy.as_deref_mut() {
        None | Some(Nocopy::Arrived(_)) => return Ok(Some(call)),
        Some(nocopy @ Nocopy::Leaving(_)) => {
            let Nocopy::Leaving(leaving) = nocopy else { unreachable!("matched above") };
            let landed = kinds.zip(std::mem::take(leaving));
            let arrived = landed.map(|(kind, leaving)| land_here(node, leaving, given(kind))).collect();
            *nocopy = Nocopy::Arrived(arrived);
            return Ok(Some(call));
        }
        Some(Nocopy::Described(descriptors)) => {
            let described = kinds.zip(std::mem::take(descriptors));
            Gathering::plan(described.map(|(kind, descriptor)| plan(node, kind, descriptor, given(kind))))?
        }
    };
    match gathering.complete() {
        Ok(arrived) => {
            call.nocopy.replace(Box::new(Nocopy::Arrived(arrived)));
            Ok(Some(call))
        }
        Err(gathering) => {
            let entry = call.entry;
            let what = move || entry.fetching();
            gathering.fetch(node, what, move |node, arrived| {
                call.nocopy = Some(Box::new(Nocopy::Arrived(arrived)));
                destination.deliver(node, call);
            });
            Ok(None)
        }
    }
}

/// Lands an argument from the same process: hands it over, or copies it once into the posted buffer.
fn land_here(node: &Node, leaving: Leaving, given: Option<PostedMemory>) -> Arrived {
    match given {
        None => leaving.into(),
        Some(given) => {
            let Leaving { memory, release, .. } = leaving;
            if let Some(release) = &release {
                release.take(given.bytes as u64);
            }
            let arrived = fill(node, memory.as_slice(), given);
            drop(memory);
            drop(release);
            arrived
        }
    }
}

fn fill(node: &Node, source: &[u8], PostedMemory { mut memory, bytes }: PostedMemory) -> Arrived {
    memory.as_mut_slice()[..bytes].copy_from_slice(&source[..bytes]);
    node.outside.count_copy(bytes);
    Arrived::Posted { memory, len: bytes }
}

fn plan(
    node: &Arc<Node>,
    kind: NocopyKind,
    descriptor: Descriptor,
    given: Option<PostedMemory>,
) -> Result<Plan<Arrived>, String> {
    let (key, token) = match descriptor {
        Descriptor::Inline { bytes, lender } => {
            let (taken, arrived) = match given {
                Some(given) => (given.bytes, fill(node, bytes.memory.as_slice(), given)),
                None => (bytes.memory.len(), Arrived::Received { memory: bytes.memory, release: None }),
            };
            if let Some(lender) = lender {
                send_release(node, lender, taken as u64);
            }
            return Ok(Plan::Ready(arrived));
        }
        Descriptor::Lent { key, token } => (key, token),
    };
    let lender = Lender { node: key.node, token };
    let PostedMemory { memory: into, bytes } = match given {
        Some(given) => given,
        None => {
            if let Some(memory) = view(node, &key)? {
                let release = Some(release_to(node, lender, key.len));
                return Ok(Plan::Ready(Arrived::Received { memory, release }));
            }
            let memory = landing(node, &key, None)?;
            PostedMemory { bytes: memory.len(), memory }
        }
    };
    let arrive = Box::new(move |node: &Arc<Node>, memory: MemoryMut| {
        node.outside.count_copy(bytes);
        send_release(node, lender, bytes as u64);
        match kind {
            NocopyKind::Posted => Arrived::Posted { memory, len: bytes },
            NocopyKind::Received => Arrived::Received { memory: memory.freeze(), release: None },
        }
    });
    Ok(Plan::Fetch(Fetch { key, into, bytes, arrive }))
}
