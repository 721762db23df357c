//! Waits on one PE: the messages, async entries, reductions and tags that stand there until something comes.

use crate::model::callback::{ErasedCallback, FutureId, Goal};
use crate::model::envelope::{Body, Envelope};
use crate::model::ids::{CollectionId, PeId};
use crate::model::reduction::{NEWBORN, Partial};
use crate::model::registry::{Identity, Wait, show};
use crate::pe::Pe;
use crate::pe::early::Missing;
use crate::pe::places::LocalCollection;
use crate::pe::running::Running;
use crate::services::reduction;
use crate::services::tags::{Scope, tags};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::rc::Rc;

/// The most things of a kind that one PE names, and that are shown.
pub(super) const NAMED_MAX: usize = 16;

/// The most collections of whose reductions one PE tells.
const COLLECTIONS_MAX: usize = 256;

/// The most callbacks of services of which one PE tells.
const PROMISES_MAX: usize = 256;

/// The most members that are named where contributions lack, on one PE.
const LACKING_MAX: usize = 4;

/// What waits on one PE.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Waits {
    /// Messages for what is not created, and calls for buffers that are not posted.
    pub(super) messages: u64,
    /// Kinds of these messages and how many of each wait, the most frequent first; no more than [`NAMED_MAX`].
    pub(super) kinds: Vec<(String, u64)>,
    /// How many tasks wait.
    pub(super) tasks_in_all: u64,
    /// How many of them wait for nothing that the runtime knows.
    pub(super) tasks_for_others: u64,
    /// The tasks, and `main`; no more than [`NAMED_MAX`].
    pub(super) tasks: Vec<Task>,
    pub(super) collections: Vec<Standing>,
    /// On a node's first PE: what contributions have come together there.
    pub(super) partials: Vec<Together>,
    /// Futures of callbacks that services hold, and in words what each is for; no more than [`PROMISES_MAX`].
    pub(super) promises: Vec<(FutureId, String)>,
    /// What waits under tags, in words; no more than [`NAMED_MAX`].
    pub(super) tags: Vec<String>,
}

/// A task that waits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// Chare and entry.
    pub(super) who: String,
    /// The futures that it awaits.
    pub(super) futures: Vec<FutureId>,
    /// The calls that it awaits, in words.
    pub(super) calls: Vec<String>,
}

/// A collection's first reduction that is not over on one PE.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) collection: CollectionId,
    pub(super) chare: String,
    pub(super) number: u64,
    pub(super) members: u64,
    pub(super) contributed: u64,
    pub(super) callback: Option<ErasedCallback>,
    /// How many members here have not contributed, and the names of the first.
    pub(super) lacking: u64,
    pub(super) names: Vec<String>,
}

/// What has come together of a reduction on a node's first PE.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Together {
    pub(super) collection: CollectionId,
    pub(super) number: u64,
    pub(super) contributed: u64,
    pub(super) callback: Option<ErasedCallback>,
}

impl Waits {
    /// What waits on this PE.
    pub(super) fn on(pe: &Pe) -> Self {
        let mut waits = Self::default();
        waits.add_messages(pe);
        waits.add_tasks(pe);
        let places = pe.places.borrow();
        let taking_part = places.collections().filter(|collection| collection.info.takes_part(pe.id));
        waits.collections = taking_part.take(COLLECTIONS_MAX).map(Standing::of).collect();
        drop(places);
        reduction::each_partial(pe, |collection, partial| {
            waits.partials.push(Together::of(collection, partial));
        });
        pe.each_promise(&mut |callback, purpose| {
            if let Goal::Resolve(future) = callback.goal
                && waits.promises.len() < PROMISES_MAX
            {
                waits.promises.push((future, purpose));
            }
        });
        waits.add_tags(pe);
        waits
    }

    /// Leaves out the task that waits for the survey itself.
    pub(super) fn leave_out(&mut self, callback: ErasedCallback) {
        let Goal::Resolve(future) = callback.goal else { return };
        let before = self.tasks.len();
        self.tasks.retain(|task| !task.futures.contains(&future));
        self.tasks_in_all -= (before - self.tasks.len()) as u64;
    }

