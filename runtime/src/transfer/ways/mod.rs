//! Ways of buffers: which way a nocopy argument takes, and why. The one place that decides.
//!
//! Pure: what is known of an argument, its ends, the peer and the options goes in, a [`Choice`] comes out; callers ask, and carry it out. The
//! first row that holds decides. `+stats` prints the way and the reason of what leaves a process, in the words of the row.
//!
//! **Out of a process**, for each node that an argument goes to:
//!
//! | if | way | row |
//! |---|---|---|
//! | it has up to 1 KiB, as little as any path wants along | eager | [`SHORT`] |
//! | its sender chose `Registration::None` | eager | [`UNREGISTERED`] |
//! | it is short: up to 4 KiB where the kernel copies it, 32 KiB where a network fetches it, 256 KiB or half a frame where messages carry it | eager | [`SHORT`] |
//! | all of its memory is meant | lent | [`MAPPED`], [`COPIED`], [`FETCHED`], [`CARRIED`], by the path |
//! | `+layouts pack` | packed | [`FORCED`] |
//! | the peer maps the memory; parameter is no view; the layout is long, and takes at most a fifth of the lines that it touches, and at least 64 KiB | packed | [`THIN`] |
//! | it is made of several buffers, and the peer does not map them | packed | [`SEVERAL`] |
//! | the kernel copies it; packing and one piece cost less than its vectors | packed | [`CHEAPER`] |
//! | no network moves runs of it | packed | [`NO_RUNS`] |
//! | a network moves runs; they have less than 24 KiB on average | packed | [`SHORT_RUNS`] |
//! | a network moves runs; more than 8 times what is meant would be registered | packed | [`FAR_RUNS`] |
//! | the layout is long, and comes for the first or second time, or the peer has not said yet that it keeps it | packed | [`UNTOLD`] |
//! | none of these: it goes with its layout | lent | [`MAPPED`], [`COPIED`], [`FETCHED`] |
//! | no more memory can be registered | eager | [`UNREGISTRABLE`] |
//!
//! To many, what a layout selects is packed once, for all nodes that do not map the memory ([`UNMAPPED`]), and where it is thin for all.
//!
//! **Into a parameter**, where it has come to be:
//!
//! | if | way | row |
//! |---|---|---|
//! | it is of this process; whole, posted, and long; and no other node helps to copy it | lent to this node itself, copied in pieces | [`LENT_HERE`] |
//! | it is of this process; the parameter is a view, or takes all of the memory | handed over | [`HANDED`] |
//! | it is of this process | copied by one pass | [`PASSED_HERE`] |
//! | whole, and mapped; the runtime is to provide the memory, or a view is wanted | read in place | [`VIEWED`] |
//! | mapped; a layout is meant, or what is posted is short, or its owner helps | copied by one pass | [`PASSED`] |
//! | whole; posted, and long | fetched, in pieces where that is a copy | [`BROUGHT_LONG`] |
//! | whole, and none of these | fetched | [`BROUGHT`] |
//! | a layout selects it, and it is not mapped | read, as the next five rows say | [`READ`] |
//! | a layout selects it; the kernel copies it; reading all around costs less than vectors | sieved | [`SIEVED`] |
//! | a layout selects it; the kernel copies it | by vectors | [`VECTORED`] |
//! | a layout selects it; a network moves runs, which are long or 10 KiB apart; and the target cuts them into no more, or long ones | by runs | [`RUNS`] |
//! | the same, and the target cuts them | by runs, aside, and copied from there | [`RUNS_ASIDE`] |
//! | a layout selects it | fetched in stretches, and copied from there | [`STRETCHED`] |
//!
//! A pass goes on in pieces from 128 KiB on ([`is_long`]), one of whole memory from fewer on where the node's copies have shown that it pays, and by both processes where that takes less time ([`pays_to_share`]).
//!
//! **To or from a device**:
//!
//! | if | way | row |
//! |---|---|---|
//! | it is short for its device, and fits into half a frame | with its call | [`DEVICE_SHORT`] |
//! | both processes have the device, or that of the receiver reaches the other, and the kernel copies between them, or it is one process; nothing is copied then, or a step takes no longer than chunks | mapped | [`DEVICE_MAPPED`] |
//! | the network registers memory of both devices | read by the network | [`DEVICE_DIRECT`] |
//! | none of these | in chunks by way of the host | [`DEVICE_CHUNKS`] |
//!
//! What a device takes for short and for quicker is measured: see `device/src/model/choice`. Which path leads to a peer is lrts' to decide.

