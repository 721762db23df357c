//! Faults of a software device: loss stays and wakes everybody, refusals hurt nobody, and both follow their seed.

#![expect(unsafe_code, reason = "adopts memory of its own blocks")]

use crate::rig::Kind;
use crate::rig::{Rig, copy, finish, pattern, try_copy, watched};
use chare_device::{
    AdoptedMemory, Bell, DeviceBufferMut, DeviceError, Faults, MemoryHandle, Priority, Software,
};
use rustix::fd::OwnedFd;
use rustix::fs::MemfdFlags;
use std::num::NonZeroU32;
use std::time::Duration;

fn rig(faults: Faults) -> Rig {
    Rig { kind: Kind::software, device: Software { faults, ..Software::default() }.open() }
}

#[test]
fn a_lost_device_stays_lost() {
    watched(|| {
        let lost = rig(Faults { lose: NonZeroU32::new(1), ..Faults::default() });
        let (stream, block) = (lost.stream(), lost.block(100));
        let (other, bell, late) = (lost.stream(), Bell::new().expect("one"), Bell::new().expect("one"));
        let staged = lost.staged(&[1; 100]);
        let event = stream.record().expect("it is not lost yet, for all we know");
        // Whoever sleeps is woken, also behind an event that will never be.
        let ringing = [stream.ring(&bell), other.wait(&event).and_then(|()| other.ring(&late))];
        for (rung, bell) in ringing.into_iter().zip([bell, late]) {
            if rung.is_ok() {
                bell.wait().expect("a poll");
            }
        }
        while event.is_complete() == Ok(false) {
            std::thread::yield_now();
        }
        let error = event.is_complete().expect_err("a lost device completes nothing");
        assert!(error.is_lost() && error.to_string().starts_with("device 0 (software) was lost"), "{error}");
        // The error is sticky: everybody is told the same.
        let memory = lost.device.allocate(8).map(drop);
        let pinned = lost.device.pinned(8).map(drop);
        let made = lost.device.stream(Priority::High).map(drop);
        let recorded = other.record().map(drop);
        let copied = try_copy(&other, &staged.span(), &block.span());
        for answer in [memory, pinned, made, recorded, copied, other.wait(&event), other.keep(&block.span())]
        {
            assert_eq!(answer, Err(error.clone()));
        }
    });
}

/// A panic on a stream's thread is no silence: everybody is told what it said.
#[test]
fn a_closure_that_panics_loses_the_device_and_is_quoted() {
    watched(|| {
        let whole = rig(Faults::default());
        let (stream, bell) = (whole.stream(), Bell::new().expect("one"));
        let field = DeviceBufferMut::<u8>::zeroed(&whole.device, &stream, 100).expect("memory").freeze();
        let mut target = DeviceBufferMut::<u8>::new(&whole.device, 100).expect("memory");
        let panics = |_: &[&[u8]], _: &mut [u8]| panic!("there is no such point");
        target.compute_from(&stream, &[&field], panics).expect("it is not known yet");
        if stream.ring(&bell).is_ok() {
            bell.wait().expect("a poll");
        }
        let error = stream.record().map(drop).expect_err("the device is lost");
        assert!(error.is_lost(), "{error}");
        assert!(error.to_string().contains("a kernel panicked: there is no such point"), "{error}");
    });
}

/// What touched an illegal address is named by every call from then on, and whoever sleeps is woken.
#[test]
fn an_illegal_address_is_an_error_that_stays_and_names_what_touched_it() {
    watched(|| {
        let faulty = rig(Faults { fault: NonZeroU32::new(1), ..Faults::default() });
        let (stream, other, bell) = (faulty.stream(), faulty.stream(), Bell::new().expect("one"));
        // What touches no memory does no harm.
        finish(&stream);
        let mut field = DeviceBufferMut::<u8>::new(&faulty.device, 100).expect("memory");
        field.write(&stream, &[1; 100]).expect("nothing is known of it yet");
        if stream.ring(&bell).is_ok() {
            bell.wait().expect("a poll");
        }
        let error = loop {
            match other.record().and_then(|event| event.is_complete()) {
                Ok(_) => std::thread::yield_now(),
                Err(error) => break error,
            }
        };
        let said = "device 0 (software) was lost: a copy: an illegal address was touched (its faults said so); \
                    what its memory held is gone";
        assert!(error.is_lost() && error.to_string().starts_with(said), "{error}");
        assert_eq!(field.read(&other).map(drop), Err(error.clone()));
        assert_eq!(faulty.device.allocate(8).map(drop), Err(error));
    });
}

