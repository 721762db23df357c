//! Source of a crate: its files, the modules in them, and what each module defines, imports and mentions.

use std::collections::{BTreeMap, BTreeSet};

/// A file, by its place in `Source::files`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct FileId(pub(crate) usize);

/// A module, by its place in `Source::modules`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ModuleId(pub(crate) usize);

/// A file of the library or of a program.
pub(crate) struct File {
    /// Below the crate's folder.
    pub(crate) path: String,
    /// Its name in orders and reports: its path below the folder of the library or of the programs, without `.rs`.
    pub(crate) place: String,
}

/// A module: a file, or a block in one.
pub(crate) struct Module {
    pub(crate) file: FileId,
    /// The root of a library or of a program has none.
    pub(crate) parent: Option<ModuleId>,
    /// Empty for a root.
    pub(crate) name: String,
    /// Where files of its modules lie, below the crate's folder.
    pub(crate) folder: String,
    /// Its items by name; of an enum also the names of its variants, which a glob brings.
    pub(crate) definitions: BTreeMap<String, BTreeSet<String>>,
    /// Its types and traits.
    pub(crate) types: Vec<Definition>,
    pub(crate) children: BTreeMap<String, ModuleId>,
    pub(crate) imports: Vec<Import>,
    pub(crate) mentions: Vec<Mention>,
    /// The types of its inherent `impl` blocks.
    pub(crate) extensions: Vec<Mention>,
}

/// A name and the line that gives it a meaning.
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) line: usize,
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
    /// Of the library, and of each program, which are crates of their own.
    pub(crate) modules: Vec<Module>,
    /// The library's name for itself, out of `extern crate self as ..`.
    pub(crate) own_name: Option<String>,
    /// What could not be read, as sentences.
    pub(crate) faults: Vec<String>,
    /// Folders and files, without `.rs`, of the modules that only tests see.
    pub(crate) tests: Vec<String>,
    /// Whether every file parses. What one that does not would declare is unknown.
    pub(crate) is_whole: bool,
}

/// The root that is read first: the library's, where there is one.
pub(crate) const ROOT: ModuleId = ModuleId(0);

impl Source {
    /// A crate of which nothing is read.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            files: Vec::new(),
            modules: Vec::new(),
            own_name: None,
            faults: Vec::new(),
            tests: Vec::new(),
            is_whole: true,
        }
    }

    /// Adds an empty module.
    pub(crate) fn add_module(
        &mut self,
        file: FileId,
        parent: Option<ModuleId>,
        name: &str,
        folder: String,
    ) -> ModuleId {
        let id = ModuleId(self.modules.len());
        if let Some(parent) = parent {
            self.modules[parent.0].children.insert(name.to_owned(), id);
        }
        self.modules.push(Module {
            file,
            parent,
            name: name.to_owned(),
            folder,
            definitions: BTreeMap::new(),
            types: Vec::new(),
            children: BTreeMap::new(),
            imports: Vec::new(),
            mentions: Vec::new(),
            extensions: Vec::new(),
        });
        id
    }

    /// A module and all that it stands in, the root last.
    pub(crate) fn ancestors(&self, module: ModuleId) -> impl Iterator<Item = ModuleId> {
        std::iter::successors(Some(module), |module| self.modules[module.0].parent)
    }

    /// The root of the library or program that a module belongs to.
    pub(crate) fn root_of(&self, module: ModuleId) -> ModuleId {
        self.ancestors(module).last().unwrap_or(module)
    }

    /// A file's path from the root of the workspace on.
    pub(crate) fn shown(&self, file: FileId) -> String {
        format!("{}/{}", self.name, self.files[file.0].path)
    }

    /// A file's name in orders and reports.
    pub(crate) fn place(&self, file: FileId) -> &str {
        &self.files[file.0].place
    }
}

/// Whether a place is another one or lies in that one's folder.
pub(crate) fn is_within(place: &str, folder: &str) -> bool {
    place.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