use crate::model::nocopy::{LayoutMethod, NocopyKind, PostedMemory, Registration};
use chare_layout::{Method, Rates, Raw, lines};
use chare_lrts::cma::VectorCosts;
use chare_lrts::reach::LONG_BYTES_MIN;

/// Largest arguments, in bytes, that travel with the message, whatever else the peer could do with them: for memory that the peer maps,
/// that the kernel copies, that a network fetches by itself, and that messages carry. Measured by the bench `crossover`, on a machine
/// with two processors, where both ways cost the same: mapping and its release take 1.2 us at any size, as a message of 1,300 bytes does;
/// a copy by the kernel and its release 3 us, as a message of 5 KB does; a fetch of a network as much as a message of 30 KB or more. Over
/// TCP a message asks, another releases, and the data are messages all the same: up to 256 KiB that is slower than sending the data
/// along, and beyond it is quicker, because a message is put together first.
const EAGER_MAPPED_BYTES: usize = 1024;
const EAGER_COPIED_BYTES: usize = 4096;
const EAGER_FETCHED_BYTES: usize = 32 << 10;
chare_lrts::knob! {
    /// See above.
    fn eager_carried_bytes() -> usize = 256 << 10, or [EAGER_MAPPED_BYTES];
}

/// Part of a frame (1 / `FRAME_PART`) that one argument may take, so that several fit: one that does not is fetched after all. An estimate.
const FRAME_PART: usize = 2;

/// Longest layouts, in indices, that travel with each message. Longer ones take more bytes than a message has besides.
const SHORT_INDICES: u64 = 32;

/// Bytes of a line of the cache.
const LINE_BYTES: f64 = 64.0;

/// Least bytes of what is packed for being thin. Up to there, what a selection touches stays in a second cache, whoever collects it.
const THIN_BYTES_MIN: u64 = 64 << 10;

/// Part of the lines touched (1 / `THIN_PART`) that are wanted of a thin selection, at most. Two processors that each wait for the lines
/// of their own side take less then than one that waits for all: measured by the bench `layouts` with doubles of a line each (1.4 times
/// quicker), and with every second and every fourth double (slower).
const THIN_PART: f64 = 5.0;

/// Mean bytes of runs from which on a network moves each by itself sooner than their owner packs them. Measured with libfabric, 2 MiB of
/// every second run: at 16 KiB `tcp` is slower yet, by a sixth, and `shm` quicker by as much; at 64 KiB they take half and two thirds.
const NETWORK_RUN_BYTES_MIN: u64 = 24 << 10;

/// Mean bytes between runs from which on they are moved alone where nobody packs them: in the same rows a run takes 3.6 us over `tcp` and 1.4
/// over `shm`, as 10 and 7 KiB of one piece do.
const NETWORK_GAP_BYTES_MIN: u64 = 10 << 10;

/// How many times the memory that is packed a network is to register, at most, in order to move runs of it. An estimate.
const REGISTERED_PARTS_MAX: u64 = 8;

/// Most bytes of a pass with which no owner helps, whatever the layouts: asking for help takes longer, at least with elements of 8 bytes,
/// which [`USUAL_RATES`] give 5.6 us at most.
const UNHELPED_BYTES_MAX: usize = 4 << 10;