/// One of a hundred commands loses the device; whatever it hits, both streams' sleepers wake up.
#[test]
fn loss_at_any_command_leaves_nobody_asleep() {
    watched(|| {
        for seed in 0..30 {
            let lost = rig(Faults { lose: NonZeroU32::new(20), seed, ..Faults::default() });
            let streams = [lost.stream(), lost.stream()];
            let (block, bell) = (lost.block(100), Bell::new().expect("one"));
            let end = (0..10_000).find_map(|round: usize| {
                let (one, other) = (&streams[round % 2], &streams[(round + 1) % 2]);
                let staged = lost.device.pinned(100);
                let told = staged
                    .and_then(|staged| try_copy(one, &staged.span(), &block.span()))
                    .and_then(|()| other.wait(&one.record()?))
                    .and_then(|()| other.ring(&bell));
                if told.is_ok() {
                    bell.wait().expect("a poll");
                }
                told.err()
            });
            assert!(end.is_some_and(|error| error.is_lost()), "seed {seed}");
        }
    });
}

/// Who awaits a stream is told of the loss.
#[test]
fn waits_for_a_lost_device_end_with_its_error() {
    watched(|| {
        let faults =
            Faults { lose: NonZeroU32::new(1), delay: Duration::from_millis(5), ..Faults::default() };
        let stream = rig(faults).stream();
        let executor = tokio::runtime::Builder::new_current_thread().build().expect("an executor");
        // It may be lost before the wait begins.
        let waited = stream.passed().and_then(|passed| executor.block_on(passed));
        assert!(waited.is_err_and(|error| error.is_lost()));
    });
}

/// Tries until it is not refused; how often it was.
fn until_granted<T>(mut call: impl FnMut() -> Result<T, DeviceError>) -> (usize, T) {
    let mut refusals = 0;
    loop {
        match call() {
            Ok(granted) => return (refusals, granted),
            Err(error) => assert!(matches!(error, DeviceError::Refused { .. }), "{error}"),
        }
        refusals += 1;
    }
}

/// Does the same things on a device that refuses one of three calls; how often each was refused.
fn refusals(seed: u64) -> Vec<usize> {
    let refusing = rig(Faults { refuse: NonZeroU32::new(3), seed, ..Faults::default() });
    let (first, stream) = until_granted(|| refusing.device.stream(Priority::Normal));
    let (second, block) = until_granted(|| refusing.device.allocate(1000));
    let (third, mut landed) = until_granted(|| refusing.device.pinned(1000));
    let mut counts = vec![first, second, third];
    for round in 0..40 {
        landed.bytes().expect("nobody uses it").copy_from_slice(&pattern(1000, round));
        let (here, there) = (landed.span(), block.span());
        counts.push(until_granted(|| try_copy(&stream, &here, &there)).0);
        counts.push(until_granted(|| try_copy(&stream, &there, &here)).0);
        drop(here);
        let (count, event) = until_granted(|| stream.record());
        counts.push(count);
        while event.is_complete() == Ok(false) {
            std::thread::yield_now();
        }
        assert!(landed.bytes().expect("the stream is past it") == pattern(1000, round));
    }
    counts
}

#[test]
fn a_refusal_hurts_nobody_and_follows_its_seed() {
    watched(|| {
        let first = refusals(1);
        assert!(first.iter().sum::<usize>() > 20, "one of three calls is refused: {first:?}");
        assert_eq!(first, refusals(1));
        assert_ne!(first, refusals(2));
    });
}

/// A call that was refused may have given its command before: whatever is asked for next comes after it.
#[test]
fn refusals_leave_buffers_in_order() {
    watched(|| {
        let faults = Faults {
            refuse: NonZeroU32::new(3),
            delay: Duration::from_micros(100),
            seed: 11,
            ..Faults::default()
        };
        let refusing = rig(faults);
        let stream = || until_granted(|| refusing.device.stream(Priority::Normal)).1;
        let streams = [stream(), stream(), stream()];
        let mut buffer = until_granted(|| DeviceBufferMut::<u8>::new(&refusing.device, 5000)).1;
        let mut reads = Vec::new();
        for round in 0..60 {
            let (one, other) = (&streams[round % 3], &streams[round * 7 % 3]);
            let bytes = pattern(5000, round as u64);
            until_granted(|| buffer.write(one, &bytes));
            reads.push((bytes, until_granted(|| buffer.read(other)).1));
        }
        for (bytes, mut landed) in reads {
            while landed.event().is_complete() == Ok(false) {
                std::thread::yield_now();
            }
            assert!(landed.elements().expect("it is not lost") == Some(&bytes[..]));
        }
    });
}

/// A stream of its own keeps no other one waiting.
#[test]
fn a_delayed_stream_delays_no_other() {
    watched(|| {
        let delayed = rig(Faults { delay: Duration::from_millis(2), seed: 3, ..Faults::default() });
        let (one, other) = (delayed.stream(), delayed.stream());
        let (staged, block) = (delayed.staged(&[5; 10]), delayed.block(10));
        for _ in 0..50 {
            copy(&one, &staged.span(), &block.span());
        }
        let last = one.record().expect("an event");
        finish(&other);
        assert_eq!(last.is_complete(), Ok(false), "50 delays take longer than two");
        finish(&one);
        assert_eq!(last.is_complete(), Ok(true));
    });
}

