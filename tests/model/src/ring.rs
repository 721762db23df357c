//! Model of rings: records are seen whole and in order, and nobody sleeps while there is something for it to do.

use crate::shm::cursor::{Consumer, Control, Lines, Producer, Room, settle};
use crate::sync::AtomicU64;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// The ring that is played.
#[derive(Clone, Copy)]
struct Play {
    /// Lines of the ring.
    capacity: u64,
    /// Of each record.
    lines: u64,
    /// Lines between two looks for a producer without room.
    asks_after: u64,
    /// Records.
    count: u64,
}

/// One line is always free: so there is room for two records, which makes the lap short and lets the writer clear a header ahead.
const SHORT: Play = Play { capacity: 3, lines: 1, asks_after: 1, count: 3 };

/// Again two records, of which the consumer asks after each second one at most.
const THINNED: Play = Play { capacity: 6, lines: 2, asks_after: 3, count: 4 };

/// An event descriptor: stays rung until it is silenced. A sleeper that nobody wakes is a deadlock, which loom
/// reports.
#[derive(Default)]
struct Bell {
    rung: Mutex<bool>,
    changed: Condvar,
}

impl Bell {
    fn ring(&self) {
        *self.rung.lock().expect("no panic") = true;
        self.changed.notify_all();
    }

    fn silence(&self) {
        *self.rung.lock().expect("no panic") = false;
    }

    fn sleep(&self) {
        let mut rung = self.rung.lock().expect("no panic");
        while !*rung {
            rung = self.changed.wait(rung).expect("no panic");
        }
    }
}

struct Shared {
    play: Play,
    control: Control,
    headers: Vec<AtomicU64>,
    /// Payload of a line, behind its header.
    bodies: Vec<UnsafeCell<u64>>,
    /// Wakes the consumer.
    data: Bell,
    /// Wakes the producer.
    room: Bell,
}

#[expect(unsafe_code, reason = "loom checks that accesses to the cells are ordered")]
// SAFETY: the model's purpose is to find out whether accesses to the cells are ordered.
unsafe impl Sync for Shared {}

impl Lines for Shared {
    fn header(&self, line: u64) -> &AtomicU64 {
        &self.headers[self.place(line)]
    }
}

impl Shared {
    fn new(play: Play) -> Arc<Self> {
        Arc::new(Self {
            play,
            control: Control::default(),
            headers: (0..play.capacity).map(|_| AtomicU64::new(0)).collect(),
            bodies: (0..play.capacity).map(|_| UnsafeCell::new(0)).collect(),
            data: Bell::default(),
            room: Bell::default(),
        })
    }

    fn place(&self, line: u64) -> usize {
        (line % self.play.capacity) as usize
    }

    fn write(&self, line: u64, value: u64) {
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        self.bodies[self.place(line)].with_mut(|body| unsafe { *body = value });
    }

    fn read(&self, line: u64) -> u64 {
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        self.bodies[self.place(line)].with(|body| unsafe { *body })
    }

    /// Sends numbers; sleeps while there is no room.
    fn produce(&self) {
        let Play { capacity, lines, count, .. } = self.play;
        let mut producer = Producer::new(capacity);
        for value in 0..count {
            let line = loop {
                match producer.reserve(&self.control, lines).expect("a sound cursor") {
                    Room::At(line) => break line,
                    Room::None => {
                        self.room.sleep();
                        self.room.silence();
                    }
                }
            };
            (line..line + lines).for_each(|line| self.write(line, value));
            if producer.publish(&self.control, self, 100 + value, lines) {
                self.data.ring();
            }
        }
    }

    /// Receives them; sleeps while there is none. The order of steps is that of the backend.
    fn consume(&self) {
        let Play { lines, asks_after, count, .. } = self.play;
        let consumer = Consumer::new();
        let mut expected = 0;
        let mut armed = false;
        while expected < count {
            if armed {
                armed = false;
                consumer.wake_up(&self.control);
                self.data.silence();
            }
            let before = expected;
            loop {
                let header = consumer.look(self);
                if header == 0 {
                    break;
                }
                assert_eq!(header, 100 + expected, "a header of another lap");
                let first = consumer.head();
                (first..first + lines).for_each(|line| assert_eq!(self.read(line), expected));
                consumer.consume(&self.control, lines);
                expected += 1;
            }
            if expected > before {
                if consumer.is_awaited(&self.control, asks_after) {
                    self.room.ring();
                }
                continue;
            }
            consumer.fall_asleep(&self.control);
            settle();
            if consumer.look(self) == 0 {
                armed = true;
                self.data.sleep();
            } else {
                consumer.wake_up(&self.control);
            }
        }
    }
}

fn check(play: Play, preemptions: Option<usize>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(move || {
        let shared = Shared::new(play);
        let producing = Arc::clone(&shared);
        let producer = thread::spawn(move || producing.produce());
        shared.consume();
        producer.join().expect("no panic");
    });
}

#[test]
fn a_message_arrives_and_wakes_its_reader() {
    check(Play { count: 1, ..SHORT }, None);
}

#[test]
fn a_full_ring_wakes_its_writer() {
    check(SHORT, Some(3));
}

#[test]
fn a_ring_that_laps_shows_no_old_header() {
    check(Play { count: 4, ..SHORT }, Some(3));
}

#[test]
fn a_reader_that_seldom_asks_wakes_its_writer_all_the_same() {
    check(THINNED, Some(3));
}
