//! Rings: records are seen whole and in order, and nobody sleeps while there is something for it to do.

use crate::shm::cursor::{Consumer, Control, Lines, Producer, Room, settle};
use crate::sync::AtomicU64;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Lines of the ring. A record takes one, and one is always free: so there is room for two records, which makes the lap short
/// and lets the writer clear a header ahead.
const CAPACITY: u64 = 3;

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
    control: Control,
    headers: [AtomicU64; CAPACITY as usize],
    /// What a line holds behind its header.
    bodies: [UnsafeCell<u64>; CAPACITY as usize],
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
        &self.headers[(line % CAPACITY) as usize]
    }
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            control: Control::default(),
            headers: Default::default(),
            bodies: [UnsafeCell::new(0), UnsafeCell::new(0), UnsafeCell::new(0)],
            data: Bell::default(),
            room: Bell::default(),
        })
    }

    fn write(&self, line: u64, value: u64) {
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        self.bodies[(line % CAPACITY) as usize].with_mut(|body| unsafe { *body = value });
    }

    fn read(&self, line: u64) -> u64 {
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        self.bodies[(line % CAPACITY) as usize].with(|body| unsafe { *body })
    }

    /// Sends `count` numbers; sleeps while there is no room.
    fn produce(&self, count: u64) {
        let mut producer = Producer::new(CAPACITY);
        for value in 0..count {
            let line = loop {
                match producer.reserve(&self.control, 1).expect("a sound cursor") {
                    Room::At(line) => break line,
                    Room::None => {
                        self.room.sleep();
                        self.room.silence();
                    }
                }
            };
            self.write(line, value);
            if producer.publish(&self.control, self, 100 + value, 1) {
                self.data.ring();
            }
        }
    }

    /// Receives `count` numbers; sleeps while there is none. The order of steps is that of the backend.
    fn consume(&self, count: u64) {
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
                assert_eq!(self.read(consumer.head()), expected);
                consumer.consume(&self.control, 1);
                expected += 1;
            }
            if expected > before {
                if consumer.is_awaited(&self.control) {
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

fn play(count: u64, preemptions: Option<usize>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(move || {
        let shared = Shared::new();
        let producing = Arc::clone(&shared);
        let producer = thread::spawn(move || producing.produce(count));
        shared.consume(count);
        producer.join().expect("no panic");
    });
}

#[test]
fn a_message_arrives_and_wakes_its_reader() {
    play(1, None);
}

#[test]
fn a_full_ring_wakes_its_writer() {
    play(3, Some(3));
}

#[test]
fn a_ring_that_laps_shows_no_old_header() {
    play(4, Some(3));
}
