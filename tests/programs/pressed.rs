//! The program of the tests under pressure: its nodes are stopped, have little memory, or are told to end while their PEs are in entries.
//!
//! | argument | what it does |
//! |---|---|
//! | `answer SECONDS` | asks the other nodes until an answer has taken so long |
//! | `hoard` | PE 0 sends to the last PE, which is in an entry that never ends, as much as it may |
//! | `lend` | as `hoard`, with buffers of its own instead of bytes in messages |
//! | `owe` | PE 0 sends the last PE buffers of all lengths, of which that keeps views; then it waits for them, for ever |
//! | `owe busily` | the same, and both send each other such buffers for ever |
//! | `stuck` | PE 0 panics when all other PEs are about to be in entries that never end; an exit handler of C says `handled` |

#![expect(unsafe_code, reason = "registers what C libraries do at a process's exit, and prints as they do")]

use chare::prelude::*;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// PEs of this process that are in entries which never end.
static PARKED: AtomicU32 = AtomicU32::new(0);

/// Elements of buffers: some travel with their messages, others are lent.
const LENGTHS: [usize; 6] = [1, 100, 128, 129, 1_000, 100_000];

struct Member {
    kept: Vec<ReceivedView<u64>>,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { kept: Vec::new() }
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
    fn keep(&mut self, #[nocopy] values: ReceivedView<u64>, done: Callback<u64>) {
        self.kept.push(values);
        done.send(self.kept.len() as u64);
    }

    /// Sends the other what it has sent, and lets go of that.
    #[entry]
    fn echo(&mut self, other: MemberElementProxy, #[nocopy] values: Received<u64>) {
        let same = values.to_vec();
        drop(values);
        other.echo(self.this_chare(), same);
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

async fn owe(members: MemberProxy, busily: bool) {
    let (first, last) = (members.on(PeId(0)), members.on(PeId(chare::pes() - 1)));
    let (mut kept, mut sent) = (Vec::new(), Vec::new());
    for len in LENGTHS {
        let ((heard, done), (back, on_sent)) = (chare::future(), chare::future::<Sent<u64>>());
        last.keep(SendBuffer::from(vec![7; len]).on_sent(on_sent), done);
        kept.push(heard);
        sent.push(back);
    }
    chare::wait_all(kept).await;
    println!("owing");
    if busily {
        LENGTHS.into_iter().for_each(|len| last.echo(first.clone(), vec![7; len]));
    }
    chare::wait_all(sent).await;
    chare::future::<()>().0.await;
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
            "owe" => owe(members, argument(1) == "busily").await,
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
