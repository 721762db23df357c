//! Copies between host and device, in all directions.

use crate::rig::{Rig, copy, finish, pattern, try_copy};
use chare_device::DeviceError;
use std::ops::Range;

pub(crate) fn every_direction(rig: &Rig) {
    for len in [0, 1, 255, 256, 4096, (1 << 20) + 3] {
        let bytes = pattern(len, 1);
        let stream = rig.stream();
        let (staged, mut host, mut landed) =
            (rig.staged(&bytes), rig.staged(&vec![0; len]), rig.staged(&vec![0; len]));
        let (first, second) = (rig.block(len), rig.block(len));
        copy(&stream, &staged.span(), &first.span());
        copy(&stream, &first.span(), &second.span());
        copy(&stream, &second.span(), &landed.span());
        copy(&stream, &staged.span(), &host.span());
        finish(&stream);
        assert!(landed.bytes().expect("the stream is past it") == bytes, "{len} bytes by the device");
        assert!(host.bytes().expect("the stream is past it") == bytes, "{len} bytes within the host");
    }
}

pub(crate) fn parts_of_blocks(rig: &Rig) {
    let mut bytes = pattern(10_000, 2);
    let block = rig.filled(&bytes);
    let part = |range| block.span().part(range).expect("it lies within");
    let stream = rig.stream();
    copy(&stream, &part(1..1001), &part(5000..6000));
    // A part of a part counts from the part.
    copy(&stream, &part(100..200).part(50..100).expect("it lies within"), &part(9950..10_000));
    finish(&stream);
    bytes.copy_within(1..1001, 5000);
    bytes.copy_within(150..200, 9950);
    assert!(rig.read(&block.span()) == bytes);
}

pub(crate) fn spans_that_do_not_go_together_are_refused(rig: &Rig) {
    let (stream, bytes) = (rig.stream(), pattern(1000, 3));
    let block = rig.filled(&bytes);
    let part = |range| block.span().part(range);
    let (front, back) = (part(0..600).expect("it lies within"), part(400..1000).expect("it lies within"));
    assert_eq!(try_copy(&stream, &front, &back), Err(DeviceError::Overlap { bytes: 600 }));
    let short = part(700..1000).expect("it lies within");
    assert_eq!(try_copy(&stream, &front, &short), Err(DeviceError::Lengths { from: 600, to: 300 }));
    let beyond = part(999..1001).map(drop);
    assert_eq!(beyond, Err(DeviceError::OutOfBounds { start: 999, end: 1001, len: 1000 }));
    let backward = part(Range { start: 5, end: 4 });
    assert!(matches!(backward, Err(DeviceError::OutOfBounds { start: 5, end: 4, .. })));

    // Another opening of the device has memory and events of its own.
    let other = Rig { kind: rig.kind, device: rig.kind.open(4 << 20, 4 << 20).expect("a device") };
    let stranger = other.block(600);
    for (from, to) in [(&front, &stranger.span()), (&stranger.span(), &front)] {
        let refused = try_copy(&stream, from, to);
        assert!(matches!(refused, Err(DeviceError::Foreign { what: "memory", .. })), "{refused:?}");
    }
    let event = other.stream().record().expect("an event");
    assert!(matches!(stream.wait(&event), Err(DeviceError::Foreign { what: "an event", .. })));
    assert!(matches!(stream.keep(&stranger.span()), Err(DeviceError::Foreign { what: "memory", .. })));
    // Nothing was written, and the stream goes on.
    finish(&stream);
    assert!(rig.read(&block.span()) == bytes);
}
