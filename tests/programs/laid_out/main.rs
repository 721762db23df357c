//! The program of the conformance of layouts: selected elements read, written and sent between the first PE and the last one, over
//! whatever path its options say.
//!
//! Its argument says which promise is kept; it prints `kept` and ends with 0, or panics. Everything that is read or written is compared
//! with what it must be, and so is what lies between.

mod forged;
mod peer;
mod shape;

use chare::prelude::*;
use chare::{Landing, Layout, Program};
use chare_lrts::TransferError;
use chare_tests::status;
use clap::{Parser, ValueEnum};
use peer::{
    EMPTY, Handles, Home, PeerElementProxy, PeerProxy, UNTOUCHED, outcome_of_get, outcome_of_put, source_at,
};
use shape::{LEN, Shape, gathered, scattered};
use std::process::ExitCode;

/// Elements of a buffer whose end is farther than 32 bits reach.
const FAR: usize = (5 << 30) / size_of::<u32>();

/// Elements of the runs that are selected of it.
const FAR_RUN: usize = 16 << 10;

/// What is tried.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Promise {
    /// Reads of what a layout selects, side by side
    StridedGet,
    /// Writes to what a layout selects
    StridedPut,
    /// Reads, writes and arguments from layout to layout
    BothSidesStrided,
    /// Less room than is offered, and fewer elements than there is room for
    Prefix,
    /// Handles to memory that is registered no more
    StaleKey,
    /// Layouts that nobody has checked
    ForgedLayouts,
    /// Arguments and writes whose runs are farther apart than 32 bits count
    BeyondFourGib,
    /// Reads of such
    ReadsBeyondFourGib,
    /// Arguments by lists of which most come once or four times and some twenty times, in memory that does not grow
    ListsThatChange,
}

#[derive(Parser, Clone, Copy)]
#[command(no_binary_name = true)]
struct Options {
    #[arg(value_enum)]
    promise: Promise,
    /// How many different lists
    #[arg(long, default_value_t = 12_000)]
    lists: usize,
}

fn peer(peers: &PeerProxy) -> PeerElementProxy {
    peers.on(PeId(chare::pes() - 1))
}

async fn register(peer: &PeerElementProxy, home: Home) -> Handles {
    let (handles, to) = chare::future();
    peer.register(home, to);
    handles.await
}

/// What the peer's target holds.
async fn look(peer: &PeerElementProxy) -> Vec<u32> {
    let (elements, to) = chare::future();
    peer.look(to);
    elements.await
}

async fn strided_get(peer: &PeerElementProxy, home: Home) {
    let (source, _) = register(peer, home).await;
    let all: Vec<u32> = (0..LEN).map(source_at).collect();
    for shape in Shape::ALL {
        let read = outcome_of_get(source.only(&shape.layout()), home.of(|_| UNTOUCHED)).await;
        let read = read.expect("it is registered");
        assert!(read[..Shape::COUNT] == gathered(shape, &all), "{shape:?} of {home:?}");
        assert!(read[Shape::COUNT..].iter().all(|element| *element == UNTOUCHED), "{shape:?} of {home:?}");
    }
}

async fn strided_put(peer: &PeerElementProxy, home: Home) {
    let elements: Vec<u32> = (0..Shape::COUNT).map(source_at).collect();
    for shape in Shape::ALL {
        let (_, target) = register(peer, home).await;
        let written = outcome_of_put(elements.clone(), target.only(&shape.layout())).await;
        written.expect("it is registered");
        assert!(look(peer).await == scattered(shape, &elements, EMPTY), "{shape:?} of {home:?}");
    }
}

