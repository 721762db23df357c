#![expect(unsafe_code, reason = "registers what C libraries do at a process's exit, and prints as they do")]
//! The program of the tests under pressure: its nodes are stopped, have little memory, or are told to end while their PEs are in entries.
//!
//! | argument | what it does |
//! |---|---|
//! | `answer SECONDS` | asks the other nodes until an answer has taken so long |
//! | `hoard` | PE 0 sends to the last PE, which is in an entry that never ends, as much as it may |
//! | `lend` | as `hoard`, with buffers of its own instead of bytes in messages |
//! | `stuck` | PE 0 panics when all other PEs are about to be in entries that never end; an exit handler of C says `handled` |

use chare::prelude::*;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// PEs of this process that are in entries which never end.
static PARKED: AtomicU32 = AtomicU32::new(0);

struct Member;

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn introduce(&mut self, done: Callback<()>) {
        println!("{} has process {}", chare::my_node(), std::process::id());
        self.contribute(barrier(), done);
    }

    #[entry]
    fn answer(&mut self, #[nocopy] values: Received<u64>, done: Callback<()>) {
        assert!(values.iter().all(|value| *value == 7));
        self.contribute(barrier(), done);
    }

    #[entry]
    fn prepare(&mut self, done: Callback<()>) {
        // SAFETY: the function may be called at any time, and as often.
        unsafe { libc::atexit(handle) };
        print!("Rust's last words ");
        // SAFETY: text without a directive, which ends with a zero.
        unsafe { libc::printf(c"and C's ".as_ptr()) };
        self.contribute(barrier(), done);
    }

    #[entry]
    fn park(&mut self) {
        PARKED.fetch_add(1, Ordering::Release);
        loop {
            std::thread::park();
        }
    }

    #[entry]
    fn take(&mut self, _bytes: Vec<u8>) {}

    #[entry]
    fn hoard(&mut self) {
        let last = self.this_collection().on(PeId(chare::pes() - 1));
        last.park();
        loop {
            last.take(vec![7; 10_000]);
        }
    }

    #[entry]
    fn borrow(&mut self, #[nocopy] _values: Received<u64>) {}

    #[entry]
    fn lend(&mut self) {
        let last = self.this_collection().on(PeId(chare::pes() - 1));
        last.park();
        loop {
            last.borrow(vec![7; 100_000]);
        }
    }

    #[entry]
    fn fail(&mut self) {
        while PARKED.load(Ordering::Acquire) < chare::pes() / chare::nodes() - 1 {
            std::thread::yield_now();
        }
        panic!("as asked");
    }
}

extern "C" fn handle() {
    eprintln!("handled");
}

async fn answer(members: MemberProxy, seconds: u64) {
    // Taken before: whoever reads the line may stop this node at once.
    let mut last = Instant::now();
    println!("asking");
    loop {
        let (answered, done) = chare::future();
        members.answer(vec![7; 100_000], done);
        answered.await;
        let now = Instant::now();
        if now - last >= Duration::from_secs(seconds) {
            return;
        }
        last = now;
    }
}

fn main() -> ExitCode {
    chare::run(|arguments| async move {
        let argument = |position: usize| arguments.get(position).map_or("", String::as_str);
        let members = MemberProxy::create();
        let (introduced, done) = chare::future();
        members.introduce(done);
        introduced.await;
        match argument(0) {
            "answer" => answer(members, argument(1).parse().expect("seconds")).await,
            "hoard" => {
                members.on(PeId(0)).hoard();
                chare::future::<()>().0.await;
            }
            "lend" => {
                members.on(PeId(0)).lend();
                chare::future::<()>().0.await;
            }
            "stuck" => {
                let (ready, done) = chare::future();
                members.prepare(done);
                ready.await;
                (1..chare::pes()).for_each(|pe| members.on(PeId(pe)).park());
                members.on(PeId(0)).fail();
                chare::future::<()>().0.await;
            }
            other => panic!("unknown argument {other:?}"),
        }
    })
}
