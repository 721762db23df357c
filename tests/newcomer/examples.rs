//! Every example without arguments: it succeeds, and its help says where the runtime's options are.

use chare_tests::Program;
use std::collections::BTreeSet;

/// Those that measure every path or every kernel, for a minute and more: they get less to do.
const LONG: [(&str, &str); 2] =
    [("pingpong", "--max 8KiB --iterations 2"), ("ddtbench", "--kernel MILC_su3_zd --repeats 2")];

/// The names in the manifest of the examples.
fn names() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/Cargo.toml");
    let manifest = std::fs::read_to_string(path).expect("the examples have a manifest");
    let (_, examples) = manifest.split_once("[[example]]").expect("it lists examples");
    let names = examples.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    names.map(str::to_owned).collect()
}

#[test]
fn every_example_runs_without_arguments() {
    // The service serves until it is stopped: see `service`.
    for name in names().into_iter().filter(|name| name != "service") {
        let arguments = LONG.iter().find(|(long, _)| *long == name).map_or("", |(_, arguments)| arguments);
        let said = Program::example(&name).pass(arguments);
        assert!(!said.trim().is_empty(), "`{name} {arguments}` says nothing");
    }
}

#[test]
fn every_example_says_where_the_options_of_the_runtime_are() {
    // `hello` has no options of its own, and says so.
    for name in names().into_iter().filter(|name| name != "hello") {
        let said = Program::example(&name).pass("--help");
        assert!(said.contains("`+help`"), "{name}: {said}");
    }
    assert!(Program::example("hello").pass("+help").contains("+n <N>"));
    let refused = Program::example("hello").run("--help");
    assert!(refused.code == Some(2) && refused.stderr.contains("`+help`"), "{refused:?}");
}
