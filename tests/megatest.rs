//! Charm++'s megatest in every shape, over every embedded path, with messages in random order, and with small mailboxes.

use chare_tests::Program;

fn pass(arguments: &str) {
    let program = Program::binary(env!("CARGO_BIN_EXE_megatest"));
    let said = program.pass(arguments);
    assert!(said.contains("all tests completed: 23 tests"), "{arguments}: {said}");
}

const SHAPES: [&str; 8] =
    ["", "+p 2", "+p 4", "+n 2", "+n 2 +p 2", "+n 4", "+n 2 +lrts tcp +nocma", "+n 4 +lrts tcp +nocma"];

#[test]
fn everything_passes_alone_five_at_a_time_and_all_at_once() {
    SHAPES.into_iter().for_each(pass);
}

/// `CHARE_TEST_SEEDS` says how many; a few do for every day.
#[test]
fn everything_passes_in_random_order() {
    let seeds: u64 =
        std::env::var("CHARE_TEST_SEEDS").map_or(3, |seeds| seeds.parse().expect("a number of seeds"));
    for seed in 0..seeds {
        for shape in SHAPES {
            pass(&format!("{shape} +shuffle {seed}"));
        }
    }
}

/// A PE waits after each message for another one of its process, until that has taken it.
#[test]
fn everything_passes_with_the_smallest_mailboxes() {
    ["+p 4 +mailbox 1", "+n 2 +p 2 +mailbox 1 +shuffle 1"].into_iter().for_each(pass);
}

#[test]
fn some_run_by_name() {
    let said = Program::binary(env!("CARGO_BIN_EXE_megatest")).pass("--only fib,queens --skip queens +n 2");
    assert!(said.contains("fib passed") && said.contains("completed: 1 tests"), "{said}");
    let outcome = Program::binary(env!("CARGO_BIN_EXE_megatest")).run("--only fibb");
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("there is no `fibb`"), "{outcome:?}");
}
