//! Secret memory: its owner can use all of it, and the kernel copies only the front: a short read, then a refusal. Memory of
//! devices behaves so; a secret memory object (`memfd_secret`) behaves so everywhere.

#![expect(unsafe_code, reason = "maps memory that the kernel itself does not read")]

use crate::group::{Group, assert_pattern, fill};
use crate::paths::{operations, pair};
use crate::runner::{Check, Outcome, family};
use chare_lrts::reach::ReachOptions;
use chare_lrts::{Held, MemoryMut, NodeId, RegionKey};
use rustix::fd::{FromRawFd, OwnedFd};
use rustix::mm::{MapFlags, ProtFlags};

const HALF: usize = 64 << 10;

/// Two halves in a row, the second secret; `None` where the kernel has no such memory. Stays for ever.
fn half_secret() -> Option<MemoryMut> {
    // SAFETY: the call takes flags alone and gives a descriptor, which nobody else owns, or -1.
    let secret = unsafe {
        let descriptor = libc::syscall(libc::SYS_memfd_secret, libc::O_CLOEXEC);
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor as i32))?
    };
    rustix::fs::ftruncate(&secret, HALF as u64).ok()?;
    let flags = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh mapping at an address the kernel chooses, whose second half is replaced: nobody else knows it. Readable,
    // writable, never unmapped, and only reached through the value made here.
    unsafe {
        let front =
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), 2 * HALF, flags, MapFlags::PRIVATE).ok()?;
        let back = front.cast::<u8>().add(HALF).cast();
        // Secret memory counts as locked: a limit may forbid it.
        rustix::mm::mmap(back, HALF, flags, MapFlags::SHARED | MapFlags::FIXED, &secret, 0).ok()?;
        Some(MemoryMut::from_raw_parts(front.cast(), 2 * HALF, None, Box::new(())))
    }
}

/// Gets and puts both halves at once, and a part of each.
fn move_halves(group: &mut Group, source: RegionKey, target: RegionKey) {
    for (offset, len) in [(0, 2 * HALF), (HALF - 100, 200), (HALF + 1, 100), (0, HALF)] {
        let got = group.get_bytes(0, source, offset as u64, len).expect("any path gets it");
        assert_pattern(got.as_slice(), offset, 4);
        assert_eq!(group.put_bytes(0, target, offset as u64, got.freeze()), Ok(len));
    }
}

fn memory_that_the_kernel_does_not_copy_goes_by_messages() -> Outcome {
    let (Some(mut source), Some(target)) = (half_secret(), half_secret()) else {
        return Outcome::Skipped("this kernel has no secret memory".to_owned());
    };
    fill(source.as_mut_slice(), 4);
    let (mut group, reaches) = pair(ReachOptions::default()).expect("the options fit this host");
    if !reaches[0].copies(NodeId(1)) {
        return Outcome::Skipped("the kernel copies nothing here".to_owned());
    }
    let register = |held| group.nodes[1].regions.register(held).expect("the board has room");
    let (source, target) = (register(Held::Source(source.freeze())), register(Held::Target(target)));
    move_halves(&mut group, source, target);
    let Held::Target(written) = group.nodes[1].end(&target) else { panic!("it was a target") };
    assert_pattern(written.as_slice(), 0, 4);
    let usage = reaches[0].usage(NodeId(1));
    assert_eq!(operations(&usage), (0, 0, 8), "all by messages once the first was refused: {usage}");
    let warnings = reaches[0].take_warnings();
    assert!(matches!(&warnings[..], [one] if one.contains("goes by messages")), "{warnings:?}");
    drop(reaches);
    group.close();
    Outcome::Passed
}

/// All checks of this file.
pub(crate) fn checks() -> Vec<Check> {
    let name = "memory_that_the_kernel_does_not_copy_goes_by_messages";
    family("paths", &[(name, memory_that_the_kernel_does_not_copy_goes_by_messages)])
}
