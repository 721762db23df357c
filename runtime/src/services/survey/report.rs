//! Reports of what waits in a job, made of the answers of its PEs: who waits for what, with names.

use super::waits::{NAMED_MAX, Standing, Task, Together, Waits};
use crate::model::callback::{ErasedCallback, FutureId, Goal};
use crate::model::ids::{CollectionId, PeId};
use crate::model::registry::find_entry;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The reason for a survey, which decides what of it is worth telling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// Somebody asked: all is told.
    Request,
    /// Nothing has moved for a while, with so many messages in flight: told if all of them wait.
    Stuck { in_flight: u64 },
    /// Nothing is in flight, and nothing has moved for a while: told if what waits waits for nothing but the job itself.
    Quiet,
    /// `main` is over, and nothing is in flight: told if a future is awaited or a reduction has begun. The callback waits for it.
    End { callback: ErasedCallback },
}

/// The answers of PEs, by PE.
type Answers = [(PeId, Waits)];

/// The text of a report, or `None` if there is nothing worth telling. `pes` is the number of the job's PEs.
pub(super) fn tell(reason: Reason, answers: &Answers, pes: u32) -> Option<String> {
    let reductions = Reduction::all(answers);
    let sum = |count: fn(&Waits) -> u64| answers.iter().map(|(_, waits)| count(waits)).sum::<u64>();
    let (messages, tasks) = (sum(|waits| waits.messages), sum(|waits| waits.tasks_in_all));
    match reason {
        Reason::Request => {
            let head = "chare: what waits in this job, as was asked:\n".to_owned();
            let text = list(head, answers, &reductions, pes);
            Some(text + &closing(messages, tasks, reductions.len()))
        }
        Reason::Stuck { in_flight } => (messages == in_flight).then(|| {
            let head = format!(
                "chare: the job stands still, and all that is in flight ({in_flight} messages) waits for what does not exist:\n"
            );
            let text = list(head, answers, &reductions, pes);
            text + "the job goes on when it is created or posted; what was destroyed, or nobody creates, must not be called"
        }),
        Reason::Quiet => {
            let is_ours = sum(|waits| waits.tasks_for_others) == 0;
            (is_ours && tasks + reductions.len() as u64 > 0).then(|| {
                let head = "chare: the job stands still: nothing is in flight, no entry runs, and what waits can wait for ever:\n";
                list(head.to_owned(), answers, &reductions, pes).trim_end().to_owned()
            })
        }
        Reason::End { .. } => {
            let awaits_future = |(_, waits): &(PeId, Waits)| waits.tasks.iter().any(|task| !task.futures.is_empty());
            (answers.iter().any(awaits_future) || !reductions.is_empty()).then(|| {
                let head = "chare: `main` is over and nothing is in flight, so the job ends; this waited in vain:\n";
                list(head.to_owned(), answers, &reductions, pes).trim_end().to_owned()
            })
        }
    }
}

/// The last line of a report that was asked for.
fn closing(messages: u64, tasks: u64, reductions: usize) -> String {
    match (messages, tasks, reductions) {
        (0, 0, 0) => "nothing waits".to_owned(),
        _ => format!("in all: {messages} messages, {tasks} async entries, {reductions} reductions"),
    }
}

/// Lists what waits.
fn list(mut text: String, answers: &Answers, reductions: &[Reduction<'_>], pes: u32) -> String {
    let mut line = |words: String| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {words}");
    };
    let of_pe = |(pe, waits): &(PeId, Waits)| {
        let pe = *pe;
        waits.kinds.clone().into_iter().map(move |(what, count)| (count, pe, what))
    };
    let mut kinds: Vec<_> = answers.iter().flat_map(of_pe).collect();
    kinds.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.cmp(other)));
    let messages = answers.iter().map(|(_, waits)| waits.messages).sum::<u64>();
    let shown = kinds.iter().take(NAMED_MAX).map(|(count, ..)| count).sum::<u64>();
    kinds.iter().take(NAMED_MAX).for_each(|(count, pe, what)| line(format!("{count} x {what}, on {pe}")));
    if shown < messages {
        line(format!("and {} more", messages - shown));
    }
    let tasks: Vec<_> =
        answers.iter().flat_map(|(pe, waits)| waits.tasks.iter().map(|task| (*pe, task))).collect();
    for (pe, task) in tasks.iter().take(NAMED_MAX) {
        line(format!("{}, on {pe}, awaits {}", task.who, awaited(task, answers, reductions)));
    }
    let tasks_in_all = answers.iter().map(|(_, waits)| waits.tasks_in_all).sum::<u64>();
    if tasks_in_all > NAMED_MAX.min(tasks.len()) as u64 {
        line(format!("and {} more async entries", tasks_in_all - NAMED_MAX.min(tasks.len()) as u64));
    }
    reductions.iter().take(NAMED_MAX).for_each(|reduction| line(reduction.describe()));
    if reductions.len() > NAMED_MAX {
        line(format!("and {} more reductions", reductions.len() - NAMED_MAX));
    }
    for (pe, waits) in answers {
        waits.tags.iter().for_each(|tag| line(format!("{tag}, on {pe}")));
    }
    let mut silent = (0..pes).map(PeId).filter(|pe| answers.iter().all(|(other, _)| other != pe)).peekable();
    if silent.peek().is_some() {
        let names: Vec<_> = silent.map(|pe| pe.to_string()).collect();
        line(format!(
            "no answer: {}; an entry runs there and does not end, or the job has not started",
            names.join(", ")
        ));
    }
    text
}