async fn both_sides_strided(peer: &PeerElementProxy, home: Home) {
    let all: Vec<u32> = (0..LEN).map(source_at).collect();
    for (from, to) in Shape::ALL.into_iter().flat_map(|from| Shape::ALL.map(|to| (from, to))) {
        let (source, target) = register(peer, home).await;
        let elements = gathered(from, &all);
        let what = format!("{from:?} to {to:?} of {home:?}");

        let landing = Landing::at(&to.layout(), home.of(|_| UNTOUCHED));
        let read = outcome_of_get(source.only(&from.layout()), landing).await.expect("it is registered");
        assert!(read[..] == scattered(to, &elements, UNTOUCHED), "a read of {what}");

        let buffer = home.of(source_at).freeze();
        let written = outcome_of_put(buffer.clone().only(&from.layout()), target.only(&to.layout())).await;
        written.expect("it is registered");
        assert!(look(peer).await == scattered(to, &elements, EMPTY), "a write of {what}");

        let (landed, done) = chare::future();
        peer.land(to, home, SendBuffer::from(buffer.clone()).only(&from.layout()), done);
        assert!(landed.await == scattered(to, &elements, UNTOUCHED), "a posted argument of {what}");

        let ((taken, on_taken), (viewed, on_viewed)) = (chare::future(), chare::future());
        peer.take(SendBuffer::from(buffer.clone()).only(&from.layout()), on_taken);
        peer.view(SendBuffer::from(buffer).only(&from.layout()), on_viewed);
        assert!(taken.await == elements && viewed.await == elements, "arguments of {what}");
    }
}

async fn prefix(peer: &PeerElementProxy, home: Home) {
    let all: Vec<u32> = (0..LEN).map(source_at).collect();
    for shape in Shape::ALL {
        let elements = gathered(shape, &all);
        // Neither a whole run nor a whole row.
        for len in [1, Shape::COUNT / 2 + 5, Shape::COUNT - 1] {
            let (_, target) = register(peer, home).await;
            let (landed, done) = chare::future();
            let argument = SendBuffer::from(home.of(source_at)).only(&shape.layout());
            peer.land_first(len, argument, done);
            assert!(landed.await == elements[..len], "{len} of {shape:?} of {home:?}");

            let written = outcome_of_put(elements[..len].to_vec(), target.only(&shape.layout())).await;
            written.expect("it is registered");
            let expected = scattered(shape, &elements[..len], EMPTY);
            assert!(look(peer).await == expected, "{len} to {shape:?} of {home:?}");
        }
    }
}

async fn stale_key(peer: &PeerElementProxy, home: Home) {
    let (source, target) = register(peer, home).await;
    let (forgotten, done) = chare::future();
    peer.forget(done);
    forgotten.await;
    for shape in Shape::ALL {
        for to in [Shape::Front, Shape::LongRuns] {
            let landing = Landing::at(&to.layout(), home.of(|_| UNTOUCHED));
            let read = outcome_of_get(source.only(&shape.layout()), landing).await;
            let failed = read.expect_err("it is registered no more");
            assert!(matches!(failed.cause, TransferError::StaleKey(_)), "{shape:?}: {:?}", failed.cause);
            assert!(failed.buffer.iter().all(|element| *element == UNTOUCHED), "a refused read has written");
        }
        let written = outcome_of_put(vec![0; Shape::COUNT], target.only(&shape.layout())).await;
        let cause = written.expect_err("it is registered no more").cause;
        assert!(matches!(cause, TransferError::StaleKey(_)), "{shape:?}: {cause:?}");
    }
}

async fn forged_layouts(peer: &PeerElementProxy, home: Home) {
    let (source, target) = register(peer, home).await;
    forged::reads(source).await;
    forged::writes(target).await;
    let written = look(peer).await;
    let is_right = written.iter().all(|element| [EMPTY, peer::WRITTEN].contains(element));
    assert!(is_right, "a target holds what nobody wrote");
}

/// Runs at both ends of a long buffer and in its middle, and their places.
fn far() -> (Layout<u32>, Vec<usize>) {
    let distance = (FAR - FAR_RUN) / 2;
    let layout = Layout::vector(3, FAR_RUN as u64, distance as i64).expect("it fits");
    let places = (0..3).flat_map(|run| (0..FAR_RUN).map(move |element| run * distance + element));
    (layout, places.collect())
}

/// A buffer without pages but for those of the runs.
fn far_buffer(places: &[usize]) -> Vec<u32> {
    let mut all = vec![0; FAR];
    places.iter().for_each(|place| all[*place] = source_at(*place));
    all
}

