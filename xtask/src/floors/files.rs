//! Files of a crate, found as the compiler finds them: from the root of the library, and from that of each program, along `mod` declarations.
//!
//! 1. The root of the library is `src/lib.rs`, or `src/main.rs` where there is no library.
//! 2. `src/main.rs` beside a library, and any `main.rs` elsewhere, is the root of a program whose modules lie beside it; a file that lies
//!    outside `src`, beside and below no `main.rs`, is a program by itself, and so is one in `src/bin`.
//! 3. What only tests reach is left out.

use super::reading::{self, Declared};
use super::source::{File, FileId, Source, is_within};
use std::collections::{BTreeMap, BTreeSet};

/// Texts of files by their paths below the crate's folder.
pub(crate) type Texts = BTreeMap<String, String>;

/// Folders whose files have places below them: those of the library and of the programs. Others have their places below the crate's.
const HOMES: [&str; 2] = ["src", "benches"];

/// Reads a crate.
pub(crate) fn read(name: &str, texts: &Texts) -> Source {
    let mut source = Source::new(name);
    let mut pending: Vec<Declared> = roots(texts).into_iter().rev().map(Declared::root).collect();
    while let Some(declared) = pending.pop() {
        let Some((path, text)) = declared.candidates.iter().find_map(|path| texts.get_key_value(path)) else {
            let files: Vec<&str> = declared.candidates.iter().map(String::as_str).collect();
            source
                .faults
                .push(format!("{name}/{} is missing: write it, or take its `mod` away", files.join(" or ")));
            continue;
        };
        match read_file(&mut source, path, text, &declared) {
            Ok(more) => pending.extend(more),
            Err(fault) => {
                source.faults.push(fault);
                source.is_whole = false;
            }
        }
    }
    if source.is_whole {
        find_strays(&mut source, texts);
    }
    find_split_folders(&mut source, texts);
    source
}

/// The roots of the library and of all programs, the library's first.
fn roots(texts: &Texts) -> Vec<&str> {
    let library = ["src/lib.rs", "src/main.rs"].into_iter().find(|root| texts.contains_key(*root));
    let programs = texts.keys().map(String::as_str).filter(|path| {
        if is_within(path, "src") && !is_within(path, "src/bin") {
            return *path == "src/main.rs" && library != Some(*path);
        }
        let mut folders = std::iter::successors(folder(path), |inner| folder(inner));
        path.ends_with("/main.rs")
            || !folders.any(|folder| folder != "src" && texts.contains_key(&format!("{folder}/main.rs")))
    });
    library.into_iter().chain(programs).collect()
}

fn folder(path: &str) -> Option<&str> {
    Some(path.rsplit_once('/')?.0)
}

fn read_file(
    source: &mut Source,
    path: &str,
    text: &str,
    declared: &Declared,
) -> Result<Vec<Declared>, String> {
    let parsed = syn::parse_file(text).map_err(|error| {
        let line = error.span().start().line;
        format!("{}/{path}:{line}: this does not parse ({error}): mend it", source.name)
    })?;
    let file = FileId(source.files.len());
    source.files.push(File { path: path.to_owned(), place: place(path).to_owned() });
    let module = source.add_module(file, declared.parent, &declared.name, declared.folder.clone());
    Ok(reading::read(source, module, &parsed))
}

fn place(path: &str) -> &str {
    let stem = stem(path);
    let inside = |home: &&str| stem.strip_prefix(*home).and_then(|rest| rest.strip_prefix('/'));
    HOMES.iter().find_map(inside).unwrap_or(stem)
}

/// Finds files that no `mod` leads to, neither the library's nor a test's.
fn find_strays(source: &mut Source, texts: &Texts) {
    let read: BTreeSet<&str> = source.files.iter().map(|file| file.path.as_str()).collect();
    for path in texts.keys() {
        let is_test = source.tests.iter().any(|test| is_within(stem(path), test));
        if !(read.contains(path.as_str()) || is_test) {
            source.faults.push(format!(
                "{}/{path}: no `mod` leads here: declare it, or take the file away",
                source.name
            ));
        }
    }
}

/// Finds folders whose own file lies beside them.
fn find_split_folders(source: &mut Source, texts: &Texts) {
    for path in texts.keys() {
        let folder = format!("{}/", stem(path));
        if texts.keys().any(|other| other.starts_with(&folder)) {
            source.faults.push(format!(
                "{}/{path}: it lies beside its folder: move it to {folder}mod.rs, as all others",
                source.name
            ));
        }
    }
}

/// A path without `.rs`.
fn stem(path: &str) -> &str {
    path.strip_suffix(".rs").unwrap_or(path)
}
