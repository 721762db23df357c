//! Ways of device buffers, as `+stats` counts them.

use chare_tests::Program;

/// What `+stats` says of the devices of a run, line by line, behind their names.
fn ways(layout: &str) -> Vec<String> {
    let program = Program::binary(env!("CARGO_BIN_EXE_on_devices"));
    let said = program.pass(&format!("{layout} +device software +stats"));
    let lines = said.lines().filter_map(|line| line.split_once("device 0 (software): "));
    lines.map(|(_, ways)| ways.to_owned()).collect()
}

#[test]
fn nodes_say_by_which_ways_device_buffers_went() {
    let [alone] = &ways("+p 2")[..] else { panic!("one node has one device") };
    assert!(!alone.starts_with("handed over 0 ") && !alone.contains("stepped 0 "), "{alone}");
    assert!(alone.contains("mapped 0 "), "{alone}");
    let apart = ways("+n 2 +nolocal");
    assert_eq!(apart.len(), 2, "{apart:?}");
    for ways in apart {
        assert!(ways.contains("mapped 0 ") && !ways.contains("out 0 ") && !ways.contains("in 0 "), "{ways}");
    }
}
