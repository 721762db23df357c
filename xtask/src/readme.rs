//! README check: the READMEs and the book show the real text of an example.

use crate::step::root;
use std::fs;

#[test]
fn the_readmes_and_the_book_show_the_hello_example() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect(path);
    let example = read("examples/hello/main.rs");
    let program: Vec<&str> = example.lines().filter(|line| !line.starts_with("//!")).collect();
    for page in ["README.md", "runtime/README.md", "docs/book/src/first-hour.md"] {
        assert!(
            read(page).contains(program.join("\n").trim()),
            "copy the program of examples/hello/main.rs into {page}"
        );
    }
}

#[test]
fn containers_of_editors_begin_with_the_hello_example() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect(path);
    let container: serde_json::Value =
        serde_json::from_str(&read(".devcontainer/devcontainer.json")).expect("JSON");
    let command = container["postCreateCommand"].as_str().expect("a command");
    assert!(command.starts_with("cargo run --release --example hello -- "), "{command}");
}
