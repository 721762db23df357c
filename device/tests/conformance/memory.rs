//! Memory: who keeps it, when it comes back, and how much there is.

use crate::rig::{Kind, Rig, copy, finish, pattern};
use chare_device::{Block, DeviceBufferMut, DeviceError, Registrable};

const MIB: usize = 1 << 20;

fn with_memory(rig: &Rig, memory_bytes: usize, pinned_bytes: usize) -> Rig {
    let device = rig.kind.open(memory_bytes as u64, pinned_bytes as u64).expect("a device");
    Rig { kind: rig.kind, device }
}

/// Blocks are dropped as soon as their commands are given; so little memory is reused all the time.
pub(crate) fn memory_that_is_dropped_stays_until_the_stream_is_past(rig: &Rig) {
    let rig = &with_memory(rig, 2 * MIB, 32 * MIB);
    let streams = [rig.stream(), rig.stream()];
    let mut seen = Vec::new();
    for round in 0..60 {
        let stream = &streams[round as usize % 2];
        let block = match rig.device.allocate(200_000) {
            Ok(block) => block,
            Err(DeviceError::OutOfMemory { .. }) => {
                streams.iter().for_each(finish);
                rig.block(200_000)
            }
            Err(error) => panic!("{error}"),
        };
        let landed = rig.staged(&vec![0; 200_000]);
        copy(stream, &rig.staged(&pattern(200_000, round)).span(), &block.span());
        copy(stream, &block.span(), &landed.span());
        drop(block);
        seen.push((round, landed));
    }
    streams.iter().for_each(finish);
    for (round, mut landed) in seen {
        assert!(landed.bytes().expect("the stream is past it") == pattern(200_000, round), "round {round}");
    }
}

pub(crate) fn pinned_memory_shows_its_bytes_to_one_owner(rig: &Rig) {
    let mut staged = rig.staged(&[1; 100]);
    let span = staged.span();
    assert!(staged.bytes().is_none(), "a span is held");
    let part = span.part(10..20).expect("it lies within");
    drop(span);
    assert!(staged.bytes().is_none(), "a part is held");
    let (stream, block) = (rig.stream(), rig.block(10));
    copy(&stream, &part, &block.span());
    drop(part);
    finish(&stream);
    assert_eq!(staged.bytes().map(|bytes| bytes.len()), Some(100), "the copy is over");
}

pub(crate) fn pinned_memory_has_a_bound(rig: &Rig) {
    let rig = &with_memory(rig, 2 * MIB, 2 * MIB);
    let mut chunks = Vec::new();
    let error = loop {
        match rig.device.pinned(256 << 10) {
            Ok(chunk) => chunks.push(chunk),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, DeviceError::NoRoom { asked: 0x4_0000, most: 0x20_0000, .. }), "{error}");
    assert!((4..=8).contains(&chunks.len()), "{} chunks", chunks.len());
    // A transfer that has ended makes room.
    let (stream, block) = (rig.stream(), rig.block(256 << 10));
    copy(&stream, &chunks.pop().expect("there are some").span(), &block.span());
    finish(&stream);
    chunks.push(rig.device.pinned(256 << 10).expect("room for one"));
    assert!(matches!(rig.device.pinned(3 << 20), Err(DeviceError::NoRoom { .. })), "longer than all");
}

pub(crate) fn device_memory_has_a_bound(rig: &Rig) {
    let rig = &with_memory(rig, 4 * MIB, 2 * MIB);
    let refused = rig.device.allocate(5 << 20).map(drop);
    assert!(matches!(refused, Err(DeviceError::OutOfMemory { most: 0x40_0000, .. })), "{refused:?}");
    assert!(matches!(rig.device.allocate(u64::MAX), Err(DeviceError::OutOfMemory { .. })));
    // What was given back is there again, however often.
    for _ in 0..100 {
        drop(rig.block(MIB));
    }
}

pub(crate) fn kept_memory_comes_back(rig: &Rig) {
    let rig = &with_memory(rig, 2 * MIB, 2 * MIB);
    let stream = rig.stream();
    for _ in 0..10 {
        let block = rig.block(2 * MIB - 256 * 1024);
        stream.keep(&block.span()).expect("it is ours");
        drop(block);
        finish(&stream);
    }
}

pub(crate) fn blocks_are_aligned_and_apart(rig: &Rig) {
    let blocks: Vec<Block> = (0..200).map(|len| rig.block(len * 37)).collect();
    let mut ranges: Vec<_> =
        blocks.iter().map(|block| (block.address(), block.address() + block.len().max(1))).collect();
    ranges.sort_unstable();
    assert!(ranges.iter().all(|(start, _)| start.is_multiple_of(256)));
    assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0));
    let first = &blocks[0];
    assert_eq!(first.arena().address() + first.offset(), first.address());
}

pub(crate) fn networks_find_memory_that_they_may_register(rig: &Rig) {
    let buffer = DeviceBufferMut::<u8>::new(&rig.device, 10_000).expect("it has room");
    let found = buffer.registrable();
    if !rig.device.info().is_registrable {
        assert!(matches!(found, Err(DeviceError::Refused { .. })), "{found:?}");
        return println!("skipped: networks cannot register the memory of {}", rig.device.info());
    }
    let found = found.expect("it can be registered");
    let part = buffer.freeze().part(1_000..2_000).registrable().expect("so can a part of it");
    assert_eq!(part.address, found.address + 1_000);
    let offset = |registrable: &Registrable| registrable.dma_buf.as_ref().map(|dma_buf| dma_buf.offset);
    assert_eq!(offset(&part), offset(&found).map(|offset| offset + 1_000));
    assert_eq!(found.dma_buf.is_none(), matches!(rig.kind, Kind::software), "{found:?}");
}
