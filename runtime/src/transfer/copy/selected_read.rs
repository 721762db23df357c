//! Selected reads: what a layout selects of another node's memory that cannot be mapped, brought to where it is wanted.
//!
//! 1. Where the kernel copies the memory, it is read by vectors or by the sieve, whichever is quicker; a long one in pieces.
//! 2. Where a network reads memory by itself, and the runs are long or far apart, it reads them alone, under one lease: to where they are
//!    wanted, or, if they were cut there into many more, side by side, and the selection is copied from there.
//! 3. Elsewhere, and where a path refuses half-way, [`Stretches`] of its span are fetched as other memory is, and the selection copied from
//!    there.

use super::planned::{planned, whole};
use super::rates::rates;
use super::series::{Begin, SeriesParts, carry_out_each};
use super::stretches::Stretches;
use crate::model::nocopy::selected;
use crate::node::Node;
use crate::node::lending::foreign::{CopyOfForeign, Read, Span};
use crate::node::lending::transfers::Status;
use crate::transfer::take::remote_memory::room;
use crate::transfer::ways::{self, Way};
use chare_layout::{LayoutError, Plan, Raw};
use chare_lrts::claim::ClaimMode;
use chare_lrts::reach::PiecewiseCopy;
use chare_lrts::{Completion, Memory, MemoryMut, RegionKey, Run, Runs, TransferError};
use std::sync::Arc;

/// A selection of a peer's region, and how it is wanted here.
pub(in crate::transfer) struct Selected {
    span: Span,
    /// Counted from the span's first byte.
    from: Arc<Raw>,
    to: Arc<Raw>,
    plan: Arc<Plan>,
    /// Fewer bytes than these between two runs may be fetched with them.
    between: u64,
}

impl Selected {
    /// What `from` selects of a region, from `offset` on, to be brought to where `to` says, as far as the shorter of the two goes. The
    /// layouts were compared with the lengths of their memories.
    ///
    /// # Errors
    /// Bounds that only a peer invents.
    pub(in crate::transfer) fn new(
        (key, offset): (RegionKey, u64),
        from: Arc<Raw>,
        to: Arc<Raw>,
    ) -> Result<Self, LayoutError> {
        let (origin, bytes) = (from.origin(), from.span() as usize);
        let from = if origin == 0 { from } else { Arc::new(from.shifted(-origin)?) };
        let plan = Arc::clone(&planned(&from, &to)?.plan);
        Ok(Self {
            span: Span { key, at: offset.saturating_add_signed(origin), bytes },
            from,
            to,
            plan,
            between: ways::gap_bytes(false),
        })
    }

    /// The same of a region that is known to be one buffer: what lies between is memory, too.
    pub(super) fn of_one_buffer(self) -> Self {
        Self { between: ways::gap_bytes(true), ..self }
    }

    pub(in crate::transfer) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Brings it into memory. `finish` gets the memory, and how many bytes came, however the transfer ends.
    pub(in crate::transfer) fn read(
        self,
        node: &Arc<Node>,
        into: MemoryMut,
        finish: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
    ) -> Status {
        let Some(claimed) = self.span.claim(&node.network, ClaimMode::Read) else {
            return self.read_over_network(node, into, finish);
        };
        let choice = ways::read_by_kernel(node.layout_method, &self.from, &self.to, rates);
        let is_sieved = choice.way == Way::Sieved;
        let copy = Read::new(claimed, (&self.plan, is_sieved), into);
        let copy = copy.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
        carry_out(node, copy, move |node, copied, into| {
            if let Err(TransferError::Refused { .. }) = copied {
                return self.fetch(node, into, finish);
            }
            if let Ok(bytes) = copied {
                node.network.count_foreign(self.span.key.node, bytes);
                node.outside.count_copy(bytes);
                let count = if is_sieved { &node.outside.sieved } else { &node.outside.vectored };
                count.add_shared(1);
            }
            finish(node, copied, into);
            Status::Complete
        })
    }

