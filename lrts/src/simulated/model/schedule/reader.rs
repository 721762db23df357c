//! Reader of schedules: `num_ranks N`, then for each host `rank K { .. }` with operations (`l1: send 8b to 3 tag 0`, `l2: recv 8b from 1`,
//! `l3: calc 100 cpu 1`) and what they wait for (`l2 requires l1`, `l2 irequires l1`).

use super::{Kind, Operation, Schedule};
use std::collections::BTreeMap;

impl Schedule {
    /// Reads a schedule.
    ///
    /// # Panics
    /// At the first line that is none.
    pub(super) fn read(text: &str) -> Self {
        let mut schedule = Self(Vec::new());
        let (mut host, mut names) = (0, BTreeMap::new());
        for line in text.lines() {
            let line = line.split("//").next().unwrap_or(line);
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] | ["}"] => {}
                ["num_ranks", hosts] => schedule.0.resize(number(hosts), Vec::new()),
                ["rank", rank, "{"] => (host, names) = (number(rank), BTreeMap::new()),
                [later, "requires", earlier] => {
                    schedule.wait(host, names[later], |of| &mut of.after_end, names[earlier]);
                }
                [later, "irequires", earlier] => {
                    schedule.wait(host, names[later], |of| &mut of.after_begin, names[earlier]);
                }
                [label, ..] if label.ends_with(':') => {
                    names.insert(label.trim_end_matches(':').to_owned(), schedule.0[host].len());
                    schedule.0[host].push(operation(&words[1..]));
                }
                _ => schedule.0[host].push(operation(&words)),
            }
        }
        schedule
    }

    fn wait(
        &mut self,
        host: usize,
        later: usize,
        list: fn(&mut Operation) -> &mut Vec<usize>,
        earlier: usize,
    ) {
        self.0[host][later].missing += 1;
        list(&mut self.0[host][earlier]).push(later);
    }
}

fn operation(words: &[&str]) -> Operation {
    let (does, options) = words.split_at(words.len().min(if words[0] == "calc" { 2 } else { 4 }));
    let option = |name: &str| options.chunks(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
    let any = |word: &str| (word != "-1").then(|| number(word));
    let tag = option("tag").map_or(Some(0), any).map(|tag| tag as u32);
    let bytes = |word: &str| number(word.trim_end_matches('b'));
    let kind = match does {
        ["send", size, "to", host] => {
            Kind::Send { bytes: bytes(size), target: number(host), tag: tag.expect("a send has a tag") }
        }
        ["recv", size, "from", host] => Kind::Receive { bytes: bytes(size), source: any(host), tag },
        ["calc", time] => Kind::Compute { time_ns: number(time) as u64 },
        _ => panic!("{words:?} is no operation"),
    };
    let which = |name: &str| option(name).map_or(0, number);
    Operation {
        kind,
        processor: which("cpu"),
        interface: which("nic"),
        missing: 0,
        after_end: Vec::new(),
        after_begin: Vec::new(),
    }
}

fn number(word: &str) -> usize {
    word.parse().unwrap_or_else(|_| panic!("{word} is no number"))
}
