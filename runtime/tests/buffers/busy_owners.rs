//! Copies that a receiver and the owner of the source make together, while PEs of either are in long entries: a landing waits for none of
//! these.

#![expect(clippy::disallowed_methods, reason = "waits as long as users would")]

use chare::Job;
use chare::prelude::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Elements of a landing: 8 MiB.
const LEN: usize = 1 << 20;

/// Far longer than any landing takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// What the PEs of a job tell each other while they are in entries. One job runs at a time.
static TURN: Mutex<()> = Mutex::new(());
static HAS_ASKED: AtomicBool = AtomicBool::new(false);
static HAS_LANDED: AtomicBool = AtomicBool::new(false);
static STAYING: AtomicU32 = AtomicU32::new(0);

/// Stays in the entry that calls it.
fn stay_until(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < PATIENCE, "{what} is awaited in vain");
        std::thread::yield_now();
    }
}

struct Member;

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Stays until all has landed.
    #[entry]
    fn stay(&mut self) {
        STAYING.fetch_add(1, Ordering::AcqRel);
        stay_until("the landing", || HAS_LANDED.load(Ordering::Acquire));
    }

    /// Stays when the owner's help has been asked for, so many entries later.
    #[entry]
    fn stay_when_asked(&mut self, entries: u32) {
        let me = self.this_collection().on(chare::my_pe());
        match (HAS_ASKED.load(Ordering::Acquire), entries) {
            (true, 0) => me.stay(),
            (true, _) => me.stay_when_asked(entries - 1),
            (false, _) => me.stay_when_asked(entries),
        }
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] data: Posted<u64>, _staying: u32, done: Callback<()>) {
        assert!(data.into_buffer().iter().zip(0..).all(|(value, place)| *value == place));
        HAS_LANDED.store(true, Ordering::Release);
        done.send(());
    }

    #[post(land)]
    fn post_land(&mut self, data: Post<u64>, staying: &u32, _done: &Callback<()>) {
        data.post(BufferMut::zeroed(LEN)).expect("as long as what is sent");
        // Help has been asked for when this entry runs.
        self.this_collection().on(chare::my_pe()).hold(*staying);
    }

    /// Leaves the copy alone until so many PEs stay in their entries.
    #[entry]
    fn hold(&mut self, staying: u32) {
        HAS_ASKED.store(true, Ordering::Release);
        stay_until("a long entry", || STAYING.load(Ordering::Acquire) >= staying);
    }
}

/// A landing on the last PE, while these PEs stay in entries: the owner's so many entries after it was asked for help.
fn land_while((nodes, pes): (u32, u32), staying: &'static [u32], entries: u32) {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    HAS_ASKED.store(false, Ordering::Release);
    HAS_LANDED.store(false, Ordering::Release);
    STAYING.store(0, Ordering::Release);
    let code = Job::in_process(nodes, pes).run(move || async move {
        let members = MemberProxy::create();
        let source = BufferMut::from_fn(LEN, |place| place as u64).freeze();
        let (landed, done) = chare::future();
        let owner_has = |pe: &&u32| **pe < pes;
        staying.iter().filter(|pe| !owner_has(pe)).for_each(|pe| members.on(PeId(*pe)).stay());
        members.on(PeId(chare::pes() - 1)).land(source, staying.len() as u32, done);
        staying.iter().filter(owner_has).for_each(|pe| members.on(PeId(*pe)).stay_when_asked(entries));
        landed.await;
    });
    let code = code.unwrap_or_else(|error| panic!("PEs {staying:?} of {nodes}x{pes}, {entries}: {error}"));
    assert_eq!(code, 0);
}

/// Entries after which the owner has not heard yet, has heard, and has helped: it polls every 16.
const ENTRIES: [u32; 6] = [0, 8, 16, 24, 64, 256];

#[test]
fn a_landing_waits_for_no_entry_of_an_owner_that_has_begun_to_help() {
    for entries in ENTRIES {
        land_while((2, 1), &[0], entries);
        land_while((2, 2), &[0, 1], entries);
    }
}

#[test]
fn where_one_of_two_pes_is_in_a_long_entry_the_other_sees_to_the_copy() {
    for staying in [&[0][..], &[1], &[2], &[0, 2], &[1, 2]] {
        for entries in ENTRIES {
            land_while((2, 2), staying, entries);
        }
    }
}