    /// Has a network read the runs, where it can and that is quicker; else fetches what holds them.
    fn read_over_network(
        self,
        node: &Arc<Node>,
        mut into: MemoryMut,
        finish: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
    ) -> Status {
        let (owner, bytes) = (self.span.key.node, self.plan.bytes());
        let moves_runs = node.network.moves_runs(owner, ClaimMode::Read, bytes);
        match ways::read_by_network(node.layout_method, moves_runs, &self.from, &self.to).way {
            Way::Runs => return self.read_runs(node, into, finish),
            Way::RunsAside => {}
            _ => return self.fetch(node, into, finish),
        }
        let beside = whole(bytes).and_then(|to| {
            let (from, unpack) = (Arc::clone(&self.from), planned(&to, &self.to)?);
            Ok((
                Self {
                    span: self.span,
                    plan: Arc::clone(&planned(&from, &to)?.plan),
                    from,
                    to,
                    between: self.between,
                },
                unpack,
            ))
        });
        let (beside, unpack) =
            beside.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
        match room(node, bytes) {
            Err(cause) => {
                finish(node, Err(TransferError::Refused { node: owner, cause }), into);
                Status::Complete
            }
            Ok(room) => beside.read_runs(node, room, move |node, moved, stream| {
                if let Ok(bytes) = moved {
                    node.outside.count_copy(bytes);
                    scatter(&unpack.plan, &stream.freeze(), &mut into);
                }
                finish(node, moved, into);
            }),
        }
    }

    /// Has the network read the runs, each to its place.
    fn read_runs(
        self,
        node: &Arc<Node>,
        into: MemoryMut,
        finish: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
    ) -> Status {
        let Span { key, at, bytes } = self.span;
        let checked = self.plan.check_bounds(bytes as u64, into.len() as u64);
        checked.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
        let runs = runs(&self.plan, |source, target, len| Run { at: source, here: target as usize, len });
        let then_node = Arc::clone(node);
        let then = move |completion: Completion| {
            let into = completion.memory.expect("a read by runs hands its memory back");
            match completion.result {
                Err(TransferError::Refused { .. }) => {
                    self.fetch(&then_node, into, finish);
                }
                moved => {
                    if let Ok(bytes) = moved {
                        then_node.outside.count_copy(bytes);
                        then_node.outside.vectored.add_shared(1);
                    }
                    finish(&then_node, moved, into);
                }
            }
        };
        node.get_runs((key, at), (into, runs), Box::new(then))
    }

    /// Fetches stretches of the span, each by a get, and copies the selection from there.
    fn fetch(
        self,
        node: &Arc<Node>,
        into: MemoryMut,
        finish: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
    ) -> Status {
        let Self { span, plan, between, .. } = self;
        let stretches = Stretches::of(&plan, between);
        carry_out_each(node, Fetching { span, plan, stretches, fetched: Vec::new(), into, finish })
    }
}

/// Gets of the stretches that hold a selection.
struct Fetching<F> {
    span: Span,
    plan: Arc<Plan>,
    stretches: Stretches,
    /// What came of those that have begun.
    fetched: Vec<Option<Memory>>,
    into: MemoryMut,
    finish: F,
}

impl<F> SeriesParts for Fetching<F>
where
    F: FnOnce(&Arc<Node>, Result<usize, TransferError>, MemoryMut) + Send + 'static,
{
    fn next(&mut self, node: &Node) -> Result<Option<Begin>, TransferError> {
        let Some(stretch) = self.stretches.nth(self.fetched.len()) else { return Ok(None) };
        self.fetched.push(None);
        let (key, offset) = (self.span.key, self.span.at + stretch.start);
        let room = room(node, stretch.end - stretch.start);
        let room = room.map_err(|cause| TransferError::Refused { node: key.node, cause })?;
        let bytes = room.len();
        Ok(Some(Box::new(move |node, then| node.get((key, offset), (room, bytes), then))))
    }

    fn take(&mut self, place: usize, memory: Option<MemoryMut>) {
        self.fetched[place] = memory.map(MemoryMut::freeze);
    }

    fn finish(self, node: &Arc<Node>, moved: Result<usize, TransferError>) {
        let Self { plan, stretches, fetched, mut into, finish, .. } = self;
        let moved = moved.map(|fetched_bytes| {
            node.outside.count_copy(fetched_bytes);
            node.outside.sieved.add_shared(1);
            stretches.scatter(&plan, fetched.into_iter().flatten(), &mut into);
            plan.bytes() as usize
        });
        finish(node, moved, into);
    }
}

