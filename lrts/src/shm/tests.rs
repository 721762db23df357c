//! Tests of shm between nodes of this process: real rings, arenas and sockets.

use super::*;
use crate::error::LrtsError;
use crate::frame::Channel;
use crate::host::testing::{Heard, host_peers_of_job, over, progress_until, sleep_on};
use crate::memory::MemoryMut;
use crate::region::Held;

const ONE: NodeId = NodeId(1);

fn pair() -> (Shm, Shm) {
    let mut nodes = host_peers_of_job(2).into_iter().map(Shm::open);
    (nodes.next().expect("node 0"), nodes.next().expect("node 1"))
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|index| ((index * 13) >> 2) as u8).collect()
}

/// Shareable memory of a node, filled.
fn shared(node: &Shm, bytes: &[u8]) -> MemoryMut {
    let mut memory = node.host_peers.arenas().allocate(bytes.len()).expect("memory");
    memory.as_mut_slice().copy_from_slice(bytes);
    memory
}

fn register(node: &Shm, held: Held) -> RegionKey {
    node.host_peers.regions().register(held).expect("a slot")
}

fn get(key: RegionKey, offset: u64, len: usize) -> Get {
    Get { key, offset, into: MemoryMut::heap_zeroed(len), len, token: 1 }
}

fn put(key: RegionKey, offset: u64, bytes: Vec<u8>) -> Put {
    Put { key, offset, from: MemoryMut::from_vec(bytes).freeze(), token: 2 }
}

#[test]
fn frames_of_every_length_arrive_in_order() {
    let (here, there) = pair();
    let lens = [0, 1, 7, 8, 9, 4096, FRAME_BYTES_MAX - 1, FRAME_BYTES_MAX];
    for len in lens {
        here.send(ONE, Frame { channel: Channel::Emulated, head: &pattern(len), body: &[] }).expect("room");
    }
    let mut heard = Heard::default();
    assert!(there.progress(&mut heard));
    let expected: Vec<_> = lens.iter().map(|&len| (NodeId(0), Channel::Emulated, pattern(len))).collect();
    assert!(heard.frames == expected);
    assert!(!there.progress(&mut heard));
}

#[test]
#[should_panic(expected = "frame of 65537 bytes")]
fn a_longer_frame_is_our_bug() {
    let (here, _there) = pair();
    let _ = here.send(ONE, Frame::runtime(&[0; FRAME_BYTES_MAX + 1]));
}

#[test]
fn a_full_ring_hands_back_and_wakes_the_sender() {
    let (here, there) = pair();
    let mut sent = 0;
    let bytes = pattern(FRAME_BYTES_MAX);
    while here.send(ONE, Frame::runtime(&bytes)).is_ok() {
        sent += 1;
    }
    assert!(sent > 1);
    assert!(here.arm());
    let mut heard = Heard::default();
    assert!(there.progress(&mut heard));
    sleep_on(&here);
    here.progress(&mut Heard::default());
    here.send(ONE, Frame::runtime(&bytes)).expect("room again");
    progress_until(&there, &mut heard, |heard| heard.frames.len() == sent + 1);
}

#[test]
fn a_sleeper_wakes_for_each_frame() {
    let (here, there) = pair();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut heard = Heard::default();
            for round in 1..=2_000 {
                progress_until(&there, &mut heard, |heard| heard.frames.len() == round);
                there.send(NodeId(0), Frame::runtime(&[1])).expect("room");
            }
        });
        let mut heard = Heard::default();
        for round in 1..=2_000 {
            here.send(ONE, Frame::runtime(&[0])).expect("room");
            progress_until(&here, &mut heard, |heard| heard.frames.len() == round);
        }
    });
}