/// The smallest page of any machine, in bytes: what lies between two runs of several buffers, and is less, lies in pages that are there.
const PAGE_BYTES: u64 = 4096;

/// Bytes between two runs that are fetched in the time of another transfer, at most. Measured over TCP on one host, with 2,500 single elements:
/// each transfer takes 7.6 us, as 15 KB of one piece do.
const TRANSFER_BYTES: u64 = 16 << 10;

/// Pages of a mapping that are entered into the page table at once in the time that one takes which is entered as it is used.
const PAGES_AT_ONCE: u64 = 10;

/// What passes cost, in nanoseconds, by whether the data lie in the second cache, in the last, or beyond; the bytes of these caches come first.
/// Lines: measured by copies between two threads of an AMD EPYC, 64 bytes of each 128, from memory that the other thread had written; to
/// within what a choice needs, they are the same everywhere. Setup: a claim and its release, or memory of the runtime. Vectors: what the
/// bench `layouts` found, for a process that may not even copy from itself. Help: a message to the owner and back, and the wait for its last
/// piece, in the time of the model, which counts short passes too long: with half of this, DDTBench's passes of 5 to 9 us took up to 3 us
/// more when both sides made them, and those of 11 us 1 us less.
const USUAL_RATES: Rates = Rates {
    cache_bytes: [1 << 20, 32 << 20],
    read_line_ns: [0.8, 1.6, 4.0],
    write_line_ns: [1.2, 2.7, 6.0],
    run_ns: 1.0,
    setup_ns: 500.0,
    vector_ns: 150.0,
    vector_byte_ns: 0.067,
    help_ns: 8000.0,
};

/// What becomes of an argument on one stretch of its way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Way {
    /// Its bytes travel with the message.
    Eager,
    /// Its memory is lent, with its layout if it has one.
    Lent,
    /// What its layout selects is packed by its sender, and lent.
    Packed,
    /// The memory itself goes to the parameter.
    Handed,
    /// The parameter reads it where it lies.
    Viewed,
    /// One pass copies it, from layout to layout.
    Passed,
    /// One get brings it.
    Fetched,
    /// What is selected is read, in one of the five ways that follow.
    Read,
    /// A read of all around it, from which it is copied.
    Sieved,
    /// The kernel reads run by run.
    Vectored,
    /// A network reads run by run, each to its place.
    Runs,
    /// A network reads run by run, side by side, from where it is copied.
    RunsAside,
    /// Gets bring the stretches that hold it, from which it is copied.
    Stretched,
    /// A device sees memory of another process.
    DeviceMapped,
    /// The network reads from device to device.
    DeviceDirect,
    /// Chunks go by pinned memory of the host.
    DeviceChunks,
}

impl Way {
    /// It, in words that `+stats` prints.
    const fn words(self) -> &'static str {
        match self {
            Self::Eager => "in its message",
            Self::Lent => "lent",
            Self::Packed => "packed",
            Self::Handed => "handed over",
            Self::Viewed => "read in place",
            Self::Passed => "copied by one pass",
            Self::Fetched => "fetched",
            Self::Read => "read by its layout",
            Self::Sieved => "sieved",
            Self::Vectored => "read by vectors",
            Self::Runs => "read by runs",
            Self::RunsAside => "read by runs, then copied",
            Self::Stretched => "fetched in stretches",
            Self::DeviceMapped => "mapped",
            Self::DeviceDirect => "read by the network",
            Self::DeviceChunks => "in chunks",
        }
    }
}

/// A way, and the reason for it: a row of the table above.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Choice {
    pub(crate) way: Way,
    pub(crate) reason: &'static str,
}

impl Choice {
    /// The way and the reason, as `+stats` prints them.
    pub(crate) const fn words(self) -> (&'static str, &'static str) {
        (self.way.words(), self.reason)
    }
}

