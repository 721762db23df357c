//! Buffers: what streams do with them is in order, and nobody says so.

use crate::rig::{MEMORY_BYTES, Rig, arrived, copy, finish, pattern};
use chare_device::{DeviceBufferMut, DeviceError, Method, Priority, Stream};
use chare_layout::{Layout, Plan, Raw};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::channel;

const LEN: usize = 20_000;

fn buffer(rig: &Rig, len: usize) -> DeviceBufferMut<u8> {
    DeviceBufferMut::new(&rig.device, len).expect("memory")
}

pub(crate) fn streams_take_turns_on_a_buffer(rig: &Rig) {
    let streams = [rig.stream(), rig.stream(), rig.stream()];
    let mut turns = buffer(rig, LEN);
    let mut reads = Vec::new();
    for round in 0..60 {
        let (one, other) = (&streams[round % 3], &streams[round * 7 % 3]);
        turns.write(one, &pattern(LEN, round as u64)).expect("a write");
        reads.push((round, other, turns.read(other).expect("a read")));
    }
    for (round, by, landed) in reads {
        assert!(arrived(landed, by) == pattern(LEN, round as u64), "round {round}");
    }
}

pub(crate) fn what_is_longer_than_the_pinned_memory_is_written_and_read(rig: &Rig) {
    let device = rig.kind.open(MEMORY_BYTES, 4 << 20).expect("a device");
    let stream = device.stream(Priority::Normal).expect("a stream");
    // A pool has no room for a piece of nearly its own length, either.
    for len in [3 << 20, 4 << 20, (16 << 20) + 12] {
        let mut long = DeviceBufferMut::<u32>::new(&device, len / 4).expect("memory");
        let elements: Vec<u32> =
            (0..len as u32 / 4).map(|element| element.wrapping_mul(0x9e37_79b9)).collect();
        long.write(&stream, &elements).expect("pieces");
        assert!(matches!(long.write(&stream, &elements[1..]), Err(DeviceError::Lengths { .. })));
        let read = long.freeze().to_vec(&stream).expect("pieces");
        assert!(read == elements, "{len} bytes");
    }
}

pub(crate) fn a_shared_buffer_is_read_by_many_and_written_after(rig: &Rig) {
    let readers: Vec<Stream> = (0..5).map(|_| rig.stream()).collect();
    let (writer, mut field) = (rig.stream(), buffer(rig, LEN));
    field.write(&writer, &pattern(LEN, 1)).expect("a write");
    let shared = field.freeze();
    let reads: Vec<_> = readers.iter().map(|by| (by, shared.clone().read(by).expect("a read"))).collect();
    let mut copied = buffer(rig, LEN);
    copied.copy_from(&readers[0], &shared).expect("a copy");
    let also = shared.clone();
    let shared = shared.try_into_mut().expect_err("there is another handle");
    drop(also);
    // Nobody has read it yet, for all we know.
    let mut field = shared.try_into_mut().expect("it is the last handle");
    field.write(&writer, &pattern(LEN, 2)).expect("a write");
    for (by, landed) in reads {
        assert!(arrived(landed, by) == pattern(LEN, 1), "what was there when it was shared");
    }
    assert!(arrived(copied.read(&writer).expect("a read"), &writer) == pattern(LEN, 1));
    assert!(arrived(field.read(&writer).expect("a read"), &writer) == pattern(LEN, 2));
}

pub(crate) fn parts_are_buffers_of_their_own(rig: &Rig) {
    let (one, other) = (rig.stream(), rig.stream());
    let mut whole = buffer(rig, LEN);
    let bytes = pattern(LEN, 3);
    whole.write(&one, &pattern(LEN, 4)).expect("a write");
    let (mut front, mut back) = whole.split(LEN / 3);
    assert_eq!((front.len(), back.len()), (LEN / 3, LEN - LEN / 3));
    front.write(&one, &bytes[..LEN / 3]).expect("a write");
    back.write(&other, &bytes[LEN / 3..]).expect("a write");
    let (back, front) = back.join(front).expect_err("the back does not go before the front");
    let (front, stranger) = front.join(buffer(rig, 10)).expect_err("it is of other memory");
    assert_eq!((front.len(), stranger.len()), (LEN / 3, 10));
    let mut whole = front.join(back).expect("they follow each other");
    assert!(arrived(whole.read(&one).expect("a read"), &one) == bytes);
    // What is left of a buffer keeps its memory.
    let (front, mut back) = whole.split(LEN / 2);
    drop(front);
    assert!(arrived(back.read(&other).expect("a read"), &other) == bytes[LEN / 2..]);
}

