//! Rules of what files may take from outside the crate, `never in model: std::thread` and `only in ambient: std::time::Instant::now`,
//! and who breaks them.

use super::resolve::Taken;
use super::source::{Source, is_within};
use std::collections::BTreeSet;

/// A line of `FLOORS` on what stands outside.
pub(crate) struct Rule {
    pub(crate) kind: Kind,
    /// Modules, folders or files; `*` is the whole crate.
    pub(crate) places: Vec<String>,
    /// What is taken, or all that stands below it.
    paths: Vec<Vec<String>>,
    pub(crate) line: usize,
}

/// Whom a rule forbids what it names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its places.
    Never,
    /// All others.
    Only,
}

impl Rule {
    /// Reads the places and the paths of a rule; `None` if one of them is missing.
    pub(crate) fn parse(kind: Kind, places: &str, paths: &str, line: usize) -> Option<Self> {
        let places: Vec<String> = places.split_whitespace().map(str::to_owned).collect();
        let paths: Vec<Vec<String>> = paths.split_whitespace().map(segments).collect();
        (!places.is_empty() && !paths.is_empty()).then_some(Self { kind, places, paths, line })
    }

    /// Whether a file may not take what this names.
    fn forbids(&self, place: &str) -> bool {
        let is_named = self.places.iter().any(|named| named == "*" || is_within(place, named));
        is_named == (self.kind == Kind::Never)
    }

    /// What of it is taken.
    fn matched(&self, taken: &Taken) -> Option<&[String]> {
        let is_within = |path: &&Vec<String>| {
            taken.path.starts_with(path) || taken.is_glob && path.starts_with(&taken.path)
        };
        self.paths.iter().find(is_within).map(Vec::as_slice)
    }
}

fn segments(path: &str) -> Vec<String> {
    path.split("::").map(str::to_owned).collect()
}

/// Sentences on files that take what they may not, and on places that a rule allows what they do not take.
pub(crate) fn broken(path: &str, source: &Source, rules: &[Rule], taken: &[Taken]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for rule in rules {
        for taken in taken {
            let place = source.place(taken.file);
            if let (true, Some(matched)) = (rule.forbids(place), rule.matched(taken)) {
                let glob = if taken.is_glob { "::*" } else { "" };
                let shown = format!("{}:{}", source.shown(taken.file), taken.line);
                found.insert((shown, taken.path.join("::") + glob, rule.line, matched.join("::")));
            }
        }
    }
    let broken = found.into_iter().map(|(shown, taken, line, matched)| {
        format!("{shown}: {taken} is not for it: {path}:{line} keeps {matched} out")
    });
    broken.chain(rules.iter().flat_map(|rule| unused(path, source, rule, taken))).collect()
}

fn unused(path: &str, source: &Source, rule: &Rule, taken: &[Taken]) -> Vec<String> {
    if rule.kind == Kind::Never {
        return Vec::new();
    }
    let takes = |place: &&String| {
        taken.iter().any(|taken| is_within(source.place(taken.file), place) && rule.matched(taken).is_some())
    };
    let idle = rule.places.iter().filter(|place| !takes(place));
    idle.map(|place| format!("{path}:{}: {place} takes nothing of it: take it away", rule.line)).collect()
}
