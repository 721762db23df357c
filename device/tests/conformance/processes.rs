//! Memory of several processes: exported and imported arenas, and what the host cannot touch. Each test has two processes.

use crate::peer::{Line, start};
use crate::rig::{Rig, copy, finish, pattern, touch, try_step};
use chare_device::DeviceError;
use chare_layout::{Layout, Plan};
use rustix::process::{Resource, Rlimit};
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;

const LEN: usize = 100_000;

/// Every other of so many bytes.
fn every_other() -> Layout<u8> {
    Layout::vector(LEN as u64 / 2, 1, 2).expect("it fits")
}

/// What the other process does in a test.
pub(crate) fn play(role: &str, rig: &Rig, line: &Line) {
    match role {
        "import" => import(rig, line),
        "export" => export(rig, line),
        "read" | "write" => {
            let block = rig.filled(&[1; 100]);
            line.say([block.address(), 0, 0], None);
            // Nobody looks at its remains.
            let none = Rlimit { current: Some(0), maximum: Some(0) };
            rustix::process::setrlimit(Resource::Core, none).expect("less is always granted");
            touch(block.address(), role == "write");
            unreachable!("the access has ended the process");
        }
        "identity" => line.say(identity(rig), None),
        _ => panic!("no role: {role}"),
    }
}

/// Looks at what lies in the parent's block, and leaves every other byte of it, packed, in the block's second half.
fn import(rig: &Rig, line: &Line) {
    let ([len, offset, _], descriptor) = line.hear().expect("the parent's arena");
    let arena = rig.device.import(descriptor.expect("a descriptor"), len).expect("it is an arena");
    assert_eq!(arena.len(), len);
    let theirs = arena.part(offset..offset + LEN as u64).expect("it lies within");
    assert!(rig.read(&theirs) == pattern(LEN, 8), "what the parent has written");

    let (stream, packed) = (rig.stream(), rig.block(LEN / 2));
    let plan = Arc::new(Plan::pack(every_other().raw()).expect("it fits"));
    try_step(&stream, &plan, &theirs, &packed.span()).expect("it fits");
    let half = LEN as u64 / 2;
    copy(&stream, &packed.span(), &theirs.part(half..2 * half).expect("it lies within"));
    // The arena stays mapped for the stream.
    drop((theirs, arena));
    finish(&stream);
    line.say([0; 3], None);
}

pub(crate) fn an_exported_arena_is_the_same_memory(rig: &Rig) {
    let mut bytes = pattern(LEN, 8);
    let block = rig.filled(&bytes);
    let (mut child, line) = start(rig.kind, "import");
    let exported = block.arena().export().expect("a descriptor");
    line.say([block.arena().len(), block.offset(), 0], Some(&exported));
    line.hear().expect("the child's answer");
    let packed: Vec<u8> = bytes.iter().copied().step_by(2).collect();
    bytes[LEN / 2..].copy_from_slice(&packed);
    assert!(rig.read(&block.span()) == bytes, "what the child has written");
    assert!(child.wait().expect("a child").success());
}

fn export(rig: &Rig, line: &Line) {
    let block = rig.filled(&pattern(LEN, 9));
    let exported = block.arena().export().expect("a descriptor");
    line.say([block.arena().len(), block.offset(), 0], Some(&exported));
}

fn identity(rig: &Rig) -> [u64; 3] {
    let number = u128::from_ne_bytes(rig.device.info().uuid.0);
    [number as u64, (number >> 64) as u64, rig.device.info().ordinal.into()]
}

/// So processes know whether they share a device.
pub(crate) fn a_device_is_the_same_in_all_processes(rig: &Rig) {
    let (mut child, line) = start(rig.kind, "identity");
    assert_eq!(line.hear().expect("the child's device").0, identity(rig));
    assert!(child.wait().expect("a child").success());
}

pub(crate) fn an_arena_outlives_its_exporter(rig: &Rig) {
    let (mut child, line) = start(rig.kind, "export");
    let ([len, offset, _], descriptor) = line.hear().expect("the child's arena");
    assert!(child.wait().expect("a child").success());
    let arena = rig.device.import(descriptor.expect("a descriptor"), len).expect("it is an arena");
    let theirs = arena.part(offset..offset + LEN as u64).expect("it lies within");
    let again = arena.export().expect_err("its maker exports it");
    assert!(again.to_string().contains("it was imported"), "{again}");
    drop(arena);
    assert!(rig.read(&theirs) == pattern(LEN, 9));
}

pub(crate) fn a_host_that_touches_device_memory_is_ended(rig: &Rig) {
    const SEGMENTATION_FAULT: i32 = 11;
    for role in ["read", "write"] {
        let (mut child, line) = start(rig.kind, role);
        let (address, _) = line.hear().expect("the child is about to touch its block");
        let status = child.wait().expect("a child");
        assert_eq!(status.signal(), Some(SEGMENTATION_FAULT), "{role} of {:#x}: {status}", address[0]);
    }
}

pub(crate) fn what_is_no_arena_is_not_imported(rig: &Rig) {
    let file = std::fs::File::open(std::env::current_exe().expect("this program")).expect("a file");
    let refused = rig.device.import(file.into(), 4096).map(drop);
    assert!(matches!(refused, Err(DeviceError::Import { .. })), "{refused:?}");
}
