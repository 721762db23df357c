//! Marks of a campaign: the places that protocols call rare (`sometimes!("..")` in the sources), and how often jobs came there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Seeds from which on a campaign of all programs is to reach every mark.
pub(super) const SEEDS_MIN: u64 = 1_000;

/// How a mark begins in the sources.
const BEGIN: &str = "sometimes!(\"";

/// The marks of a tree, and their hits.
pub(super) struct Marks(BTreeMap<String, u64>);

impl Marks {
    /// Those that the sources of a tree have, none of them passed yet.
    pub(super) fn of_tree(tree: &Path) -> Self {
        let mut marks = BTreeMap::new();
        for folder in ["runtime/src", "lrts/src"] {
            read(&tree.join(folder), &mut marks);
        }
        Self(marks)
    }

    /// Adds lines of hits and marks, as test binaries write them.
    pub(super) fn add(&mut self, lines: &str) {
        for line in lines.lines() {
            if let Some((hits, mark)) = line.split_once(' ')
                && let Ok(hits) = hits.parse::<u64>()
                && let Some(sum) = self.0.get_mut(mark)
            {
                *sum += hits;
            }
        }
    }

    /// Prints the table, rarest first; returns how many were never passed.
    pub(super) fn print(&self) -> usize {
        let mut rows: Vec<(u64, &str)> = self.0.iter().map(|(mark, hits)| (*hits, mark.as_str())).collect();
        rows.sort_unstable();
        println!("\n{:>12}  mark", "hits");
        rows.iter().for_each(|(hits, mark)| println!("{hits:>12}  {mark}"));
        rows.iter().filter(|(hits, _)| *hits == 0).count()
    }
}

/// Reads the marks of a folder's sources. Those of the macro's own file are examples.
fn read(folder: &Path, marks: &mut BTreeMap<String, u64>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            read(&path, marks);
        } else if path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("ambient/marks.rs")
        {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let found = text.split(BEGIN).skip(1).filter_map(|rest| rest.split_once('"'));
            marks.extend(found.map(|(mark, _)| (mark.to_owned(), 0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::root;

    #[test]
    fn the_marks_of_the_tree_are_found_and_counted() {
        let mut marks = Marks::of_tree(root());
        assert!(marks.0.len() >= 40, "{:?}", marks.0);
        let before = marks.print();
        marks.add(
            "3 a message waited for credit\ntest some::test\n1 no mark\n2 a message waited for credit\n",
        );
        assert_eq!(marks.0["a message waited for credit"], 5);
        assert_eq!(marks.print(), before - 1);
    }
}