macro_rules! rows {
    ($($row:ident: $way:ident, $reason:literal;)+) => {
        $(pub(crate) const $row: Choice = Choice { way: Way::$way, reason: $reason };)+
    };
}

rows! {
    UNREGISTERED: Eager, "its sender chose `Registration::None`";
    SHORT: Eager, "it is short: to lend it would take longer";
    UNREGISTRABLE: Eager, "no more memory can be registered";
    MAPPED: Lent, "its receiver maps the memory";
    COPIED: Lent, "the kernel copies it from process to process";
    FETCHED: Lent, "the network fetches it";
    CARRIED: Lent, "messages fetch it";
    FORCED: Packed, "`+layouts pack` says so";
    THIN: Packed, "it takes few of the cache lines that it touches";
    SEVERAL: Packed, "between its buffers there may be no memory";
    CHEAPER: Packed, "to pack it costs less than the vectors of the kernel";
    NO_RUNS: Packed, "no path to its receiver moves runs";
    SHORT_RUNS: Packed, "its runs are short for a network";
    FAR_RUNS: Packed, "a network would have to register many times as much memory";
    UNTOLD: Packed, "its receiver does not keep the layout yet";
    UNMAPPED: Packed, "it goes to many, and a receiver does not map the memory";
    HANDED: Handed, "it is of this process";
    LENT_HERE: Lent, "it is of this process, and long";
    PASSED_HERE: Passed, "it is of this process";
    VIEWED: Viewed, "the memory is mapped";
    PASSED: Passed, "the memory is mapped";
    BROUGHT: Fetched, "the memory is not mapped";
    BROUGHT_LONG: Fetched, "it is long, and posted: it comes in pieces";
    READ: Read, "a layout selects it of memory that is not mapped";
    SIEVED: Sieved, "to read what lies between costs less than vectors";
    VECTORED: Vectored, "the kernel reads its runs";
    RUNS: Runs, "the network reads its runs";
    RUNS_ASIDE: RunsAside, "its target would cut the network's runs";
    STRETCHED: Stretched, "its runs are too short and too near for the network";
    DEVICE_SHORT: Eager, "it is short for its device";
    DEVICE_MAPPED: DeviceMapped, "both processes have the device";
    DEVICE_DIRECT: DeviceDirect, "the network registers memory of devices";
    DEVICE_CHUNKS: DeviceChunks, "no other path leads from device to device";
}

/// How a peer reaches memory of this node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// It maps the memory.
    Mapped,
    /// The kernel copies.
    Copied,
    /// A network fetches by itself.
    Fetched,
    /// Messages carry it.
    Carried,
}

/// Whether the bytes of an argument travel with its message: because the sender wishes so, or because fetching them would cost more than
/// copying them.
#[inline]
pub(crate) fn eager(
    registration: Registration,
    bytes: usize,
    frame_bytes_max: usize,
    access: impl FnOnce() -> Access,
) -> Option<Choice> {
    if is_always_eager(bytes) {
        return Some(SHORT);
    }
    if registration == Registration::None {
        return Some(UNREGISTERED);
    }
    let limit_bytes = match access() {
        Access::Mapped => EAGER_MAPPED_BYTES,
        Access::Copied => EAGER_COPIED_BYTES,
        Access::Fetched => EAGER_FETCHED_BYTES,
        Access::Carried => eager_carried_bytes().min(frame_part(frame_bytes_max)),
    };
    (bytes <= limit_bytes).then_some(SHORT)
}

/// Whether so many bytes travel with their message whoever takes them: the least of the limits.
#[inline]
pub(crate) const fn is_always_eager(bytes: usize) -> bool {
    bytes <= EAGER_MAPPED_BYTES
}

/// Most bytes of a frame that one argument takes.
pub(crate) const fn frame_part(frame_bytes_max: usize) -> usize {
    frame_bytes_max / FRAME_PART
}

