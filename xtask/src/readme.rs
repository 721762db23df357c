//! The README shows the real text of an example; this test compares the two.

use crate::step::root;
use std::fs;

#[test]
fn the_readme_shows_the_hello_example() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect(path);
    let example = read("examples/hello/main.rs");
    let program: Vec<&str> = example.lines().filter(|line| !line.starts_with("//!")).collect();
    let shown = read("README.md");
    assert!(
        shown.contains(program.join("\n").trim()),
        "copy the program of examples/hello/main.rs into README.md"
    );
}
