//! Bringing of a call's nocopy arguments into a process, once for all members that live there.

use super::carried::{Carried, Whose};
use crate::model::dealing::DealtParts;
use crate::model::nocopy::{
    CarriedDescriptor, Descriptor, Few, LeavingDevice, Lender, Local, NocopyKind, Registration, Release,
};
use crate::node::Node;
use crate::transfer::copy::laid_out::{admit_of_many, check_lent, in_words};
use crate::transfer::copy::planned::whole;
use crate::transfer::copy::selected_read::Selected;
use crate::transfer::device;
use crate::transfer::take::gathering::{Failure, Fetch, Gathering, Plan};
use crate::transfer::take::remote_memory::{landing, release_to, room, view};
use chare_layout::Raw;
use chare_lrts::{MemoryMut, NodeId, RegionKey};
use std::sync::Arc;

/// An argument that is to be brought into this process.
pub(crate) struct Wanted {
    pub(crate) descriptor: CarriedDescriptor,
    pub(crate) kind: NocopyKind,
    /// The memory in which the argument must land; `None`: wherever it costs least.
    pub(crate) into: Option<MemoryMut>,
}

/// Brings arguments into this process, once each, from the node that lends them; `then` runs at once, or when the last transfer is over.
///
/// # Errors
/// Keys that name nothing and lengths that do not fit, in words. What a device says ends the job.
pub(crate) fn bring_in(
    node: &Arc<Node>,
    lender: NodeId,
    what: impl FnOnce() -> String + Clone + Send + 'static,
    wanted: Vec<Wanted>,
    then: impl FnOnce(&Arc<Node>, Few<Carried>) + Send + 'static,
) -> Result<(), String> {
    let plans = wanted.into_iter().map(|wanted| plan(node, lender, wanted));
    match Gathering::plan(plans) {
        Ok(gathering) => match gathering.complete() {
            Ok(carried) => then(node, carried),
            Err(gathering) => gathering.fetch(node, what, then),
        },
        Err(Failure::Words(cause)) => return Err(cause),
        Err(failure) => failure.end(node, what()),
    }
    Ok(())
}

fn plan(
    node: &Arc<Node>,
    lender: NodeId,
    Wanted { descriptor, kind, into }: Wanted,
) -> Result<Plan<Carried>, Failure> {
    let release = |token, offered| release_to(node, Lender { node: lender, token }, offered);
    let CarriedDescriptor { mut descriptor, parts } = descriptor;
    admit_of_many(node, lender, &mut descriptor)?;
    let bytes = descriptor.bytes() as u64;
    parts.as_ref().map_or(Ok(()), |parts| parts.check(bytes))?;
    let parts = parts.map(DealtParts::Packed);
    let (key, token) = match descriptor {
        Descriptor::Inline { bytes, lender: awaiting } => {
            let memory = bytes.land(into)?;
            let release = awaiting.map(|awaiting| release(awaiting.token, memory.len() as u64));
            let copied = (memory, Whose::Copied);
            let carried = Carried::in_memory(kind, copied, Registration::None, release);
            return Ok(Plan::Ready(carried.of_parts(parts)));
        }
        Descriptor::Lent { key, layout: None, token, .. } => (key, token),
        Descriptor::Lent { key, layout: Some(layout), token, .. } => {
            let layout = Arc::clone(layout.told());
            let release = release(token, layout.bytes());
            return plan_laid_out(node, kind, (key, layout), release);
        }
        Descriptor::Device(described) if kind.is_of_device() => {
            let release = described.answered.map(|token| release(token, described.bytes));
            return Ok(device::plan_for_process(node, described)?.map(move |arrived| {
                match Local::from(arrived) {
                    Local::Device(leaving) => Carried::on_device(kind, LeavingDevice { release, ..leaving }),
                    Local::Host(_) => unreachable!("it was brought to a device"),
                }
            }));
        }
        Descriptor::Device(_) => {
            return Err(format!(
                "{lender} sends many a buffer of a device, to be read as memory of the host"
            )
            .into());
        }
    };
    let registration = Registration::Lazily;
    let in_place = if into.is_none() { view(node, &key, None)? } else { None };
    if let Some(memory) = in_place {
        let mapped = (memory, Whose::Mapped(key));
        let release = Some(release(token, key.len));
        let carried = Carried::in_memory(kind, mapped, registration, release);
        return Ok(Plan::Ready(carried.of_parts(parts)));
    }
    let into = landing(node, &key, into)?;
    let release = Some(release(token, key.len));
    let arrive = Box::new(move |node: &Arc<Node>, memory: MemoryMut| {
        node.outside.count_copy(memory.len());
        let copied = (memory.freeze(), Whose::Copied);
        Ok(Carried::in_memory(kind, copied, registration, release).of_parts(parts))
    });
    Ok(Plan::Fetch(Fetch { key, offset: 0, bytes: into.len(), into, arrive }))
}

/// Plans the way of what a layout selects: it stays where it can be read in place, and is read side by side elsewhere.
fn plan_laid_out(
    node: &Arc<Node>,
    kind: NocopyKind,
    (key, layout): (RegionKey, Arc<Raw>),
    release: Arc<Release>,
) -> Result<Plan<Carried>, Failure> {
    check_lent(node, &key, &layout)?;
    let of = move |memory| Carried::in_memory(kind, memory, Registration::Lazily, Some(release));
    if let Some(memory) = view(node, &key, Some(&layout))? {
        return Ok(Plan::Ready(of((memory, Whose::Mapped(key))).selected_by(Some(layout))));
    }
    let side_by_side = whole(layout.bytes()).map_err(in_words)?;
    let into = room(node, layout.bytes())?;
    let selected = Selected::new((key, 0), layout, side_by_side).map_err(in_words)?;
    Ok(Plan::Begin(Box::new(move |node, finish| {
        selected.read(node, into, move |node, moved, memory| {
            let carried = moved.map(|_| of((memory.freeze(), Whose::Copied)));
            finish(node, carried.map_err(Failure::Transfer));
        });
    })))
}
