//! Idle costs nothing, even with more PEs than cores.

use crate::run::{Running, members, probe, stat};
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

/// User and system time of a process group, in clock ticks (100 a second on Linux).
fn ticks(group: u32) -> u64 {
    let times = members(group).into_iter().map(stat);
    times
        .flat_map(|fields| {
            [11, 12].map(|at| fields.get(at).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0))
        })
        .sum()
}

#[test]
fn twelve_idle_pes_on_any_number_of_cores_sleep() {
    for options in ["+n 4 +p 3", "+n 1 +p 12", "+n 2 +p 6 +nolocal"] {
        let mut job = Running::start(probe(&format!("idle {options}")));
        job.wait_for("idle job", |line| (line == "idle").then_some(()));
        let (before, since) = (ticks(job.pid()), Instant::now());
        // The quantity under test is what happens in a stretch of time.
        std::thread::sleep(Duration::from_secs(2));
        let (used, wall) = (ticks(job.pid()) - before, since.elapsed());
        assert!(used < 20, "{options}: {used} ticks of 10 ms in {wall:?} of idleness");
        kill_process(Pid::from_raw(job.pid() as i32).unwrap(), Signal::TERM).unwrap();
        let outcome = job.finish_within(Duration::from_secs(10));
        assert!(!outcome.status.success(), "{options}: ended by a signal: {outcome:?}");
    }
}
