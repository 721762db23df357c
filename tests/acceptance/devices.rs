//! Programs that were built for devices of NVIDIA, where there is none: jobs run, and who asks for a device hears in words what is missing.

use crate::run::{probe, run};
use chare_tests::Program;

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
    for layout in ["", "+n 2", "+n 2 +device cuda", "+n 2 +p 2 +device none"] {
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
    for layout in ["", "+n 2"] {
        let outcome = Program::example("stencil2d").run(&format!("--device cuda {layout}"));
        assert_ne!(outcome.code, Some(0), "{layout}: {outcome:?}");
        let message = outcome.complaint();
        for clue in ["Tile::", "no device: libcuda.so.1 not found", "NVIDIA's driver is not installed"] {
            assert!(message.contains(clue), "{layout} mentions `{clue}`: {message}");
        }
    }
}
