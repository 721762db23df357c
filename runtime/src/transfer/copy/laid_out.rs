//! Laid-out memory: nocopy arguments of which a layout selects a part, copied in one pass to where they are to be.
//!
//! 1. An argument keeps its layout on its way wherever its receiver reaches the memory in place: in the same process, or by a mapping. One
//!    pass takes it from the sender's layout to the receiver's, made by the receiver, or if it is long by both (see
//!    [`long_copy`](super::long_copy)).
//! 2. It keeps its layout, too, where the kernel copies the memory and that is the quickest way; see [`ways`].
//! 3. Elsewhere the sender packs the argument into memory of the runtime, which is lent like any other; for many members once, for all who
//!    cannot map the memory, or want it side by side; see [`packing`](super::packing).
//! 4. How a receiver reads what it cannot map, [`selected_read`](super::selected_read) says.
//!
//! A long layout is told to each peer once (see [`known_layouts`](crate::node::lending::known_layouts)).
//!
//! A layout from another node is an allegation: its decoding bounds its size, and here its bounds are checked against the memory.

use super::long_copy::{LongCopy, in_pieces, pays_to_share};
use super::planned::{Planned, count_landed, count_step, planned, whole, with_scattering};
use super::selected_read::{Selected, scatter};
use crate::model::envelope::frame::{self, Header, LayoutNews};
use crate::model::error::JobError;
use crate::model::nocopy::selected;
use crate::model::nocopy::{Arrived, Descriptor, LentLayout, OutgoingMemory, PostedMemory};
use crate::node::Node;
use crate::node::lending::told_layouts::{Digest, News};
use crate::node::lending::transfers::Status;
use crate::transfer::take::gathering::{Failure, Plan as Way};
use crate::transfer::take::remote_memory::{room, view_range};
use crate::transfer::ways::{self, Landing};
use chare_layout::{LayoutError, Plan, Raw};
use chare_lrts::{Memory, MemoryMut, NodeId, RegionKey, TransferError};
use std::sync::Arc;

/// Takes in the layout of lent memory that came from `source`, if there is one: finds what is said by a digest, and tells its peers
/// whether the digest will do from now on, and which others it has no room for.
///
/// # Errors
/// Those of [`KnownLayouts::admit`](crate::node::lending::known_layouts::KnownLayouts::admit).
pub(crate) fn admit(node: &Node, source: NodeId, descriptor: &mut Descriptor) -> Result<(), String> {
    let Descriptor::Lent { key, layout: Some(layout), .. } = descriptor else { return Ok(()) };
    // A call that was sent on says its owner's layout, and the owner has not told it to this node.
    let teller = (key.node == source).then_some(source);
    admit_layout(node, teller, layout)
}

/// The same for an argument of many, which each node describes anew: `source` itself has told the layout, whoever owns the memory.
///
/// # Errors
/// As of [`admit`].
pub(in crate::transfer) fn admit_of_many(
    node: &Node,
    source: NodeId,
    descriptor: &mut Descriptor,
) -> Result<(), String> {
    let Descriptor::Lent { layout: Some(layout), .. } = descriptor else { return Ok(()) };
    admit_layout(node, Some(source), layout)
}

fn admit_layout(node: &Node, teller: Option<NodeId>, layout: &mut LentLayout) -> Result<(), String> {
    let news = node.known_layouts.admit(teller, layout, |layout| !ways::is_short(layout))?;
    news.into_iter().try_for_each(|news| say(node, news))
}

/// Hears news of a layout from another node, and answers.
///
/// # Errors
/// Those of [`KnownLayouts::hear`](crate::node::lending::known_layouts::KnownLayouts::hear).
pub(crate) fn heard(node: &Node, source: NodeId, digest: Digest, news: LayoutNews) -> Result<(), String> {
    node.known_layouts.hear(source, digest, news)?.map_or(Ok(()), |answer| say(node, answer))
}

/// Says news of a layout to whom they are for.
///
/// # Errors
/// None that is known: news are short.
pub(in crate::transfer) fn say(node: &Node, (peer, digest, news): News) -> Result<(), String> {
    let frame = frame::encode(&Header::Layout { digest, news }, None)?;
    node.outside.sent.add_shared(1);
    node.post(&node.outside, peer, frame);
    Ok(())
}

/// Checks a layout that another node tells of its memory.
///
/// # Errors
/// A layout that selects what lies outside, or more than this node has memory for, in words.
pub(in crate::transfer) fn check_lent(node: &Node, key: &RegionKey, layout: &Raw) -> Result<(), String> {
    layout.check_bounds(key.len).map_err(|error| error.to_string())?;
    // It may select the same bytes again and again.
    node.note_fetched(layout.bytes())
}

/// Memory that can be read here, and the selection of it that is meant.
pub(in crate::transfer) struct Source {
    pub(in crate::transfer) memory: Memory,
    pub(in crate::transfer) layout: Option<Arc<Raw>>,
    /// The region of another process that the memory is, if it is one.
    pub(in crate::transfer) lent: Option<RegionKey>,
}

