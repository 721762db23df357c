//! Report of a check, as lines of text.

use super::check::{Checked, Upward};
use super::resolve::Names;
use super::source::{FileId, Source, is_within};
use std::collections::BTreeMap;

/// All errors of a crate, and its last line.
pub(crate) fn errors(checked: &Checked) -> Vec<String> {
    let mut lines = checked.faults.clone();
    lines.extend(checked.extensions.iter().cloned());
    lines.extend(checked.taken.iter().cloned());
    lines.extend(checked.upward.iter().flat_map(|upward| show_upward(&checked.source, upward)));
    lines.sort_by_cached_key(|line| (position(line), line.clone()));
    for circle in &checked.circles {
        lines.extend(show_circle(checked, circle));
    }
    lines.push(format!(
        "{}: {} files, {} arrows, {} up, {} circles, {} from outside",
        checked.source.name,
        grouped(checked.source.files.len()),
        grouped(checked.arrows.len()),
        grouped(checked.upward.len()),
        grouped(checked.circles.len()),
        grouped(checked.taken.len()),
    ));
    lines
}

/// How many arrows lead from each floor to each, as a table.
pub(crate) fn table(checked: &Checked) -> Vec<String> {
    let Some(order) = &checked.order else {
        return Vec::new();
    };
    let names = order.names();
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (from, to) in checked.arrows.keys() {
        let floor = |file| order.position(checked.source.place(file)).map(|position| position.floor);
        if let (Some(from), Some(to)) = (floor(*from), floor(*to)) {
            *counts.entry((from, to)).or_default() += 1;
        }
    }
    let width = names.iter().map(String::len).max().unwrap_or_default();
    let numbers: String = (1..=names.len()).map(|number| format!("{number:>6}")).collect();
    let mut lines = vec![format!("{}: arrows from a floor (line) to a floor (column)", checked.source.name)];
    lines.push(format!("{:>4} {:<width$}{numbers}", "", ""));
    for (from, name) in names.iter().enumerate().rev() {
        let cells: String = (0..names.len()).map(|to| cell(counts.get(&(from, to)))).collect();
        lines.push(format!("{:>4} {name:<width$}{cells}", from + 1));
    }
    lines
}

fn cell(count: Option<&usize>) -> String {
    count.map_or(format!("{:>6}", "."), |count| format!("{count:>6}"))
}

/// The arrows from one place to another, or `None` if the crate lacks one of them.
pub(crate) fn why(checked: &Checked, from: &str, to: &str) -> Option<Vec<String>> {
    let source = &checked.source;
    let holds =
        |place: &str| (0..source.files.len()).any(|file| is_within(source.place(FileId(file)), place));
    if !(holds(from) && holds(to)) {
        return None;
    }
    let arrows = checked.arrows.iter();
    let wanted = arrows.filter(|((here, there), _)| {
        is_within(source.place(*here), from) && is_within(source.place(*there), to)
    });
    Some(sorted(wanted.map(|((here, there), names)| show_arrow(source, *here, *there, names)).collect()))
}

fn show_upward(source: &Source, upward: &Upward) -> Vec<String> {
    let mut by_line: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (name, line) in &upward.names {
        by_line.entry(*line).or_default().push(name);
    }
    let show = |(line, names): (usize, Vec<&str>)| {
        let Upward { from, to, .. } = upward;
        format!("{}:{line}: {from} must not know {to} ({})", source.shown(upward.file), names.join(", "))
    };
    by_line.into_iter().map(show).collect()
}

fn show_circle(checked: &Checked, circle: &[FileId]) -> Vec<String> {
    let arrows = checked.arrows.iter();
    let inside = arrows.filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
    let shown: Vec<String> =
        inside.map(|((from, to), names)| show_arrow(&checked.source, *from, *to, names)).collect();
    let name = &checked.source.name;
    let mut lines = vec![format!("{name}: a circle of {} files, {} arrows:", circle.len(), shown.len())];
    lines.extend(sorted(shown).into_iter().map(|line| format!("  {line}")));
    lines
}

fn show_arrow(source: &Source, from: FileId, to: FileId, names: &Names) -> String {
    let line = names.values().min().expect("an arrow has a name");
    let names: Vec<&str> = names.keys().map(String::as_str).collect();
    format!("{}:{line}: {} ({})", source.shown(from), source.place(to), names.join(", "))
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort_by_cached_key(|line| (position(line), line.clone()));
    lines
}

/// The file and the line that a sentence begins with.
fn position(sentence: &str) -> (String, usize) {
    let mut parts = sentence.splitn(3, ':');
    let file = parts.next().unwrap_or_default().to_owned();
    (file, parts.next().and_then(|line| line.parse().ok()).unwrap_or_default())
}

/// A number with commas between its thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    groups.iter().map(|group| String::from_utf8_lossy(group)).collect::<Vec<_>>().join(",")
}
