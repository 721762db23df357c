//! Arrows between files: who names what another file defines; and what files name of other crates.
//!
//! A path is followed through imports and re-exports, over any number of hops and through globs, to the file that defines what
//! it ends in. Past a type (a variant, an associated function) it is not followed. What no file is seen to define comes out of
//! a macro; the file of the last module of the path stands for it. An imported module is named itself, unless the importer
//! stands within it; a module that a path only passes is not. A re-export draws an arrow like any import: a folder's face
//! that hands on what stands within cannot also define what that needs.

use super::source::{FileId, Import, Mention, ModuleId, ROOT, Source};
use std::collections::{BTreeMap, BTreeSet};

/// What one file names of another: each name and the first line that has it.
pub(crate) type Names = BTreeMap<String, usize>;

/// All arrows, by the file that names and the file that defines.
pub(crate) type Arrows = BTreeMap<(FileId, FileId), Names>;

/// An inherent `impl` block for a type that another file defines.
pub(crate) struct Extension {
    pub(crate) file: FileId,
    pub(crate) line: usize,
    pub(crate) defined_in: FileId,
    pub(crate) name: String,
}

/// What a file names of another crate.
pub(crate) struct Taken {
    pub(crate) file: FileId,
    pub(crate) line: usize,
    /// From that crate on, through imports, re-exports and renamings of this one; of the prelude and of macros the bare name.
    pub(crate) path: Vec<String>,
    /// Whether it is all that the path holds.
    pub(crate) is_glob: bool,
}

/// What a path leads to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Module(ModuleId),
    Item(ModuleId, String),
    /// Another crate's, or a local name.
    Foreign(Vec<String>),
}

/// Names that are being looked up, so that re-exports in a circle come to an end.
type Seen = BTreeSet<(ModuleId, String)>;

/// The arrows of a crate.
pub(crate) fn arrows(source: &Source) -> Arrows {
    let mut arrows = Arrows::new();
    for (index, module) in source.modules.iter().enumerate() {
        let id = ModuleId(index);
        let mut draw = |mention: &Mention, (target, name): (ModuleId, String)| {
            let defined_in = source.modules[target.0].file;
            if defined_in != module.file {
                let line =
                    arrows.entry((module.file, defined_in)).or_default().entry(name).or_insert(mention.line);
                *line = mention.line.min(*line);
            }
        };
        for import in &module.imports {
            source.imported(id, import).into_iter().for_each(|item| draw(&import.mention, item));
        }
        for mention in &module.mentions {
            source.items(id, mention).into_iter().for_each(|item| draw(mention, item));
        }
    }
    arrows
}

/// The inherent `impl` blocks of a crate for types of other files.
pub(crate) fn extensions(source: &Source) -> Vec<Extension> {
    let mut found = Vec::new();
    for (index, module) in source.modules.iter().enumerate() {
        for mention in &module.extensions {
            let items = source.items(ModuleId(index), mention).into_iter();
            found.extend(items.map(|(target, name)| Extension {
                file: module.file,
                line: mention.line,
                defined_in: source.modules[target.0].file,
                name,
            }));
        }
    }
    found.retain(|extension| extension.file != extension.defined_in);
    found
}

/// What the files of a crate name of others.
pub(crate) fn taken(source: &Source) -> Vec<Taken> {
    let mut found = Vec::new();
    for (index, module) in source.modules.iter().enumerate() {
        let imports = module.imports.iter().map(|import| (&import.mention, import.name.is_none()));
        let mentions = module.mentions.iter().map(|mention| (mention, false));
        for (mention, is_glob) in imports.chain(mentions) {
            for target in source.resolve(ModuleId(index), &mention.path, &mut Seen::new()) {
                if let Target::Foreign(mut path) = target {
                    // What they define stands in `std` as well, where most name it.
                    if let Some("core" | "alloc") = path.first().map(String::as_str) {
                        path[0] = "std".to_owned();
                    }
                    found.push(Taken { file: module.file, line: mention.line, path, is_glob });
                }
            }
        }
    }
    found
}

impl Source {
    /// The items that a path leads to, each with the module that defines it.
    fn items(&self, from: ModuleId, mention: &Mention) -> Vec<(ModuleId, String)> {
        let targets = self.resolve(from, &mention.path, &mut Seen::new()).into_iter();
        let item = |target| match target {
            Target::Item(module, name) => Some((module, name)),
            Target::Module(_) | Target::Foreign(_) => None,
        };
        targets.filter_map(item).collect()
    }

    /// The items that an import names. A glob names what is used of it where it is used; one that re-exports names all.
    fn imported(&self, module: ModuleId, import: &Import) -> Vec<(ModuleId, String)> {
        match (&import.name, import.is_reexport) {
            (Some(_), true) => self.items(module, &import.mention),
            (Some(_), false) => {
                let targets = self.resolve(module, &import.mention.path, &mut Seen::new()).into_iter();
                targets.filter_map(|target| self.named(module, target)).collect()
            }
            (None, false) => Vec::new(),
            (None, true) => {
                let targets = self.resolve(module, &import.mention.path, &mut Seen::new());
                targets.iter().filter_map(as_module).map(|opened| (opened, "*".to_owned())).collect()
            }
        }
    }

