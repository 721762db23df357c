//! The receiver's side of nocopy arguments in memory of the host: reads them in place, fetches them, or copies them into posted buffers.

use super::gathering::{Failure, Fetch, Finish, Plan};
use super::remote_memory::{Loan, landing, release_to, send_release, view};
use crate::model::nocopy::{Arrived, Descriptor, Leaving, Lender, NocopyKind, PostedMemory};
use crate::node::Node;
use crate::transfer::copy::laid_out::{Source, check_lent, in_words, land_bytes, target};
use crate::transfer::copy::long_copy::is_shared_whole;
use crate::transfer::copy::planned::{count_landed, whole};
use crate::transfer::copy::selected_read::Selected;
use crate::transfer::lend::send::lend_or_copy;
use crate::transfer::ways::{self, Choice, Landing, Way};
use chare_layout::Raw;
use chare_lrts::{MemoryMut, RegionKey};
use std::sync::Arc;

/// A plan, and the way that was chosen for what did not come with its message.
pub(in crate::transfer) type Chosen = (Option<Choice>, Plan<Arrived>);

/// Plans the way of an argument from the same process, in memory of the host: it is handed over, or copied once to where it is to be. A
/// long copy goes the way of memory that this node has lent to itself, so that no PE waits for it; one out of memory that another node has
/// lent to this one, as an argument of many, is made together with that node.
pub(in crate::transfer) fn plan_here(
    node: &Arc<Node>,
    kind: NocopyKind,
    leaving: Leaving,
    given: Option<PostedMemory>,
) -> Result<Chosen, String> {
    let is_helped =
        || leaving.lent.zip(given.as_ref()).is_some_and(|(lent, given)| is_shared_whole(node, &lent, given));
    let is_long = |bytes| node.network.is_long_copy(bytes);
    let choice = ways::here(
        kind,
        leaving.layout.is_some(),
        given.as_ref().map(|given| Landing::of(given, is_long)),
        is_helped,
    );
    match choice.way {
        Way::Lent => {
            let (_, plan) = plan(node, kind, lend_or_copy(node, leaving, None), given)?;
            return Ok((Some(choice), plan));
        }
        Way::Handed => return Ok((Some(choice), Plan::Ready(leaving.into()))),
        _ => {}
    }
    let Leaving { memory, layout, release, lent, .. } = leaving;
    if let (Some(release), Some(given)) = (&release, &given) {
        release.take(given.bytes as u64);
    }
    // The memory goes before the release that tells of it.
    Ok((Some(choice), Source { memory, layout, lent }.bring(node, given, |_| drop(release))?))
}

/// Plans the way of an argument from another process, which is to be in memory of the host.
pub(in crate::transfer) fn plan(
    node: &Arc<Node>,
    kind: NocopyKind,
    descriptor: Descriptor,
    given: Option<PostedMemory>,
) -> Result<Chosen, String> {
    match descriptor {
        Descriptor::Inline { bytes, lender } => {
            let (arrived, taken) = match given {
                Some(mut given) => {
                    land_bytes(bytes.as_slice(), &mut given)?;
                    count_landed(node, &given);
                    let taken = given.bytes;
                    (Arrived::Posted(given), taken)
                }
                None => {
                    let taken = bytes.len();
                    let memory = bytes.into_memory();
                    (Arrived::Received { memory, layout: None, release: None }, taken)
                }
            };
            if let Some(lender) = lender {
                send_release(node, lender, taken as u64);
            }
            Ok((None, Plan::Ready(arrived)))
        }
        Descriptor::Lent { key, layout, token, is_awaited } => {
            let loan = Loan { lender: Lender { node: key.node, token }, is_awaited };
            let is_laid_out = layout.is_some() || given.as_ref().is_some_and(|given| given.layout.is_some());
            if is_laid_out {
                let layout = layout.map(|layout| Arc::clone(layout.told()));
                return plan_laid_out(node, (key, layout), loan, kind, given);
            }
            plan_whole(node, key, loan, kind, given)
        }
        Descriptor::Device(_) => Err("a device buffer to be read as memory of the host".to_owned()),
    }
}

