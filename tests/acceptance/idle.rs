//! Idle jobs: they cost nothing, even with more PEs than cores.

use crate::probe;
use chare_tests::Running;
use rustix::process::{Pid, Signal};
use std::time::{Duration, Instant};

/// User and system time of processes, in clock ticks (100 a second on Linux).
fn ticks(processes: &[Pid]) -> u64 {
    let time = |pid: &Pid| -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        // The fields after the name, which is in parentheses: state, parent, group, ...
        let (_, fields) = text.rsplit_once(") ").expect("a name");
        fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
    };
    processes.iter().map(time).sum()
}

#[test]
fn twelve_idle_pes_on_any_number_of_cores_sleep() {
    // A program that starts nodes is one process more.
    for (options, processes) in [("+n 4 +p 3", 5), ("+n 1 +p 12", 1), ("+n 2 +p 6 +nolocal", 3)] {
        let job = Running::start(&mut probe(&format!("idle {options}")));
        job.wait_for("idle job", |line| (line == "idle").then_some(()));
        let members = job.family().members();
        assert_eq!(members.len(), processes, "{options}");
        let (before, since) = (ticks(&members), Instant::now());
        // The quantity under test is what happens in a stretch of time.
        std::thread::sleep(Duration::from_secs(2));
        let (used, wall) = (ticks(&members) - before, since.elapsed());
        assert!(used < 20, "{options}: {used} ticks of 10 ms in {wall:?} of idleness");
        job.signal(Signal::TERM);
        let outcome = job.end_within(Duration::from_secs(10));
        assert_ne!(outcome.code, Some(0), "{options}: ended by a signal: {outcome:?}");
    }
}
