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
            let others = sum(|waits| waits.others.len() as u64);
            (is_ours && tasks + others + reductions.len() as u64 > 0).then(|| {
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
    let has_others = answers.iter().any(|(_, waits)| !waits.others.is_empty());
    for (pe, waits) in answers {
        let asides = waits.asides.iter().filter(|_| has_others);
        let all = waits.tags.iter().chain(&waits.others).chain(asides);
        all.for_each(|what| line(format!("{what}, on {pe}")));
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
    callback: ErasedCallback,
    contributed: u64,
    members: u64,
    /// The PEs on which members have not contributed, with how many they are, and the names of some.
    lacking: Vec<(PeId, u64, &'a [String])>,
}

/// Whether nothing of a reduction has come from a PE to any of those where it comes together.
fn is_silent(gathered: &[&&Together], pe: PeId) -> bool {
    let has = |pes: fn(&Together) -> &Vec<PeId>| gathered.iter().any(|partial| pes(partial).contains(&pe));
    has(|partial| &partial.silent) && !has(|partial| &partial.said)
}

impl<'a> Reduction<'a> {
    /// The reductions of each collection that have begun and are not over. Of those of one callback, the first.
    fn all(answers: &'a Answers) -> Vec<Self> {
        let mut collections: BTreeMap<(u32, u32), Vec<(PeId, &Standing)>> = BTreeMap::new();
        for (pe, waits) in answers {
            for standing in &waits.collections {
                let CollectionId { creator, serial } = standing.collection;
                collections.entry((creator.0, serial)).or_default().push((*pe, standing));
            }
        }
        let partials: Vec<&Together> = answers.iter().flat_map(|(_, waits)| &waits.partials).collect();
        collections.into_values().flat_map(|standings| Self::over(&standings, &partials)).collect()
    }

    fn over(standings: &[(PeId, &'a Standing)], partials: &[&Together]) -> Vec<Self> {
        let Some((_, any)) = standings.first() else { return Vec::new() };
        let together = || partials.iter().filter(|partial| partial.collection == any.collection);
        let open = standings.iter().flat_map(|(_, standing)| &standing.open);
        let mut callbacks = Vec::new();
        for callback in open.map(|open| open.name.callback).chain(together().map(|one| one.name.callback)) {
            if !callbacks.contains(&callback) {
                callbacks.push(callback);
            }
        }
        let tell = |callback: ErasedCallback| {
            let gathered: Vec<_> = together().filter(|partial| partial.name.callback == callback).collect();
            let mut contributed = gathered.iter().map(|partial| partial.contributed).sum();
            let mut lacking = Vec::new();
            for (pe, standing) in standings {
                if let Some(open) = standing.open.iter().find(|open| open.name.callback == callback) {
                    contributed += open.contributed;
                    lacking.push((*pe, open.lacking, &*open.names));
                } else if gathered.is_empty() || is_silent(&gathered, *pe) {
                    lacking.push((*pe, standing.members, &*standing.names));
                }
            }
            lacking.retain(|(_, members, _)| *members > 0);
            Self {
                collection: any.collection,
                chare: &any.chare,
                callback,
                contributed,
                members: standings.iter().map(|(_, standing)| standing.members).sum(),
                lacking,
            }
        };
        callbacks.into_iter().map(tell).collect()
    }

    fn leads_to(&self, future: FutureId) -> bool {
        self.callback.goal == Goal::Resolve(future)
    }

    fn name(&self) -> String {
        let CollectionId { creator: PeId(creator), serial } = self.collection;
        format!("a reduction over {}, collection {creator}.{serial}", self.chare)
    }

    fn describe(&self) -> String {
        let goal = match self.callback.goal {
            Goal::Ignore => "nobody".to_owned(),
            Goal::Exit => "the job's end".to_owned(),
            Goal::Resolve(future) => format!("a future or closure of {}", future.pe),
            Goal::Call { entry, .. } | Goal::Many { entry, .. } => match find_entry(entry) {
                Ok(entry) => format!("{}::{}", entry.chare, entry.name),
                Err(_) => "an entry".to_owned(),
            },
        };
        let lacking: Vec<_> = self
            .lacking
            .iter()
            .take(NAMED_MAX)
            .map(|(pe, members, names)| {
                let more = members.saturating_sub(names.len() as u64);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                format!("{}{more} on {pe}", names.join(", "))
            })
            .collect();
        let missing = match &*lacking {
            [] => "all have, or are gone".to_owned(),
            all => format!("missing: {}", all.join("; ")),
        };
        format!(
            "{}, for {goal}: {} of {} members have contributed; {missing}",
            self.name(),
            self.contributed,
            self.members
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::waits::Open;
    use super::*;
    use crate::model::callback::Callback;
    use crate::model::reduction::Name;

    const FUTURE: FutureId = FutureId { pe: PeId(0), slot: 3, generation: 9 };

    fn name() -> Name {
        Name { callback: Callback::<u64>::new(Goal::Resolve(FUTURE)).erase(), within: None }
    }

    fn standing(open: Option<(u64, &[&str])>) -> Standing {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let open = open.map(|(contributed, missing)| Open {
            name: name(),
            contributed,
            lacking: missing.len() as u64,
            names: own(missing),
        });
        Standing {
            collection: CollectionId { creator: PeId(0), serial: 4 },
            chare: "cells::Cell".to_owned(),
            members: 3,
            names: own(&["member 3", "member 4", "member 5"]),
            open: open.into_iter().collect(),
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
            collections: vec![standing(Some((1, &["member 1", "member 2"])))],
            ..Waits::default()
        };
        // The second PE has closed the reduction, and its partial waits with the first; the third has not begun it.
        let others = Waits { collections: vec![standing(None)], ..Waits::default() };
        let together = Together {
            collection: CollectionId { creator: PeId(0), serial: 4 },
            name: name(),
            contributed: 3,
            said: vec![PeId(1)],
            silent: vec![PeId(2)],
        };
        // What has come to the first PE of a node from its second has not come to the root.
        let at_root = Together {
            contributed: 0,
            said: Vec::new(),
            silent: [0, 1, 2].map(PeId).into(),
            ..together.clone()
        };
        let first = Waits { partials: vec![at_root, together], ..first };
        let answers = [(PeId(0), first), (PeId(1), others.clone()), (PeId(2), others)];
        let text = tell(Reason::Quiet, &answers, 4).expect("it stands still");
        for clue in [
            "main, on PE 0, awaits a future, the result of a reduction over cells::Cell, collection 0.4",
            "for a future or closure of PE 0: 4 of 9 members have contributed; missing: member 1, member 2 on PE 0; member 3, member 4, member 5 on PE 2",
            "no answer: PE 3",
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
    fn who_waits_for_a_service_is_told_with_what_that_may_be_for() {
        let aside = || vec!["sync 3: 2 elements have not come, such as member 4 of cells::Cell".to_owned()];
        let first =
            Waits { others: vec!["sync 3: 5 of 5 elements wait for its end".to_owned()], ..Waits::default() };
        let second = Waits { asides: aside(), ..Waits::default() };
        let text = tell(Reason::Quiet, &[(PeId(0), first), (PeId(1), second)], 2).expect("it stands still");
        for clue in ["5 of 5 elements wait for its end, on PE 0", "such as member 4 of cells::Cell, on PE 1"]
        {
            assert!(text.contains(clue), "{clue}: {text}");
        }
        let alone = Waits { asides: aside(), ..Waits::default() };
        assert_eq!(tell(Reason::Quiet, &[(PeId(0), alone)], 1), None, "nobody waits for a sync");
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
