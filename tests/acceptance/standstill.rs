//! Standstill: a job that waits for what never comes says what it waits for, by itself or when it is asked, and goes on waiting.

use crate::{deprived, probe, run};
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
        let mut others = vec![job.line()];
        while !others.last().is_some_and(|line| line.contains("the job goes on when it is created")) {
            others.push(job.line());
        }
        let destroyed = "1 x a call of probe::Guest::destroy for member 2 of";
        assert!(others.iter().any(|line| line.contains(destroyed)), "{options}: {others:?}");
        let posted =
            others.iter().filter(|line| line.contains("a call of probe::Guest::keep for a posted buffer"));
        assert_eq!(posted.count(), if options == "+n 2 +p 2" { 2 } else { 1 }, "{options}: {others:?}");
        assert!(
            others.iter().any(|line| line.contains("main, on PE 0, awaits quiescence")),
            "{options}: {others:?}"
        );
        job.signal(Signal::TERM);
        let outcome = job.end_within(Duration::from_secs(10));
        assert_eq!(outcome.stdout.matches("does not exist").count(), 1, "{options}: {outcome:?}");
    }
}

/// The lines that say what the probe waits for, as `wait`; the last one is `last`.
#[track_caller]
fn check_waits(job: &Running, options: &str, last: &str) {
    let mut lines = vec![job.line()];
    while !lines.last().is_some_and(|line| line.contains(last)) {
        lines.push(job.line());
    }
    for (clue, ending) in [
        ("main, on PE 0, awaits a future, the result of a reduction over probe::Waiter, collection", ""),
        (
            "probe::Waiter::listen of member 1, on PE",
            "awaits a call of probe::Waiter::word with reference number 7 (1 others are here)",
        ),
        (
            "a reduction over probe::Waiter, collection",
            "for a future or closure of PE 0: 3 of 4 members have contributed; missing: member 2 on PE",
        ),
        ("tag 5: a posted buffer of u8 waits for a call, on PE 0", ""),
    ] {
        let is_it = |line: &String| line.contains(clue) && line.contains(ending);
        assert_eq!(lines.iter().filter(|line| is_it(line)).count(), 1, "{options}: {clue}: {lines:#?}");
    }
}

#[test]
fn a_job_that_waits_for_itself_says_so_once() {
    let job = Running::start(&mut deprived("exec 2>&1", "wait +n 2 +p 2"));
    job.wait_for("the standstill", |line| {
        line.contains("the job stands still: nothing is in flight").then_some(())
    });
    check_waits(&job, "by itself", "tag 5");
    job.signal(Signal::TERM);
    let outcome = job.end_within(Duration::from_secs(10));
    assert_eq!(outcome.stdout.matches("stands still").count(), 1, "{outcome:?}");
}

#[test]
fn a_job_says_what_it_waits_for_when_it_is_asked() {
    for options in ["+p 1", "+n 2 +p 2"] {
        let job = Running::start(&mut deprived("exec 2>&1", &format!("wait {options}")));
        job.wait_for("the wait", |line| (line == "waits").then_some(()));
        job.signal(Signal::USR1);
        job.wait_for("the answer", |line| line.contains("as was asked").then_some(()));
        check_waits(&job, options, "in all:");
        job.signal(Signal::TERM);
        let outcome = job.end_within(Duration::from_secs(10));
        assert_eq!(
            outcome.stdout.matches("as was asked").count(),
            1,
            "once, however many nodes: {outcome:?}"
        );
    }
}

#[test]
fn a_pe_that_does_not_answer_is_named() {
    let job = Running::start(&mut deprived("exec 2>&1", "spin +n 2 +p 1"));
    job.wait_for("the probe", |line| (line == "idle").then_some(()));
    job.signal(Signal::USR1);
    job.wait_for("who is silent", |line| line.contains("no answer: PE 1; an entry runs there").then_some(()));
    job.signal(Signal::TERM);
    job.end_within(Duration::from_secs(10));
}

#[test]
fn a_signal_that_the_program_ignores_stays_ignored() {
    let job = Running::start(&mut deprived("trap '' USR1; exec 2>&1", "wait +p 1"));
    job.wait_for("the wait", |line| (line == "waits").then_some(()));
    job.signal(Signal::USR1);
    job.wait_for("the standstill", |line| {
        assert!(!line.contains("as was asked"), "{line}");
        line.contains("the job stands still").then_some(())
    });
}

#[test]
fn what_waits_in_vain_is_told_at_the_end() {
    let outcome = run(probe("linger +p 2"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for clue in [
        "`main` is over",
        "probe::Waiter::lose of member 3, on PE",
        "awaits a future, to which nobody has sent a value",
    ] {
        assert!(outcome.stderr.contains(clue), "{clue}: {outcome:?}");
    }
    let quiet = run(probe("handover +p 2"));
    assert_eq!((quiet.code, quiet.stderr.as_str()), (Some(0), ""), "{quiet:?}");
}