    fn add_messages(&mut self, pe: &Pe) {
        let mut kinds: FxHashMap<String, u64> = FxHashMap::default();
        for (missing, Envelope { body, .. }) in pe.early.borrow().waiting() {
            *kinds.entry(describe(pe, missing, body)).or_default() += 1;
        }
        kinds.extend(pe.node.posted_calls.waiting_on(pe.id));
        self.messages = kinds.values().sum();
        self.kinds = kinds.into_iter().collect();
        self.kinds.sort_by(|(one, ones), (other, others)| others.cmp(ones).then_with(|| one.cmp(other)));
        self.kinds.truncate(NAMED_MAX);
    }

    /// Finds what tasks wait for by their wakers, which stand with what is awaited: so tasks keep no record of it.
    fn add_tasks(&mut self, pe: &Pe) {
        let mut futures: FxHashMap<*const (), Vec<FutureId>> = FxHashMap::default();
        for (future, waker) in pe.futures.borrow().awaited(pe.id) {
            futures.entry(waker).or_default().push(future);
        }
        let mut tasks: Vec<(*const (), Running)> = Vec::new();
        pe.tasks.each(|waker, running| tasks.push((waker, running.clone())));
        let mut calls: FxHashMap<*const (), Vec<String>> = FxHashMap::default();
        let mut seen = FxHashSet::default();
        for chare in tasks.iter().filter_map(|(_, running)| running.chare.as_ref()) {
            if seen.insert(Rc::as_ptr(chare).cast::<()>()) {
                let name = chare.identity().name;
                chare.each_wait(&mut |wait| {
                    calls.entry(wait.waker.data()).or_default().push(describe_wait(name, &wait));
                });
            }
        }
        for (waker, running) in tasks {
            let futures = futures.remove(&waker).unwrap_or_default();
            let mut calls = calls.remove(&waker).unwrap_or_default();
            calls.sort();
            self.tasks_in_all += 1;
            self.tasks_for_others += u64::from(futures.is_empty() && calls.is_empty());
            if self.tasks.len() < NAMED_MAX {
                self.tasks.push(Task { who: running.describe(), futures, calls });
            }
        }
    }

    fn add_tags(&mut self, pe: &Pe) {
        let tags = tags(&pe.node);
        self.tags = tags.describe(Scope::Pe(pe.id));
        if pe.node.topology.rank_of(pe.id) == 0 {
            let of_node = tags.describe(Scope::Node);
            self.tags.extend(of_node.into_iter().map(|text| format!("{text}, by its node")));
        }
        self.tags.sort();
        self.tags.truncate(NAMED_MAX);
    }
}

impl Standing {
    fn of(collection: &LocalCollection) -> Self {
        let (number, contributed, callback) = collection.contributions.first_open();
        let info = &collection.info;
        let (mut members, mut lacking, mut names) = (0, 0, Vec::new());
        for member in collection.members.within(0..collection.members.end()) {
            let Identity { name, target, contributions, .. } = member.identity();
            members += 1;
            let next = contributions.get();
            if next <= number || next & NEWBORN != 0 && next != Identity::GONE {
                lacking += 1;
                if names.len() < LACKING_MAX {
                    names.push(show(name, *target));
                }
            }
        }
        let (collection, chare) = (info.id, info.chare.name.to_owned());
        Self { collection, chare, number, members, contributed, callback, lacking, names }
    }
}

impl Together {
    fn of(collection: CollectionId, Partial { number, tally, share, .. }: &Partial) -> Self {
        let callback = share.as_ref().map(|share| share.callback);
        Self { collection, number: *number, contributed: tally.contributed, callback }
    }
}

fn describe(pe: &Pe, missing: Missing, body: &Body) -> String {
    let places = pe.places.borrow();
    let awaited = match missing {
        Missing::Member(id, index) => places.collection(id).map(|collection| {
            let chare = collection.info.chare;
            let shown = chare.index.show(index);
            let CollectionId { creator: PeId(creator), serial } = id;
            format!("member {shown} of {}, collection {creator}.{serial}", chare.name)
        }),
        _ => None,
    };
    format!("{} for {}", body.describe(), awaited.unwrap_or_else(|| missing.to_string()))
}

fn describe_wait(chare: &str, wait: &Wait<'_>) -> String {
    let number =
        wait.reference.as_ref().map_or_else(String::new, |number| format!(" with reference number {number}"));
    let others = match wait.others {
        0 => String::new(),
        others => format!(" ({others} others are here)"),
    };
    format!("a call of {chare}::{}{number}{others}", wait.entry)
}
