//! Summary as text for a terminal: tables with their columns aligned, and bars.

use crate::rows::{MessageRow, MoveRow, Share};
use crate::summary::Summary;
use crate::units::time;
use std::collections::BTreeMap;

/// Letters of the longest bar.
const BAR: usize = 40;
/// Above this number of PEs their messages are told in the CSV alone.
const PES_SHOWN_MAX: usize = 16;

/// Describes a summary; of the entries, so many of those that took most time.
pub fn describe(summary: &Summary, entries: usize) -> String {
    let sections = [
        head(summary),
        profile(summary),
        pes(summary),
        entry_table(summary, entries),
        own(summary),
        counters(summary),
        longest(summary),
        grains(summary),
        messages(summary),
        moves(summary),
        network(summary),
    ];
    let said: Vec<String> = sections.into_iter().filter(|section| !section.is_empty()).collect();
    said.join("\n")
}

fn head(summary: &Summary) -> String {
    let messages: u64 = summary.messages.iter().map(|row| row.messages).sum();
    let calls: u64 = summary.pes.iter().map(|row| row.entries).sum();
    let mut text = format!(
        "{} PEs, {}: {calls} entries, {messages} messages between PEs",
        summary.pes.len(),
        time(summary.length_us)
    );
    if let Some(latency_us) = summary.latency_us {
        text += &format!(", half of which ran within {} of leaving", time(latency_us));
    }
    text.push('\n');
    if summary.single_ends > 0 {
        text += &format!("{} messages have one end alone in the trace\n", summary.single_ends);
    }
    if summary.dropped > 0 {
        text +=
            &format!("{} events are missing: they came faster than they could be written\n", summary.dropped);
    }
    text
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A bar of the parts of a share: program, runtime, scheduler; blank where idle.
fn bar(share: &Share) -> String {
    let letters = |share: f64| (share * BAR as f64).round() as usize;
    let (program, runtime, rest) = (letters(share.program), letters(share.runtime), letters(share.rest()));
    let bar = ["#".repeat(program), "+".repeat(runtime), "-".repeat(rest)].concat();
    format!("|{:BAR$}|", bar.chars().take(BAR).collect::<String>())
}

fn shares(name: String, share: &Share) -> Vec<String> {
    let parts = [share.program, share.runtime, share.rest(), share.idle].map(percent);
    [name].into_iter().chain(parts).chain([bar(share)]).collect()
}

const SHARES: [&str; 5] = ["program", "runtime", "scheduler", "idle", "# program, + runtime, - scheduler"];

fn profile(summary: &Summary) -> String {
    let width_us = summary.length_us / summary.profile.len() as f64;
    let rows =
        (0..).zip(&summary.profile).map(|(number, share)| shares(time(f64::from(number) * width_us), share));
    let columns: Vec<&str> = ["from"].into_iter().chain(SHARES).collect();
    table("Time profile, of all PEs together", &columns, rows.collect())
}

fn pes(summary: &Summary) -> String {
    let rows = summary.pes.iter().map(|row| shares(format!("PE {}", row.pe), &row.share));
    let columns: Vec<&str> = ["PE"].into_iter().chain(SHARES).collect();
    table("Time of each PE", &columns, rows.collect())
}

fn entry_table(summary: &Summary, entries: usize) -> String {
    let rows = summary.entries.iter().take(entries).map(|row| {
        let mean_us = row.own_us / row.calls as f64;
        let times = [time(row.own_us), percent(row.share), time(mean_us), time(row.longest_us)];
        [row.name.clone(), row.kind.clone(), row.calls.to_string()].into_iter().chain(times).collect()
    });
    let columns = ["entry", "kind", "calls", "time", "share", "mean", "longest"];
    table("Entries by time", &columns, rows.collect())
}

fn own(summary: &Summary) -> String {
    let rows = summary.own.iter().map(|row| {
        let mean_us = row.lasted_us / row.spans as f64;
        let times = [row.lasted_us, mean_us, row.longest_us].map(time);
        [row.name.clone(), row.spans.to_string()].into_iter().chain(times).collect()
    });
    table("Spans of the program's own", &["span", "spans", "time", "mean", "longest"], rows.collect())
}

fn counters(summary: &Summary) -> String {
    let rows = summary.counters.iter().map(|row| {
        let values = [row.least, row.most, row.last].map(|value| value.to_string());
        [row.name.clone(), format!("PE {}", row.pe), row.values.to_string()]
            .into_iter()
            .chain(values)
            .collect()
    });
    table("Counted by the program", &["counter", "on", "values", "least", "most", "last"], rows.collect())
}

fn moves(summary: &Summary) -> String {
    let row = |MoveRow { from, to, moves }: &MoveRow| {
        vec![format!("PE {from}"), format!("PE {to}"), moves.to_string()]
    };
    table("Moves of elements", &["from", "to", "elements"], summary.moves.iter().map(row).collect())
}

fn longest(summary: &Summary) -> String {
    let rows = summary.longest.iter().map(|row| {
        let place = [format!("PE {}", row.pe), time(row.begun_us)];
        [row.name.clone(), row.chare.clone(), time(row.own_us)].into_iter().chain(place).collect()
    });
    table("Longest runs", &["entry", "chare", "time", "on", "from"], rows.collect())
}

fn grains(summary: &Summary) -> String {
    let most = summary.grains.iter().map(|grain| grain.calls).max().unwrap_or(0).max(1);
    let rows = summary.grains.iter().map(|grain| {
        let length = (grain.calls as usize * BAR).div_ceil(most as usize);
        vec![
            time(grain.from_us),
            grain.calls.to_string(),
            time(grain.own_us),
            format!("|{:BAR$}|", "#".repeat(length)),
        ]
    });
    table(
        "Grain size: runs of the program's code by length",
        &["from", "runs", "time", "runs"],
        rows.collect(),
    )
}

fn messages(summary: &Summary) -> String {
    let pes = summary.pes.len();
    if summary.messages.is_empty() || pes > PES_SHOWN_MAX {
        return String::new();
    }
    let counts: BTreeMap<_, _> =
        summary.messages.iter().map(|MessageRow { from, to, messages }| ((*from, *to), *messages)).collect();
    let numbers: Vec<u32> = summary.pes.iter().map(|row| row.pe).collect();
    let rows = numbers.iter().map(|from| {
        let cell = |to: &u32| counts.get(&(*from, *to)).map_or_else(|| ".".to_owned(), u64::to_string);
        [format!("PE {from}")].into_iter().chain(numbers.iter().map(cell)).collect()
    });
    let names: Vec<String> = numbers.iter().map(|to| format!("PE {to}")).collect();
    let columns: Vec<&str> = ["from \\ to"].into_iter().chain(names.iter().map(String::as_str)).collect();
    table("Messages between PEs", &columns, rows.collect())
}

fn network(summary: &Summary) -> String {
    let rows = summary.network.iter().map(|row| {
        let numbers =
            [row.frames, row.frame_bytes, row.transfers, row.transfer_bytes].map(|number| number.to_string());
        [format!("node {}", row.from), format!("node {}", row.to)].into_iter().chain(numbers).collect()
    });
    let columns = ["from", "to", "frames", "bytes", "gets and puts", "bytes"];
    table("Traffic between nodes", &columns, rows.collect())
}

/// A text of a file as a terminal may have it: what would move the cursor or turn the line is spelled out.
fn printable(text: &str) -> String {
    let turns = |letter| matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let spell = |letter: char| match letter.is_control() || turns(letter) {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    };
    text.chars().map(spell).collect()
}

/// A table, with numbers to the right; empty without rows.
fn table(title: &str, columns: &[&str], rows: Vec<Vec<String>>) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let printables = |row: Vec<String>| row.iter().map(|cell| printable(cell)).collect::<Vec<_>>();
    let rows: Vec<_> = rows.into_iter().map(printables).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([columns[column].chars().count()]).max().unwrap_or(0)
    };
    let is_number = |column: usize| {
        rows.iter()
            .all(|row| row[column].starts_with(|letter: char| letter.is_ascii_digit() || letter == '.'))
    };
    let layout: Vec<(usize, bool)> =
        (0..columns.len()).map(|column| (width(column), is_number(column))).collect();
    let line = |cells: Vec<&str>| {
        let cells = cells.iter().zip(&layout).map(|(cell, (width, is_number))| match is_number {
            true => format!("{cell:>width$}"),
            false => format!("{cell:width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let lines = rows.iter().map(|row| line(row.iter().map(String::as_str).collect()));
    let lines: Vec<String> = [title.to_owned(), line(columns.to_vec())].into_iter().chain(lines).collect();
    lines.join("\n") + "\n"
}
