//! Checks of the book beyond mdBook's own, and of the READMEs: every chapter is listed and compiled, links between chapters lead somewhere, and
//! the book and the READMEs show the real text of an example.

use crate::step::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

fn source() -> PathBuf {
    root().join("docs/book/src")
}

fn read(chapter: &str) -> String {
    fs::read_to_string(source().join(chapter)).unwrap_or_else(|error| panic!("{chapter}: {error}"))
}

fn chapters() -> BTreeSet<String> {
    let files = fs::read_dir(source()).expect("the book has chapters");
    let names = files.map(|file| file.expect("it is readable").file_name().into_string().expect("a name"));
    names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect()
}

/// The targets of a text's links, code left out.
fn links(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let prose: String = line.split('`').step_by(2).collect();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(targets.filter(|_| !is_code).map(|(target, _)| target.to_owned()));
    }
    found
}

/// The anchors of a text's headings, as mdBook names them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#'));
    let anchor = |heading: &str| {
        let letters = heading.trim().chars().filter_map(|letter| match letter {
            letter if letter.is_whitespace() => Some('-'),
            letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
            _ => None,
        });
        letters.flat_map(char::to_lowercase).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_chapter_is_listed_and_compiled() {
    let listed: BTreeSet<String> = links(&read("SUMMARY.md")).into_iter().collect();
    assert_eq!(listed, chapters());
    let book = root().join("docs/book");
    let compiled = ["chapters.rs", "build.rs"].map(|file| fs::read_to_string(book.join(file)).expect(file));
    for chapter in chapters() {
        let path = format!("\"src/{chapter}\"");
        assert!(compiled.iter().any(|file| file.contains(&path)), "nothing compiles the code of {chapter}");
    }
}

#[test]
fn links_between_chapters_lead_somewhere() {
    for chapter in chapters() {
        for link in links(&read(&chapter)) {
            if link.contains("://") {
                continue;
            }
            if link.starts_with("drawings/") {
                assert!(source().join(&link).exists(), "{chapter} shows {link}, which is not there");
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { chapter.as_str() } else { file };
            assert!(chapters().contains(target), "{chapter} links to {link}, which is no chapter");
            assert!(
                anchor.is_empty() || anchors(&read(target)).contains(anchor),
                "{chapter} links to {link}, but {target} has no such heading"
            );
        }
    }
}

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
