//! Order of modules: what a crate's `FLOORS` says, and where each file stands in it.
//!
//! ```text
//! # A line is a module of the root; what stands above may know what stands below.
//! base
//! # The rooms of a folder, bottom up: files or folders there, `*` for all that is not named, `mod` for the folder's own file.
//! # Without `mod`, that one belongs to `*`, or stands above all where there is no `*`.
//! model: ids nocopy registry/kind * envelope
//! # Two that must not know each other.
//! node pe
//! # Re-exports: who imports through them depends on what is behind.
//! doors: lib prelude
//! # A file with an inherent `impl` for types of a lower floor.
//! may extend: node/post.rs Queue
//! # What a module, folder or file takes of no other crate, and all that stands below it; what macros bring by its bare name.
//! never in model base/spsc: std::thread std::time::Instant thread_local
//! # What these take, and nobody else; `*` is the whole crate.
//! only in base/clock: std::time::Instant::now
//! # A type whose name no other file of any crate may give to one of its own.
//! defined once: base/place.rs Place
//! ```
//!
//! Files of one room, or of a module without rooms, may know each other as long as that makes no circle.

use super::outside::{Kind, Rule};
use super::source::is_within;

/// The order of a crate's modules.
#[derive(Default)]
pub(crate) struct Order {
    floors: Vec<Floor>,
    doors: Vec<Entry>,
    /// Inherent `impl` blocks that are allowed.
    pub(crate) permits: Vec<FileType>,
    /// Types whose names are theirs alone.
    pub(crate) unique: Vec<FileType>,
    pub(crate) rules: Vec<Rule>,
}

struct Floor {
    modules: Vec<Entry>,
    rooms: Vec<Entry>,
}

/// A name and the line that has it.
struct Entry {
    name: String,
    line: usize,
}

/// A file and the name of a type.
pub(crate) struct FileType {
    pub(crate) file: String,
    pub(crate) type_name: String,
    pub(crate) line: usize,
}

/// Where a file stands.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    pub(crate) floor: usize,
    module: usize,
    room: usize,
}

impl Position {
    /// Whether what stands here may know what stands there.
    pub(crate) fn may_know(self, other: Self) -> bool {
        self.floor > other.floor || self.is_beside(other) && self.room >= other.room
    }

    /// Whether both are of one module. Doors count as one.
    pub(crate) fn is_beside(self, other: Self) -> bool {
        self.floor == other.floor && self.module == other.module
    }
}

