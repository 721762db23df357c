//! The README's first command, after the build.

use chare_tests::Program;
use std::time::Instant;

/// The command with which the README begins: the example, and its arguments.
fn first_command(readme: &str) -> (&str, &str) {
    let command = readme.lines().find_map(|line| line.strip_prefix("$ cargo run --release --example "));
    command.and_then(|command| command.split_once(" -- ")).expect("the README begins with an example")
}

#[test]
fn the_first_command_says_what_the_readme_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(path).expect("the README is there");
    let (example, arguments) = first_command(&readme);
    let program = Program::example(example);
    let begun = Instant::now();
    let outcome = program.run(arguments);
    // Under a second, where nothing else runs: told and not judged, for a machine may be busy.
    println!("`{example} {arguments}` took {:.3} s", begun.elapsed().as_secs_f64());
    assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{outcome:?}");
    let promised: Vec<&str> = readme
        .lines()
        .skip_while(|line| !line.starts_with("$ "))
        .skip(1)
        .take_while(|line| *line != "```")
        .collect();
    let mut promised_in_any_order = promised.clone();
    promised_in_any_order.sort_unstable();
    assert_eq!(outcome.sorted_lines(), promised_in_any_order, "the README shows something else");
}
