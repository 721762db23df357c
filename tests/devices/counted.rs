//! Ways of device buffers, as `+stats` counts them.

use chare_tests::Program;

/// What `+stats` says of the devices of a run of a program, line by line, behind their names.
fn said_by(program: &Program, layout: &str) -> Vec<String> {
    let said = program.pass(&format!("{layout} +stats"));
    let lines = said.lines().filter_map(|line| line.split_once(" (software): "));
    lines.map(|(_, ways)| ways.to_owned()).collect()
}

fn ways(layout: &str) -> Vec<String> {
    said_by(&Program::binary(env!("CARGO_BIN_EXE_on_devices")), &format!("{layout} +device software"))
}

/// The number behind a word.
fn count(ways: &str, word: &str) -> u64 {
    let mut words = ways.split_whitespace().skip_while(|one| *one != word);
    words.nth(1).and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no `{word}` in {ways}"))
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

/// Whoever receives copies by itself; nothing but what is short and travels with its call lies in memory of the host.
#[test]
fn devices_that_reach_each_other_copy_past_the_host() {
    let program = Program::binary(env!("CARGO_BIN_EXE_on_devices"));
    for layout in ["+p 2", "+n 2"] {
        let said = said_by(&program, &format!("{layout} --devices-only +device software:2"));
        assert_eq!(said.len(), 2, "{said:?}");
        for ways in said {
            assert!(count(&ways, "peers") > 10 && count(&ways, "mapped") == 0, "{layout}: {ways}");
            assert!(ways.contains("chunks out 0 "), "{layout}: {ways}");
        }
    }
}

/// What was made as PyTorch's expandable segments are, or by `cuMemAlloc`, is found by other processes; what comes from a pool is not, and the
/// program is told what that costs.
#[test]
fn adopted_memory_is_mapped_where_its_maker_has_allocated_it_to_be_shared() {
    let program = Program::binary(env!("CARGO_BIN_EXE_on_devices"));
    for adopted in ["descriptors", "named"] {
        for ways in said_by(&program, &format!("+n 2 --devices-only --adopted {adopted}")) {
            assert!(count(&ways, "mapped") > 10, "{adopted}: {ways}");
        }
    }
    let outcome = program.run("+n 2 --devices-only --adopted private +stats");
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let ways = outcome.stdout.lines().filter_map(|line| Some(line.split_once(" (software): ")?.1));
    let ways: Vec<&str> = ways.collect();
    assert!(ways.len() == 2 && ways.iter().all(|ways| count(ways, "mapped") == 0), "{outcome:?}");
    let warning = outcome.stderr.lines().find(|line| line.contains("that the program has adopted"));
    let warning = warning.unwrap_or_else(|| panic!("nobody is told: {outcome:?}"));
    for words in
        [" bytes of a device buffer", "Peer::send of member ", "allocated in a way that shows it to nobody"]
    {
        assert!(warning.contains(words), "{words}: {warning}");
    }
}

/// All but what is short and travels with its call.
#[cfg(feature = "ofi")]
#[test]
fn what_a_network_reads_by_itself_passes_no_host() {
    let program = Program::binary(env!("CARGO_BIN_EXE_on_devices"));
    for provider in chare_tests::providers(&["tcp;ofi_rxm", "net"], "direct transfers of device buffers") {
        let said =
            |way: &str| said_by(&program, &format!("+n 2 +lrts ofi +ofi {provider} --devices-only {way}"));
        for ways in said("+device software") {
            assert!(count(&ways, "direct") > 10 && ways.contains("chunks out 0 "), "{provider}: {ways}");
        }
        for ways in said("--staged") {
            assert!(count(&ways, "direct") == 0 && !ways.contains("chunks out 0 "), "{provider}: {ways}");
        }
    }
}

/// An arena that was imported is not exported: its maker's name is passed on.
#[test]
fn a_view_that_is_passed_on_is_mapped_from_who_made_it() {
    let mut mapped = ways("+n 3 relay").iter().map(|ways| count(ways, "mapped")).collect::<Vec<_>>();
    mapped.sort_unstable();
    assert_eq!(mapped, [0, 1, 1]);
}

#[test]
fn steps_of_a_turn_are_one_launch_and_short_faces_travel_with_their_calls() {
    let stencil = Program::example("stencil2d");
    // Nine tiles: forty faces a sweep, which one PE has before it rests.
    let [alone] = &said_by(&stencil, "--size 48 48 --tiles 3 3 +device software")[..] else {
        panic!("one node has one device")
    };
    assert_eq!(count(alone, "stepped"), 400, "{alone}");
    assert!(count(alone, "launches") <= 20, "{alone}");
    for ways in said_by(&stencil, "+n 2 +nolocal +device software") {
        assert_eq!((count(&ways, "stepped"), count(&ways, "short")), (20, 40), "{ways}");
        assert!(ways.contains("chunks out 0 ") && count(&ways, "launches") < 60, "{ways}");
    }
}
