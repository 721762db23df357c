//! Standstill: a job that waits for what nobody will create says what it waits for, and goes on waiting.

use crate::run::deprived;
use chare_tests::Running;
use rustix::process::Signal;
use std::time::Duration;

#[test]
fn quiescence_that_never_comes_is_explained_once() {
    for options in ["+p 1", "+p 2", "+n 2 +p 2"] {
        let job = Running::start(&mut deprived("exec 2>&1", &format!("strand {options}")));
        let find = |clue: &'static str| move |line: &str| line.contains(clue).then(|| line.to_owned());
        let head = job.wait_for("the standstill", find("does not exist"));
        assert!(head.contains("6 messages"), "{options}: {head}");
        let called = job.line();
        assert!(called.contains("3 x a call of probe::Guest::greet for member 77 of"), "{options}: {called}");
        let others: Vec<String> =
            (0..if options == "+n 2 +p 2" { 3 } else { 2 }).map(|_| job.line()).collect();
        let destroyed = "1 x a call of probe::Guest::destroy for member 2 of";
        assert!(others.iter().any(|line| line.contains(destroyed)), "{options}: {others:?}");
        let posted =
            others.iter().filter(|line| line.contains("a call of probe::Guest::keep for a posted buffer"));
        assert_eq!(posted.count(), others.len() - 1, "{options}: {others:?}");
        assert!(job.line().contains("the job goes on when it is created"), "{options}");
        job.signal(Signal::TERM);
        let outcome = job.end_within(Duration::from_secs(10));
        assert_eq!(outcome.stdout.matches("does not exist").count(), 1, "{options}: {outcome:?}");
    }
}
