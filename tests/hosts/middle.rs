//! Middle: a program on the only way between two hosts, which passes on what they say and does one deed.
//!
//! ```text
//!   namespace h1          namespace switch       namespace middle         namespace h2
//!   10.203.0.1 --- veth --- 10.203.0.2  [this program]  10.203.0.1 --- veth --- 10.203.0.2
//! ```
//!
//! To either host it is the other one. It listens on all ports that host 1 may be given by its kernel.

use crate::lab::Lab;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ports of host 1.
pub(crate) const PORTS: std::ops::Range<u16> = 40_000..40_016;

/// Messages of each side before frames, each behind its length of two bytes.
const HANDSHAKE_MESSAGES: usize = 2;

/// Bytes of a header, of a tag, of the first segment of a body and of the others, as TCP's frames have them between hosts.
const HEADER: usize = 5;
const TAG: usize = 16;
const FIRST_SEGMENT: usize = 1 << 10;
const SEGMENT: usize = 64 << 10;

/// What is done to a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    /// Nothing is.
    PassOn,
    /// One bit of its body changes.
    Edit,
    /// Its length says more than follows.
    Lengthen,
    /// It comes twice.
    Replay,
    /// An earlier one comes in its place.
    Recall,
    Drop,
    /// The next one comes first.
    Reorder,
    /// A frame that nobody sent comes before it.
    Inject,
    /// Bytes that are no frame come before it.
    InjectBytes,
    /// Its first half comes, and then the end.
    Cut,
}

impl Deed {
    pub(crate) const ALL: [Self; 10] = [
        Self::PassOn,
        Self::Edit,
        Self::Lengthen,
        Self::Replay,
        Self::Recall,
        Self::Drop,
        Self::Reorder,
        Self::Inject,
        Self::InjectBytes,
        Self::Cut,
    ];
}

/// What it does, and to which frame of which direction.
#[derive(Clone, Copy)]
pub(crate) struct Attack {
    pub(crate) deed: Deed,
    pub(crate) frame: usize,
    /// The host that the frame is for.
    pub(crate) victim: u32,
}

/// Lets this thread see the network of a namespace.
fn enter(space: &str) {
    let space = File::open(format!("/var/run/netns/{space}")).expect("it was made");
    move_into_link_name_space(space.as_fd(), Some(LinkNameSpaceType::Network)).expect("it may be entered");
}

/// Starts it, in threads that end with this process; returns the count of frames that it has passed on.
pub(crate) fn start(lab: &Lab, attack: Attack) -> Arc<AtomicUsize> {
    let passed = Arc::new(AtomicUsize::new(0));
    let [outer, inner] = lab.middle();
    let count = Arc::clone(&passed);
    let listening = std::thread::spawn(move || {
        enter(&inner);
        for port in PORTS {
            let address = SocketAddr::new([10, 203, 0, 1].into(), port);
            let listener = TcpListener::bind(address).expect("nobody else is here");
            let (outer, count) = (outer.clone(), Arc::clone(&count));
            std::thread::spawn(move || {
                for socket in listener.incoming().flatten() {
                    let (outer, count) = (outer.clone(), Arc::clone(&count));
                    std::thread::spawn(move || {
                        enter(&outer);
                        // Host 1 may not listen yet: then host 2 tries again.
                        let Ok(to) = TcpStream::connect(address) else { return };
                        join(&socket, &to, attack, &count);
                    });
                }
            });
        }
    });
    listening.join().expect("it listens");
    passed
}

/// Passes on both ways, until both have ended.
fn join(two: &TcpStream, one: &TcpStream, attack: Attack, passed: &AtomicUsize) {
    std::thread::scope(|scope| {
        for (from, to, reader) in [(two, one, 1), (one, two, 2)] {
            let deed = if attack.victim == reader { attack.deed } else { Deed::PassOn };
            scope.spawn(move || {
                // It ends with either connection, in which way ever.
                let _ = pass_on(from, to, deed, attack.frame, passed);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    });
}

fn read(mut from: &TcpStream, bytes: &mut Vec<u8>, count: usize) -> std::io::Result<()> {
    let have = bytes.len();
    bytes.resize(have + count, 0);
    from.read_exact(&mut bytes[have..])
}

fn read_frame(from: &TcpStream) -> std::io::Result<Vec<u8>> {
    let mut frame = Vec::new();
    read(from, &mut frame, HEADER)?;
    let len = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
    let segments = if len == 0 { 0 } else { 1 + len.saturating_sub(FIRST_SEGMENT).div_ceil(SEGMENT) };
    read(from, &mut frame, TAG + segments * TAG + len)?;
    Ok(frame)
}

fn pass_on(
    from: &TcpStream,
    mut to: &TcpStream,
    deed: Deed,
    at: usize,
    passed: &AtomicUsize,
) -> std::io::Result<()> {
    for socket in [from, to] {
        socket.set_nodelay(true)?;
    }
    for _ in 0..HANDSHAKE_MESSAGES {
        let mut message = Vec::new();
        read(from, &mut message, 2)?;
        let len = u16::from_le_bytes([message[0], message[1]]);
        read(from, &mut message, len.into())?;
        to.write_all(&message)?;
    }
    let (mut first, mut held) = (Vec::new(), Vec::new());
    for index in 0.. {
        let mut frame = read_frame(from)?;
        if index == 0 {
            first.clone_from(&frame);
        }
        let struck = if index == at { deed } else { Deed::PassOn };
        let len = frame.len();
        match struck {
            Deed::PassOn => {}
            Deed::Edit => frame[len - 1] ^= 4,
            Deed::Lengthen => frame[1] ^= 0x40,
            Deed::Replay => frame = frame.repeat(2),
            Deed::Recall => frame.clone_from(&first),
            Deed::Drop => frame.clear(),
            Deed::Reorder => held = std::mem::take(&mut frame),
            // A short one for the runtime, with tags of its own.
            Deed::Inject => frame = [&[8, 0, 0, 0, 0][..], &[7; 2 * TAG + 8], &frame].concat(),
            Deed::InjectBytes => frame = [&[0x5a; 100][..], &frame].concat(),
            Deed::Cut => {
                to.write_all(&frame[..len / 2])?;
                return to.shutdown(Shutdown::Both);
            }
        }
        to.write_all(&frame)?;
        if struck == Deed::PassOn {
            to.write_all(&std::mem::take(&mut held))?;
        }
        passed.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