pub(crate) fn steps_go_from_buffer_to_buffer(rig: &Rig) {
    let (one, other) = (rig.stream(), rig.stream());
    let every_third = Layout::<u32>::vector(1000, 1, 3).expect("it fits");
    let plan = Arc::new(Plan::pack(every_third.raw()).expect("it fits"));
    let mut field = DeviceBufferMut::<u32>::new(&rig.device, 3000).expect("memory");
    let mut packed = DeviceBufferMut::<u32>::new(&rig.device, 1000).expect("memory");
    field.write(&one, &(0..3000).collect::<Vec<u32>>()).expect("a write");
    let field = field.freeze();
    packed.step_from(&other, &plan, &field).expect("a step");
    let landed = arrived(packed.read(&one).expect("a read"), &one);
    assert!(landed.into_iter().eq((0..3000).step_by(3)));
    let mut short = DeviceBufferMut::<u32>::new(&rig.device, 999).expect("memory");
    let refused = short.step_from(&other, &plan, &field);
    assert!(matches!(refused, Err(DeviceError::Layout(_))), "{refused:?}");
}

/// A kernel that the user has launched is like any other command of its stream.
pub(crate) fn what_a_stream_does_for_the_user_is_waited_for(rig: &Rig) {
    let (user, other) = (rig.stream(), rig.stream());
    let (staged, block) = (rig.staged(&pattern(1 << 20, 5)), rig.block(1 << 20));
    let mut field = buffer(rig, 100);
    field.write(&other, &[1; 100]).expect("a write");
    field.before(&user).expect("a wait");
    (0..20).for_each(|_| copy(&user, &staged.span(), &block.span()));
    let launched = user.record().expect("an event");
    field.after(&user).expect("an event");
    let shared = field.freeze();
    arrived(shared.read(&other).expect("a read"), &other);
    assert_eq!(launched.is_complete(), Ok(true), "who reads has waited for who wrote");

    // The other way round: who writes waits for who reads.
    shared.before(&user).expect("a wait");
    (0..20).for_each(|_| copy(&user, &staged.span(), &block.span()));
    let launched = user.record().expect("an event");
    shared.after(&user).expect("an event");
    let mut field = shared.try_into_mut().expect("it is the last handle");
    field.write(&other, &[2; 100]).expect("a write");
    finish(&other);
    assert_eq!(launched.is_complete(), Ok(true), "who writes has waited for who read");
}

pub(crate) fn zeros_are_written_in_order(rig: &Rig) {
    let (one, other) = (rig.stream(), rig.stream());
    for _ in 0..10 {
        // Memory that was in use a moment ago.
        buffer(rig, LEN).write(&other, &pattern(LEN, 6)).expect("a write");
        let mut zeros = DeviceBufferMut::<u64>::zeroed(&rig.device, &one, LEN / 8).expect("memory");
        let landed = arrived(zeros.read(&other).expect("a read"), &other);
        assert!(landed == [0; LEN / 8]);
    }
    let empty = DeviceBufferMut::<u8>::zeroed(&rig.device, &one, 0).expect("memory");
    assert!(empty.is_empty());
}

/// Whatever is done on whichever streams, buffers hold what they would if each call had waited for its end.
pub(crate) fn random_programs_do_what_they_say(rig: &Rig) {
    const SMALL: usize = 1000;
    let streams: Vec<Stream> = (0..4).map(|_| rig.stream()).collect();
    for seed in 0..15 {
        let mut chance = StdRng::seed_from_u64(seed);
        let mut buffers: Vec<_> =
            (0..4_u64).map(|number| (buffer(rig, SMALL), pattern(SMALL, number))).collect();
        for (buffer, bytes) in &mut buffers {
            buffer.write(&streams[0], bytes).expect("a write");
        }
        let mut reads = Vec::new();
        for step in 0..60 {
            let on = &streams[chance.random_range(0..4)];
            let at = chance.random_range(0..buffers.len());
            let (mut target, mut bytes) = buffers.swap_remove(at);
            match chance.random_range(0..4) {
                0 => {
                    bytes = pattern(SMALL, 1000 + step);
                    target.write(on, &bytes).expect("a write");
                }
                1 => reads.push((on, target.read(on).expect("a read"), bytes.clone())),
                2 => {
                    let (source, held) = buffers.pop().expect("there are three others");
                    let source = source.freeze();
                    target.copy_from(on, &source).expect("a copy");
                    bytes.clone_from(&held);
                    buffers.push((source.try_into_mut().expect("it is the last handle"), held));
                }
                _ => {
                    let cut = chance.random_range(0..=SMALL);
                    let (mut front, back) = target.split(cut);
                    bytes[..cut].copy_from_slice(&pattern(cut, 2000 + step));
                    front.write(on, &bytes[..cut]).expect("a write");
                    target = front.join(back).expect("they follow each other");
                }
            }
            buffers.push((target, bytes));
        }
        for (mut buffer, bytes) in buffers {
            reads.push((&streams[0], buffer.read(&streams[0]).expect("a read"), bytes));
        }
        for (by, landed, bytes) in reads {
            assert!(arrived(landed, by) == bytes, "seed {seed}");
        }
    }
}

