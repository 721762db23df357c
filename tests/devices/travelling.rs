//! Device buffers between processes: every element where it belongs, whatever lies on a device, whatever the path; and jobs that end while
//! buffers are on their way.

use chare_tests::{Program, Running};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Command;
use std::time::Duration;

pub(crate) fn on_devices() -> Program {
    Program::binary(env!("CARGO_BIN_EXE_on_devices"))
}

pub(crate) fn pass(layout: &str) -> String {
    let said = on_devices().pass(layout);
    let (came, all) = said.lines().last().and_then(|last| last.split_once(" of ")).expect("it says how many");
    assert!(all.starts_with(&format!("{came} buffers")), "{layout}: {said}");
    said
}

#[test]
fn buffers_travel_within_a_process() {
    for layout in ["+device software", "+p 2 +device software", "+p 3 +device software:2"] {
        pass(layout);
    }
}

#[test]
fn buffers_travel_between_processes_of_a_host() {
    for layout in ["+n 2", "+n 2 +nocma", "+n 2 +noshm", "+n 4 +shuffle 5"] {
        pass(&format!("{layout} +device software"));
    }
    pass("+n 3 +p 2 +device software:2");
}

#[test]
fn buffers_travel_between_hosts() {
    for layout in ["+n 2 +nolocal", "+n 3 +lrts tcp +nolocal", "+n 2 +lrts emulated", "+n 2 +lrts shm +nocma"]
    {
        pass(&format!("{layout} +device software"));
    }
}

#[cfg(feature = "sim")]
#[test]
fn buffers_travel_in_a_simulated_job() {
    for layout in ["+sim 1 +p 2", "+sim 2 +hosts 2 +seed 5"] {
        pass(&format!("--devices-only {layout} +device software"));
    }
}

/// Two MiB of pinned memory, much less than what is on its way.
#[test]
fn crowds_of_long_buffers_pass_through_little_pinned_memory() {
    for layout in ["+p 2", "+n 2", "+n 2 +nocma", "+n 3 +nolocal", "+n 2 +lrts emulated"] {
        on_devices().pass(&format!("{layout} crowd --pinned 2097152"));
    }
}

#[test]
fn programs_may_exit_while_buffers_are_on_their_way() {
    for layout in ["", "+n 2", "+n 2 +nolocal"] {
        on_devices().pass(&format!("{layout} +device software exit"));
    }
}

#[test]
fn a_killed_node_ends_the_job() {
    ["", "+nocma", "+nolocal"].into_iter().for_each(end_by_a_kill);
}

pub(crate) fn end_by_a_kill(path: &str) {
    let mut command = Command::new(on_devices().path());
    let options = format!("+n 2 +device software endless {path}");
    let job = Running::start(command.args(options.split_whitespace()));
    let process = job.wait_for("node 1's process", |line| {
        line.strip_prefix("node 1 has process ").and_then(|process| process.parse().ok())
    });
    job.wait_for("a buffer", |line| (line == "a buffer came").then_some(()));
    let process = Pid::from_raw(process).expect("a process has a number");
    kill_process(process, Signal::KILL).expect("it runs");
    let outcome = job.end_within(Duration::from_secs(10));
    assert_ne!(outcome.code, Some(0), "`{path}`: {outcome:?}");
    assert!(outcome.complaint().contains("node 1"), "`{path}`: {outcome:?}");
}

#[test]
fn a_lost_device_ends_the_job_and_says_whose_buffer_it_had() {
    ["", "+nocma", "+nolocal"].into_iter().for_each(end_by_a_lost_device);
}

pub(crate) fn end_by_a_lost_device(path: &str) {
    let outcome = on_devices().run(&format!("+n 2 {path} endless --lose 200"));
    assert_ne!(outcome.code, Some(0), "`{path}`: {outcome:?}");
    let complaint = outcome.complaint();
    let is_named = complaint.contains("Peer::") && complaint.contains("PE ");
    assert!(complaint.to_lowercase().contains("lost") && is_named, "`{path}`: {outcome:?}");
}

#[test]
fn a_device_that_is_lost_in_calls_of_many_ends_the_job_and_is_named() {
    for path in ["", "+nocma", "+nolocal"] {
        let outcome = on_devices().run(&format!("+n 3 +p 2 {path} many --lose 300"));
        assert_ne!(outcome.code, Some(0), "`{path}`: {outcome:?}");
        let complaint = outcome.complaint();
        let is_named = complaint.contains("Peer::");
        assert!(complaint.to_lowercase().contains("lost") && is_named, "`{path}`: {outcome:?}");
    }
}

#[test]
fn a_kernel_that_panics_is_named_with_the_entry_whose_buffer_it_wrote() {
    for path in ["", "+nolocal"] {
        let outcome = on_devices().run(&format!("+n 2 +device software {path} kernel"));
        assert_ne!(outcome.code, Some(0), "`{path}`: {outcome:?}");
        // The panic has lines of its own.
        let complaint = outcome.stderr.lines().find(|line| line.starts_with("chare: "));
        for words in ["Peer::send_spoilt", "PE 1", "there is no such point"] {
            assert!(complaint.is_some_and(|line| line.contains(words)), "`{path}`, {words}: {outcome:?}");
        }
    }
}

#[test]
fn two_nodes_that_are_killed_while_they_view_a_buffer_end_the_job() {
    let mut command = Command::new(on_devices().path());
    let job = Running::start(command.args("+n 4 +device software view".split_whitespace()));
    let mut processes = Vec::new();
    while processes.len() < 2 {
        processes.push(job.wait_for("a node's process", |line| {
            line.split_once(" has process ").and_then(|(_, process)| process.parse().ok())
        }));
    }
    for process in processes {
        kill_process(Pid::from_raw(process).expect("a process has a number"), Signal::KILL).expect("it runs");
    }
    let outcome = job.end_within(Duration::from_secs(10));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.complaint().contains("node "), "{outcome:?}");
}

/// Models that were measured choose: chunks, or steps over memory of the other process.
#[test]
fn buffers_travel_as_measured_models_choose() {
    for path in ["", "+nolocal"] {
        pass(&format!("+n 2 +device software {path} --measure"));
    }
}

/// Sixteen KiB of pinned memory, of which chunks are two.
#[test]
fn the_smallest_pinned_memory_carries_long_buffers_both_ways() {
    for layout in ["+n 2 +nocma", "+n 2 +nolocal"] {
        on_devices().pass(&format!("{layout} crowd --pinned 16384"));
    }
}

#[test]
fn stale_handles_are_refused_and_who_tried_has_its_buffer_back() {
    for layout in ["", "+n 2", "+n 2 +nocma", "+n 2 +nolocal"] {
        on_devices().pass(&format!("{layout} +device software stale"));
    }
}

#[test]
fn a_read_that_was_tried_hears_of_a_lost_device_and_the_job_goes_on() {
    for path in ["", "+nocma", "+nolocal"] {
        let said = on_devices().pass(&format!("+n 2 {path} tried --lose 300"));
        assert!(said.contains("a read failed: ") && said.contains("lost"), "`{path}`: {said}");
    }
}
