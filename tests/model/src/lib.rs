//! Lock-free protocols, compiled with loom's atomics and run in every order that the memory model allows.
//!
//! The files are the runtime's and the network's own, included by path; only `base::sync` and `sync` differ. `--cfg loom`, which the build
//! script sets, leaves out the tests that the files have of their own.
#![cfg(test)]

mod bell;
mod claim;
mod departures;
mod division;
mod needs_progress;
mod ring;

/// The runtime's lowest floor.
#[path = "../../../runtime/src/base"]
mod base {
    pub(crate) mod sync {
        pub(crate) use loom::cell::UnsafeCell;
        pub(crate) use loom::sync::Arc;
        pub(crate) use loom::sync::atomic::AtomicU64;
        pub(crate) use loom::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicUsize, Ordering, fence};

        /// A lock that nobody poisons, as the runtime's.
        pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

        impl<T> Mutex<T> {
            pub(crate) fn new(value: T) -> Self {
                Self(loom::sync::Mutex::new(value))
            }

            pub(crate) fn lock(&self) -> loom::sync::MutexGuard<'_, T> {
                self.0.lock().expect("nobody panics under it")
            }
        }

        pub(crate) use crate::sync::sparse::Sparse;

        // Loom knows no barrier that one thread passes for another; where the kernel has none, both are fences.
        pub(crate) fn light() {
            fence(Ordering::SeqCst);
        }

        pub(crate) fn heavy() {
            fence(Ordering::SeqCst);
        }
    }

    #[path = "spsc/mod.rs"]
    pub(crate) mod spsc;

    #[path = "sleep.rs"]
    #[expect(dead_code, reason = "each model uses a part of the protocol")]
    pub(crate) mod sleep;

    #[path = "watcher.rs"]
    #[expect(dead_code, reason = "each model uses a part of the protocol")]
    pub(crate) mod watcher;

    #[path = "wake_flag.rs"]
    pub(crate) mod wake_flag;

    #[path = "allowance.rs"]
    pub(crate) mod allowance;
}

/// The words that the protocols of a node use.
mod model {
    pub(crate) mod ids {
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct NodeId(pub(crate) u32);

        impl NodeId {
            pub(crate) fn index(self) -> usize {
                self.0 as usize
            }
        }
    }
}

/// What a node owns.
#[path = "../../../runtime/src/node"]
mod node {
    #[path = "credit.rs"]
    #[expect(dead_code, reason = "each model uses a part of the protocol")]
    pub(crate) mod credit;

    #[path = "departures.rs"]
    #[expect(dead_code, reason = "each model uses a part of the protocol")]
    pub(crate) mod departures;

    #[path = "line.rs"]
    mod line;

    pub(crate) mod window {
        /// The runtime's own is a knob of simulated jobs.
        pub(crate) const fn window_bytes() -> u64 {
            8 << 20
        }
    }
}

/// The network's atomics, its bell, and its table of what is made at first use, which loom takes as it is.
#[path = "../../../lrts/src/sync"]
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

    #[path = "bell.rs"]
    #[expect(
        dead_code,
        unreachable_pub,
        reason = "the model plays what tells whether to ring, without the descriptor"
    )]
    pub(crate) mod bell;

    #[path = "sparse.rs"]
    #[expect(unreachable_pub, reason = "the network's interface has it")]
    pub(crate) mod sparse;
}

/// Who may touch registered memory, and how a range of it is divided.
#[path = "../../../lrts/src/region"]
mod region {
    #[path = "claim.rs"]
    #[expect(unreachable_pub, reason = "the network's interface has it")]
    pub(crate) mod claim;

    #[path = "division.rs"]
    #[expect(unreachable_pub, reason = "the network's other folders use it")]
    pub(crate) mod division;
}

/// The ring of two processes.
#[path = "../../../lrts/src/shm"]
mod shm {
    #[path = "cursor.rs"]
    pub(crate) mod cursor;
}

/// Copies over messages.
#[path = "../../../lrts/src/emulated"]
mod emulated {
    #[path = "needs_progress.rs"]
    pub(crate) mod needs_progress;
}

use base::sleep::{Sleep, Sleeper};
use base::spsc;
use base::sync::{Arc, AtomicBool, AtomicUsize, Ordering};
use base::wake_flag::WakeFlag;
use base::watcher::{Entrance, Watch};
use loom::thread;