/// A stream of another device is refused, and leaves no trace.
pub(crate) fn streams_of_other_devices_are_refused(rig: &Rig) {
    let other = Rig { kind: rig.kind, device: rig.kind.open(4 << 20, 4 << 20).expect("a device") };
    let (stream, stranger) = (rig.stream(), other.stream());
    let foreign = |answer| matches!(answer, Err(DeviceError::Foreign { what: "memory", .. }));
    let mut field = buffer(rig, 100);
    assert!(foreign(field.write(&stranger, &[1; 100])));
    assert!(foreign(field.read(&stranger).map(drop)));
    assert!(foreign(field.before(&stranger)) && foreign(field.after(&stranger)));
    field.write(&stream, &[2; 100]).expect("a write");
    let shared = field.freeze();
    assert!(foreign(shared.read(&stranger).map(drop)));
    assert!(foreign(shared.before(&stranger)) && foreign(shared.after(&stranger)));
    let mut theirs = buffer(&other, 100);
    assert!(foreign(theirs.copy_from(&stranger, &shared)) && foreign(theirs.copy_from(&stream, &shared)));
    theirs.write(&stranger, &[3; 100]).expect("a write");
    let mut field = shared.try_into_mut().expect("it is the last handle");
    field.write(&stream, &[4; 100]).expect("a write");
    assert!(arrived(field.read(&stream).expect("a read"), &stream) == [4; 100]);
    assert!(arrived(theirs.read(&stranger).expect("a read"), &stranger) == [3; 100]);
}

pub(crate) fn lengths_that_differ_are_refused(rig: &Rig) {
    let (stream, mut short, mut long) = (rig.stream(), buffer(rig, 10), buffer(rig, 11));
    let refused = short.write(&stream, &[1; 11]);
    assert_eq!(refused, Err(DeviceError::Lengths { from: 11, to: 10 }));
    long.write(&stream, &[1; 11]).expect("a write");
    let refused = short.copy_from(&stream, &long.freeze());
    assert_eq!(refused, Err(DeviceError::Lengths { from: 11, to: 10 }));
    assert!(arrived(buffer(rig, 0).read(&stream).expect("a read"), &stream).is_empty());
}

pub(crate) fn bytes_and_parts_share_memory_and_order(rig: &Rig) {
    let (one, other) = (rig.stream(), rig.stream());
    let mut field = DeviceBufferMut::<u32>::new(&rig.device, LEN).expect("memory");
    let elements: Vec<u32> = (0..LEN as u32).collect();
    field.write(&one, &elements).expect("a write");
    let bytes = field.into_bytes();
    assert_eq!(bytes.len(), 4 * LEN);
    let field = bytes.typed::<u32>().expect("whole elements").freeze();
    let (part, odd) = (field.part(10..30), field.clone().into_bytes().part(1..5));
    assert_eq!((part.len(), part.address(), part.offset()), (20, field.address() + 40, field.offset() + 40));
    let odd = odd.typed::<u32>().expect_err("not aligned");
    assert!(odd.part(0..3).typed::<u8>().is_ok());
    assert!(arrived(part.read(&other).expect("a read"), &other) == elements[10..30]);
    // In bytes they are beyond 64 bits, and would come round to where the buffer is.
    let beyond = 1 << 62;
    for range in [0..beyond, beyond..beyond + 10, beyond + 10..beyond + 30] {
        let refused = catch_unwind(AssertUnwindSafe(|| field.part(range.clone())));
        let cause = *refused.expect_err("there are less").downcast::<String>().expect("words");
        assert!(cause.contains(&format!("elements {} to {} of {LEN}", range.start, range.end)), "{cause}");
    }
    let part = part.try_into_mut().expect_err("the whole is there");
    drop((part, odd));
    assert!(field.try_into_mut().is_ok(), "no part is left");
}