/// Carries a copy of foreign memory out, a long one in pieces, then runs `then` with the bytes that were copied and the memory at this end.
pub(super) fn carry_out<M: Send + Sync + 'static>(
    node: &Arc<Node>,
    mut copy: CopyOfForeign<M>,
    then: impl FnOnce(&Arc<Node>, Result<usize, TransferError>, M) -> Status + Send + 'static,
) -> Status
where
    CopyOfForeign<M>: PiecewiseCopy,
{
    if !ways::is_long(copy.bytes_of_all()) {
        let copied = copy.copy_all();
        return then(node, copied, copy.into_here());
    }
    let (copy, then_node) = (Arc::new(copy), Arc::clone(node));
    let pieces = Arc::clone(&copy);
    let then = move |completion: Completion| {
        let copy = Arc::into_inner(copy).expect("the job's handle goes before its end is told");
        then(&then_node, completion.result, copy.into_here());
    };
    node.copy_pieces(pieces, Box::new(then));
    Status::Pending
}

/// A run for each block of a plan, of its places in the source and in the target and its length. Places are within the memories for
/// which the plan was checked.
pub(super) fn runs(plan: &Plan, run: impl Fn(u64, u64, usize) -> Run) -> Runs {
    let mut runs = Vec::new();
    plan.for_each_copy(&mut |copies| {
        let len = copies.block as usize;
        copies.for_each_block(&mut |source, target| runs.push(run(source as u64, target as u64, len)));
    });
    Runs::new(runs)
}

/// Copies by a plan that was made of the layouts of both memories.
pub(super) fn scatter(plan: &Plan, source: &Memory, into: &mut MemoryMut) {
    let copied = selected::copy(plan, source, into);
    copied.unwrap_or_else(|error| unreachable!("the layouts were checked: {error}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::in_process::Job;
    use crate::model::nocopy::Leaving;
    use crate::pe::Pe;

    /// Far more than anybody fetches for a few elements.
    const FAR: usize = 1 << 30;

    #[test]
    fn of_arrays_far_apart_nothing_is_fetched_that_lies_between() {
        let code = Job::in_process(1, 1).run(|| async {
            let node = Pe::current(|pe| Arc::clone(&pe.node));
            let array = Raw::bytes_of(64).and_then(|piece| piece.hvector(100, 1, 128)).expect("it fits");
            let both = Raw::sequence(&[(FAR as i64, &array), (1000, &array)]).expect("it fits");
            let bytes = both.bytes() as usize;
            let mut memory = MemoryMut::heap_zeroed(FAR + array.span() as usize);
            let places = both.runs().flat_map(|(at, len)| at as usize..at as usize + len as usize);
            places.enumerate().for_each(|(count, place)| memory.as_mut_slice()[place] = count as u8);
            let lent = node.transfers.lend(node.network.regions(), Leaving::plain(memory.freeze(), None));
            let (key, _) = lent.unwrap_or_else(|_| unreachable!("there is room"));
            let selected = Selected::new((key, 0), Arc::new(both), whole(bytes as u64).expect("it fits"));
            let before = node.outside.copied_bytes.read();
            let (landed, land) = std::sync::mpsc::channel();
            let into = MemoryMut::heap_zeroed(bytes);
            selected.expect("it fits").fetch(&node, into, move |_, moved, memory| {
                landed.send((moved, memory)).expect("it is waited for");
            });
            let (moved, memory) = land.recv().expect("a copy in this process is over at once");
            assert_eq!(moved, Ok(bytes));
            assert!(memory.as_slice().iter().enumerate().all(|(count, byte)| *byte == count as u8));
            let fetched = node.outside.copied_bytes.read() - before;
            assert_eq!(fetched, 2 * array.span(), "each array with what lies between its elements");
        });
        assert_eq!(code.expect("the job runs"), 0);
    }
}