/// What the models send: its number, and what shows whether it was dropped.
type Value = (usize, Arc<()>);

/// What is sent: short and long values, such that long ones meet slots that are empty and slots that are half full, at the end of a
/// block and elsewhere. Blocks have one slot.
const ARE_LONG: [bool; 5] = [false, true, true, false, false];

fn send_all(mut sender: spsc::Sender<Value, Box<Value>>, value: &Arc<()>) {
    for (number, is_long) in ARE_LONG.into_iter().enumerate() {
        let value = (number, Arc::clone(value));
        if is_long { sender.send_long(Box::new(value)) } else { sender.send_short(value) }
    }
}

/// Takes what is there; says how many values were taken up to now.
fn take_all(receiver: &mut spsc::Receiver<Value, Box<Value>>, mut taken: usize, most: usize) -> usize {
    while taken < most && !receiver.is_empty() {
        let (number, _) = match receiver.receive().expect("it is not empty") {
            spsc::Received::Short(value) => value,
            spsc::Received::Long(long) => {
                long.peek(|value| assert_eq!(value.0, taken));
                *long.take()
            }
        };
        assert_eq!(number, taken);
        taken += 1;
    }
    taken
}

/// Everything that is sent arrives once, in order, over blocks that are used again; what is not taken is dropped once,
/// whichever end is the last.
#[test]
fn a_chain_hands_over_every_value_once() {
    let mut builder = loom::model::Builder::new();
    // All orders take minutes, and those with more preemptions have found nothing.
    builder.preemption_bound = builder.preemption_bound.or(Some(5));
    builder.check(|| {
        let (sender, mut receiver) = spsc::chain();
        let value = Arc::new(());
        let other = {
            let value = Arc::clone(&value);
            thread::spawn(move || send_all(sender, &value))
        };
        let taken = take_all(&mut receiver, 0, ARE_LONG.len());
        let taken = take_all(&mut receiver, taken, ARE_LONG.len() - 1);
        drop(receiver);
        other.join().unwrap();
        assert!(taken <= ARE_LONG.len());
        assert_eq!(Arc::strong_count(&value), 1, "nothing is lost and nothing is dropped twice");
    });
}

/// Whoever waits long enough gets all.
#[test]
fn a_chain_loses_nothing() {
    loom::model(|| {
        let (sender, mut receiver) = spsc::chain();
        let value = Arc::new(());
        let other = {
            let value = Arc::clone(&value);
            thread::spawn(move || send_all(sender, &value))
        };
        let taken = take_all(&mut receiver, 0, ARE_LONG.len());
        other.join().unwrap();
        assert_eq!(take_all(&mut receiver, taken, ARE_LONG.len()), ARE_LONG.len());
    });
}

/// A message left in a chain just before the receiver falls asleep is found, or the receiver is woken.
#[test]
fn a_sleeper_never_misses_a_chain() {
    loom::model(|| {
        let (mut sender, receiver) = spsc::chain::<u8, u64>();
        let sleep = Arc::new(Sleep::new());
        let pusher = {
            let sleep = Arc::clone(&sleep);
            thread::spawn(move || {
                sender.send_short(7);
                sleep.interrupt() == Some(Sleeper::Thread)
            })
        };
        sleep.announce(Sleeper::Thread);
        let found = !receiver.is_empty();
        let woken = pusher.join().unwrap();
        assert!(found || woken, "the PE sleeps beside its work");
    });
}

/// Work that is left just before a PE falls asleep is found, or the PE is woken.
#[test]
fn a_sleeper_never_misses_work() {
    loom::model(|| {
        let (work, sleep) = (Arc::new(AtomicBool::new(false)), Arc::new(Sleep::new()));
        let pusher = {
            let (work, sleep) = (Arc::clone(&work), Arc::clone(&sleep));
            thread::spawn(move || {
                work.store(true, Ordering::Relaxed);
                sleep.interrupt() == Some(Sleeper::Thread)
            })
        };
        sleep.announce(Sleeper::Thread);
        let found = work.load(Ordering::Relaxed);
        let woken = pusher.join().unwrap();
        assert!(found || woken, "the PE sleeps beside its work");
    });
}

/// Two who leave work at once wake a sleeper once.
#[test]
fn a_sleep_is_ended_once() {
    loom::model(|| {
        let sleep = Arc::new(Sleep::new());
        sleep.announce(Sleeper::Network);
        let other = {
            let sleep = Arc::clone(&sleep);
            thread::spawn(move || usize::from(sleep.interrupt().is_some()))
        };
        let mine = usize::from(sleep.interrupt().is_some());
        assert_eq!(mine + other.join().unwrap(), 1);
    });
}