pub(crate) fn plans_stage_and_unstage(rig: &Rig) {
    let stream = rig.stream();
    let bytes = pattern(LEN, 5);
    let mut source = buffer(rig, LEN);
    source.write(&stream, &bytes).expect("a write");
    let source = source.freeze();
    let scattered = Layout::<u8>::vector(100, 3, 7).expect("it fits");
    let planes = scattered.raw().hvector(3, 1, 1000).expect("it fits");
    let layouts = [scattered.raw(), &planes, &Raw::bytes_of(5000).expect("it fits")];
    for (layout, method) in layouts.into_iter().flat_map(|layout| Method::ALL.map(|method| (layout, method)))
    {
        let pack = Arc::new(Plan::pack(layout).expect("a plan"));
        let staged = source.stage_by(method, &stream, &pack).expect("a step");
        finish(&stream);
        let mut pinned = staged.into_pinned().expect("the device is there").expect("the stream is past it");
        let selected = || layout.runs().flat_map(|(at, len)| at as usize..(at as u64 + len) as usize);
        let expected: Vec<u8> = selected().map(|at| bytes[at]).collect();
        assert!(pinned.bytes() == Some(&mut expected.clone()[..]), "{method} of {layout:?}");

        let mut target = buffer(rig, LEN);
        target.write(&stream, &[0; LEN]).expect("a write");
        let unpack = Arc::new(Plan::unpack(layout).expect("a plan"));
        target.unstage_by(method, &stream, &unpack, pinned).expect("a step");
        let landed = arrived(target.read(&stream).expect("a read"), &stream);
        let mut expected = vec![0; LEN];
        selected().for_each(|at| expected[at] = bytes[at]);
        assert!(landed == expected, "{method} of {layout:?}");
    }
}

pub(crate) fn who_reads_waits_for_writes_that_were_told_later(rig: &Rig) {
    let (writer, reader) = (rig.stream(), rig.stream());
    let shared = buffer(rig, LEN).freeze();
    // A kernel of the user's, as far as the buffer knows.
    let staged = rig.staged(&pattern(LEN, 6));
    copy(
        &writer,
        &staged.span(),
        &shared.arena().part(shared.offset()..shared.offset() + LEN as u64).expect("it"),
    );
    shared.written(&writer).expect("a use");
    assert!(arrived(shared.read(&reader).expect("a read"), &reader) == pattern(LEN, 6));
}

pub(crate) fn a_loan_ends_once_with_the_uses_that_are_left(rig: &Rig) {
    let (writer, reader) = (rig.stream(), rig.stream());
    let mut field = buffer(rig, LEN);
    field.write(&writer, &pattern(LEN, 7)).expect("a write");
    let shared = field.freeze();
    let (told, ends) = channel();
    let lent = shared.clone().lent(move |uses| told.send(uses).expect("somebody listens"));
    let lent = lent.try_into_mut().expect_err("it is lent");
    let read = lent.clone().read(&reader).expect("a read");
    drop(lent);
    let uses = ends.try_recv().expect("the last handle has gone");
    // The handle that was lent went first.
    let mut field = shared.try_into_mut().expect("it is the last handle");
    field.write(&writer, &pattern(LEN, 8)).expect("a write");
    let behind = rig.stream();
    uses.before(&behind).expect("a wait");
    finish(&behind);
    assert_eq!(uses.are_over(), Ok(true));
    assert!(arrived(read, &reader) == pattern(LEN, 7), "what was there when it was lent");
    assert!(ends.try_recv().is_err(), "it ends once");
}

/// What a closure makes of buffers waits for who wrote them, and those who write them next wait for it.
pub(crate) fn closures_compute_in_order_where_kernels_are_closures(rig: &Rig) {
    const LEN: usize = 5_000;
    let (one, other) = (rig.stream(), rig.stream());
    let filled = |first: u64| {
        let mut buffer = DeviceBufferMut::<u64>::new(&rig.device, LEN).expect("memory");
        let values: Vec<u64> = (first..).take(LEN).collect();
        buffer.write(&one, &values).expect("a write");
        buffer.freeze()
    };
    let (left, right) = (filled(0), filled(1 << 40));
    let mut sums = DeviceBufferMut::<u64>::new(&rig.device, LEN).expect("memory");
    let add = |sources: &[&[u64]], target: &mut [u64]| {
        for (at, sum) in target.iter_mut().enumerate() {
            *sum = sources[0][at] + sources[1][at];
        }
    };
    let computed = sums.compute_from(&other, &[&left, &right], add);
    if !one.raw().is_null() {
        let error = computed.expect_err("its kernels are not closures").to_string();
        assert!(error.contains("launch them"), "{error}");
        return;
    }
    computed.expect("a kernel");
    // Writes what was read, on another stream, which waits.
    let mut left = left.try_into_mut().expect("nobody else has it");
    left.write(&one, &[7; LEN]).expect("a write");
    let landed = sums.read(&one).expect("a read");
    let expected: Vec<u64> = (0..LEN as u64).map(|at| 2 * at + (1 << 40)).collect();
    assert!(arrived(landed, &one) == expected);
}