/// The way of what is lent as it lies.
pub(crate) const fn lent(access: Access) -> Choice {
    match access {
        Access::Mapped => MAPPED,
        Access::Copied => COPIED,
        Access::Fetched => FETCHED,
        Access::Carried => CARRIED,
    }
}

/// What a layout selects of an argument that leaves.
#[derive(Clone, Copy)]
pub(crate) struct Leaving<'a> {
    pub(crate) kind: NocopyKind,
    pub(crate) layout: &'a Raw,
    /// Bytes of all the memory.
    pub(crate) memory_bytes: u64,
    /// Whether the memory is that of several buffers, between which there may be none.
    pub(crate) is_several: bool,
}

/// Whether what a layout selects is packed by its sender, not lent. Lines are counted last: of lists, one by one.
pub(crate) fn packed(
    forced: Option<LayoutMethod>,
    Leaving { kind, layout, memory_bytes, is_several }: Leaving<'_>,
    access: Access,
    moves_runs: impl FnOnce() -> bool,
    rates: impl FnOnce() -> &'static Rates,
) -> Option<Choice> {
    if forced == Some(LayoutMethod::Pack) {
        return Some(FORCED);
    }
    let is_free = forced.is_none();
    match access {
        // A view copies nothing, so nothing is to be packed for it where it can be had. With what travels with its layout the owner can help.
        Access::Mapped => {
            let is_packed = kind != NocopyKind::Viewed && !is_short(layout) && is_thin(layout);
            is_packed.then_some(THIN)
        }
        // Whoever reads around the runs, or registers all that there is, must not meet what is no memory.
        _ if is_several => Some(SEVERAL),
        Access::Copied => {
            let is_cheaper = |stream: &Raw| {
                rates().quicker([Method::Stream, Method::Vectors], layout, stream) == Method::Stream
            };
            // The owner knows its own side alone, and takes the receiver's to be one piece of memory.
            let is_packed =
                is_free && Raw::bytes_of(layout.bytes()).map_or(true, |stream| is_cheaper(&stream));
            is_packed.then_some(CHEAPER)
        }
        Access::Fetched | Access::Carried => {
            if !moves_runs() {
                return Some(NO_RUNS);
            }
            if is_free && !has_long_runs(layout) {
                return Some(SHORT_RUNS);
            }
            let is_far = is_free && memory_bytes > layout.bytes().saturating_mul(REGISTERED_PARTS_MAX);
            is_far.then_some(FAR_RUNS)
        }
    }
}

/// Whether what many take by a layout is packed: once for all who do not map the memory, and for those, too, who do, where its owner collects
/// the lines once for all.
pub(crate) fn packed_for_many(
    forced: Option<LayoutMethod>,
    kind: NocopyKind,
    layout: &Raw,
    is_mapped: bool,
) -> Option<Choice> {
    if !is_mapped {
        return Some(UNMAPPED);
    }
    if forced == Some(LayoutMethod::Pack) {
        return Some(FORCED);
    }
    (kind != NocopyKind::Viewed && is_thin(layout)).then_some(THIN)
}

/// Whether a layout travels with each message; a longer one is told to each peer once, when it comes the third time.
#[inline]
pub(crate) fn is_short(layout: &Raw) -> bool {
    layout.index_count() <= SHORT_INDICES
}

/// Whether a layout selects so little of the lines that it touches that it is packed sooner than read by another processor.
fn is_thin(layout: &Raw) -> bool {
    let bytes = layout.bytes();
    bytes >= THIN_BYTES_MIN && lines(layout) * LINE_BYTES >= THIN_PART * bytes as f64
}

fn has_long_runs(layout: &Raw) -> bool {
    layout.bytes() / layout.run_count().max(1) >= NETWORK_RUN_BYTES_MIN
}

/// Where a post method, or another landing, wants an argument.
#[derive(Clone, Copy)]
pub(crate) struct Landing {
    pub(crate) bytes: usize,
    pub(crate) is_laid_out: bool,
    /// Whether a copy of so many bytes goes on in pieces, as the node's copies have shown.
    pub(crate) is_long: bool,
}