impl Source {
    /// Plans the way of the elements to where a nocopy parameter is to see them, after which `after` runs, when nothing is held of the
    /// source: a long copy by a plan goes on in pieces, perhaps with the help of the source's owner, any other is made here.
    ///
    /// # Errors
    /// A layout that selects what is not there, and lengths that there is no memory for, in words.
    pub(in crate::transfer) fn bring(
        self,
        node: &Arc<Node>,
        given: Option<PostedMemory>,
        after: impl FnOnce(&Arc<Node>) + Send + 'static,
    ) -> Result<Way<Arrived>, String> {
        let planned = match self.plan_to(given.as_ref())? {
            Some(planned) if self.is_long(node, &planned) => planned,
            planned => {
                let arrived = self.land_by(planned.as_deref(), node, given)?;
                drop(self);
                after(node);
                return Ok(Way::Ready(arrived));
            }
        };
        let Self { memory: source, layout: _, lent } = self;
        let (into, landed) = target(node, &planned.plan, given)?;
        planned.plan.check_bounds(source.len() as u64, into.len() as u64).map_err(in_words)?;
        count_step(node, &planned);
        let copy = LongCopy { planned, source, into, lent };
        Ok(Way::Begin(Box::new(move |node, finish| {
            copy.carry_out(node, move |node, copied, memory| {
                let arrived =
                    copied.map(|_| landed(memory)).map_err(|cause| Failure::Words(cause.to_string()));
                after(node);
                finish(node, arrived);
            });
        })))
    }

    /// Whether nobody should wait for a copy, or somebody help with it.
    fn is_long(&self, node: &Node, planned: &Planned) -> bool {
        ways::is_long(planned.plan.bytes() as usize)
            || self.lent.is_some_and(|lent| pays_to_share(node, &lent, planned))
    }

    fn land_by(
        &self,
        planned: Option<&Planned>,
        node: &Node,
        given: Option<PostedMemory>,
    ) -> Result<Arrived, String> {
        match (planned, given) {
            (Some(planned), given) => {
                let plan = &planned.plan;
                let (mut into, landed) = target(node, plan, given)?;
                selected::copy(plan, &self.memory, &mut into).map_err(in_words)?;
                count_step(node, planned);
                Ok(landed(into))
            }
            (None, Some(mut given)) => {
                land_bytes(self.memory.as_slice(), &mut given)?;
                count_landed(node, &given);
                Ok(Arrived::Posted(given))
            }
            (None, None) => {
                Ok(Arrived::Received { memory: self.memory.clone(), layout: None, release: None })
            }
        }
    }

    /// The plan of the copy, where a layout of the source or both layouts ask for one, or another process may help.
    fn plan_to(&self, given: Option<&PostedMemory>) -> Result<Option<Arc<Planned>>, String> {
        let whole = |len: usize| whole(len as u64).map_err(in_words);
        let to = given.and_then(|given| given.layout.as_ref());
        let landing = given.map(|given| Landing::of(given, ways::is_long));
        if !ways::is_planned(self.layout.is_some(), landing, self.lent.is_some()) {
            return Ok(None);
        }
        // Layouts are looked at where they lie: each handle of one is two locked instructions.
        let (all, room);
        let from = match &self.layout {
            Some(layout) => layout,
            None => {
                all = whole(self.memory.len())?;
                &all
            }
        };
        let to = match to {
            Some(layout) => layout,
            None => {
                room = whole(given.map_or(from.bytes() as usize, |given| given.bytes))?;
                &room
            }
        };
        from.check_bounds(self.memory.len() as u64).map_err(in_words)?;
        planned(from, to).map(Some).map_err(in_words)
    }
}

/// Puts bytes that came with a message where a post method wants them.
///
/// # Errors
/// A buffer that wants more bytes than came, in words.
pub(in crate::transfer) fn land_bytes(source: &[u8], given: &mut PostedMemory) -> Result<(), String> {
    let PostedMemory { memory, bytes, layout } = given;
    let wanted = || format!("a buffer of {bytes} bytes for the {} that came", source.len());
    let source = source.get(..*bytes).ok_or_else(wanted)?;
    match layout {
        None => memory.as_mut_slice()[..*bytes].copy_from_slice(source),
        Some(layout) => with_scattering(layout, |plan| selected::copy_from(plan, source, memory))
            .flatten()
            .map_err(in_words)?,
    }
    Ok(())
}

/// The memory that a plan fills, and what it is when it is full.
///
/// # Errors
/// A length that there is no memory for, in words.
pub(in crate::transfer) fn target(
    node: &Node,
    plan: &Plan,
    given: Option<PostedMemory>,
) -> Result<(MemoryMut, impl FnOnce(MemoryMut) -> Arrived + Send + use<>), String> {
    let (into, posted) = match given {
        None => (room(node, plan.bytes())?, None),
        Some(PostedMemory { memory, bytes, layout }) => (memory, Some((layout, bytes))),
    };
    let landed = |memory: MemoryMut| match posted {
        None => Arrived::Received { memory: memory.freeze(), layout: None, release: None },
        Some((layout, bytes)) => Arrived::Posted(PostedMemory { memory, bytes, layout }),
    };
    Ok((into, landed))
}

