//! Device buffers between processes: every element where it belongs, whatever lies on a device, whatever the path; and jobs that end while
//! buffers are on their way.

use chare_tests::Program;

fn on_devices() -> Program {
    Program::binary(env!("CARGO_BIN_EXE_on_devices"))
}

fn pass(layout: &str) -> String {
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
