//! Claims in the way of gets and puts: operations wait for them, nodes sleep meanwhile, and memory comes back after the last one.

use crate::group::{Backend, assert_pattern};
use crate::runner::Outcome;
use crate::transfers::group;
use chare_lrts::claim::ClaimMode;
use chare_lrts::{Get, Held, NodeId, Posted, Put, Refused, TransferError};

pub(crate) fn a_claimed_region_makes_operations_wait(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    for len in [64, 1 << 20] {
        let key = group.nodes[1].target(len);
        let mut claim = group.nodes[1].regions.claim(&key, 0, 1, ClaimMode::Read).ok();
        assert!(group.get_bytes(0, key, 0, len).is_ok(), "readers share");
        let from = group.nodes[0].memory(len, 9).freeze();
        let put = |from| Put { key, offset: 0, from, token: 4 };
        let mut waiting = match group.nodes[0].lrts.put(put(from)) {
            Err(Refused(put)) => Some(put),
            Ok(Posted::Pending) => None,
            Ok(Posted::Done(completion)) => panic!("a writer cannot join a reader: {completion:?}"),
        };
        for _ in 0..100 {
            group.step();
            if let Some(put) = waiting.take() {
                waiting = group.nodes[0].lrts.put(put).err().map(|Refused(put)| put);
                assert!(waiting.is_some(), "still claimed");
            }
        }
        assert!(group.heard[0].completions.is_empty(), "still claimed");
        claim.take();
        let result = match waiting {
            Some(put) => group.put(0, put).result,
            None => {
                group.until("the put", |group| !group.heard[0].completions.is_empty());
                group.heard[0].completions.remove(0).result
            }
        };
        assert_eq!(result, Ok(len));
        let Held::Target(memory) = group.nodes[1].end(&key) else { panic!("it was a target") };
        assert_pattern(memory.as_slice(), 0, 9);
    }
    group.close();
    Outcome::Passed
}

/// Who serves an operation that waits for a claim need not look again until it is told of the claim's end.
pub(crate) fn a_node_sleeps_while_a_claim_is_in_the_way(backend: &dyn Backend) -> Outcome {
    let mut group = group!(backend, 2);
    if group.nodes[1].lrts.event_fd().is_none() {
        return Outcome::Skipped("it has nothing to sleep on".to_owned());
    }
    for len in [64, 1 << 20] {
        let key = group.nodes[1].target(len);
        let claim = group.nodes[1].regions.claim(&key, 0, 1, ClaimMode::Read).expect("nobody else claims it");
        let from = group.nodes[0].memory(len, 9).freeze();
        match group.nodes[0].lrts.put(Put { key, offset: 0, from, token: 4 }) {
            Ok(Posted::Pending) => {}
            Ok(Posted::Done(completion)) => panic!("a writer cannot join a reader: {completion:?}"),
            Err(Refused(_)) => {
                return Outcome::Skipped("what cannot be had now is not served later".to_owned());
            }
        }
        // Comes behind the question.
        group.send(0, 1, vec![1]);
        group.until("the frame", |group| group.heard[1].frames.pop().is_some());
        group.until("sleep", |group| group.nodes[1].lrts.arm());
        assert!(group.heard[0].completions.is_empty(), "still claimed");
        drop(claim);
        group.until("the put", |group| !group.heard[0].completions.is_empty());
        assert_eq!(group.heard[0].completions.remove(0).result, Ok(len));
        let Held::Target(memory) = group.nodes[1].end(&key) else { panic!("it was a target") };
        assert_pattern(memory.as_slice(), 0, 9);
    }
    group.close();
    Outcome::Passed
}

pub(crate) fn memory_comes_back_after_the_last_operation(backend: &dyn Backend) -> Outcome {
    const LEN: usize = 8 << 20;
    let mut group = group!(backend, 2);
    let regions = group.nodes[1].regions.clone();

    // Held by a claim, as any operation holds it.
    let key = group.nodes[1].source(100, 1);
    let claim = regions.claim(&key, 0, 100, ClaimMode::Read).ok();
    assert!(matches!(regions.deregister(&key), Ok(None)), "claimed memory stays");
    group.step();
    assert!(regions.reap().is_empty(), "claimed memory stays");
    assert!(matches!(group.get_bytes(0, key, 0, 1), Err(TransferError::StaleKey(_))));
    drop(claim);
    assert_eq!(regions.reap().len(), 1, "memory comes back once");
    assert!(regions.reap().is_empty(), "memory comes back once");
    assert!(regions.deregister(&key).is_err(), "a region ends once");

    // Held by a transfer, if this backend has any that last.
    let key = group.nodes[1].source(LEN, 6);
    let into = (group.nodes[0].allocate)(LEN);
    match group.nodes[0].lrts.get(Get { key, offset: 0, into, len: LEN, token: 3 }) {
        Err(Refused(_)) => panic!("there is room for one operation"),
        Ok(Posted::Done(completion)) => {
            assert_eq!(completion.result, Ok(LEN));
            group.nodes[1].end(&key);
        }
        Ok(Posted::Pending) => {
            group.step();
            let ended = regions.deregister(&key).expect("it is registered");
            group.until("the get", |group| !group.heard[0].completions.is_empty());
            let completion = group.heard[0].completions.remove(0);
            let memory = completion.memory.expect("a get's memory comes back");
            match ended {
                // It has read all before, or never will.
                Some(_) if backend.name() == "sim-direct" && completion.result == Ok(LEN) => {
                    assert_pattern(memory.as_slice(), 0, 6);
                }
                Some(_) => assert_eq!(completion.result, Err(TransferError::StaleKey(NodeId(1)))),
                None => {
                    assert_eq!(completion.result, Ok(LEN));
                    assert_pattern(memory.as_slice(), 0, 6);
                    group.until("the memory", |_| !regions.reap().is_empty());
                }
            }
        }
    }
    group.close();
    Outcome::Passed
}
