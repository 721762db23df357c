//! Device buffers on a device of NVIDIA, where there is one: every path that needs nothing but the host, the stencil compared point by
//! point, and a killed node. The other tests are of the software device.

use crate::travelling::on_devices;
use chare_device::{Cuda, DeviceError};
use chare_tests::{Program, Running};
use std::process::Command;
use std::time::Duration;

/// Whether there is one; says why not.
fn is_here() -> bool {
    match Cuda::count() {
        Ok(_) => true,
        Err(why @ DeviceError::NoDevice { .. }) => {
            println!("skipped: {why}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn buffers_travel_on_hardware() {
    if !is_here() {
        return;
    }
    for layout in ["", "+p 2", "+n 2", "+n 2 +noshm", "+n 3 +lrts tcp +nolocal", "+n 2 +lrts emulated"] {
        let said = on_devices().pass(&format!("{layout} +device cuda"));
        let (came, all) =
            said.lines().last().and_then(|last| last.split_once(" of ")).expect("it says how many");
        assert!(all.starts_with(&format!("{came} buffers")), "{layout}: {said}");
    }
}

#[test]
fn a_field_is_swept_right_on_hardware() {
    if !is_here() {
        return;
    }
    for layout in ["", "+p 4", "+n 2", "+n 2 +nolocal"] {
        let said =
            Program::example("stencil2d").pass(&format!("--size 512 512 --verify +device cuda {layout}"));
        assert!(said.contains("the field is right"), "{layout}: {said}");
    }
}

#[test]
fn a_killed_node_ends_a_job_on_hardware() {
    if !is_here() {
        return;
    }
    let mut command = Command::new(on_devices().path());
    let job = Running::start(command.args("+n 2 +device cuda endless".split_whitespace()));
    let process: i32 = job.wait_for("node 1's process", |line| {
        line.strip_prefix("node 1 has process ").and_then(|process| process.parse().ok())
    });
    job.wait_for("a buffer", |line| (line == "a buffer came").then_some(()));
    let process = rustix::process::Pid::from_raw(process).expect("a process has a number");
    rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("it runs");
    let outcome = job.end_within(Duration::from_secs(20));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.complaint().contains("node 1"), "{outcome:?}");
}