    /// An imported item with the module that defines it; a module by its own name.
    fn named(&self, importer: ModuleId, target: Target) -> Option<(ModuleId, String)> {
        match target {
            Target::Item(module, name) => Some((module, name)),
            Target::Module(module) if !self.is_within(importer, module) => {
                Some((module, self.modules[module.0].name.clone()))
            }
            Target::Module(_) | Target::Foreign(_) => None,
        }
    }

    /// Whether a module stands in another one, or is it.
    fn is_within(&self, inner: ModuleId, outer: ModuleId) -> bool {
        self.ancestors(inner).any(|module| module == outer)
    }

    fn resolve(&self, from: ModuleId, path: &[String], seen: &mut Seen) -> BTreeSet<Target> {
        let Some((first, mut rest)) = path.split_first() else {
            return BTreeSet::new();
        };
        let mut targets = match first.as_str() {
            "crate" => BTreeSet::from([Target::Module(self.root_of(from))]),
            "self" => BTreeSet::from([Target::Module(from)]),
            "super" => self.parent(from),
            "::" if rest.first() == self.own_name.as_ref() && !rest.is_empty() => {
                rest = &rest[1..];
                BTreeSet::from([Target::Module(ROOT)])
            }
            "::" => BTreeSet::from([Target::Foreign(Vec::new())]),
            name => self.first(from, name, seen),
        };
        for segment in rest.iter().filter(|segment| *segment != "self") {
            targets = self.step(targets, segment, seen);
        }
        targets
    }

    /// What the first name of a path stands for.
    fn first(&self, from: ModuleId, name: &str, seen: &mut Seen) -> BTreeSet<Target> {
        let mut found = self.lookup(from, name, seen);
        if found.is_empty() && self.own_name.as_deref() == Some(name) {
            return BTreeSet::from([Target::Module(ROOT)]);
        }
        // What a glob of another crate may bring may as well be a crate, or of the prelude.
        if found.iter().all(|target| matches!(target, Target::Foreign(_))) {
            found.insert(Target::Foreign(vec![name.to_owned()]));
        }
        found
    }

    /// Where a path leads that goes on by one name. Past an item it is not followed.
    fn step(&self, targets: BTreeSet<Target>, segment: &str, seen: &mut Seen) -> BTreeSet<Target> {
        let has_module = targets.iter().any(|target| as_module(target).is_some());
        let mut reached = BTreeSet::new();
        for target in targets {
            match target {
                Target::Module(module) if segment == "super" => reached.extend(self.parent(module)),
                Target::Module(module) => reached.extend(self.member(module, segment, seen)),
                Target::Foreign(path) => {
                    reached.insert(Target::Foreign([path, vec![segment.to_owned()]].concat()));
                }
                Target::Item(..) if has_module => {}
                Target::Item(..) => {
                    reached.insert(target);
                }
            }
        }
        reached
    }

    fn parent(&self, module: ModuleId) -> BTreeSet<Target> {
        self.modules[module.0].parent.map(Target::Module).into_iter().collect()
    }

    /// What a module has under a name, which it must have if the program compiles.
    fn member(&self, module: ModuleId, name: &str, seen: &mut Seen) -> BTreeSet<Target> {
        let found = self.lookup(module, name, seen);
        if found.is_empty() { BTreeSet::from([Target::Item(module, name.to_owned())]) } else { found }
    }

    /// What a module is seen to have under a name.
    fn lookup(&self, module: ModuleId, name: &str, seen: &mut Seen) -> BTreeSet<Target> {
        let here = &self.modules[module.0];
        let mut found: BTreeSet<Target> =
            here.children.get(name).map(|child| Target::Module(*child)).into_iter().collect();
        if here.definitions.contains_key(name) {
            found.insert(Target::Item(module, name.to_owned()));
        }
        if !seen.insert((module, name.to_owned())) {
            return found;
        }
        for import in here.imports.iter().filter(|import| import.name.as_deref() == Some(name)) {
            found.extend(self.resolve(module, &import.mention.path, seen));
        }
        // A name of its own hides what globs bring, unless it is a module: functions may be called like modules.
        if found.iter().all(|target| as_module(target).is_some()) {
            found.extend(self.look_through_globs(module, name, seen));
        }
        found
    }

    fn look_through_globs(&self, module: ModuleId, name: &str, seen: &mut Seen) -> BTreeSet<Target> {
        let mut found = BTreeSet::new();
        let mut open = BTreeSet::new();
        let globs = self.modules[module.0].imports.iter().filter(|import| import.name.is_none());
        for glob in globs {
            for target in self.resolve(module, &glob.mention.path, seen) {
                match target {
                    Target::Module(opened) => found.extend(self.lookup(opened, name, seen)),
                    Target::Item(home, item) => {
                        let variants = self.modules[home.0].definitions.get(&item);
                        if variants.is_some_and(|variants| variants.contains(name)) {
                            found.insert(Target::Item(home, item));
                        }
                    }
                    Target::Foreign(path) => {
                        open.insert(Target::Foreign([path, vec![name.to_owned()]].concat()));
                    }
                }
            }
        }
        if found.is_empty() { open } else { found }
    }
}

fn as_module(target: &Target) -> Option<ModuleId> {
    match target {
        Target::Module(module) => Some(*module),
        Target::Item(..) | Target::Foreign(_) => None,
    }
}