/// Copies an argument of this process to where it is to be, before this returns: for what is short, and as long as its room. Whoever gave
/// the argument is not told.
///
/// # Errors
/// A layout that selects what is not there, in words.
pub(crate) fn land_at_once(
    node: &Node,
    argument: &OutgoingMemory,
    given: PostedMemory,
) -> Result<MemoryMut, String> {
    let OutgoingMemory { memory, layout, .. } = argument;
    let source = Source { memory: memory.clone(), layout: layout.clone(), lent: None };
    let planned = source.plan_to(Some(&given))?;
    match source.land_by(planned.as_deref(), node, Some(given))? {
        Arrived::Posted(filled) => Ok(filled.memory),
        _ => unreachable!("it was posted"),
    }
}

/// Copies an argument of this process to where it is to be, in pieces: for what is long, and as long as its room. `then` runs when it is
/// copied, and nothing is held of the argument nor of the room. A copy that fails ends the job with an error in which `what` names it.
///
/// # Errors
/// A layout that selects what is not there, in words.
pub(crate) fn land_in_pieces(
    node: &Arc<Node>,
    argument: &OutgoingMemory,
    given: PostedMemory,
    what: &'static str,
    then: impl FnOnce(&Arc<Node>) + Send + 'static,
) -> Result<(), String> {
    let source = argument.memory.clone();
    let layout_of = |layout: &Option<Arc<Raw>>, len: usize| match layout {
        Some(layout) => Ok(Arc::clone(layout)),
        None => whole(len as u64),
    };
    let from = layout_of(&argument.layout, source.len()).map_err(in_words)?;
    let to = layout_of(&given.layout, given.bytes).map_err(in_words)?;
    let planned = planned(&from, &to).map_err(in_words)?;
    let into = given.memory;
    planned.plan.check_bounds(source.len() as u64, into.len() as u64).map_err(in_words)?;
    count_step(node, &planned);
    node.outside.sent.add_shared(1);
    let copy = LongCopy { planned, source, into, lent: None };
    copy.carry_out(node, move |node, copied, into| {
        drop(into);
        match copied {
            Ok(_) => then(node),
            Err(cause) => {
                node.fail(JobError::Transfer { what: what.to_owned(), node: node.id, cause });
            }
        }
        node.outside.processed.add_shared(1);
    });
    Ok(())
}

/// A range of a peer's region, and the selection of the range that is meant, if not all of it.
pub(crate) struct Remote {
    pub(crate) key: RegionKey,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) layout: Option<Arc<Raw>>,
}

/// Reads what is selected of a region to where a landing wants it: in place where the region can be mapped, else as
/// [`selected_read`](super::selected_read) says. `finish` gets the landing's memory, however the transfer ends.
pub(crate) fn get(
    node: &Arc<Node>,
    Remote { key, offset, bytes, layout }: Remote,
    landing: PostedMemory,
    finish: impl FnOnce(Result<usize, TransferError>, MemoryMut) + Send + 'static,
) -> Status {
    let PostedMemory { mut memory, layout: to, .. } = landing;
    match view_range(node, &key, (offset, bytes), layout.as_deref()) {
        Err(cause) => finish(Err(cause), memory),
        Ok(Some(source)) => {
            let plan = scattering((&source, layout.as_deref()), (&memory, to.as_deref()));
            node.outside.stepped.add_shared(1);
            if ways::is_long(plan.bytes() as usize) {
                in_pieces(node, &plan, source, memory, move |_, copied, memory| finish(copied, memory));
                return Status::Pending;
            }
            scatter(&plan, &source, &mut memory);
            finish(Ok(plan.bytes() as usize), memory);
        }
        Ok(None) => {
            let whole = |len: usize| whole(len as u64);
            let from = layout.map_or_else(|| whole(bytes), Ok);
            let to = to.map_or_else(|| whole(memory.len()), Ok);
            let selected = from.and_then(|from| Selected::new((key, offset), from, to?));
            match selected {
                Ok(selected) => {
                    return selected
                        .of_one_buffer()
                        .read(node, memory, |_, moved, memory| finish(moved, memory));
                }
                Err(_) => {
                    // Only a peer invents such bounds.
                    let (offset, len) = (0, bytes as u64);
                    finish(
                        Err(TransferError::OutOfRange { node: key.node, offset, len, region_len: key.len }),
                        memory,
                    );
                }
            }
        }
    }
    Status::Complete
}

/// The plan from what is selected of a source to where a layout selects, or side by side; either may be longer.
fn scattering((source, from): (&Memory, Option<&Raw>), (into, to): (&MemoryMut, Option<&Raw>)) -> Plan {
    let whole = |len: usize| Raw::bytes_of(len as u64);
    let plan = whole(source.len()).and_then(|all| {
        let room = whole(into.len())?;
        Plan::beginning(from.unwrap_or(&all), to.unwrap_or(&room))
    });
    plan.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"))
}

pub(in crate::transfer) fn in_words(error: LayoutError) -> String {
    format!("a layout: {error}")
}
