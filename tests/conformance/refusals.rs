//! Refused gets and puts: ranges outside, stale and forged keys, sources that are written, too little room; nothing is moved.

use crate::group::{Backend, assert_pattern};
use crate::runner::Outcome;
use crate::transfers::group;
use chare_lrts::{Entering, Get, Held, NodeId, RegionKey, TransferError};

pub(crate) fn a_get_into_too_little_memory_fails(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    let key = group.nodes[1].source(100, 5);
    let into = group.nodes[0].memory(10, 77);
    let completion = group.get(0, Get { key, offset: 0, into, len: 11, token: 9 });
    assert_eq!(completion.result, Err(TransferError::LocalTooShort { have: 10, need: 11 }));
    assert_pattern(completion.memory.expect("it comes back").as_slice(), 0, 77);
    group.close();
    Outcome::Passed
}

pub(crate) fn ranges_outside_fail(backend: &dyn Backend) -> Outcome {
    const REAL: u64 = 1_000;
    let mut group = group!(backend, 2);
    let key = group.nodes[1].target(REAL as usize);
    let offsets = [0, 1, REAL - 1, REAL, REAL + 1]
        .into_iter()
        .chain([31, 32, 63].into_iter().flat_map(|power| {
            let edge = 1_u64 << power;
            [edge - 1, edge, edge + 1]
        }))
        .chain([u64::MAX - 1, u64::MAX]);
    for offset in offsets {
        for len in [0, 1, 2, REAL - 1, REAL, REAL + 1] {
            let inside = offset.checked_add(len).is_some_and(|end| end <= REAL);
            let outside = TransferError::OutOfRange { node: NodeId(1), offset, len, region_len: REAL };
            let got = group.get_bytes(0, key, offset, len as usize).map(|_| ());
            assert_eq!(got, if inside { Ok(()) } else { Err(outside.clone()) }, "get {offset} + {len}");
            let from = group.nodes[0].memory(len as usize, 3).freeze();
            let put = group.put_bytes(0, key, offset, from);
            assert_eq!(
                put,
                if inside { Ok(len as usize) } else { Err(outside.clone()) },
                "put {offset} + {len}"
            );
            let view = group.nodes[0].lrts.view(&key, offset, len as usize, Entering::AtOnce);
            assert!(inside || view.is_err() || matches!(view, Ok(None)), "view {offset} + {len}");
        }
    }
    // The length in the key is a hint: a forged one opens nothing.
    let forged = RegionKey { len: u64::MAX, ..key };
    assert!(matches!(group.get_bytes(0, forged, 1, REAL as usize), Err(TransferError::OutOfRange { .. })));
    group.close();
    Outcome::Passed
}

pub(crate) fn stale_and_forged_keys_fail(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    let key = group.nodes[1].target(64);
    let stale = group.nodes[1].target(64);
    group.nodes[1].end(&stale);
    let mut wrong = vec![stale];
    wrong.extend(
        [0, 1, key.generation ^ 1, key.generation.wrapping_add(1), u64::MAX]
            .map(|generation| RegionKey { generation, ..key }),
    );
    wrong.extend([key.slot + 1, 65_535, 65_536, u32::MAX].map(|slot| RegionKey { slot, ..key }));
    for key in wrong {
        for len in [0, 64] {
            let got = group.get_bytes(0, key, 0, len).map(|_| ());
            assert_eq!(got, Err(TransferError::StaleKey(NodeId(1))), "{key:?}");
            let from = group.nodes[0].memory(len, 3).freeze();
            assert_eq!(group.put_bytes(0, key, 0, from), Err(TransferError::StaleKey(NodeId(1))), "{key:?}");
        }
        assert!(!matches!(group.nodes[0].lrts.view(&key, 0, 64, Entering::AtOnce), Ok(Some(_))), "{key:?}");
    }
    let nowhere = RegionKey { node: NodeId(77), ..key };
    assert!(group.get_bytes(0, nowhere, 0, 1).is_err(), "there is no node 77");
    let Held::Target(memory) = group.nodes[1].end(&key) else { panic!("it was a target") };
    assert_pattern(memory.as_slice(), 0, 0);
    group.close();
    Outcome::Passed
}

pub(crate) fn a_source_cannot_be_written(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    for len in [64, 1 << 20] {
        let key = group.nodes[1].source(len, 5);
        let from = group.nodes[0].memory(len, 3).freeze();
        assert_eq!(group.put_bytes(0, key, 0, from), Err(TransferError::ReadOnly(NodeId(1))));
        let Held::Source(memory) = group.nodes[1].end(&key) else { panic!("it was a source") };
        assert_pattern(memory.as_slice(), 0, 5);
    }
    group.close();
    Outcome::Passed
}
