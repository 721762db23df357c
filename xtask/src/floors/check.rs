//! Check of a crate: its arrows against its order, its circles, the `impl` blocks that no arrow shows, and what it takes from outside.

use super::files::{self, Texts};
use super::order::{Order, Position};
use super::resolve::{self, Arrows, Names};
use super::source::{FileId, Source};
use super::{circles, names, outside};
use std::collections::BTreeMap;

/// A crate and all that is to say about it.
pub(crate) struct Checked {
    pub(crate) source: Source,
    pub(crate) arrows: Arrows,
    /// None without a `FLOORS`.
    pub(crate) order: Option<Order>,
    /// What is wrong with the files and with `FLOORS`, as sentences.
    pub(crate) faults: Vec<String>,
    pub(crate) upward: Vec<Upward>,
    pub(crate) circles: Vec<Vec<FileId>>,
    /// Inherent `impl` blocks that nothing allows, as sentences.
    pub(crate) extensions: Vec<String>,
    /// What is taken from outside against a rule, as sentences.
    pub(crate) taken: Vec<String>,
}

/// An arrow that does not lead down.
pub(crate) struct Upward {
    pub(crate) file: FileId,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) names: Names,
}

impl Checked {
    /// Reads and checks the crate of a folder, against the text of its `FLOORS`.
    pub(crate) fn new(name: &str, texts: &Texts, floors: Option<&str>) -> Self {
        let mut source = files::read(name, texts);
        let mut faults = std::mem::take(&mut source.faults);
        let path = format!("{name}/FLOORS");
        if floors.is_none() {
            faults.push(format!(
                "{path} is missing: write it, with the modules of {name}/src bottom up, one a line"
            ));
        }
        let order = floors.map(|text| Order::parse(&path, text, &mut faults));
        let arrows = resolve::arrows(&source);
        let circles = circles::find(source.files.len(), &arrows);
        let mut checked = Self {
            source,
            arrows,
            order: None,
            faults,
            upward: Vec::new(),
            circles,
            extensions: Vec::new(),
            taken: Vec::new(),
        };
        if let Some(order) = order {
            if checked.source.is_whole {
                checked.compare(&path, &order);
            }
            checked.order = Some(order);
        }
        checked
    }

    /// How many errors there are.
    pub(crate) fn errors(&self) -> usize {
        self.faults.len() + self.upward.len() + self.circles.len() + self.extensions.len() + self.taken.len()
    }

    fn compare(&mut self, path: &str, order: &Order) {
        let ids = || (0..self.source.files.len()).map(FileId);
        let places: Vec<&str> = ids().map(|file| self.source.place(file)).collect();
        self.faults.extend(order.stale(path, &places));
        let mut positions = BTreeMap::new();
        for file in ids() {
            match order.position(places[file.0]) {
                Some(position) => {
                    positions.insert(file, position);
                }
                None => self.faults.push(format!(
                    "{}: {path} has no place for it: write `{}` where it belongs",
                    self.source.shown(file),
                    missing(places[file.0], order)
                )),
            }
        }
        self.upward = self.upward(&places, &positions);
        self.extensions = self.forbidden(path, order, &places, &positions);
        self.taken = outside::broken(path, &self.source, &order.rules, &resolve::taken(&self.source));
    }

    fn upward(&self, places: &[&str], positions: &BTreeMap<FileId, Position>) -> Vec<Upward> {
        let mut found = Vec::new();
        for ((from, to), names) in &self.arrows {
            let (Some(here), Some(there)) = (positions.get(from), positions.get(to)) else {
                continue;
            };
            if here.may_know(*there) {
                continue;
            }
            let (from_place, to_place) = (places[from.0], places[to.0]);
            let (from_name, to_name) = if here.is_beside(*there) {
                (from_place, to_place)
            } else {
                (module(from_place), to_place.strip_suffix("/mod").unwrap_or(to_place))
            };
            found.push(Upward {
                file: *from,
                from: from_name.to_owned(),
                to: to_name.to_owned(),
                names: names.clone(),
            });
        }
        found
    }

    /// Sentences on `impl` blocks for types of lower floors, and on permits that nothing needs.
    fn forbidden(
        &self,
        path: &str,
        order: &Order,
        places: &[&str],
        positions: &BTreeMap<FileId, Position>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        let mut is_used = vec![false; order.permits.len()];
        for extension in resolve::extensions(&self.source) {
            let floor = |file| positions.get(&file).map(|position| position.floor);
            if floor(extension.file) <= floor(extension.defined_in) {
                continue;
            }
            let (file, name) = (format!("{}.rs", places[extension.file.0]), &extension.name);
            let permit =
                order.permits.iter().position(|permit| permit.file == file && permit.type_name == *name);
            match permit {
                Some(permit) => is_used[permit] = true,
                None => found.push(format!(
                    "{}:{}: an inherent `impl` for {name}, which {} defines: calls of its methods draw no arrow; write a \
                     function or a trait here, or `may extend: {file} {name}` in {path}",
                    self.source.shown(extension.file),
                    extension.line,
                    places[extension.defined_in.0],
                )),
            }
        }
        let unused = order.permits.iter().zip(&is_used).filter(|(_, is_used)| !**is_used);
        found.extend(unused.map(|(permit, _)| {
            format!(
                "{path}:{}: {} does not extend {} of a lower floor: take it away",
                permit.line, permit.file, permit.type_name
            )
        }));
        found
    }
}

/// Adds what is wrong with types that must be the only ones of their name, among all of these crates.
pub(crate) fn compare_names(crates: &mut [Checked]) {
    let sources: Vec<&Source> = crates.iter().map(|checked| &checked.source).collect();
    let twice = crates.iter().map(|checked| {
        let kept = checked.order.as_ref().map_or(&[][..], |order| &order.unique);
        names::taken_twice(&checked.source, kept, &sources)
    });
    let twice: Vec<Vec<String>> = twice.collect();
    for (checked, twice) in crates.iter_mut().zip(twice) {
        checked.faults.extend(twice);
    }
}

/// The top-level module of a place.
pub(crate) fn module(place: &str) -> &str {
    place.split('/').next().unwrap_or(place)
}

/// What `FLOORS` would have to say for a place: its module, or its room where the module has a line.
fn missing<'place>(place: &'place str, order: &Order) -> &'place str {
    let module = module(place);
    if order.has(module) {
        place.strip_prefix(module).unwrap_or(place).trim_start_matches('/')
    } else {
        module
    }
}
