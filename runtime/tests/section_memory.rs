//! Memory of sections and arrays: what many small sections take while they stand, and that nothing stays of what has ended.

#![expect(unsafe_code, reason = "a global allocator that counts what the process takes")]

use chare::prelude::*;
use chare::{ArrayOptions, Job};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes that the process holds; written by any thread. A sum, on which no other memory depends.
static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }
}

/// Locked by the test that counts: what others took would count, too.
static COUNTED: Mutex<()> = Mutex::new(());

/// Bytes held when nothing is under way.
async fn held() -> usize {
    chare::quiescence().await;
    HELD.load(Ordering::Relaxed)
}

const ELEMENTS: u64 = 1_000;
const MEMBERS: u64 = 8;

struct Cell;

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn add(&mut self, section: CellSectionProxy, done: Callback<u64>) {
        self.contribute_to(&section, sum(1), done);
    }
}

/// Sections of eight members each, in another place of the array each.
fn form(cells: &CellProxy, count: u64) -> Vec<CellSectionProxy> {
    let members = |first: u64| (0..MEMBERS).map(move |step| (first * 7 + step * 113) % ELEMENTS);
    (0..count).map(|first| cells.section(members(first))).collect()
}

async fn add_up(sections: &[CellSectionProxy]) {
    for section in sections {
        let (total, done) = chare::future();
        section.add(section.clone(), done);
        assert_eq!(total.await, MEMBERS);
    }
}

/// The most bytes that a section of eight members takes in all.
const SECTION_BYTES_MAX: usize = 1_000;

#[test]
fn a_small_section_takes_less_than_a_kilobyte_and_gives_it_back() {
    const SECTIONS: u64 = 10_000;
    let _alone = COUNTED.lock();
    for (nodes, pes) in [(1, 1), (1, 2), (2, 1)] {
        let code = Job::in_process(nodes, pes).run(move || async move {
            let cells = CellProxy::create(ELEMENTS);
            // Queues and tables grow to the size that they need, and keep it.
            form(&cells, SECTIONS).iter().for_each(CellSectionProxy::dissolve);
            let before = held().await;
            let each = |now: usize| now.saturating_sub(before) / SECTIONS as usize;
            let sections = form(&cells, SECTIONS);
            let formed = each(held().await);
            add_up(&sections).await;
            let used = each(held().await);
            sections.iter().for_each(CellSectionProxy::dissolve);
            drop(sections);
            let gone = each(held().await);
            let figures = format!("{nodes} x {pes}: {formed}, {used}, {gone} bytes");
            assert!(formed <= SECTION_BYTES_MAX && used <= SECTION_BYTES_MAX && gone <= 50, "{figures}");
        });
        assert_eq!(code.unwrap(), 0);
    }
}

/// One of an array or a group that does not stay.
struct Guest;

#[chare(array)]
impl Guest {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn add(&mut self, done: Callback<u64>) {
        self.contribute(sum(1), done);
    }

    /// Travels with other calls.
    #[entry(aggregate)]
    fn hear(&mut self) {}
}

struct Host;

#[chare(group)]
impl Host {
    #[entry]
    fn new() -> Self {
        Self
    }
}

/// Makes arrays, some of them dynamic, and groups, some of which are used, and destroys them.
async fn come_and_go(arrays: u64) {
    for array in 0..arrays {
        let (options, is_dynamic) = (ArrayOptions::new(2), array % 4 == 1);
        let guests = GuestProxy::create(if is_dynamic { options.dynamic() } else { options });
        if array % 64 < 2 {
            let (total, done) = chare::future();
            (0..2).for_each(|index| guests.at(index).hear());
            guests.add(done);
            assert_eq!(total.await, 2);
            HostProxy::create().destroy();
            chare::quiescence().await;
        }
        if is_dynamic {
            guests.done_inserting();
        }
        guests.destroy();
    }
}

/// What queues and tables may grow by; an array took 2,000 bytes on each node.
const GROWTH_BYTES_MAX: usize = 128 << 10;

#[test]
fn an_array_that_is_destroyed_leaves_nothing() {
    let _alone = COUNTED.lock();
    for (nodes, pes, arrays) in [(1, 1, 1_000), (1, 2, 1_000), (2, 1, 20_000), (2, 2, 1_000)] {
        let code = Job::in_process(nodes, pes).run(move || async move {
            // Queues and tables grow to the size that they need, and keep it.
            come_and_go(arrays / 4).await;
            let before = held().await;
            come_and_go(arrays).await;
            let left = held().await.saturating_sub(before);
            assert!(left <= GROWTH_BYTES_MAX, "{nodes} x {pes}: {left} bytes stay of {arrays} arrays");
        });
        assert_eq!(code.unwrap(), 0);
    }
}