impl Order {
    /// Reads the text of `path`; adds a sentence to `faults` for each line that says nothing.
    pub(crate) fn parse(path: &str, text: &str, faults: &mut Vec<String>) -> Self {
        let mut order = Self::default();
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            if let Err(fault) = order.read_line(line, text) {
                faults.push(format!("{path}:{line}: {fault}"));
            }
        }
        for (entry, count) in order.repeated() {
            faults
                .push(format!("{path}:{}: `{}` stands here {count} times: keep one", entry.line, entry.name));
        }
        order
    }

    fn read_line(&mut self, line: usize, text: &str) -> Result<(), String> {
        let entries = |names: &str| -> Vec<Entry> {
            names.split_whitespace().map(|name| Entry { name: name.to_owned(), line }).collect()
        };
        let head = text.split_once(':');
        if let Some((places, paths)) = head
            && let Some((kind, places)) = rule(places)
        {
            let rule = Rule::parse(kind, places, paths, line)
                .ok_or("this forbids nothing: write `never in MODULE: CRATE::PATH`, or `only in ..`")?;
            self.rules.push(rule);
            return Ok(());
        }
        match head {
            Some(("may extend", what)) => self
                .permits
                .extend(file_types(what, line).ok_or("this permits nothing: write `may extend: FILE TYPE`")?),
            Some(("defined once", what)) => self
                .unique
                .extend(file_types(what, line).ok_or("this keeps no name: write `defined once: FILE TYPE`")?),
            Some(("doors", names)) => self.doors.extend(entries(names)),
            Some((name, rooms)) => {
                let floor = Floor { modules: entries(name), rooms: entries(rooms) };
                if floor.modules.len() != 1 || floor.rooms.is_empty() {
                    let cure = "write `MODULE: ROOM ..`";
                    return Err(format!(
                        "a colon stands between one module and the order of its rooms: {cure}"
                    ));
                }
                self.floors.push(floor);
            }
            None if text.contains('/') => {
                return Err(
                    "floors are modules of the root: write rooms behind their module and a colon".to_owned()
                );
            }
            None => self.floors.push(Floor { modules: entries(text), rooms: Vec::new() }),
        }
        Ok(())
    }

    /// What is named more than once: modules, and rooms of one module.
    fn repeated(&self) -> Vec<(&Entry, usize)> {
        let modules = self.modules().map(|(_, _, entry)| entry).collect();
        let rooms = self.floors.iter().map(|floor| floor.rooms.iter().collect());
        let mut found = Vec::new();
        for names in std::iter::once(modules).chain(rooms) {
            let names: Vec<&Entry> = names;
            for (index, entry) in names.iter().enumerate() {
                let same = |others: &[&Entry]| others.iter().filter(|other| other.name == entry.name).count();
                if same(&names[index..]) == 1 && same(&names[..index]) > 0 {
                    found.push((*entry, same(&names)));
                }
            }
        }
        found
    }

    /// All modules with their floors and their places on them; the doors stand on the last floor, in one place.
    fn modules(&self) -> impl Iterator<Item = (usize, usize, &Entry)> {
        let doors = self.doors.iter().map(|door| (self.floors.len(), 0, door));
        let floors = self.floors.iter().enumerate().flat_map(|(floor, line)| {
            line.modules.iter().enumerate().map(move |(module, entry)| (floor, module, entry))
        });
        floors.chain(doors)
    }

    /// Where the file of a place stands; none if `FLOORS` has no place for it.
    pub(crate) fn position(&self, place: &str) -> Option<Position> {
        let (floor, module, entry) = self.modules().find(|(_, _, entry)| is_within(place, &entry.name))?;
        let room = match self.floors.get(floor) {
            Some(line) if !line.rooms.is_empty() => {
                line.room(place[entry.name.len()..].trim_start_matches('/'))?
            }
            _ => 0,
        };
        Some(Position { floor, module, room })
    }

    /// Sentences on entries that stand for none of the places.
    pub(crate) fn stale(&self, path: &str, places: &[&str]) -> Vec<String> {
        let mut found = Vec::new();
        let is_there = |name: &str| places.iter().any(|place| is_within(place, name));
        for (rule, place) in
            self.rules.iter().flat_map(|rule| rule.places.iter().map(move |place| (rule, place)))
        {
            if place != "*" && !is_there(place) {
                found.push(format!(
                    "{path}:{}: `{place}` names no file or folder: correct it, or take it away",
                    rule.line
                ));
            }
        }
        let say = |entry: &Entry, what: &str| {
            format!("{path}:{}: `{}` names no {what}: correct it, or take it away", entry.line, entry.name)
        };
        for (floor, _, entry) in self.modules() {
            if !is_there(&entry.name) {
                found.push(say(entry, "module"));
                continue;
            }
            let rooms = self.floors.get(floor).map_or(&[][..], |floor| &floor.rooms);
            let is_empty =
                |room: &&Entry| room.name != "*" && !is_there(&format!("{}/{}", entry.name, room.name));
            found.extend(rooms.iter().filter(is_empty).map(|room| say(room, "file or folder there")));
        }
        found
    }

    /// Whether a module has a place.
    pub(crate) fn has(&self, module: &str) -> bool {
        self.modules().any(|(_, _, entry)| entry.name == module)
    }

    /// What each floor is called, bottom up.
    pub(crate) fn names(&self) -> Vec<String> {
        let name =
            |entries: &[Entry]| entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(" ");
        let mut names: Vec<String> = self.floors.iter().map(|floor| name(&floor.modules)).collect();
        if !self.doors.is_empty() {
            names.push(name(&self.doors));
        }
        names
    }
}

/// The kind and the places of a rule on what stands outside.
fn rule(head: &str) -> Option<(Kind, &str)> {
    let never = head.strip_prefix("never in ").map(|places| (Kind::Never, places));
    never.or_else(|| head.strip_prefix("only in ").map(|places| (Kind::Only, places)))
}

/// Types of one file.
fn file_types(text: &str, line: usize) -> Option<Vec<FileType>> {
    let mut names = text.split_whitespace();
    let file = names.next()?;
    let types: Vec<FileType> =
        names.map(|name| FileType { file: file.to_owned(), type_name: name.to_owned(), line }).collect();
    (!types.is_empty()).then_some(types)
}

impl Floor {
    /// The room of a file: that of the longest entry that holds it. Without one of its own, the folder's file stands above all.
    fn room(&self, place: &str) -> Option<usize> {
        let holding = self.rooms.iter().enumerate().filter(|(_, room)| is_within(place, &room.name));
        let named = holding.max_by_key(|(_, room)| room.name.len()).map(|(index, _)| index);
        let others = || self.rooms.iter().position(|room| room.name == "*");
        let top = || matches!(place, "" | "mod" | "main").then_some(self.rooms.len());
        named.or_else(others).or_else(top)
    }
}
