//! Waits of `async` entries for time and for the world outside, beside entries that run meanwhile.

#![expect(clippy::disallowed_methods, reason = "waits as long as users would")]

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{Job, TimedOut};
use std::time::{Duration, Instant};

/// Longer than any test.
const FAR: Duration = Duration::from_secs(3600);

struct Waiter {
    calls: u32,
}

#[chare(group)]
impl Waiter {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry]
    async fn sleep_and_count(this: This<Self>, ms: u64) -> u32 {
        chare::sleep(Duration::from_millis(ms)).await;
        this.with(|waiter| waiter.calls)
    }

    /// Sleeps within limits that are given up, and is at a limit before sleeps that are.
    #[entry]
    async fn nap(_this: This<Self>, naps: u64) -> u64 {
        for nap in 1..=naps {
            let (begin, time) = (chare::now(), Duration::from_micros(50 * nap));
            assert_eq!(chare::timeout(FAR, chare::sleep(time)).await, Ok(()));
            assert_eq!(chare::timeout(time, chare::sleep(FAR)).await, Err(TimedOut(time)));
            assert!(chare::now() - begin >= 2 * time);
        }
        naps
    }

    #[entry]
    fn call(&mut self) {
        self.calls += 1;
    }

    #[entry]
    fn calls(&self) -> u32 {
        self.calls
    }

    #[entry]
    async fn wait_with_tokio(_this: This<Self>) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn others_run_while_an_entry_sleeps_and_idle_pes_wake() {
    for (nodes, pes) in [(1, 1), (1, 2), (2, 1)] {
        let code = Job::in_process(nodes, pes).run(|| async {
            let waiters = WaiterProxy::create();
            let last = waiters.on(PeId(chare::pes() - 1));
            let begin = Instant::now();
            let counted = last.sleep_and_count(100);
            last.call();
            assert_eq!(counted.await, 1);
            assert!(begin.elapsed() >= Duration::from_millis(100));
        });
        assert_eq!(code.unwrap(), 0);
    }
}

/// The end of `main` waits for quiescence, and that for who sleeps.
#[test]
fn quiescence_waits_for_who_sleeps() {
    let code = Job::in_process(1, 2).run(|| async {
        chare::spawn(async {
            chare::sleep(Duration::from_millis(50)).await;
            chare::exit(9);
        });
    });
    assert_eq!(code.unwrap(), 9);
}

/// Takes one of some batons and hands the others on, to any two PEs: so the number of messages in flight rises and falls.
struct Runner {
    handed: u64,
}

#[chare(group)]
impl Runner {
    #[entry]
    fn new() -> Self {
        Self { handed: 0 }
    }

    #[entry]
    fn take(&mut self, batons: u64) {
        self.handed += 1;
        let first = chare::dice().below(batons);
        for part in [first, batons - 1 - first].into_iter().filter(|part| *part > 0) {
            let next = PeId(chare::dice().below(u64::from(chare::pes())) as u32);
            self.this_collection().on(next).take(part);
        }
    }

    #[entry]
    fn report(&mut self, done: Callback<u64>) {
        let handed = std::mem::take(&mut self.handed);
        self.contribute(sum(handed), done);
    }
}

#[test]
fn quiescence_waits_until_the_last_baton_of_a_relay_has_come() {
    on_every_path(&[(1, 2), (2, 1), (2, 2), (4, 1)], || async {
        let runners = RunnerProxy::create();
        for batons in [3, 30, 100, 300] {
            runners.on(PeId(chare::pes() - 1)).take(batons);
            chare::quiescence().await;
            let (handed, done) = chare::future();
            runners.report(done);
            assert_eq!(handed.await, batons);
        }
    });
}

#[test]
fn a_timeout_ends_a_wait_and_nothing_else() {
    let code = Job::in_process(1, 2).run(|| async {
        let waiters = WaiterProxy::create();
        let limit = Duration::from_millis(1);
        let late = chare::timeout(limit, waiters.on(PeId(1)).sleep_and_count(200)).await;
        assert_eq!(late, Err(TimedOut(limit)));
        let begin = Instant::now();
        let soon = chare::timeout(Duration::from_secs(600), waiters.on(PeId(1)).sleep_and_count(0)).await;
        assert_eq!(soon, Ok(0));
        // The ten minutes are forgotten, and quiescence does not wait for them.
        chare::quiescence().await;
        assert!(begin.elapsed() < Duration::from_secs(300));
    });
    assert_eq!(code.unwrap(), 0);
}

