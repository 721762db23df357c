//! Tables of what a node's PEs have counted, for `+stats` and `+times`: within 100 columns, each row with a name of its own, as the lines of
//! several processes may come mixed.

use crate::base::counters::Counters;
use crate::node::entry_times::{EntryName, Spent};
use std::time::Duration;

/// Columns of a terminal that the tables keep to.
const COLUMNS: usize = 100;

/// The columns of what everything counts, and of passes over layouts.
const COUNTED: [&str; 7] = ["sent", "entries", "bytes", "encodes", "copies", "copied", "idle"];
const LAYOUTS: [&str; 5] = ["stepped", "packed", "sieved", "vectored", "helped"];

/// A set of counters as a row: of a PE, or of what happens on a node outside of its PEs.
pub(super) struct Row<'a> {
    pub(super) name: String,
    pub(super) counters: &'a Counters,
    /// Whether the time without work means something: that of a PE.
    pub(super) is_pe: bool,
}

/// The rows of a node and their sum: what all of them count, and, where there is any, what they did with layouts.
pub(super) fn counted(node: &str, rows: &[Row<'_>], lifetime: Duration) -> String {
    let lifetime_ns = (lifetime.as_nanos() as u64).max(1);
    let percent = |idle_ns: u64, pes: u64| format!("{} %", idle_ns * 100 / lifetime_ns / pes.max(1));
    let mut sums = [0; 7];
    let mut layout_sums = [0; 5];
    let (mut cells, mut layout_cells) = (Vec::new(), Vec::new());
    for Row { name, counters, is_pe } in rows {
        let (figures, layouts) = (counters.figures(), counters.layouts());
        sums.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        layout_sums.iter_mut().zip(layouts).for_each(|(sum, figure)| *sum += figure);
        let idle = if *is_pe { percent(figures[6], 1) } else { "-".to_owned() };
        cells.push(row(name.clone(), &figures[..6], Some(idle)));
        layout_cells.push(row(format!("{name}, layouts"), &layouts, None));
    }
    let pes = rows.iter().filter(|row| row.is_pe).count() as u64;
    cells.push(row(format!("{node} in all"), &sums[..6], Some(percent(sums[6], pes))));
    layout_cells.push(row(format!("{node} in all, layouts"), &layout_sums, None));
    let mut text = aligned(head(node.to_owned(), &COUNTED), cells);
    if layout_sums.iter().any(|sum| *sum > 0) {
        text += &aligned(head(format!("{node}, layouts"), &LAYOUTS), layout_cells);
    }
    text
}

fn head(name: String, columns: &[&str]) -> Vec<String> {
    [name].into_iter().chain(columns.iter().map(|column| (*column).to_owned())).collect()
}

fn row(name: String, figures: &[u64], last: Option<String>) -> Vec<String> {
    [name].into_iter().chain(figures.iter().map(u64::to_string)).chain(last).collect()
}

/// The cells in columns: names to the left, numbers to the right.
fn aligned(head: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let lines: Vec<Vec<String>> = [head].into_iter().chain(rows).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let numbers = cells.iter().zip(&widths).skip(1);
        let numbers: String = numbers.map(|(cell, width)| format!("  {cell:>width$}")).collect();
        format!("{:<width$}{numbers}\n", cells[0], width = widths[0])
    };
    lines.iter().map(line).collect()
}

/// Where the time of a node's entries went: the longest first, with their part of the time of all its PEs.
pub(super) fn times(node: &str, entries: &[(EntryName, Spent)], of_all: Duration) -> String {
    let line = |spent: &Spent, name: &str| {
        let mean = spent.time.checked_div(spent.runs.try_into().unwrap_or(u32::MAX)).unwrap_or_default();
        let share = spent.time.as_secs_f64() * 100.0 / of_all.as_secs_f64().max(f64::MIN_POSITIVE);
        let (time, mean) = (readable(spent.time), readable(mean));
        let before = format!("{node} ran  {:>11}  {time:>9}  {mean:>9}  {share:>5.1} %  ", spent.runs);
        format!("{before}{}\n", shortened(name, COLUMNS.saturating_sub(before.len())))
    };
    let mut all = Spent::default();
    entries.iter().for_each(|(_, spent)| all.add(*spent));
    let mut text =
        format!("{node}      {:>11}  {:>9}  {:>9}  {:>7}  entry\n", "runs", "time", "mean", "of PEs");
    for ((chare, entry), spent) in entries {
        let name = if chare.is_empty() { (*entry).to_owned() } else { format!("{chare}::{entry}") };
        text += &line(spent, &name);
    }
    text + &line(&all, "in all")
}