/// What could shrink would end whoever touches it; what is shorter, too.
#[test]
fn memory_that_could_shrink_is_not_imported() {
    let importing = rig(Faults::default());
    let memory = || -> OwnedFd {
        let made = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
        let made = made.expect("memory");
        rustix::fs::ftruncate(&made, 4096).expect("memory");
        made
    };
    let refused = importing
        .device
        .import(MemoryHandle::descriptor(memory(), 4096))
        .map(drop)
        .expect_err("it is not sealed");
    assert!(refused.to_string().contains("it could shrink"), "{refused}");
    let sealed = memory();
    rustix::fs::fcntl_add_seals(&sealed, rustix::fs::SealFlags::SHRINK).expect("a seal");
    for bytes in [0, 4095, 8192, u64::MAX] {
        let sealed = sealed.try_clone().expect("a descriptor");
        let refused = importing.device.import(MemoryHandle::descriptor(sealed, bytes)).map(drop);
        assert!(matches!(refused, Err(DeviceError::Import { .. })), "{bytes}: {refused:?}");
    }
    let twice = [(); 2].map(|()| (sealed.try_clone().expect("a descriptor"), 4096)).into();
    let refused = importing.device.import(MemoryHandle::Descriptors(twice)).map(drop);
    assert!(refused.is_err_and(|error| error.to_string().contains("one descriptor, and not 2")));
    importing.device.import(MemoryHandle::descriptor(sealed, 4096)).expect("it is what it says");
}

/// A software device plays the calls by which memory is made elsewhere.
#[test]
fn adopted_memory_is_exported_as_its_maker_has_allocated_it() {
    let adopt = |adopted| {
        let device = Software { adopted, ..Software::default() }.open();
        let block = device.allocate(4096).expect("it has room");
        let address = block.address() + 64;
        // SAFETY: the block has so many bytes there, which nobody else uses, and is the guard.
        let buffer = unsafe { DeviceBufferMut::<u8>::from_raw_parts(&device, address, 100, block) };
        let arena = buffer.expect("it is memory of the device").freeze().arena().clone();
        (arena, device)
    };
    let (arena, _) = adopt(AdoptedMemory::Descriptors);
    let exported = arena.export().expect("it has a descriptor");
    assert!(matches!(&exported.handle, MemoryHandle::Descriptors(parts) if parts.len() == 1));
    assert_eq!(exported.offset, 64);
    assert_eq!(arena.export_part(30..100).expect("it lies within").offset, 94);
    let beyond = arena.export_part(30..101).map(drop);
    assert_eq!(beyond, Err(DeviceError::OutOfBounds { start: 30, end: 101, len: 100 }));

    let (arena, device) = adopt(AdoptedMemory::Named);
    let exported = arena.export().expect("it has a name");
    assert_eq!((exported.handle.bytes(), exported.offset), (2 << 20, 64), "of the whole allocation");
    let refused = device.import(exported.handle).map(drop).expect_err("nobody opens a name of his own");
    assert!(refused.to_string().contains("no name of another process"), "{refused}");

    let (arena, _) = adopt(AdoptedMemory::Private);
    let refused = arena.export().expect_err("nobody sees it").to_string();
    assert!(refused.contains("it was adopted, and allocated in a way"), "{refused}");
}

/// A name is what another process says: also one of no process.
#[test]
fn a_name_that_is_of_no_process_is_not_imported() {
    let device = Software::default().open();
    for byte in [0, 0x7f, 0x80, 0xff] {
        let refused = device.import(MemoryHandle::Name([byte; MemoryHandle::NAME_BYTES], 4096)).map(drop);
        assert!(matches!(refused, Err(DeviceError::Import { .. })), "{byte:#x}: {refused:?}");
    }
}

#[test]
fn software_devices_are_told_apart_by_their_numbers() {
    let uuid = |ordinal| Software { ordinal, ..Software::default() }.open().info().uuid;
    assert_eq!(uuid(1), uuid(1));
    assert_ne!(uuid(0), uuid(1));
}

#[cfg(feature = "cuda")]
#[test]
fn a_device_that_is_not_here_is_an_error_that_says_what_is_missing() {
    use chare_device::Cuda;
    let error =
        Cuda { ordinal: 1 << 20, ..Cuda::default() }.open().map(drop).expect_err("nobody has so many");
    let text = error.to_string();
    let said = [
        "no device: libcuda.so.1 not found: NVIDIA's driver is not installed",
        "no device: libcuda.so.1 is of CUDA ",
        "no device: number 1048576 was asked for",
    ];
    assert!(said.into_iter().any(|said| text.starts_with(said)), "{text}");
}

#[test]
fn memory_that_networks_cannot_register_is_not_found_by_them() {
    let device = Software { is_registrable: false, ..Software::default() }.open();
    let buffer = DeviceBufferMut::<u8>::new(&device, 100).expect("it has room");
    let refused = buffer.registrable().expect_err("networks cannot reach it");
    assert!(refused.to_string().contains("networks cannot reach it"), "{refused}");
}
