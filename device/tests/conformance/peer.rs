//! Peers: processes that tests start to play the other role. They are this program again; the socket to them is their standard
//! input.

use crate::rig::{Kind, MEMORY_BYTES, PINNED_BYTES, Rig, watched};
use rustix::fd::{AsFd, OwnedFd};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::process::{Child, Command, Stdio};

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
        .args(["--ignored", "--exact", "peer::other_process", "--nocapture"])
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
