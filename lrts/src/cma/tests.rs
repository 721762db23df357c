//! Tests of CMA between nodes of this process: real system calls, on the process itself.

use super::sys::tests::{PAGE_BYTES, page_before_a_hole};
use super::*;
use crate::host::testing::{Heard, host_peers_of_job, over};
use crate::memory::MemoryMut;
use crate::region::{Held, Vector};

const ONE: NodeId = NodeId(1);

fn pair() -> (Cma, Cma) {
    let mut nodes = host_peers_of_job(2).into_iter().map(Cma::open);
    (nodes.next().expect("node 0"), nodes.next().expect("node 1"))
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|index| ((index * 11) >> 1) as u8).collect()
}

fn get(key: RegionKey, offset: u64, len: usize) -> Get {
    Get { key, offset, into: MemoryMut::heap_zeroed(len), len, token: 1 }
}

fn put(key: RegionKey, offset: u64, bytes: Vec<u8>) -> Put {
    Put { key, offset, from: MemoryMut::from_vec(bytes).freeze(), token: 2 }
}

#[test]
fn any_memory_is_reached() {
    let (here, there) = pair();
    assert_eq!((here.denied(ONE), here.warning()), (None, None));
    let regions = there.host_peers.regions();
    let source = bytes(300_000);
    let from = regions.register(Held::Source(MemoryMut::from_vec(source.clone()).freeze())).expect("a slot");
    let to = regions.register(Held::Target(MemoryMut::heap_zeroed(300_000))).expect("a slot");
    for (offset, len) in [(0, 300_000), (0, 0), (1, 1), (4095, 8193), (300_000, 0)] {
        let done = over(here.get(get(from, offset as u64, len)));
        assert_eq!(done.result, Ok(len));
        assert!(done.memory.expect("it comes back").as_slice() == &source[offset..offset + len]);
        let done = over(here.put(put(to, offset as u64, source[offset..offset + len].to_vec())));
        assert_eq!(done.result, Ok(len));
    }
    assert!(matches!(here.view(&from, 0, 1, Entering::AtOnce), Ok(None)));
    let Ok(Some(Held::Target(written))) = regions.deregister(&to) else { panic!("nobody holds it") };
    assert!(written.as_slice() == source);
}

#[test]
fn bad_keys_and_ranges_are_typed_errors() {
    let (here, there) = pair();
    let regions = there.host_peers.regions();
    let key = regions.register(Held::Source(MemoryMut::from_vec(vec![1; 100]).freeze())).expect("a slot");
    let result = |key, offset, len| over(here.get(get(key, offset, len))).result;
    let forged = RegionKey { generation: !key.generation, ..key };
    assert_eq!(result(forged, 0, 0), Err(TransferError::StaleKey(ONE)));
    assert!(matches!(result(key, 1, 100), Err(TransferError::OutOfRange { .. })));
    assert!(matches!(result(RegionKey { node: NodeId(9), ..key }, 0, 1), Err(TransferError::Refused { .. })));
    assert_eq!(over(here.put(put(key, 0, vec![1]))).result, Err(TransferError::ReadOnly(ONE)));
    assert!(regions.deregister(&key).expect("it lives").is_some(), "no claim is left behind");
    assert_eq!(result(key, 0, 0), Err(TransferError::StaleKey(ONE)));
}

#[test]
fn a_denied_neighbour_fails_before_anything_is_claimed() {
    let (mut here, there) = pair();
    here.denials[0] = Some(Denial { cause: "a test".to_owned(), cure: "end it", is_grantable: false });
    let regions = there.host_peers.regions();
    let key = regions.register(Held::Target(MemoryMut::heap_zeroed(8))).expect("a slot");
    let refused = TransferError::Refused { node: ONE, cause: "a test; end it".to_owned() };
    assert_eq!(over(here.get(get(key, 0, 8))).result, Err(refused.clone()));
    assert_eq!(over(here.put(put(key, 0, vec![1]))).result, Err(refused));
    assert_eq!(here.denied(ONE), Some("a test"));
    assert!(here.warning().expect("a warning").contains("node 1: a test; end it"));
}

#[test]
fn a_node_that_is_gone_fails_its_transfers() {
    let (here, there) = pair();
    let regions = there.host_peers.regions();
    let key = regions.register(Held::Target(MemoryMut::heap_zeroed(8))).expect("a slot");
    drop(there);
    here.host_peers.read_links();
    assert!(!here.progress(&mut Heard::default()));
    assert_eq!(over(here.get(get(key, 0, 8))).result, Err(TransferError::PeerLost(ONE)));
    here.shutdown();
    assert!(here.is_closed());
}

