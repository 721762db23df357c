//! Waits on one PE: the messages, async entries, reductions and tags that stand there until something comes.

use crate::model::callback::{ErasedCallback, FutureId, Goal};
use crate::model::envelope::{Body, Envelope};
use crate::model::ids::{CollectionId, PeId, Target};
use crate::model::reduction::{Name, Partial};
use crate::model::registry::{Identity, Wait, show};
use crate::pe::early::Missing;
use crate::pe::places::LocalCollection;
use crate::pe::running::Running;
use crate::pe::{self, Pe};
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
    /// What else waits for services, in words; no more than [`NAMED_MAX`].
    pub(super) others: Vec<String>,
    /// What these may wait for; no more than [`NAMED_MAX`].
    pub(super) asides: Vec<String>,
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

/// A collection's members on one PE, and the reductions that are not over there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Standing {
    pub(super) collection: CollectionId,
    pub(super) chare: String,
    pub(super) members: u64,
    /// The names of the first members.
    pub(super) names: Vec<String>,
    /// No more than [`NAMED_MAX`].
    pub(super) open: Vec<Open>,
}

/// A reduction to which members of one PE have not contributed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Open {
    pub(super) name: Name,
    pub(super) contributed: u64,
    /// How many members here have not contributed, and the names of the first.
    pub(super) lacking: u64,
    pub(super) names: Vec<String>,
}

/// What has come together of a reduction on a node's first PE.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Together {
    pub(super) collection: CollectionId,
    pub(super) name: Name,
    pub(super) contributed: u64,
    /// The PEs of the node, and of the nodes right below, from which something has come.
    pub(super) said: Vec<PeId>,
    /// Those from which nothing has come; what some of a node right below have said, that node's own first PE knows.
    pub(super) silent: Vec<PeId>,
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
        reduction::each_partial(pe, |collection, partial, children| {
            waits.partials.push(Together::of(pe, collection, partial, children));
        });
        pe.each_promise(&mut |callback, purpose| {
            if let Goal::Resolve(future) = callback.goal
                && waits.promises.len() < PROMISES_MAX
            {
                waits.promises.push((future, purpose));
            }
        });
        waits.add_tags(pe);
        pe.each_wait(&mut |waiting, words| match waiting {
            pe::Waits::Other => waits.others.push(words),
            pe::Waits::Aside => waits.asides.push(words),
            pe::Waits::Task(_) => {}
        });
        waits.others.truncate(NAMED_MAX);
        waits.asides.truncate(NAMED_MAX);
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
                let name = chare.identity().name();
                chare.each_wait(&mut |wait| {
                    calls.entry(wait.waker.data()).or_default().push(describe_wait(name, &wait));
                });
            }
        }
        pe.each_wait(&mut |waiting, words| {
            if let pe::Waits::Task(waker) = waiting {
                calls.entry(waker.data()).or_default().push(words);
            }
        });
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
            let of_elements = tags.describe_of_elements().into_iter();
            self.tags
                .extend(of_elements.map(|text| format!("{text}, by an element of its node that may move")));
        }
        self.tags.sort();
        self.tags.truncate(NAMED_MAX);
    }
}

impl Standing {
    fn of(collection: &LocalCollection) -> Self {
        let LocalCollection { info, members, contributions, .. } = collection;
        let identities = || members.within(0..members.end()).map(|member| member.identity());
        let name = |identity: &Identity| show(identity.name(), identity.target);
        let open = contributions.each_open().take(NAMED_MAX).map(|reduction| {
            let awaited = identities().filter(|Identity { target, standing, .. }| {
                let Target::Member(_, index) = *target else { return false };
                contributions.is_awaited((index, standing.get()), &reduction)
            });
            let (mut lacking, mut names) = (0, Vec::new());
            for member in awaited {
                lacking += 1;
                if names.len() < LACKING_MAX {
                    names.push(name(member));
                }
            }
            Open { name: reduction.name, contributed: reduction.contributed, lacking, names }
        });
        Self {
            collection: info.id,
            chare: info.chare.name.to_owned(),
            members: members.len() as u64,
            names: identities().take(LACKING_MAX).map(name).collect(),
            open: open.collect(),
        }
    }
}

impl Together {
    fn of(pe: &Pe, collection: CollectionId, partial: &Partial, children: [Vec<PeId>; 2]) -> Self {
        let topology = &pe.node.topology;
        let pes_of = |first: &PeId| match pe.node.rank_here(*first) {
            Some(_) => vec![*first],
            None => topology.pes_of(topology.node_of(*first)).collect(),
        };
        let [said, silent] = children.map(|of| of.iter().flat_map(pes_of).collect());
        Self { collection, name: partial.name(), contributed: partial.contributed, said, silent }
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