#[test]
fn who_gives_a_timer_up_keeps_nobody_else_asleep() {
    on_every_path(&[(1, 1), (1, 2), (2, 1)], || async {
        let waiters = WaiterProxy::create();
        let each = (0..chare::pes()).flat_map(|pe| (1..=4).map(move |naps| (PeId(pe), naps)));
        let over: Vec<_> = each.map(|(pe, naps)| waiters.on(pe).nap(naps)).collect();
        assert_eq!(chare::wait_all(over).await.iter().sum::<u64>(), 10 * u64::from(chare::pes()));
    });
}

#[test]
fn an_interval_ticks_and_leaves_missed_ticks_out() {
    let code = Job::in_process(1, 1).run(|| async {
        let period = Duration::from_millis(20);
        let (begin, mut interval) = (Instant::now(), chare::interval(period));
        interval.tick().await;
        interval.tick().await;
        assert!(begin.elapsed() >= period);
        chare::sleep(5 * period).await;
        // One tick is late, and the next one keeps the beat.
        interval.tick().await;
        let late = begin.elapsed();
        interval.tick().await;
        let ticks = begin.elapsed().as_nanos() / period.as_nanos();
        assert!(ticks > late.as_nanos() / period.as_nanos(), "a whole period began meanwhile");
    });
    assert_eq!(code.unwrap(), 0);
}

#[test]
fn tokio_waits_for_entries_on_every_pe() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    let code = Job::in_process(2, 2).run(|| async {
        let waiters = WaiterProxy::create();
        let said = chare::io(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let job = chare::job_handle();
            // On tokio's thread.
            let client = tokio::spawn(async move {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"seven").await.unwrap();
                let here = job.run(async || chare::my_node()).await.unwrap();
                assert_eq!(here, NodeId(0));
            });
            let (mut stream, _) = listener.accept().await.unwrap();
            // A proxy, in the middle of it.
            waiters.call();
            let mut said = String::new();
            stream.read_to_string(&mut said).await.unwrap();
            client.await.unwrap();
            said
        });
        assert_eq!(said.await, "seven");
    });
    assert_eq!(code.unwrap(), 0);
}

#[test]
fn tokio_outside_its_context_says_what_to_do() {
    let failed = Job::in_process(1, 1).run(|| async {
        WaiterProxy::create().on(PeId(0)).wait_with_tokio();
    });
    let error = failed.unwrap_err().to_string();
    for clue in ["Waiter::wait_with_tokio", "there is no reactor running", "chare::io(async {"] {
        assert!(error.contains(clue), "{clue}: {error}");
    }
}

#[test]
fn who_yields_takes_turns_with_all_that_waits() {
    for (nodes, pes) in [(1, 1), (1, 2), (2, 1)] {
        let code = Job::in_process(nodes, pes).run(|| async {
            let waiters = WaiterProxy::create();
            let mine = waiters.on(PeId(0));
            // Never ends unless the call runs between two turns.
            let begun = mine.calls();
            mine.call();
            while !begun.is_ready() {
                chare::yield_now().await;
            }
            assert_eq!(begun.await, 0);
            let last = waiters.on(PeId(chare::pes() - 1));
            last.call();
            let asked = last.calls();
            while !asked.is_ready() {
                chare::yield_now().await;
            }
            assert_eq!(asked.await, 1 + u32::from(chare::pes() == 1));
        });
        assert_eq!(code.unwrap(), 0);
    }
}

#[test]
fn quiescence_comes_within_a_limit_and_does_not_wait_for_others() {
    for (nodes, pes) in [(1, 1), (1, 2), (2, 1)] {
        let code = Job::in_process(nodes, pes).run(|| async {
            let far = Duration::from_secs(1000);
            assert_eq!(chare::timeout(far, chare::quiescence()).await, Ok(()));
            // Somebody who sleeps is waited for, whatever limits there are.
            let last = WaiterProxy::create().on(PeId(chare::pes() - 1));
            let counted = last.sleep_and_count(200);
            let soon = Duration::from_millis(1);
            assert_eq!(chare::timeout(soon, chare::quiescence()).await, Err(TimedOut(soon)));
            assert_eq!(chare::timeout(far, chare::quiescence()).await, Ok(()));
            assert!(counted.is_ready());
        });
        assert_eq!(code.unwrap(), 0);
    }
}

/// What follows from a limit belongs to the job.
#[test]
fn the_end_of_main_waits_for_limits() {
    let code = Job::in_process(1, 2).run(|| async {
        chare::spawn(async {
            let (never, _callback) = chare::future::<()>();
            assert!(chare::timeout(Duration::from_millis(50), never).await.is_err());
            chare::exit(9);
        });
    });
    assert_eq!(code.unwrap(), 9);
}
