//! The receiver's side of nocopy arguments: read in place, fetched, or copied into posted buffers.
//!
//! A call whose arguments have to be fetched waits in an [`Assembly`]; the completion of its last transfer delivers it.

use super::{Arrived, Descriptor, Few, Leaving, Lender, Nocopy, Release};
use crate::envelope::{self, Body, Call, Envelope, Header};
use crate::error::JobError;
use crate::ids::PeId;
use crate::mailbox::Work;
use crate::node::Node;
use crate::queue::CallOptions;
use crate::registry::NocopyKind;
use chare_lrts::{Completion, Lrts, Memory, MemoryMut, RegionKey};
use parking_lot::Mutex;
use std::sync::Arc;

/// Where a call is going.
pub(crate) struct Destination {
    pub(crate) pe: PeId,
    pub(crate) options: CallOptions,
}

/// How one argument becomes ready.
enum Plan {
    Ready(Arrived),
    Fetch(Fetch),
}

struct Fetch {
    kind: NocopyKind,
    key: RegionKey,
    token: u64,
    into: MemoryMut,
    bytes: usize,
}

/// A posted buffer and how many bytes of it are to be filled; no more than the sender offers.
pub(crate) struct Given {
    pub(crate) memory: MemoryMut,
    pub(crate) bytes: usize,
}

/// Brings a call's nocopy arguments in, posted ones into what was `given`, in declaration order. Returns the call when it is
/// ready; else it is delivered to its destination later.
///
/// # Errors
/// Buffers that do not fit, keys that name nothing, in words.
pub(crate) fn land(
    node: &Arc<Node>,
    destination: Destination,
    mut call: Call,
    given: Vec<Given>,
) -> Result<Option<Call>, String> {
    let mut posted = given.into_iter();
    let kinds = call.entry.nocopy.iter().copied();
    let mut given = |kind| match kind {
        NocopyKind::Posted => posted.next(),
        NocopyKind::Received => None,
    };
    let plans: Few<Plan> = match call.nocopy.as_deref_mut() {
        None | Some(Nocopy::Arrived(_)) => return Ok(Some(call)),
        Some(nocopy @ Nocopy::Leaving(_)) => {
            let Nocopy::Leaving(leaving) = nocopy else { unreachable!("matched above") };
            let landed = kinds.zip(std::mem::take(leaving));
            let arrived = landed.map(|(kind, leaving)| land_here(node, leaving, given(kind))).collect();
            *nocopy = Nocopy::Arrived(arrived);
            return Ok(Some(call));
        }
        Some(Nocopy::Described(descriptors)) => kinds
            .zip(std::mem::take(descriptors))
            .map(|(kind, descriptor)| plan(node, kind, descriptor, given(kind)))
            .collect::<Result<_, String>>()?,
    };
    Ok(Assembly::start(node, destination, call, plans))
}