fn awaited(task: &Task, answers: &Answers, reductions: &[Reduction<'_>]) -> String {
    let promised = |future: &FutureId| {
        let mut promises = answers.iter().flat_map(|(_, waits)| &waits.promises);
        promises.find(|(promised, _)| promised == future).map(|(_, purpose)| purpose.clone())
    };
    let future = |future: &FutureId| {
        let leads_here = |reduction: &&Reduction<'_>| reduction.leads_to(*future);
        match reductions.iter().find(leads_here) {
            Some(reduction) => format!("a future, the result of {}", reduction.name()),
            None => {
                promised(future).unwrap_or_else(|| "a future, to which nobody has sent a value".to_owned())
            }
        }
    };
    let all: Vec<_> = task.futures.iter().map(future).chain(task.calls.iter().cloned()).collect();
    match &*all {
        [] => "something that is none of the runtime's, or several things at once".to_owned(),
        all => all.join(", "),
    }
}

/// A reduction that has begun and is not over.
struct Reduction<'a> {
    collection: CollectionId,
    chare: &'a str,
    number: u64,
    contributed: u64,
    members: u64,
    callback: Option<ErasedCallback>,
    /// The PEs on which members have not contributed.
    lacking: Vec<(PeId, &'a Standing)>,
}

impl<'a> Reduction<'a> {
    /// The first reduction of each collection that has begun and is not over.
    fn all(answers: &'a Answers) -> Vec<Self> {
        let mut collections: BTreeMap<(u32, u32), Vec<(PeId, &Standing)>> = BTreeMap::new();
        for (pe, waits) in answers {
            for standing in &waits.collections {
                let CollectionId { creator, serial } = standing.collection;
                collections.entry((creator.0, serial)).or_default().push((*pe, standing));
            }
        }
        let partials: Vec<&Together> = answers.iter().flat_map(|(_, waits)| &waits.partials).collect();
        collections.into_values().filter_map(|standings| Self::first(&standings, &partials)).collect()
    }

    fn first(standings: &[(PeId, &'a Standing)], partials: &[&Together]) -> Option<Self> {
        let number = standings
            .iter()
            .filter(|(_, standing)| standing.members > 0)
            .map(|(_, standing)| standing.number)
            .min()?;
        let (_, any) = standings.first()?;
        let here: Vec<_> = standings.iter().filter(|(_, standing)| standing.number == number).collect();
        let together = partials
            .iter()
            .filter(|partial| partial.collection == any.collection && partial.number == number);
        let partial_callback = together.clone().find_map(|partial| partial.callback);
        let contributed = here.iter().map(|(_, standing)| standing.contributed).sum::<u64>()
            + together.map(|partial| partial.contributed).sum::<u64>();
        if contributed == 0 {
            return None;
        }
        Some(Self {
            collection: any.collection,
            chare: &any.chare,
            number,
            contributed,
            members: standings.iter().map(|(_, standing)| standing.members).sum(),
            callback: here.iter().find_map(|(_, standing)| standing.callback).or(partial_callback),
            lacking: here.into_iter().filter(|(_, standing)| standing.lacking > 0).copied().collect(),
        })
    }

    fn leads_to(&self, future: FutureId) -> bool {
        self.callback.is_some_and(|callback| callback.goal == Goal::Resolve(future))
    }

    fn name(&self) -> String {
        let CollectionId { creator: PeId(creator), serial } = self.collection;
        format!("reduction {} over {}, collection {creator}.{serial}", self.number, self.chare)
    }

    fn describe(&self) -> String {
        let goal = self.callback.map_or_else(String::new, |callback| match callback.goal {
            Goal::Ignore => ", for nobody".to_owned(),
            Goal::Exit => ", for the job's end".to_owned(),
            Goal::Resolve(future) => format!(", for a future or closure of {}", future.pe),
            Goal::Call { entry, .. } | Goal::Many { entry, .. } => match find_entry(entry) {
                Ok(entry) => format!(", for {}::{}", entry.chare, entry.name),
                Err(_) => String::new(),
            },
        });
        let lacking: Vec<_> = self
            .lacking
            .iter()
            .take(NAMED_MAX)
            .map(|(pe, standing)| {
                let more = standing.lacking - standing.names.len() as u64;
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{}{more} on {pe}", standing.names.join(", "))
            })
            .collect();
        let missing = match &*lacking {
            [] => "all have, or are gone".to_owned(),
            all => format!("missing: {}", all.join("; ")),
        };
        format!(
            "{}{goal}: {} of {} members have contributed; {missing}",
            self.name(),
            self.contributed,
            self.members
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;

    const FUTURE: FutureId = FutureId { pe: PeId(0), slot: 3, generation: 9 };

    fn standing(number: u64, contributed: u64, missing: &[&str]) -> Standing {
        Standing {
            collection: CollectionId { creator: PeId(0), serial: 4 },
            chare: "cells::Cell".to_owned(),
            number,
            members: 3,
            contributed,
            callback: (contributed > 0).then(|| Callback::<u64>::new(Goal::Resolve(FUTURE)).erase()),
            lacking: missing.len() as u64,
            names: missing.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn messages(count: u64) -> Waits {
        Waits {
            messages: count,
            kinds: vec![("a call of Cell::step for member 7".to_owned(), count)],
            ..Waits::default()
        }
    }

    #[test]
    fn who_lacks_in_a_reduction_is_named_and_who_waits_for_it() {
        let task = Task { who: "main".to_owned(), futures: vec![FUTURE], calls: Vec::new() };
        let first = Waits {
            tasks_in_all: 1,
            tasks: vec![task],
            collections: vec![standing(5, 1, &["member 1", "member 2"])],
            ..Waits::default()
        };
        // The second PE has closed the reduction, and its partial waits with the first.
        let second = Waits {
            collections: vec![standing(6, 0, &["member 3", "member 4", "member 5"])],
            ..Waits::default()
        };
        let together = Together {
            collection: CollectionId { creator: PeId(0), serial: 4 },
            number: 5,
            contributed: 3,
            callback: None,
        };
        let first = Waits { partials: vec![together], ..first };
        let text = tell(Reason::Quiet, &[(PeId(0), first), (PeId(1), second)], 3).expect("it stands still");
        for clue in [
            "main, on PE 0, awaits a future, the result of reduction 5 over cells::Cell, collection 0.4",
            "for a future or closure of PE 0: 4 of 6 members have contributed; missing: member 1, member 2 on PE 0",
            "no answer: PE 2",
        ] {
            assert!(text.contains(clue), "{clue}: {text}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_may_come_from_outside_unless_somebody_asks() {
        let task = Task { who: "main".to_owned(), futures: Vec::new(), calls: Vec::new() };
        let waits = Waits { tasks_in_all: 1, tasks_for_others: 1, tasks: vec![task], ..Waits::default() };
        let answers = [(PeId(0), waits)];
        assert_eq!(tell(Reason::Quiet, &answers, 1), None);
        assert_eq!(tell(Reason::Quiet, &[(PeId(0), Waits::default())], 1), None, "a job that is over");
        let asked = tell(Reason::Request, &answers, 1).expect("it was asked");
        assert!(asked.contains("main, on PE 0, awaits something that is none of the runtime's"), "{asked}");
        assert!(
            tell(Reason::Request, &[(PeId(0), Waits::default())], 1)
                .expect("asked")
                .contains("nothing waits")
        );
    }

    #[test]
    fn what_is_stuck_is_told_if_it_is_all_that_is_in_flight() {
        let answers = [(PeId(1), messages(2)), (PeId(0), messages(1))];
        let told = tell(Reason::Stuck { in_flight: 3 }, &answers, 2).expect("these are all");
        for clue in ["3 messages", "2 x a call of Cell::step for member 7, on PE 1", "1 x"] {
            assert!(told.contains(clue), "{clue}: {told}");
        }
        assert_eq!(tell(Reason::Stuck { in_flight: 4 }, &answers, 2), None, "one message runs or travels");
    }

    #[test]
    fn many_kinds_are_counted_and_few_are_shown() {
        let kinds = (0..NAMED_MAX).map(|number| (number.to_string(), 2)).collect();
        let answers = [(PeId(0), Waits { messages: 50, kinds, ..Waits::default() }), (PeId(1), messages(50))];
        let told = tell(Reason::Stuck { in_flight: 100 }, &answers, 2).expect("these are all");
        let more = 100 - 50 - 2 * (NAMED_MAX - 1);
        assert!(told.contains(&format!("and {more} more")), "{told}");
    }
}
