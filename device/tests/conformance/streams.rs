//! Streams: order within one and between two, and sleepers.

use crate::rig::{Rig, copy, finish, pattern, watched};
use chare_device::Bell;

pub(crate) fn commands_keep_their_order(rig: &Rig) {
    let (stream, block) = (rig.stream(), rig.block(3000));
    let mut seen = Vec::new();
    for round in 0..40 {
        let landed = rig.staged(&[0; 3000]);
        copy(&stream, &rig.staged(&pattern(3000, round)).span(), &block.span());
        copy(&stream, &block.span(), &landed.span());
        seen.push((round, landed));
    }
    finish(&stream);
    for (round, mut landed) in seen {
        assert!(landed.bytes().expect("the stream is past it") == pattern(3000, round), "round {round}");
    }
}

/// Two streams write the same memory in turns, and each finds what the other one has left there.
pub(crate) fn events_order_streams(rig: &Rig) {
    let (one, other) = (rig.stream(), rig.stream());
    let (shared, other_block) = (rig.block(5000), rig.block(5000));
    let (mut seen, mut last) = (Vec::new(), None);
    for round in 0..20 {
        let landed = rig.staged(&[0; 5000]);
        copy(&one, &rig.staged(&pattern(5000, round)).span(), &shared.span());
        other.wait(&one.record().expect("an event")).expect("a wait");
        copy(&other, &shared.span(), &other_block.span());
        copy(&other, &other_block.span(), &landed.span());
        let event = other.record().expect("an event");
        one.wait(&event).expect("a wait");
        seen.push((round, landed));
        last = Some(event);
    }
    finish(&one);
    // The last wait of the first stream was for all of the second one.
    assert_eq!(last.map(|event| event.is_complete()), Some(Ok(true)));
    for (round, mut landed) in seen {
        assert!(landed.bytes().expect("both are past it") == pattern(5000, round), "round {round}");
    }
}

pub(crate) fn a_bell_wakes_a_sleeper(rig: &Rig) {
    let bell = Bell::new().expect("a descriptor");
    let (stream, block) = (rig.stream(), rig.block(1 << 20));
    let staged = rig.staged(&pattern(1 << 20, 4));
    for _ in 0..10 {
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| bell.wait());
            copy(&stream, &staged.span(), &block.span());
            let event = stream.record().expect("an event");
            stream.ring(&bell).expect("a ring");
            sleeper.join().expect("no panic").expect("a poll");
            assert_eq!(event.is_complete(), Ok(true));
        });
        assert!(!bell.silence(), "one ring wakes once");
    }
}

pub(crate) fn streams_are_awaited(rig: &Rig) {
    let streams = [rig.stream(), rig.stream(), rig.stream()];
    let (staged, block) = (rig.staged(&pattern(1 << 20, 6)), rig.block(3 << 20));
    let executor = tokio::runtime::Builder::new_current_thread().build().expect("an executor");
    for _ in 0..10 {
        let waits = (0..).zip(&streams).map(|(number, stream)| {
            let part = block.span().part(number << 20..(number + 1) << 20).expect("it lies within");
            copy(stream, &staged.span(), &part);
            (stream.record().expect("an event"), stream.passed().expect("a wait"))
        });
        let waits: Vec<_> = waits.collect();
        // One that nobody awaits disturbs nobody.
        drop(streams[0].passed().expect("a wait"));
        executor.block_on(async {
            for (event, passed) in waits {
                assert_eq!(passed.await, Ok(()));
                assert_eq!(event.is_complete(), Ok(true));
            }
        });
    }
}

pub(crate) fn a_dropped_stream_does_what_it_was_given(rig: &Rig) {
    let (bell, bytes) = (Bell::new().expect("a descriptor"), pattern(70_000, 5));
    let block = rig.block(bytes.len());
    let stream = rig.stream();
    copy(&stream, &rig.staged(&bytes).span(), &block.span());
    let event = stream.record().expect("an event");
    stream.ring(&bell).expect("a ring");
    drop(stream);
    watched(|| bell.wait().expect("a poll"));
    assert_eq!(event.is_complete(), Ok(true));
    assert!(rig.read(&block.span()) == bytes);
}