async fn beyond_four_gib(peer: &PeerElementProxy) {
    let (layout, places) = far();
    let elements: Vec<u32> = places.iter().map(|place| source_at(*place)).collect();
    let buffer: Buffer<u32> = BufferMut::from(far_buffer(&places)).freeze();
    let (taken, done) = chare::future();
    peer.take(SendBuffer::from(buffer.clone()).only(&layout), done);
    assert!(taken.await == elements, "an argument");
    let (landed, done) = chare::future();
    peer.land_first(elements.len(), SendBuffer::from(buffer).only(&layout), done);
    assert!(landed.await == elements, "a posted argument");

    let (target, to) = chare::future();
    peer.register_far(FAR, to);
    let written = outcome_of_put(elements.clone(), target.await.only(&layout)).await;
    written.expect("it is registered");
    let (looked, to) = chare::future();
    peer.look_far(places, to);
    assert!(looked.await == elements, "a write");
}

async fn reads_beyond_four_gib(peer: &PeerElementProxy) {
    let (layout, places) = far();
    let (target, to) = chare::future();
    peer.register_far(FAR, to);
    let target = target.await;
    let elements: Vec<u32> = places.iter().map(|place| source_at(*place)).collect();
    let written = outcome_of_put(elements.clone(), target.only(&layout)).await;
    written.expect("it is registered");
    let read = outcome_of_get(target.as_source().only(&layout), vec![UNTOUCHED; places.len()]).await;
    assert!(read.expect("it is registered")[..] == elements, "a read");
}

/// Indices of a list.
const INDICES: usize = 400;

/// Memory may grow by this much at either end while lists go on to change: less than half of what half of all lists take. Some libraries of
/// networks have pools that grow for a while.
const GROWTH_BYTES_MAX: usize = 4 << 20;

/// The places of a list: as in no other, and in no loop.
fn list(number: usize) -> Vec<usize> {
    let scattered = (0..INDICES - 2).map(|place| place * place % LEN);
    scattered.chain([number % LEN, number / LEN % LEN]).collect()
}

/// Memory of this process and of the peer's.
async fn resident(peer: &PeerElementProxy) -> [u64; 2] {
    let (bytes, to) = chare::future();
    peer.resident(to);
    [status("VmRSS:"), bytes.await]
}

async fn lists_that_change(peer: &PeerElementProxy, lists: usize) {
    let buffer = Home::Pool.of(source_at).freeze();
    let mut warm = [0; 2];
    for number in 0..lists {
        if number == lists / 2 {
            warm = resident(peer).await;
        }
        let places = list(number);
        let expected: Vec<u32> = places.iter().map(|place| source_at(*place)).collect();
        let indices: Vec<i64> = places.iter().map(|place| *place as i64).collect();
        let uses = match number % 64 {
            0 => 20,
            of if of % 4 == 1 => 1,
            _ => 4,
        };
        for usage in 0..uses {
            let layout = Layout::<u32>::indexed_block(1, &indices).expect("it fits");
            let (taken, done) = chare::future();
            peer.take(SendBuffer::from(buffer.clone()).only(&layout), done);
            assert!(taken.await == expected, "list {number}, message {usage}");
        }
    }
    let grown = resident(peer).await.into_iter().zip(warm).map(|(now, warm)| now.saturating_sub(warm));
    let most = grown.max().unwrap_or(0);
    assert!(most < GROWTH_BYTES_MAX as u64, "memory grew by {most} bytes while {} lists came", lists / 2);
}

async fn keep(Options { promise, lists }: Options) {
    let peers = PeerProxy::create();
    let peer = peer(&peers);
    for home in Home::ALL {
        match promise {
            Promise::StridedGet => strided_get(&peer, home).await,
            Promise::StridedPut => strided_put(&peer, home).await,
            Promise::BothSidesStrided => both_sides_strided(&peer, home).await,
            Promise::Prefix => prefix(&peer, home).await,
            Promise::StaleKey => stale_key(&peer, home).await,
            Promise::ForgedLayouts => forged_layouts(&peer, home).await,
            // So much memory has no pages only on the heap.
            Promise::BeyondFourGib if home == Home::Heap => beyond_four_gib(&peer).await,
            Promise::ReadsBeyondFourGib if home == Home::Heap => reads_beyond_four_gib(&peer).await,
            Promise::ListsThatChange if home == Home::Pool => lists_that_change(&peer, lists).await,
            Promise::BeyondFourGib | Promise::ReadsBeyondFourGib | Promise::ListsThatChange => {}
        }
        let (forgotten, done) = chare::future();
        peer.forget(done);
        forgotten.await;
    }
    println!("kept");
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = Options::parse_from(program.arguments());
    program.run(move |_arguments| keep(options))
}