/// Plans the way of a whole region, or of its first bytes, into memory as it is.
fn plan_whole(
    node: &Arc<Node>,
    key: RegionKey,
    loan: Loan,
    kind: NocopyKind,
    given: Option<PostedMemory>,
) -> Result<Chosen, String> {
    // What is short is copied at once, a long copy goes on in pieces: by the owner, too, or as a transfer.
    let is_shared = given.as_ref().is_some_and(|posted| is_shared_whole(node, &key, posted));
    let is_long = |bytes| node.network.is_long_copy(bytes);
    let landing_wanted = given.as_ref().map(|given| Landing::of(given, is_long));
    let is_read_here = ways::is_read_in_place(landing_wanted, is_shared);
    let viewed = if is_read_here { view(node, &key, None)? } else { None };
    let choice = Some(ways::whole(landing_wanted, viewed.is_some()));
    let (into, bytes) = match (viewed, given) {
        (Some(memory), None) => {
            let release = Some(release_to(node, loan.lender, key.len));
            return Ok((choice, Plan::Ready(Arrived::Received { memory, layout: None, release })));
        }
        (Some(memory), Some(given)) => {
            let taken = given.bytes as u64;
            let source = Source { memory, layout: None, lent: is_shared.then_some(key) };
            return Ok((choice, source.bring(node, Some(given), move |node| loan.end(node, taken))?));
        }
        (None, Some(PostedMemory { memory, bytes, .. })) => (memory, bytes),
        (None, None) => (landing(node, &key, None)?, key.len as usize),
    };
    let arrive = Box::new(move |node: &Arc<Node>, memory: MemoryMut| {
        node.outside.count_copy(bytes);
        loan.end(node, bytes as u64);
        Ok(if kind.is_posted() {
            Arrived::Posted(PostedMemory { memory, bytes, layout: None })
        } else {
            Arrived::Received { memory: memory.freeze(), layout: None, release: None }
        })
    });
    Ok((choice, Plan::Fetch(Fetch { key, offset: 0, into, bytes, arrive })))
}

/// Plans the way of what layouts select, on either side: one copy from the region where it can be mapped, else a read
/// of what is selected.
fn plan_laid_out(
    node: &Arc<Node>,
    (key, layout): (RegionKey, Option<Arc<Raw>>),
    loan: Loan,
    kind: NocopyKind,
    given: Option<PostedMemory>,
) -> Result<Chosen, String> {
    if let Some(layout) = &layout {
        check_lent(node, &key, layout)?;
    }
    let offered = layout.as_ref().map_or(key.len, |layout| layout.bytes());
    let taken = given.as_ref().map_or(offered, |given| given.bytes as u64);
    let viewed = view(node, &key, layout.as_deref())?;
    let choice = ways::selected(kind, viewed.is_some());
    if let Some(memory) = viewed {
        if choice.way == Way::Viewed {
            let release = Some(release_to(node, loan.lender, offered));
            return Ok((Some(choice), Plan::Ready(Arrived::Received { memory, layout, release })));
        }
        let lent = (key.node != node.id).then_some(key);
        let source = Source { memory, layout, lent };
        return Ok((Some(choice), source.bring(node, given, move |node| loan.end(node, taken))?));
    }
    let whole = |bytes| whole(bytes).map_err(in_words);
    let from = layout.map_or_else(|| whole(taken), Ok)?;
    let to = given.as_ref().and_then(|given| given.layout.clone()).map_or_else(|| whole(taken), Ok)?;
    let selected = Selected::new((key, 0), from, to).map_err(in_words)?;
    let (into, landed) = target(node, selected.plan(), given)?;
    let begin = Box::new(move |node: &Arc<Node>, finish: Finish<Arrived>| {
        selected.read(node, into, move |node, moved, memory| {
            if moved.is_ok() {
                loan.end(node, taken);
            }
            finish(node, moved.map(|_| landed(memory)).map_err(Failure::Transfer));
        });
    });
    Ok((Some(choice), Plan::Begin(begin)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use crate::model::nocopy::{LentLayout, ToldLayout};
    use crate::pe::Pe;

    #[test]
    fn layouts_that_another_node_invents_are_refused_in_words() {
        let code = Job::in_process(1, 1).run(|| async {
            let node = Pe::current(|pe| Arc::clone(&pe.node));
            let memory = MemoryMut::heap_zeroed(100).freeze();
            let lent = node.transfers.lend(node.network.regions(), Leaving::plain(memory, None));
            let (key, token) = lent.unwrap_or_else(|_| unreachable!("there is room"));
            let byte = Raw::bytes_of(1).expect("a byte");
            let lie =
                |layout: Result<Raw, _>| LentLayout::Told(ToldLayout(Arc::new(layout.expect("a layout"))));
            for (layout, words) in [
                (lie(Raw::bytes_of(101)), "101"),
                (lie(byte.shifted(-1)), "-1"),
                (lie(byte.hvector(1 << 50, 1, 0)), "memory"),
                (lie(byte.hvector(u64::MAX >> 1, 1, 0)), "memory"),
            ] {
                for kind in [NocopyKind::Received, NocopyKind::Viewed] {
                    let descriptor =
                        Descriptor::Lent { key, layout: Some(layout.clone()), token, is_awaited: false };
                    let refused = plan(&node, kind, descriptor, None).err().expect("it is a lie");
                    assert!(refused.contains(words), "{refused}");
                }
            }
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
