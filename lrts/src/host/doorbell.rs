//! Doorbell: the descriptor that a sleeping node waits on, and that its neighbours write to wake it.
//!
//! 1. A neighbour writes the event descriptor only when the word `sleeping` of a ring tells it to (`shm::cursor`).
//! 2. The links are watched too, so that a neighbour's death and its announcements wake a sleeper.
//! 3. A link that has ended is no longer watched: its end of file would wake forever.

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::io;

/// The event descriptor's name among the watched ones; links have their neighbour's position.
const RUNG: u64 = u64::MAX;

/// Links looked at in one go; the others are found by the next look.
const EVENTS_MAX: usize = 32;

/// This node's doorbell.
#[derive(Debug)]
pub(crate) struct Doorbell {
    event: OwnedFd,
    epoll: OwnedFd,
}

impl Doorbell {
    /// A silent doorbell.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn new() -> io::Result<Self> {
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &event, EventData::new_u64(RUNG), EventFlags::IN)?;
        Ok(Self { event, epoll })
    }

    /// The descriptor that neighbours write to.
    pub(crate) fn button(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// The descriptor that a sleeper waits on.
    pub(crate) fn wait_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// Watches the link at `position`.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn watch(&self, position: usize, link: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, link, EventData::new_u64(position as u64), EventFlags::IN)?)
    }

    /// Watches a link no longer; harmless for one that is not watched.
    pub(crate) fn forget(&self, link: BorrowedFd<'_>) {
        // `NOENT` when another thread did so first.
        let _ = epoll::delete(&self.epoll, link);
    }

    /// Forgets earlier rings.
    pub(crate) fn silence(&self) {
        // `AGAIN` when nobody rang.
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
    }

    /// Calls `visit` with the position of every link that has something to read. One system call.
    pub(crate) fn visit_ready(&self, mut visit: impl FnMut(usize)) {
        let empty = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [empty; EVENTS_MAX];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An interrupted look finds nothing; the next one is due soon.
        let count = epoll::wait(&self.epoll, &mut events, Some(&now)).unwrap_or(0);
        for event in &events[..count] {
            match event.data.u64() {
                RUNG => {}
                position => visit(position as usize),
            }
        }
    }
}

/// Wakes the node that this button belongs to. One system call; never blocks.
pub(crate) fn ring_doorbell(button: BorrowedFd<'_>) {
    loop {
        match rustix::io::write(button, &1_u64.to_ne_bytes()) {
            Err(Errno::INTR) => {}
            // A full counter is readable, which is all a sleeper needs. Any other answer means
            // that the neighbour is gone or sent something else; its link and ring tell.
            _ => return,
        }
    }
}