#[test]
fn many_threads_send_to_one() {
    let nodes: Vec<Shm> = host_peers_of_job(3).into_iter().map(Shm::open).collect();
    let (threads, frames) = (3_u8, 2_000_u32);
    std::thread::scope(|scope| {
        for source in &nodes[1..] {
            for thread in 0..threads {
                scope.spawn(move || {
                    for index in 0..frames {
                        let bytes = [&[thread], &index.to_le_bytes()[..]].concat();
                        while source.send(NodeId(0), Frame::runtime(&bytes)).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
        }
        let mut heard = Heard::default();
        let total = 2 * threads as usize * frames as usize;
        progress_until(&nodes[0], &mut heard, |heard| heard.frames.len() == total);
        for source in 1..3 {
            for thread in 0..threads {
                let row: Vec<u32> = heard
                    .frames
                    .iter()
                    .filter(|(node, _, bytes)| *node == NodeId(source) && bytes[0] == thread)
                    .map(|(_, _, bytes)| u32::from_le_bytes(bytes[1..].try_into().expect("four bytes")))
                    .collect();
                assert!(row == (0..frames).collect::<Vec<_>>(), "order of thread {thread} of {source}");
            }
        }
    });
}

#[test]
fn gets_puts_and_views_reach_shared_memory() {
    let (here, there) = pair();
    let bytes = pattern(100_000);
    let source = register(&there, Held::Source(shared(&there, &bytes).freeze()));
    let target = register(&there, Held::Target(shared(&there, &vec![0; 100_000])));
    assert!(here.reaches(&source) && here.reaches(&target));
    for (offset, len) in [(0, 100_000), (1, 0), (3, 1), (4097, 8191), (100_000, 0), (99_999, 1)] {
        let done = over(here.get(get(source, offset as u64, len)));
        assert_eq!(done.result, Ok(len));
        assert!(done.memory.expect("it comes back").as_slice() == &bytes[offset..offset + len]);
        let done = over(here.put(put(target, offset as u64, bytes[offset..offset + len].to_vec())));
        assert_eq!(done.result, Ok(len));
        let view =
            here.view(&target, offset as u64, len, Entering::AtOnce).expect("a live region").expect("shared");
        assert!(view.as_slice() == &bytes[offset..offset + len]);
    }
    let Ok(Some(Held::Target(written))) = there.host_peers.regions().deregister(&target) else {
        panic!("nobody holds the target");
    };
    assert!(written.as_slice() == bytes);
    assert!(!here.reaches(&target));
}

#[test]
fn bad_keys_and_ranges_are_typed_errors() {
    let (here, there) = pair();
    let key = register(&there, Held::Source(shared(&there, &[7; 100]).freeze()));
    let result = |key, offset, len| over(here.get(get(key, offset, len))).result;
    for stale in [
        RegionKey { generation: key.generation ^ 1, ..key },
        RegionKey { generation: 0, ..key },
        RegionKey { slot: key.slot + 1, ..key },
        RegionKey { slot: u32::MAX, ..key },
    ] {
        assert_eq!(result(stale, 0, 1), Err(TransferError::StaleKey(ONE)));
        assert!(here.view(&stale, 0, 1, Entering::AtOnce).is_err());
    }
    for stranger in [NodeId(0), NodeId(2), NodeId(u32::MAX)] {
        let forged = RegionKey { node: stranger, ..key };
        assert!(matches!(result(forged, 0, 1), Err(TransferError::Refused { .. })));
    }
    for (offset, len) in [(0, 101), (100, 1), (101, 0), (u64::MAX, 1), (u64::MAX - 1, 8), (1 << 63, 2)] {
        let expected = TransferError::OutOfRange { node: ONE, offset, len: len as u64, region_len: 100 };
        assert_eq!(result(RegionKey { len: u64::MAX, ..key }, offset, len), Err(expected));
    }
    assert_eq!(over(here.put(put(key, 0, vec![1]))).result, Err(TransferError::ReadOnly(ONE)));
    let short = Get { len: 9, ..get(key, 0, 8) };
    assert_eq!(over(here.get(short)).result, Err(TransferError::LocalTooShort { have: 8, need: 9 }));
    let regions = there.host_peers.regions();
    assert!(regions.deregister(&key).expect("it lives").is_some(), "no claim is left behind");
    assert_eq!(result(key, 0, 1), Err(TransferError::StaleKey(ONE)));
}

#[test]
fn memory_on_the_heap_is_left_to_other_paths() {
    let (here, there) = pair();
    let key = register(&there, Held::Target(MemoryMut::heap_zeroed(64)));
    assert!(!here.reaches(&key));
    assert!(matches!(here.view(&key, 0, 64, Entering::AtOnce), Ok(None)));
    assert!(matches!(over(here.get(get(key, 0, 64))).result, Err(TransferError::Refused { .. })));
    assert!(matches!(over(here.put(put(key, 0, vec![0]))).result, Err(TransferError::Refused { .. })));
    assert!(there.host_peers.regions().deregister(&key).expect("it lives").is_some());
}

#[test]
fn a_view_outlives_the_registration_and_keeps_the_memory() {
    let (here, there) = pair();
    let regions = there.host_peers.regions();
    let key = register(&there, Held::Target(shared(&there, &[9; 5000])));
    let view = here.view(&key, 1000, 4000, Entering::AtOnce).expect("a live region").expect("shared");
    let part = view.slice(5, 10);
    assert!(matches!(here.put(put(key, 0, vec![1])), Err(Refused(_))), "claimed for reading");
    assert!(regions.deregister(&key).expect("it lives").is_none(), "claimed: the memory stays");
    assert!(regions.reap().is_empty());
    assert_eq!(over(here.get(get(key, 0, 1))).result, Err(TransferError::StaleKey(ONE)));
    drop(view);
    assert!(regions.reap().is_empty());
    assert_eq!(part.as_slice(), [9; 10]);
    let part = part.thaw().expect_err("a loan is never writable");
    drop(part);
    assert_eq!(regions.reap().len(), 1);
}

#[test]
fn a_new_arena_is_known_when_its_first_key_arrives() {
    let (here, there) = pair();
    for size in [1 << 10, 6 << 20, 20 << 20] {
        let bytes = pattern(size);
        let key = register(&there, Held::Source(shared(&there, &bytes).freeze()));
        assert!(over(here.get(get(key, 0, size))).memory.expect("it comes back").as_slice() == bytes);
    }
}

#[test]
fn a_shutdown_delivers_everything_first() {
    let (here, there) = pair();
    let mut sent = 0;
    while here.send(ONE, Frame::runtime(&pattern(5000))).is_ok() {
        sent += 1;
    }
    here.shutdown();
    assert!(here.send(ONE, Frame::runtime(&[])).is_err(), "no new operations");
    let (mut heard_here, mut heard_there) = (Heard::default(), Heard::default());
    there.send(NodeId(0), Frame::runtime(&[1])).expect("room");
    there.shutdown();
    while !(here.is_closed() && there.is_closed()) {
        here.progress(&mut heard_here);
        there.progress(&mut heard_there);
    }
    assert_eq!((heard_there.frames.len(), heard_there.closed), (sent, vec![NodeId(0)]));
    assert_eq!((heard_here.frames.len(), heard_here.closed), (1, vec![ONE]));
    drop(here);
    assert!(!there.progress(&mut Heard::default()), "nothing is reported after a goodbye");
}

#[test]
fn a_dropped_node_is_lost_once_after_its_last_frame() {
    let (here, there) = pair();
    let key = register(&here, Held::Source(shared(&here, &[1; 10]).freeze()));
    here.send(ONE, Frame::runtime(&[4; 4])).expect("room");
    drop(here);
    let mut heard = Heard::default();
    progress_until(&there, &mut heard, |heard| !heard.lost.is_empty());
    assert_eq!(heard.frames.len(), 1);
    assert!(matches!(heard.lost[0], LrtsError::PeerLost { peer: NodeId(0), backend: "shm", .. }));
    assert!(there.send(NodeId(0), Frame::runtime(&[])).is_ok(), "accepted and dropped");
    assert_eq!(over(there.get(get(key, 0, 1))).result, Err(TransferError::PeerLost(NodeId(0))));
    there.shutdown();
    assert!(there.is_closed());
    there.progress(&mut heard);
    assert_eq!(heard.lost.len(), 1);
}

#[test]
fn a_broken_ring_loses_the_peer() {
    let (here, there) = pair();
    here.send(ONE, Frame::runtime(&[1; 100])).expect("room");
    here.outgoing[0].lock().writer.scribble(u64::MAX);
    let mut heard = Heard::default();
    assert!(there.progress(&mut heard));
    assert!(heard.frames.is_empty());
    assert!(matches!(heard.lost[..], [LrtsError::Protocol { peer: NodeId(0), what: "frame", .. }]));
    assert!(!there.progress(&mut heard), "said once");
}

#[test]
fn a_broken_ring_of_one_that_is_gone_loses_the_peer_too() {
    let (here, there) = pair();
    assert!(there.arm());
    here.outgoing[0].lock().writer.scribble(u64::MAX);
    drop(here);
    let mut heard = Heard::default();
    progress_until(&there, &mut heard, |heard| !heard.lost.is_empty());
    assert!(matches!(heard.lost[..], [LrtsError::Protocol { peer: NodeId(0), what: "frame", .. }]));
    while there.progress(&mut heard) {}
    assert!(heard.lost.len() == 1 && there.arm(), "nothing is left to do");
}
