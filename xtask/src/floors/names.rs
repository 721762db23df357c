//! Names of types that are defined more than once: those that `FLOORS` keeps for one file, of all crates, and a list of the others.

use super::order::FileType;
use super::source::{Definition, FileId, Source};
use std::collections::{BTreeMap, BTreeSet};

/// Sentences on types that bear a name which the `FLOORS` of a crate keeps for one of its files.
pub(crate) fn taken_twice(keeper: &Source, kept: &[FileType], crates: &[&Source]) -> Vec<String> {
    let mut found = Vec::new();
    for kept in kept {
        let (home, others): (Vec<_>, Vec<_>) = crates
            .iter()
            .flat_map(|source| definitions(source))
            .filter(|(_, _, definition)| definition.name == kept.type_name)
            .partition(|(source, file, _)| {
                source.name == keeper.name && format!("{}.rs", source.place(*file)) == kept.file
            });
        found.extend(others.iter().map(|(source, file, definition)| {
            format!(
                "{}:{}: a second {}, beside that of {}/src/{}: find a name of its own",
                source.shown(*file),
                definition.line,
                kept.type_name,
                keeper.name,
                kept.file
            )
        }));
        if home.is_empty() {
            found.push(format!(
                "{}/FLOORS:{}: {} defines no type {}: correct it, or take it away",
                keeper.name, kept.line, kept.file, kept.type_name
            ));
        }
    }
    found
}

/// The names that types of several files of a crate bear, those of most files first, each with the files.
pub(crate) fn repeated(source: &Source) -> Vec<String> {
    let mut files: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (source, file, definition) in definitions(source) {
        files.entry(&definition.name).or_default().insert(source.place(file).to_owned());
    }
    let mut several: Vec<_> = files.into_iter().filter(|(_, files)| files.len() > 1).collect();
    several.sort_by_key(|(_, files)| std::cmp::Reverse(files.len()));
    let show = |(name, files): (&str, BTreeSet<String>)| {
        let files: Vec<String> = files.into_iter().collect();
        format!("{}: {name}: {}", source.name, files.join(" "))
    };
    several.into_iter().map(show).collect()
}

fn definitions(source: &Source) -> impl Iterator<Item = (&Source, FileId, &Definition)> {
    let modules = source.modules.iter();
    modules
        .flat_map(move |module| module.types.iter().map(move |definition| (source, module.file, definition)))
}
