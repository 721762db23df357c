//! Runs: pieces of a peer's region that one transfer moves, each to its place, under one claim.

use crate::group::{Backend, Group, Node, assert_pattern, fill, pattern};
use crate::runner::Outcome;
use chare_lrts::{Get, Held, Memory, MemoryMut, NodeId, Put, RegionKey, Run, Runs, TransferError};

const SEED: u8 = 9;

/// A group of a backend that moves runs, or why there is none.
fn open(backend: &dyn Backend) -> Result<Group, Outcome> {
    let group = backend.open(2).map_err(Outcome::Skipped)?;
    let capabilities = group.nodes[0].lrts.capabilities();
    let moves_runs = capabilities.runs && capabilities.get && capabilities.put;
    if moves_runs { Ok(group) } else { Err(Outcome::Skipped("it moves no runs by itself".to_owned())) }
}

/// Runs of so many bytes, and as many between them, in the order in which they lie here, or in the reverse order.
fn apart(count: usize, len: usize, is_reversed: bool) -> Runs {
    let run = |index: usize| {
        let place = if is_reversed { count - 1 - index } else { index };
        Run { at: (place * 2 * len) as u64, here: index * (len + 3), len }
    };
    Runs::new((0..count).map(run))
}

/// Few and many, short and long, all that lie in a page and longer than any network takes at once.
fn shapes() -> Vec<(usize, usize, bool)> {
    let shapes = [(0, 1), (1, 40_000), (7, 3), (200, 31), (1_000, 64), (300, 4_096), (2, 5 << 20)];
    shapes.into_iter().flat_map(|(count, len)| [(count, len, false), (count, len, true)]).collect()
}

fn get(
    group: &mut Group,
    key: RegionKey,
    offset: u64,
    into: MemoryMut,
    runs: &Runs,
) -> Result<MemoryMut, TransferError> {
    let len = runs.bytes();
    let completion = group.get_runs(0, Get { key, offset, into, len, token: 5 }, runs);
    let memory = completion.memory.expect("a get's memory comes back");
    completion.result.map(|moved| {
        assert_eq!(moved, len);
        memory
    })
}

fn put(
    group: &mut Group,
    key: RegionKey,
    offset: u64,
    from: Memory,
    runs: &Runs,
) -> Result<usize, TransferError> {
    group.put_runs(0, Put { key, offset, from, token: 6 }, runs).result
}

pub(crate) fn runs_of_layouts_land_each_in_its_place(backend: &dyn Backend) -> Outcome {
    let mut group = match open(backend) {
        Err(outcome) => return outcome,
        Ok(group) => group,
    };
    for (count, len, is_reversed) in shapes() {
        let runs = apart(count, len, is_reversed);
        let (range, offset) = (runs.range_bytes() as usize, 5);
        let source = group.nodes[1].source(range + offset, SEED);
        let into = group.nodes[0].memory(runs.local_bytes() + 10, 1);
        let got = get(&mut group, source, offset as u64, into, &runs).expect("it lies within the region");
        for (index, place) in
            (0..count).map(|index| (index, if is_reversed { count - 1 - index } else { index }))
        {
            let here = index * (len + 3);
            assert_pattern(&got.as_slice()[here..here + len], offset + place * 2 * len, SEED);
            assert_pattern(&got.as_slice()[here + len..here + len + 3], here + len, 1);
        }
        group.nodes[1].end(&source);

        let target = group.nodes[1].target(range + offset);
        let from = group.nodes[0].memory(runs.local_bytes(), SEED).freeze();
        assert_eq!(put(&mut group, target, offset as u64, from, &runs), Ok(count * len));
        let Held::Target(memory) = group.nodes[1].end(&target) else { panic!("it was a target") };
        let mut expected = vec![0; range + offset];
        fill(&mut expected, 0);
        for (index, place) in
            (0..count).map(|index| (index, if is_reversed { count - 1 - index } else { index }))
        {
            let (at, here) = (offset + place * 2 * len, index * (len + 3));
            (0..len).for_each(|byte| expected[at + byte] = pattern(here + byte, SEED));
        }
        assert!(memory.as_slice() == expected, "{count} runs of {len} bytes");
    }
    group.close();
    Outcome::Passed
}

pub(crate) fn runs_of_layouts_outside_fail(backend: &dyn Backend) -> Outcome {
    let mut group = match open(backend) {
        Err(outcome) => return outcome,
        Ok(group) => group,
    };
    const LEN: usize = 100_000;
    let (source, target) = (group.nodes[1].source(LEN, SEED), group.nodes[1].target(LEN));
    let fresh = |node: &Node| node.memory(LEN, 1);
    let node = NodeId(1);
    let run = |at, here, len| Run { at, here, len };
    let far = u64::MAX - 20_000;
    // The last run ends a byte behind the region, begins behind it, or behind all memory.
    for (offset, runs) in [
        (0, [run(0, 0, 10_000), run(90_000, 10_000, 10_001)]),
        (1, [run(0, 0, 10_000), run(90_000, 10_000, 10_000)]),
        (0, [run(0, 0, 10_000), run(1 << 40, 10_000, 10_000)]),
        (u64::MAX, [run(0, 0, 10_000), run(far, 10_000, 10_000)]),
    ] {
        let runs = Runs::new(runs);
        let out = TransferError::OutOfRange { node, offset, len: runs.range_bytes(), region_len: LEN as u64 };
        let (into, from) = (fresh(&group.nodes[0]), fresh(&group.nodes[0]).freeze());
        assert_eq!(get(&mut group, source, offset, into, &runs).map(drop), Err(out.clone()));
        assert_eq!(put(&mut group, target, offset, from, &runs), Err(out));
    }
    let runs = Runs::new([run(0, 0, 40_000), run(60_000, 50_000, 40_000)]);
    let stale = RegionKey { generation: source.generation ^ 1, ..source };
    let (into, from) = (fresh(&group.nodes[0]), fresh(&group.nodes[0]).freeze());
    assert_eq!(get(&mut group, stale, 0, into, &runs).map(drop), Err(TransferError::StaleKey(node)));
    assert_eq!(put(&mut group, source, 0, from.clone(), &runs), Err(TransferError::ReadOnly(node)));
    // Memory at this end that the last run does not fit.
    let short = TransferError::LocalTooShort { have: 89_999, need: 90_000 };
    let into = group.nodes[0].memory(89_999, 1);
    assert_eq!(get(&mut group, source, 0, into, &runs).map(drop), Err(short.clone()));
    assert_eq!(put(&mut group, target, 0, from.slice(0, 89_999), &runs), Err(short));
    let Held::Target(memory) = group.nodes[1].end(&target) else { panic!("it was a target") };
    assert_pattern(memory.as_slice(), 0, 0);
    group.nodes[1].end(&source);
    group.close();
    Outcome::Passed
}