/// An argument from the same process: handed over, or copied once into the posted buffer.
fn land_here(node: &Node, Leaving { memory, release, .. }: Leaving, given: Option<Given>) -> Arrived {
    match given {
        None => Arrived::Received { memory, release },
        Some(given) => {
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

fn fill(node: &Node, source: &[u8], Given { mut memory, bytes }: Given) -> Arrived {
    memory.as_mut_slice()[..bytes].copy_from_slice(&source[..bytes]);
    node.outside.count_copy(bytes);
    Arrived::Posted { memory, len: bytes }
}

fn plan(
    node: &Arc<Node>,
    kind: NocopyKind,
    descriptor: Descriptor,
    given: Option<Given>,
) -> Result<Plan, String> {
    let (key, token) = match (descriptor, given) {
        (Descriptor::Inline { bytes, lender }, given) => {
            let (taken, arrived) = match given {
                Some(given) => (given.bytes, fill(node, bytes.memory.as_slice(), given)),
                None => (bytes.memory.len(), Arrived::Received { memory: bytes.memory, release: None }),
            };
            if let Some(lender) = lender {
                send_release(node, lender, taken as u64);
            }
            return Ok(Plan::Ready(arrived));
        }
        (Descriptor::Lent { key, token }, Some(Given { memory, bytes })) => {
            return Ok(Plan::Fetch(Fetch { kind, key, token, into: memory, bytes }));
        }
        (Descriptor::Lent { key, token }, None) => (key, token),
    };
    if let Some(memory) = view(node, &key)? {
        let node = Arc::clone(node);
        let lender = Lender { node: key.node, token };
        let release = Release::new(key.len, move |taken| send_release(&node, lender, taken));
        return Ok(Plan::Ready(Arrived::Received { memory, release: Some(release) }));
    }
    let into = landing(node, &key, None)?;
    let bytes = into.len();
    Ok(Plan::Fetch(Fetch { kind, key, token, into, bytes }))
}

/// Memory for the whole of a region: `into`, or the runtime's. Made before the owner is asked, so the length is an allegation.
///
/// # Errors
/// A length that does not fit, in words.
pub(crate) fn landing(node: &Node, key: &RegionKey, into: Option<MemoryMut>) -> Result<MemoryMut, String> {
    let none = || format!("{} announces {} bytes, which {} has no memory for", key.node, key.len, node.id);
    match into {
        Some(into) if into.len() as u64 != key.len => {
            Err(format!("{} bytes for a value of {}", key.len, into.len()))
        }
        Some(into) => Ok(into),
        None => node.network.allocate_announced(key.len).ok_or_else(none),
    }
}

/// Fills `into` from a region, then runs `then` with it; a transfer that fails ends the job. `what` is for that error.
pub(crate) fn fetch(
    node: &Arc<Node>,
    what: String,
    key: RegionKey,
    into: MemoryMut,
    then: impl FnOnce(&Arc<Node>, MemoryMut) + Send + 'static,
) {
    let bytes = into.len();
    let then_node = Arc::clone(node);
    let then = move |completion: Completion| match (completion.result, completion.memory) {
        (Ok(_), Some(memory)) => then(&then_node, memory),
        (Err(cause), _) => then_node.fail(JobError::Transfer { what, node: then_node.id, cause }),
        (Ok(_), None) => unreachable!("a get hands its memory back"),
    };
    node.transfers.get(&node.network, (key, 0), (into, bytes), Box::new(then));
}

/// The whole of a lent region in place, where it can be mapped.
///
/// # Errors
/// A key that names nothing, in words.
pub(crate) fn view(node: &Node, key: &RegionKey) -> Result<Option<Memory>, String> {
    let Ok(len) = usize::try_from(key.len) else { return Ok(None) };
    node.network.view(key, 0, len).map_err(|error| error.to_string())
}

/// Tells a lender that its memory is free again, and how many bytes of it were taken.
pub(crate) fn send_release(node: &Node, lender: Lender, bytes: u64) {
    if node.has_ended() {
        return;
    }
    match envelope::encode(&Header::Released { token: lender.token, bytes }, None) {
        Ok(frame) => {
            node.outside.sent.add_shared(1);
            node.post(&node.outside, lender.node, frame);
        }
        Err(cause) => unreachable!("a token encodes: {cause}"),
    }
}

/// A call that waits for its transfers.
struct Assembly {
    destination: Destination,
    call: Call,
    slots: Few<Option<Arrived>>,
    missing: usize,
}

impl Assembly {
    fn start(node: &Arc<Node>, destination: Destination, call: Call, plans: Few<Plan>) -> Option<Call> {
        let mut fetches = Vec::new();
        let mut slots = Few::with_capacity(plans.len());
        for (position, plan) in plans.into_iter().enumerate() {
            match plan {
                Plan::Ready(arrived) => slots.push(Some(arrived)),
                Plan::Fetch(fetch) => {
                    slots.push(None);
                    fetches.push((position, fetch));
                }
            }
        }
        let assembly = Self { destination, call, slots, missing: fetches.len() };
        if fetches.is_empty() {
            return Some(assembly.finish().1);
        }
        let assembly = Arc::new(Mutex::new(Some(assembly)));
        for (position, Fetch { kind, key, token, into, bytes }) in fetches {
            let (assembly, then_node) = (Arc::clone(&assembly), Arc::clone(node));
            let then = Box::new(move |completion: Completion| {
                Self::fetched(&then_node, &assembly, position, kind, completion);
                send_release(&then_node, Lender { node: key.node, token }, bytes as u64);
            });
            node.transfers.get(&node.network, (key, 0), (into, bytes), then);
        }
        None
    }

    fn fetched(
        node: &Arc<Node>,
        shared: &Mutex<Option<Self>>,
        position: usize,
        kind: NocopyKind,
        completion: Completion,
    ) {
        let mut guard = shared.lock();
        let Some(assembly) = guard.as_mut() else { return };
        let (bytes, memory) = match (completion.result, completion.memory) {
            (Ok(bytes), Some(memory)) => (bytes, memory),
            (Err(cause), _) => {
                let what = format!(
                    "fetching a nocopy argument of {}::{}",
                    assembly.call.entry.chare, assembly.call.entry.name
                );
                node.fail(JobError::Transfer { what, node: node.id, cause });
                return;
            }
            (Ok(_), None) => unreachable!("a get hands its memory back"),
        };
        node.outside.count_copy(bytes);
        assembly.slots[position] = Some(match kind {
            NocopyKind::Posted => Arrived::Posted { memory, len: bytes },
            NocopyKind::Received => Arrived::Received { memory: memory.freeze(), release: None },
        });
        assembly.missing -= 1;
        if assembly.missing == 0
            && let Some(assembly) = guard.take()
        {
            drop(guard);
            let (Destination { pe, options }, call) = assembly.finish();
            node.deliver(pe, Work::Message(Envelope { options, body: Body::Call(call) }));
        }
    }

    fn finish(self) -> (Destination, Call) {
        let Self { destination, mut call, slots, .. } = self;
        call.nocopy = Some(Box::new(Nocopy::Arrived(slots.into_iter().flatten().collect())));
        (destination, call)
    }
}
