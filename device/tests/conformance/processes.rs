//! Memory of several processes: exported and imported arenas, and what the host cannot touch. Each test has two processes, this one and a peer,
//! which is this program again, in the other role; the socket to it is its standard input.

#![expect(unsafe_code, reason = "adopts memory of its own block")]

use crate::rig::{Kind, MEMORY_BYTES, PINNED_BYTES, Rig, copy, finish, pattern, touch, try_step, watched};
use chare_device::{Arena, DeviceBufferMut, DeviceError, MemoryHandle, Span};
use chare_layout::{Layout, Plan};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use rustix::process::{Resource, Rlimit};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
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
    let (arena, offset) = hear_arena(rig, line);
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

/// Tells the other process of an arena, and of a place in it.
fn say_arena(line: &Line, arena: &Arena, offset: u64) {
    let exported = arena.export().expect("it has a handle");
    let MemoryHandle::Descriptors(parts) = &exported.handle else { panic!("it is made of virtual memory") };
    let [(descriptor, len)] = &parts[..] else { panic!("it is one allocation") };
    assert_eq!(exported.handle.bytes(), *len);
    line.say([*len, exported.offset + offset, 0], Some(descriptor));
}

/// The arena that the other process tells of, and the place.
fn hear_arena(rig: &Rig, line: &Line) -> (Arena, u64) {
    let ([len, offset, _], descriptor) = line.hear().expect("the other process's arena");
    let handle = MemoryHandle::descriptor(descriptor.expect("a descriptor"), len);
    let arena = rig.device.import(handle).expect("it is an arena");
    assert_eq!(arena.len(), len);
    (arena, offset)
}

/// Has another process find what lies at an address, and change it in place.
fn is_found(rig: &Rig, arena: &Arena, offset: u64, block: &Span) {
    let (mut child, line) = start(rig.kind, "import");
    say_arena(&line, arena, offset);
    line.hear().expect("the child's answer");
    let mut bytes = pattern(LEN, 8);
    let packed: Vec<u8> = bytes.iter().copied().step_by(2).collect();
    bytes[LEN / 2..].copy_from_slice(&packed);
    assert!(rig.read(block) == bytes, "what the child has written");
    assert!(child.wait().expect("a child").success());
}

pub(crate) fn an_exported_arena_is_the_same_memory(rig: &Rig) {
    let block = rig.filled(&pattern(LEN, 8));
    is_found(rig, block.arena(), block.offset(), &block.span());
}

/// What is adopted starts somewhere in what its maker has allocated.
pub(crate) fn adopted_memory_is_the_same_memory_elsewhere(rig: &Rig) {
    let bytes = [&pattern(1000, 1)[..], &pattern(LEN, 8)].concat();
    let block = rig.filled(&bytes);
    let (address, memory) = (block.address() + 1000, block.span().part(1000..1000 + LEN as u64));
    // SAFETY: the bytes lie within the block, which the guard keeps, and which nobody else uses while the buffer is there.
    let adopted = unsafe { DeviceBufferMut::<u8>::from_raw_parts(&rig.device, address, LEN, block) };
    let adopted = adopted.expect("it is memory of the device").freeze();
    assert_eq!((adopted.arena().len(), adopted.offset()), (LEN as u64, 0));
    is_found(rig, adopted.arena(), adopted.offset(), &memory.expect("it lies within"));
}

fn export(rig: &Rig, line: &Line) {
    let block = rig.filled(&pattern(LEN, 9));
    say_arena(line, block.arena(), block.offset());
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
    let (arena, offset) = hear_arena(rig, &line);
    assert!(child.wait().expect("a child").success());
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
    let refused = rig.device.import(MemoryHandle::descriptor(file.into(), 4096)).map(drop);
    assert!(matches!(refused, Err(DeviceError::Import { .. })), "{refused:?}");
    let refused = rig.device.import(MemoryHandle::Name([0; MemoryHandle::NAME_BYTES], 4096)).map(drop);
    assert!(matches!(refused, Err(DeviceError::Import { .. })), "{refused:?}");
}

const ROLE: &str = "CHARE_TEST_ROLE";
const KIND: &str = "CHARE_TEST_KIND";

/// What both ends say: three numbers, and a descriptor with some of them.
pub(crate) struct Line(OwnedFd);

impl Line {
    pub(crate) fn say(&self, numbers: [u64; 3], descriptor: Option<&OwnedFd>) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let descriptors: Vec<_> = descriptor.iter().map(|descriptor| descriptor.as_fd()).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() {
            assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)), "there is room for one");
        }
        rustix::net::sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL)
            .expect("the other end listens");
    }

    /// None when the other end is gone.
    pub(crate) fn hear(&self) -> Option<([u64; 3], Option<OwnedFd>)> {
        let mut bytes = [0; 24];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut bytes)];
        let received =
            rustix::net::recvmsg(&self.0, &mut parts, &mut control, RecvFlags::CMSG_CLOEXEC).ok()?;
        let descriptor = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
            _ => None,
        });
        let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        (received.bytes == 24).then(|| ([number(0), number(8), number(16)], descriptor))
    }
}

/// Starts a process in a role.
pub(crate) fn start(kind: Kind, role: &str) -> (Child, Line) {
    let (here, there) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .expect("sockets");
    let child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "processes::other_process", "--nocapture"])
        .env(ROLE, role)
        .env(KIND, format!("{kind:?}"))
        .stdin(there)
        .stdout(Stdio::null())
        .spawn()
        .expect("this program again");
    (child, Line(here))
}

#[test]
#[ignore = "the other process of tests, which start it"]
fn other_process() {
    let kind = std::env::var(KIND).ok().and_then(|kind| Kind::named(&kind)).expect("a test starts this");
    let device = kind.open(MEMORY_BYTES, PINNED_BYTES).expect("the parent has one");
    let line = Line(std::io::stdin().as_fd().try_clone_to_owned().expect("a descriptor"));
    let role = std::env::var(ROLE).expect("a role");
    watched(|| crate::processes::play(&role, &Rig { kind, device }, &line));
}
