//! Launcher signals: each reaches every node, and an interrupted job ends with the signal's code.

use crate::endings::waiting_node;
use crate::harness::{NODE, RUN, await_death, run};
use chare_tests::Running;
use rustix::process::Signal;
use std::process::Command;

/// A program that says which signals it gets and ends well after a SIGTERM, but never joins the job. (Shells also say how their children end.)
const LISTENER: &str = "exec 2>/dev/null; trap 'echo usr1' USR1; trap 'echo usr2' USR2; trap 'echo hup' HUP; \
                        trap 'echo int' INT; trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 0.01; done";

#[test]
fn signals_reach_every_node() {
    let running = Running::start(&mut run(2, &[], &["sh", "-c", LISTENER]));
    let both = |word: &str| assert_eq!((running.line(), running.line()), (word.into(), word.into()));
    both("ready");
    for (signal, word) in [(Signal::USR1, "usr1"), (Signal::USR2, "usr2"), (Signal::TERM, "term")] {
        running.signal(signal);
        both(word);
    }
    let ended = running.end();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.complaint().contains("none of the 2 processes joined the job"), "{ended:?}");
}

#[test]
fn a_hang_up_reaches_every_node() {
    let running = Running::start(&mut run(2, &[], &["sh", "-c", LISTENER]));
    assert_eq!((running.line(), running.line()), ("ready".into(), "ready".into()));
    running.signal(Signal::HUP);
    assert_eq!((running.line(), running.line()), ("hup".into(), "hup".into()));
    // The first one that asks for the end asked in vain; the second one makes it.
    running.signal(Signal::INT);
    let ended = running.end();
    assert_eq!(ended.code, Some(130));
    assert_eq!(ended.complaint(), "chare: the job was ended by signal 2 (SIGINT)");
}

#[test]
fn an_interrupted_job_ends_with_the_signals_code() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let running = Running::start(&mut run(2, &[], &[NODE, "wait"]));
        let nodes = [waiting_node(&running.line()), waiting_node(&running.line())];
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.code, Some(code));
        assert!(ended.complaint().starts_with("chare: the job was ended by signal "), "{ended:?}");
        nodes.into_iter().for_each(await_death);
    }
}

#[test]
fn what_a_program_started_ends_with_it() {
    let script = "sleep 1000 & echo waits as $!; wait";
    let running = Running::start(&mut run(2, &[], &["sh", "-c", script]));
    let sleepers = [waiting_node(&running.line()), waiting_node(&running.line())];
    running.signal(Signal::TERM);
    assert_eq!(running.end().code, Some(143));
    sleepers.into_iter().for_each(await_death);
}

#[test]
fn a_job_under_nohup_does_not_hear_a_hang_up() {
    let mut nohup = Command::new("env");
    nohup.args(["--ignore-signal=HUP", RUN, "-n", "2", "--", "sh", "-c", LISTENER]);
    let running = Running::start(&mut nohup);
    assert_eq!((running.line(), running.line()), ("ready".into(), "ready".into()));
    running.signal(Signal::HUP);
    running.signal(Signal::USR1);
    assert_eq!((running.line(), running.line()), ("usr1".into(), "usr1".into()));
    running.signal(Signal::TERM);
    let ended = running.end();
    assert!(
        ended.code == Some(1) && ended.complaint().contains("none of the 2 processes joined"),
        "{ended:?}"
    );
}
