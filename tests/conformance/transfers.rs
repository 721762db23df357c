//! Gets and puts: the promises of every backend that has them.

use crate::group::{Backend, Group, Heard, PATIENCE, assert_pattern};
use crate::runner::Outcome;
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Completion, Entering, Get, Held, NodeId, Posted, Put, Refused, RegionKey, TransferError};
use std::sync::Mutex;
use std::time::Instant;

/// A group of a backend with get and put, or why there is none.
macro_rules! group {
    ($backend:expr, $nodes:expr) => {
        match $backend.open($nodes) {
            Err(why) => return Outcome::Skipped(why),
            Ok(group) => {
                let capabilities = group.nodes[0].lrts.capabilities();
                if !(capabilities.get && capabilities.put) {
                    return Outcome::Skipped("it has no get and put of its own".to_owned());
                }
                group
            }
        }
    };
}
pub(crate) use group;

/// Sizes around every boundary a path may have, up to what programs send.
const SIZES: &[usize] = &[
    0,
    1,
    2,
    63,
    64,
    65,
    4_095,
    4_096,
    4_097,
    65_535,
    65_536,
    131_072 - 64,
    131_072,
    131_073,
    1 << 20,
    (1 << 20) + 1,
    64 << 20,
];

pub(crate) fn get_and_put_of_every_size(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    for (round, len) in SIZES.iter().enumerate() {
        let seed = round as u8;
        for (before, after) in [(0, 0), (1, 3), (17, 0)] {
            if before + after > 0 && *len > 1 << 20 {
                continue;
            }
            let source = group.nodes[1].source(before + len + after, seed);
            let got = group.get_bytes(0, source, before as u64, *len).expect("a get within the region");
            assert_pattern(&got.as_slice()[..*len], before, seed);
            group.nodes[1].end(&source);

            let target = group.nodes[1].target(before + len + after);
            let from = group.nodes[0].memory(before + len, seed).freeze().slice(before, *len);
            let put = group.put_bytes(0, target, before as u64, from);
            assert_eq!(put, Ok(*len), "a put of {len} bytes");
            let Held::Target(memory) = group.nodes[1].end(&target) else { panic!("it was a target") };
            let bytes = memory.as_slice();
            assert_pattern(&bytes[..before], 0, 0);
            assert_pattern(&bytes[before..before + len], before, seed);
            assert_pattern(&bytes[before + len..], before + len, 0);
        }
    }
    group.close();
    Outcome::Passed
}

/// Behind the end of a page, soft-iWARP sends other bytes than those that it was asked for, if they are few.
pub(crate) fn a_few_bytes_across_the_end_of_a_page(backend: &dyn Backend) -> Outcome {
    const PAGE: usize = 4_096;
    const LEN: usize = 3 * PAGE;
    let mut group = group!(backend, 2);
    for len in [2, 8, 31, 32, 33, 64] {
        for before in [1, len / 2, len - 1] {
            let start = |bytes: &[u8]| 2 * PAGE - bytes.as_ptr().addr() % PAGE - before;
            let memory = group.nodes[1].memory(LEN, 5);
            let at = start(memory.as_slice());
            let source =
                group.nodes[1].regions.register(Held::Source(memory.freeze())).expect("the board has room");
            let got = group.get_bytes(0, source, at as u64, len).expect("a get within the region");
            assert_pattern(got.as_slice(), at, 5);
            group.nodes[1].end(&source);

            let from = group.nodes[0].memory(LEN, 6).freeze();
            let at = start(from.as_slice());
            let target = group.nodes[1].target(LEN);
            assert_eq!(group.put_bytes(0, target, 0, from.slice(at, len)), Ok(len));
            let Held::Target(memory) = group.nodes[1].end(&target) else { panic!("it was a target") };
            assert_pattern(&memory.as_slice()[..len], at, 6);
        }
    }
    group.close();
    Outcome::Passed
}

pub(crate) fn a_get_leaves_the_rest_of_its_memory_alone(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    let key = group.nodes[1].source(10_000, 5);
    for len in [0, 1, 200, 9_999] {
        let into = group.nodes[0].memory(10_000, 77);
        let completion = group.get(0, Get { key, offset: 1, into, len, token: 9 });
        assert_eq!((completion.token, completion.result), (9, Ok(len)));
        let memory = completion.memory.expect("a get's memory comes back");
        assert_pattern(&memory.as_slice()[..len], 1, 5);
        assert_pattern(&memory.as_slice()[len..], len, 77);
    }
    group.close();
    Outcome::Passed
}