/// A PE that starts to spin and one that becomes the watcher at the same time: the watcher is woken, or steps back.
#[test]
fn a_spinner_and_a_watcher_see_each_other() {
    loom::model(|| {
        let watch = Arc::new(Watch::new());
        let spinner = {
            let watch = Arc::clone(&watch);
            thread::spawn(move || watch.start_spinning())
        };
        let entrance = watch.try_enter();
        let wakes = spinner.join().unwrap();
        assert!(
            entrance == Entrance::Spun || wakes,
            "a watcher sleeps while a spinner takes its arming back"
        );
    });
}

/// A busy PE looks at the network while another becomes the watcher: it sees the watcher before or after its look, or the
/// look came before the arming.
#[test]
fn a_look_that_undid_the_arming_is_noticed() {
    loom::model(|| {
        let (watch, armed) = (Arc::new(Watch::new()), Arc::new(AtomicBool::new(false)));
        let undone = Arc::new(AtomicUsize::new(0));
        let busy = {
            let (watch, armed, undone) = (Arc::clone(&watch), Arc::clone(&armed), Arc::clone(&undone));
            thread::spawn(move || {
                if watch.has_watcher() {
                    return false;
                }
                if armed.swap(false, Ordering::AcqRel) {
                    undone.store(1, Ordering::Relaxed);
                }
                watch.has_watcher()
            })
        };
        assert_eq!(watch.try_enter(), Entrance::Entered);
        armed.store(true, Ordering::Release);
        let wakes = busy.join().unwrap();
        assert!(
            undone.load(Ordering::Relaxed) == 0 || wakes,
            "the watcher's arming is gone and nobody tells it"
        );
    });
}

/// Two PEs never both become the watcher.
#[test]
fn there_is_one_watcher() {
    loom::model(|| {
        let watch = Arc::new(Watch::new());
        let other = {
            let watch = Arc::clone(&watch);
            thread::spawn(move || watch.try_enter())
        };
        let entrances = [watch.try_enter(), other.join().unwrap()];
        assert_ne!(entrances, [Entrance::Entered; 2]);
    });
}

/// The watcher leaves to work while another PE is about to park because there is a watcher: that one is woken, or stays awake.
#[test]
fn the_network_is_handed_over() {
    loom::model(|| {
        let (watch, sleep) = (Arc::new(Watch::new()), Arc::new(Sleep::new()));
        assert_eq!(watch.try_enter(), Entrance::Entered);
        let leaving = {
            let (watch, sleep) = (Arc::clone(&watch), Arc::clone(&sleep));
            thread::spawn(move || {
                watch.leave();
                !watch.has_watcher() && sleep.interrupt_parked()
            })
        };
        let parks = watch.try_enter() == Entrance::Watched && {
            sleep.announce(Sleeper::Thread);
            watch.has_watcher()
        };
        let woken = leaving.join().unwrap();
        assert!(!parks || woken, "nobody looks after the network while one PE is busy and the other idle");
    });
}

/// What a task waits for changes while the task runs: it sees the change, or runs once more.
#[test]
fn a_task_that_is_woken_while_it_looks_looks_again() {
    loom::model(|| {
        let (flag, change) = (Arc::new(WakeFlag::new()), Arc::new(AtomicUsize::new(0)));
        // It was woken before, and its key lies with the PE.
        assert!(flag.set());
        let waker = {
            let (flag, change) = (Arc::clone(&flag), Arc::clone(&change));
            thread::spawn(move || {
                change.store(1, Ordering::Relaxed);
                flag.set()
            })
        };
        flag.clear();
        let seen = change.load(Ordering::Relaxed);
        let told_anew = waker.join().unwrap();
        assert!(seen == 1 || told_anew, "the change is missed");
    });
}

/// Two threads that wake a task at once leave its key once.
#[test]
fn a_wake_flag_is_set_once() {
    loom::model(|| {
        let flag = Arc::new(WakeFlag::new());
        let other = {
            let flag = Arc::clone(&flag);
            thread::spawn(move || usize::from(flag.set()))
        };
        let mine = usize::from(flag.set());
        assert_eq!(mine + other.join().unwrap(), 1);
    });
}