#[test]
#[expect(unsafe_code, reason = "lends memory of which only the front is there")]
fn memory_that_ends_within_the_range_is_a_typed_error() {
    let (here, there) = pair();
    let regions = there.host_peers.regions();
    // Into the hole, and up to it.
    for (len, is_there) in [(2 * PAGE_BYTES, false), (PAGE_BYTES + 1, false), (PAGE_BYTES, true)] {
        // SAFETY: nobody reads or writes it but the kernel, which stops at the hole.
        let memory = unsafe { MemoryMut::from_raw_parts(page_before_a_hole(), len, None, Box::new(())) };
        let key = regions.register(Held::Target(memory)).expect("a slot");
        let got = over(here.get(get(key, 0, len)));
        let put = over(here.put(put(key, 0, bytes(len))));
        for result in [got.result, put.result] {
            match result {
                Ok(moved) => assert!(is_there && moved == len),
                Err(error) => {
                    let TransferError::Refused { node: ONE, cause } = error else { panic!("{error}") };
                    assert!(!is_there && cause.contains("Bad address"), "{cause}");
                }
            }
        }
        assert_eq!(got.memory.expect("it comes back").len(), len);
        assert!(regions.deregister(&key).expect("it lives").is_some(), "no claim is left behind");
    }
}

#[test]
#[expect(
    unsafe_code,
    reason = "copies runs of claimed ranges, and lends memory of which only the front is there"
)]
fn runs_of_a_claimed_range_are_copied_alone() {
    let (here, there) = pair();
    let regions = there.host_peers.regions();
    let source = bytes(100_000);
    let from = regions.register(Held::Source(MemoryMut::from_vec(source.clone()).freeze())).expect("a slot");
    let to = regions.register(Held::Target(MemoryMut::heap_zeroed(100_000))).expect("a slot");
    let failed = |key, len, mode| match here.claim(key, 10, len, mode) {
        Err(ClaimError::Failed(cause)) => cause,
        _ => panic!("it can never be had"),
    };
    assert!(matches!(failed(&from, 99_991, ClaimMode::Read), TransferError::OutOfRange { .. }));
    assert_eq!(failed(&from, 1, ClaimMode::Write), TransferError::ReadOnly(ONE));
    let claim = |key, len, mode| here.claim(key, 10, len, mode).ok().flatten().expect("nobody else has it");
    let mut runs = vec![0_u8; 3 * 3_000];
    let local = runs.as_mut_ptr();
    let vectors: Vec<Vector> =
        (0..3_000).map(|run| Vector { at: run * 33, here: local.wrapping_add(run * 3), len: 3 }).collect();
    // SAFETY: the vectors lie within the claimed ranges and `runs`, which this test has to itself.
    unsafe {
        assert_eq!(claim(&from, 99_990, ClaimMode::Read).read_each(&vectors), Ok(()));
        assert_eq!(claim(&to, 99_990, ClaimMode::Write).write_each(&vectors), Ok(()));
    }
    let Ok(Some(Held::Target(written))) = regions.deregister(&to) else { panic!("nobody holds it") };
    for (at, byte) in written.as_slice().iter().enumerate() {
        let is_meant = at >= 10 && (at - 10) % 33 < 3 && at < 10 + 3_000 * 33;
        assert_eq!(*byte, if is_meant { source[at] } else { 0 }, "{at}");
    }
    // SAFETY: nobody reads or writes it but the kernel, which stops at the hole.
    let memory =
        unsafe { MemoryMut::from_raw_parts(page_before_a_hole(), 2 * PAGE_BYTES, None, Box::new(())) };
    let holey = regions.register(Held::Target(memory)).expect("a slot");
    let behind = [Vector { at: PAGE_BYTES, here: local, len: 3 }];
    // SAFETY: as above; the kernel finds no memory there.
    let refused = unsafe { claim(&holey, PAGE_BYTES + 3, ClaimMode::Read).read_each(&behind) };
    assert!(matches!(refused, Err(TransferError::Refused { node: ONE, .. })));
    drop(there);
    here.host_peers.read_links();
    assert_eq!(failed(&from, 1, ClaimMode::Read), TransferError::PeerLost(ONE));
}