/// Each thread posts, and whoever makes progress sends what waits: a transfer's parts leave from several threads, with frames of the runtime
/// between them.
pub(crate) fn many_threads_at_one_peer(backend: &dyn Backend) -> Outcome {
    const THREADS: usize = 3;
    const EACH: usize = 12;
    const LEN: usize = 400_001;
    let mut group = group!(backend, 2);
    let source = group.nodes[1].source(LEN, 7);
    let target = group.nodes[1].target(THREADS * LEN);
    let Group { nodes, heard } = &mut group;
    let (here, there) = (&nodes[0], &nodes[1]);
    let done = Mutex::new(Vec::new());
    let deadline = Instant::now() + PATIENCE;
    let take = |posted| match posted {
        Posted::Pending => {}
        Posted::Done(completion) => done.lock().expect("no other thread panicked").push(completion),
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let take = &take;
            scope.spawn(move || {
                for round in 0..EACH {
                    let into = (here.allocate)(LEN);
                    let mut get = Get { key: source, offset: 0, into, len: LEN, token: 0 };
                    let from = here.memory(LEN, (thread + round) as u8).freeze();
                    let mut put = Put { key: target, offset: (thread * LEN) as u64, from, token: 1 };
                    let mut heard = Heard::default();
                    let mut again = || {
                        here.lrts.progress(&mut heard);
                        heard.completions.drain(..).for_each(|completion| take(Posted::Done(completion)));
                        assert!(heard.lost.is_empty(), "{:?}", heard.lost);
                        assert!(Instant::now() < deadline, "no room for an operation");
                    };
                    while let Err(Refused(refused)) = here.lrts.get(get).map(take) {
                        get = refused;
                        again();
                    }
                    while let Err(Refused(refused)) = here.lrts.put(put).map(take) {
                        put = refused;
                        again();
                    }
                    again();
                }
            });
        }
        while done.lock().expect("no other thread panicked").len() < 2 * THREADS * EACH {
            let happened = here.lrts.progress(&mut heard[0]) | there.lrts.progress(&mut heard[1]);
            if !happened {
                std::thread::yield_now();
            }
            heard.iter().for_each(|heard| assert!(heard.lost.is_empty(), "{:?}", heard.lost));
            heard[0].completions.drain(..).for_each(|completion| take(Posted::Done(completion)));
            assert!(Instant::now() < deadline, "{} operations", done.lock().expect("as above").len());
        }
    });
    for Completion { result, memory, .. } in done.into_inner().expect("no thread panicked") {
        assert_eq!(result, Ok(LEN));
        memory.inspect(|memory| assert_pattern(memory.as_slice(), 0, 7));
    }
    drop((group.nodes[1].end(&source), group.nodes[1].end(&target)));
    group.close();
    Outcome::Passed
}

pub(crate) fn many_operations_at_many_peers(backend: &dyn Backend) -> Outcome {
    const EACH: usize = 100;
    const LEN: usize = 200_000;
    let mut group = group!(backend, 3);
    let sources: Vec<RegionKey> = group.nodes.iter().map(|node| node.source(LEN, 7)).collect();
    let targets: Vec<RegionKey> = group.nodes.iter().map(|node| node.target(3 * EACH * 64)).collect();
    let mut gets: Vec<(usize, Get)> = Vec::new();
    let mut puts: Vec<(usize, Put)> = Vec::new();
    for node in 0..3 {
        for peer in (0..3).filter(|peer| *peer != node) {
            for round in 0..EACH {
                let len = (round * 4_099) % LEN;
                let into = (group.nodes[node].allocate)(len);
                let offset = (LEN - len) as u64;
                gets.push((node, Get { key: sources[peer], offset, into, len, token: offset }));
                let at = (node * EACH + round) * 64;
                let from = group.nodes[node].memory(at + 64, 8).freeze().slice(at, 64);
                puts.push((node, Put { key: targets[peer], offset: at as u64, from, token: u64::MAX }));
            }
        }
    }
    let mut open = gets.len() + puts.len();
    group.until("all operations", |group| {
        let Group { nodes, heard } = group;
        let mut take = |node: usize, posted| match posted {
            Posted::Pending => {}
            Posted::Done(completion) => heard[node].completions.push(completion),
        };
        for (node, get) in std::mem::take(&mut gets) {
            match nodes[node].lrts.get(get) {
                Ok(posted) => take(node, posted),
                Err(Refused(get)) => gets.push((node, get)),
            }
        }
        for (node, put) in std::mem::take(&mut puts) {
            match nodes[node].lrts.put(put) {
                Ok(posted) => take(node, posted),
                Err(Refused(put)) => puts.push((node, put)),
            }
        }
        heard.iter().for_each(|heard| assert!(heard.lost.is_empty(), "{:?}", heard.lost));
        for completion in heard.iter_mut().flat_map(|heard| heard.completions.drain(..)) {
            open -= 1;
            match completion.memory {
                None => assert_eq!(completion.result, Ok(64)),
                Some(memory) => {
                    assert_eq!(completion.result, Ok(memory.len()));
                    assert_pattern(memory.as_slice(), completion.token as usize, 7);
                }
            }
        }
        open == 0
    });
    for (node, key) in targets.iter().enumerate() {
        let Held::Target(memory) = group.nodes[node].end(key) else { panic!("it was a target") };
        for peer in (0..3).filter(|peer| *peer != node) {
            let range = peer * EACH * 64..(peer + 1) * EACH * 64;
            assert_pattern(&memory.as_slice()[range.clone()], range.start, 8);
        }
    }
    group.close();
    Outcome::Passed
}

