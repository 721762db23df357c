//! Programs that were built for devices of NVIDIA, where there is none: jobs run, who asks for a device hears in words what is missing, and
//! a job that names them does not start.

use crate::{probe, run};
use chare_tests::{Outcome, Program};

/// Whether this machine lacks the driver; a line says so if not.
fn is_missing() -> bool {
    let is_missing = chare_device::Cuda::count().is_err();
    if !is_missing {
        println!("skipped: what a machine without a device says: this one has a device");
    }
    is_missing
}

#[test]
fn jobs_run_where_there_is_no_device() {
    if !is_missing() {
        return;
    }
    for layout in ["", "+n 2", "+n 2 +p 2 +device none"] {
        let outcome = run(probe(&format!("lend {layout}")));
        assert_eq!(outcome.code, Some(0), "{layout}: {outcome:?}");
        assert_eq!(outcome.stderr, "", "{layout}: {outcome:?}");
    }
}

#[test]
fn who_asks_for_a_device_hears_what_is_missing() {
    if !is_missing() {
        return;
    }
    let job = chare::Job::in_process(1, 1).run(|| async {
        if let Err(error) = chare::devices::mine() {
            panic!("{error}");
        }
    });
    let message = job.expect_err("there is none").to_string();
    for clue in
        ["no device: libcuda.so.1 not found", "NVIDIA's driver is not installed", "`+device software`"]
    {
        assert!(message.contains(clue), "mentions `{clue}`: {message}");
    }
}

#[test]
fn a_job_that_names_devices_does_not_start_without_them() {
    if !is_missing() {
        return;
    }
    let refused = |outcome: Outcome| {
        assert_eq!((outcome.code, &*outcome.stdout), (Some(2), ""), "{outcome:?}");
        let message = outcome.complaint();
        for clue in
            ["`+device cuda` finds none", "libcuda.so.1 not found", "NVIDIA's driver is not installed"]
        {
            assert!(message.contains(clue), "mentions `{clue}`: {message}");
        }
    };
    for layout in ["", "+n 2"] {
        refused(run(probe(&format!("lend +device cuda {layout}"))));
        refused(Program::example("stencil2d").run(&format!("+device cuda {layout}")));
    }
}