/// A name in so many columns: of a long one, the end.
fn shortened(name: &str, columns: usize) -> String {
    let letters = name.chars().count();
    if letters <= columns {
        return name.to_owned();
    }
    let end: String = name.chars().skip(letters - columns.saturating_sub(2)).collect();
    format!("..{end}")
}

/// A time with three digits and its unit.
fn readable(time: Duration) -> String {
    let ns = time.as_nanos() as f64;
    let (number, unit) = match ns {
        ns if ns < 1e3 => return format!("{ns:.0} ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    let digits = [10.0, 100.0].into_iter().filter(|bound| number < *bound).count();
    format!("{number:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_in_columns_with_their_sum() {
        let [first, second, outside] = [(); 3].map(|()| Counters::default());
        first.sent.add(7_000_000_000);
        first.idle_ns.add(500);
        second.sent.add(3);
        second.bytes.add(9_000_000_000_000);
        second.idle_ns.add(1_000);
        outside.count_copy(8_000_000_000_000);
        let row = |name: &str, counters, is_pe| Row { name: name.to_owned(), counters, is_pe };
        let rows =
            [row("PE 12", &first, true), row("PE 13", &second, true), row("node 6 outside", &outside, false)];
        let text = counted("node 6", &rows, Duration::from_nanos(1_000));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "no layouts: {text}");
        assert!(lines.iter().all(|line| line.len() == lines[0].len() && line.len() <= COLUMNS), "{text}");
        let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(0), "node 6 sent entries bytes encodes copies copied idle");
        assert_eq!(words(1), "PE 12 7000000000 0 0 0 0 0 50 %");
        assert_eq!(words(3), "node 6 outside 0 0 0 0 1 8000000000000 -");
        assert_eq!(words(4), "node 6 in all 7000000003 0 9000000000000 0 1 8000000000000 75 %");
        second.packed.add(4);
        let rows = [row("PE 13", &second, true)];
        let text = counted("node 6", &rows, Duration::from_nanos(1_000));
        let layouts: Vec<String> = text
            .lines()
            .filter(|line| line.contains("layouts"))
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let told = ["node 6, layouts stepped packed sieved vectored helped", "PE 13, layouts 0 4 0 0 0"];
        assert_eq!(layouts[..2], told);
        assert_eq!(layouts[2], "node 6 in all, layouts 0 4 0 0 0");
    }

    #[test]
    fn times_of_entries_fit_and_are_summed_up() {
        let spent = |runs, us| Spent { runs, time: Duration::from_micros(us) };
        let long = "a_crate_with_a_name::and_a_module_with_a_longer_one::Chare";
        let entries = [((long, "sweep"), spent(1_000, 250_000)), (("", "main"), spent(2, 3))];
        let text = times("node 0", &entries, Duration::from_millis(500));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= COLUMNS), "{text}");
        let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words(0), "node 0 runs time mean of PEs entry");
        assert!(words(1).starts_with("node 0 ran 1000 250 ms 250 us 50.0 % .."), "{text}");
        assert!(words(1).ends_with("_one::Chare::sweep"), "{text}");
        assert_eq!(words(2), "node 0 ran 2 3.00 us 1.50 us 0.0 % main");
        assert_eq!(words(3), "node 0 ran 1002 250 ms 250 us 50.0 % in all");
        let column = |line: usize, word: &str| lines[line].find(word).map(|at| at + word.len());
        assert_eq!(column(0, "runs"), column(1, "1000"), "{text}");
    }
}