pub(crate) fn a_view_shows_the_peers_own_bytes(backend: &dyn Backend) -> Outcome {
    let mut group = match backend.open(2) {
        Err(why) => return Outcome::Skipped(why),
        Ok(group) if !group.nodes[0].lrts.capabilities().view => {
            let key = group.nodes[1].source(100, 1);
            assert!(
                matches!(group.nodes[0].lrts.view(&key, 0, 1, Entering::AtOnce), Ok(None)),
                "without views there are none"
            );
            group.close();
            return Outcome::Skipped("it lends no memory in place".to_owned());
        }
        Ok(group) => group,
    };
    let key = group.nodes[1].target(100_000);
    let view = |group: &Group, offset, len| group.nodes[0].lrts.view(&key, offset, len, Entering::AtOnce);
    let Ok(Some(lent)) = view(&group, 10, 90_000) else { panic!("shareable memory can be lent") };
    assert_eq!(lent.len(), 90_000);
    assert_pattern(lent.as_slice(), 10, 0);
    let part = lent.slice(5, 100);
    drop(lent);
    let Err(part) = part.thaw() else { panic!("lent memory never becomes writable") };
    assert_pattern(part.as_slice(), 15, 0);
    // The last clone holds the region.
    let regions = group.nodes[1].regions.clone();
    assert!(regions.claim(&key, 0, 1, ClaimMode::Write).is_err(), "a view is a reader");
    assert!(matches!(regions.deregister(&key), Ok(None)), "a view holds the memory");
    assert!(matches!(view(&group, 0, 1), Err(TransferError::StaleKey(_))));
    drop(part);
    group.step();
    assert_eq!(regions.reap().len(), 1, "the last clone gave it back");
    let target = group.nodes[1].target(100);
    let from = group.nodes[0].memory(100, 4).freeze();
    assert_eq!(group.put_bytes(0, target, 0, from), Ok(100));
    let Ok(Some(lent)) = group.nodes[0].lrts.view(&target, 0, 100, Entering::AtOnce) else {
        panic!("it can be lent")
    };
    assert_pattern(lent.as_slice(), 0, 4);
    drop(lent);
    group.close();
    Outcome::Passed
}

pub(crate) fn transfers_within_a_node(backend: &dyn Backend) -> Outcome {
    if !backend.serves_its_own_node() {
        return Outcome::Skipped("`reach` takes transfers within a node to memcpy".to_owned());
    }
    let mut group = group!(backend, 2);
    let source = group.nodes[0].source(1_000, 2);
    let got = group.get_bytes(0, source, 3, 900).expect("a get within the node");
    assert_pattern(got.as_slice(), 3, 2);
    let target = group.nodes[0].target(1_000);
    assert_eq!(group.put_bytes(0, target, 0, got.freeze()), Ok(900));
    let out = TransferError::OutOfRange { node: NodeId(0), offset: 1, len: 1_000, region_len: 1_000 };
    assert_eq!(group.get_bytes(0, source, 1, 1_000).map(|_| ()), Err(out));
    let Held::Target(memory) = group.nodes[0].end(&target) else { panic!("it was a target") };
    assert_pattern(&memory.as_slice()[..900], 3, 2);
    group.close();
    Outcome::Passed
}
