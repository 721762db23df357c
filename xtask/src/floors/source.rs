//! Source of a crate: its library files, the modules in them, and what each module defines, imports and mentions.
//!
//! Files are found as the compiler finds them, from `lib.rs` along `mod` declarations. What only tests reach is left out.

use super::reading::{self, Declared};
use std::collections::{BTreeMap, BTreeSet};

/// Texts of files by their paths below `src`.
pub(crate) type Texts = BTreeMap<String, String>;

/// A file, by its place in `Source::files`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FileId(pub(crate) usize);

/// A module, by its place in `Source::modules`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ModuleId(pub(crate) usize);

/// A file of the library.
pub(crate) struct File {
    /// Below `src`.
    pub(crate) path: String,
}

/// A module: a file, or a block in one.
pub(crate) struct Module {
    pub(crate) file: FileId,
    pub(crate) parent: Option<ModuleId>,
    /// From the root on; the root has none.
    pub(crate) segments: Vec<String>,
    /// Its items by name; of an enum also the names of its variants, which a glob brings.
    pub(crate) definitions: BTreeMap<String, BTreeSet<String>>,
    pub(crate) children: BTreeMap<String, ModuleId>,
    pub(crate) imports: Vec<Import>,
    pub(crate) mentions: Vec<Mention>,
    /// The types of its inherent `impl` blocks.
    pub(crate) extensions: Vec<Mention>,
}

/// One leaf of a `use` tree.
pub(crate) struct Import {
    /// `None` stands for a glob.
    pub(crate) name: Option<String>,
    pub(crate) mention: Mention,
    pub(crate) is_reexport: bool,
}

/// A path in the text. Its first segment is `::` where it starts with that.
#[derive(Clone)]
pub(crate) struct Mention {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
}

/// A crate that is read.
pub(crate) struct Source {
    /// Its folder in the workspace.
    pub(crate) name: String,
    pub(crate) files: Vec<File>,
    pub(crate) modules: Vec<Module>,
    /// Its name for itself, out of `extern crate self as ..`.
    pub(crate) own_name: Option<String>,
    /// What could not be read, as sentences.
    pub(crate) faults: Vec<String>,
    /// Paths of the modules that only tests see.
    pub(crate) tests: Vec<String>,
    /// Whether every file parses. What one that does not would declare is unknown.
    pub(crate) is_whole: bool,
}

/// The root, which is read first.
pub(crate) const ROOT: ModuleId = ModuleId(0);

impl Source {
    /// Reads a crate.
    pub(crate) fn read(name: &str, texts: &Texts) -> Self {
        let mut source = Self {
            name: name.to_owned(),
            files: Vec::new(),
            modules: Vec::new(),
            own_name: None,
            faults: Vec::new(),
            tests: Vec::new(),
            is_whole: true,
        };
        let mut pending = vec![(None, Vec::new())];
        while let Some((parent, segments)) = pending.pop() {
            let candidates = candidates(&segments);
            let Some((path, text)) = candidates.iter().find_map(|path| texts.get_key_value(path)) else {
                let files = candidates.join(" or ");
                source
                    .faults
                    .push(format!("{name}/src/{files} is missing: write it, or take its `mod` away"));
                continue;
            };
            match source.read_file(path, text, parent, segments) {
                Ok(declared) => {
                    pending.extend(declared.into_iter().map(|(parent, path)| (Some(parent), path)));
                }
                Err(fault) => {
                    source.faults.push(fault);
                    source.is_whole = false;
                }
            }
        }
        if source.is_whole {
            source.find_strays(texts);
        }
        source
    }

    fn read_file(
        &mut self,
        path: &str,
        text: &str,
        parent: Option<ModuleId>,
        segments: Vec<String>,
    ) -> Result<Declared, String> {
        let parsed = syn::parse_file(text).map_err(|error| {
            let line = error.span().start().line;
            format!("{}/src/{path}:{line}: this does not parse ({error}): mend it", self.name)
        })?;
        let file = FileId(self.files.len());
        self.files.push(File { path: path.to_owned() });
        let module = self.add_module(file, parent, segments);
        Ok(reading::read(self, module, &parsed))
    }

    /// Adds an empty module.
    pub(crate) fn add_module(
        &mut self,
        file: FileId,
        parent: Option<ModuleId>,
        segments: Vec<String>,
    ) -> ModuleId {
        let id = ModuleId(self.modules.len());
        if let (Some(parent), Some(name)) = (parent, segments.last()) {
            self.modules[parent.0].children.insert(name.clone(), id);
        }
        self.modules.push(Module {
            file,
            parent,
            segments,
            definitions: BTreeMap::new(),
            children: BTreeMap::new(),
            imports: Vec::new(),
            mentions: Vec::new(),
            extensions: Vec::new(),
        });
        id
    }

    /// Finds files that no `mod` leads to, neither the library's nor a test's.
    fn find_strays(&mut self, texts: &Texts) {
        let read: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        for path in texts.keys() {
            let stem = stem(path);
            let is_test = self.tests.iter().any(|test| is_within(stem, test));
            let is_program = path == "main.rs" || path.starts_with("bin/");
            if !(read.contains(path.as_str()) || is_test || is_program) {
                self.faults.push(format!(
                    "{}/src/{path}: no `mod` leads here: declare it, or take the file away",
                    self.name
                ));
            }
        }
    }

    /// A file's path from the root of the workspace on.
    pub(crate) fn shown(&self, file: FileId) -> String {
        format!("{}/src/{}", self.name, self.files[file.0].path)
    }

    /// A file's name in orders and reports: its path without `.rs`, where `mod` stands for the file of a folder itself.
    pub(crate) fn place(&self, file: FileId) -> String {
        let path = stem(&self.files[file.0].path);
        let is_folder =
            |other: &File| other.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        if self.files.iter().any(is_folder) { format!("{path}/mod") } else { path.to_owned() }
    }
}

/// A path without `.rs`.
fn stem(path: &str) -> &str {
    path.strip_suffix(".rs").unwrap_or(path)
}

/// Whether a place is another one or lies in that one's folder.
pub(crate) fn is_within(place: &str, folder: &str) -> bool {
    place.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Where a module's file may be.
fn candidates(segments: &[String]) -> Vec<String> {
    match segments.join("/") {
        path if path.is_empty() => vec!["lib.rs".to_owned()],
        path => vec![format!("{path}.rs"), format!("{path}/mod.rs")],
    }
}