impl Landing {
    /// That of what was given.
    pub(crate) fn of(given: &PostedMemory, is_long: impl FnOnce(usize) -> bool) -> Self {
        let (bytes, is_laid_out) = (given.bytes, given.layout.is_some());
        Self { bytes, is_laid_out, is_long: is_long(bytes) }
    }
}

/// The way of an argument of this process into its parameter; `is_helped` says whether another node, whose memory it is, helps to copy it.
pub(crate) fn here(
    kind: NocopyKind,
    is_laid_out: bool,
    landing: Option<Landing>,
    is_helped: impl FnOnce() -> bool,
) -> Choice {
    match landing {
        Some(Landing { is_laid_out: false, is_long: true, .. }) if !is_laid_out && !is_helped() => LENT_HERE,
        _ if kind == NocopyKind::Viewed => HANDED,
        None if !is_laid_out => HANDED,
        _ => PASSED_HERE,
    }
}

/// Whether whole memory of another node is to be read where it lies, if it can be mapped: for this landing, to whose filling its owner helps or
/// not. Else what is long goes as a transfer.
#[inline]
pub(crate) fn is_read_in_place(landing: Option<Landing>, is_helped: bool) -> bool {
    is_helped || landing.is_none_or(|landing| !landing.is_long)
}

/// The way of whole memory of another node into its parameter.
#[inline]
pub(crate) fn whole(landing: Option<Landing>, is_mapped: bool) -> Choice {
    match landing {
        None if is_mapped => VIEWED,
        Some(_) if is_mapped => PASSED,
        Some(Landing { is_long: true, .. }) => BROUGHT_LONG,
        _ => BROUGHT,
    }
}

/// The way of what a layout selects of memory of another node into its parameter.
pub(crate) fn selected(kind: NocopyKind, is_mapped: bool) -> Choice {
    match kind {
        _ if !is_mapped => READ,
        NocopyKind::Viewed => VIEWED,
        _ => PASSED,
    }
}

/// Whether a pass is made by a plan: where a layout of the source or both layouts ask for one, or another process, which has lent the source,
/// may help.
pub(crate) fn is_planned(is_laid_out: bool, landing: Option<Landing>, is_lent: bool) -> bool {
    let is_unhelped = landing.is_some_and(|landing| landing.bytes <= UNHELPED_BYTES_MAX);
    is_laid_out || !is_unhelped && (is_lent || landing.is_some_and(|landing| landing.is_laid_out))
}

/// Whether a copy of so many bytes takes so long that nobody should wait for it: it goes on in pieces.
#[inline]
pub(crate) const fn is_long(bytes: usize) -> bool {
    bytes >= LONG_BYTES_MIN
}

/// Whether a pass between memory that its receiver and the source's owner both map takes less time when both make it together, and both layouts
/// travel with each message. The same in all processes.
pub(crate) fn pays_to_share(from: &Raw, to: &Raw) -> bool {
    let is_quicker = || USUAL_RATES.quicker([Method::Step, Method::Shared], from, to) == Method::Shared;
    is_short(from) && is_short(to) && is_quicker()
}

/// Whether a layout touches so few pages of its span that the others are not worth to be entered into the page table with them: what lies
/// between the arrays of one argument may be longer than any of them, and others' memory.
pub(crate) fn is_sparse(layout: &Raw) -> bool {
    let touched = layout.run_count().saturating_add(layout.bytes() / PAGE_BYTES);
    touched.saturating_mul(PAGES_AT_ONCE) < layout.span() / PAGE_BYTES
}

/// How the kernel reads what a layout selects of another process's memory.
pub(crate) fn read_by_kernel(
    forced: Option<LayoutMethod>,
    from: &Raw,
    to: &Raw,
    rates: impl FnOnce() -> &'static Rates,
) -> Choice {
    match forced {
        Some(LayoutMethod::Sieve) => SIEVED,
        Some(LayoutMethod::Vectors) => VECTORED,
        Some(LayoutMethod::Pack) | None => {
            match rates().quicker([Method::Sieve, Method::Vectors], from, to) {
                Method::Sieve => SIEVED,
                _ => VECTORED,
            }
        }
    }
}

/// How a network reads what a layout selects of another node's memory; `moves_runs` says whether it can do so run by run.
pub(crate) fn read_by_network(
    forced: Option<LayoutMethod>,
    moves_runs: bool,
    from: &Raw,
    to: &Raw,
) -> Choice {
    let are_worth_it = || match forced {
        Some(LayoutMethod::Sieve) => false,
        Some(LayoutMethod::Vectors) => true,
        Some(LayoutMethod::Pack) | None => {
            let gap = from.span().saturating_sub(from.bytes()) / from.run_count().max(1);
            has_long_runs(from) || gap >= NETWORK_GAP_BYTES_MIN
        }
    };
    if !moves_runs || !are_worth_it() {
        return STRETCHED;
    }
    // Each run is a transfer of its own.
    let are_kept = || to.run_count() <= from.run_count() || has_long_runs(to);
    if forced == Some(LayoutMethod::Vectors) || are_kept() { RUNS } else { RUNS_ASIDE }
}

/// Fewer bytes than these between two runs are fetched with them, of memory that is known to be one buffer or not.
pub(crate) const fn gap_bytes(is_one_buffer: bool) -> u64 {
    if is_one_buffer { TRANSFER_BYTES } else { PAGE_BYTES }
}

/// What copies cost where the kernel's calls were measured, or as usual.
pub(crate) fn rates(measured: Option<VectorCosts>) -> Rates {
    let Some(VectorCosts { vector_ns, byte_ns: vector_byte_ns }) = measured else { return USUAL_RATES };
    Rates { vector_ns, vector_byte_ns, ..USUAL_RATES }
}

/// Whether an argument on a device travels with its call: `room_bytes` are left of the part of a frame, `is_short` says what its device says.
pub(crate) fn short_of_device(
    bytes: u64,
    room_bytes: u64,
    is_short: impl FnOnce() -> bool,
) -> Option<Choice> {
    (bytes > 0 && bytes <= room_bytes && is_short()).then_some(DEVICE_SHORT)
}

/// Fewer bytes of adopted memory go by way of the host: each time, their allocations are mapped and unmapped, which takes a driver about a
/// hundred microseconds, as the way by the host takes for these bytes. An estimate.
const ADOPTED_MAPPED_BYTES_MIN: usize = 1 << 20;

/// Whether memory of a device is shown to who could map it: what the device has allocated is mapped once.
pub(crate) fn is_worth_mapping(bytes: usize, is_adopted: bool) -> bool {
    !is_adopted || bytes >= ADOPTED_MAPPED_BYTES_MIN
}

/// The way of so many bytes of a device of another process, or of another device, to one of this process. `is_copied` says whether they are
/// copied also where they are mapped, `is_shared` whether the receiver's device maps them and the kernel copies between the processes, `pulls` whether a step takes no longer than chunks, `is_direct` whether the network registers memory of both.
pub(crate) fn across_devices(
    bytes: usize,
    is_copied: bool,
    is_shared: bool,
    pulls: impl FnOnce() -> bool,
    is_direct: impl FnOnce() -> bool,
) -> Choice {
    match bytes {
        0 => DEVICE_CHUNKS,
        // Always where nothing is to be copied then.
        _ if is_shared && (!is_copied || pulls()) => DEVICE_MAPPED,
        _ if is_direct() => DEVICE_DIRECT,
        _ => DEVICE_CHUNKS,
    }
}

#[cfg(test)]
mod tests;
