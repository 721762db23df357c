//! Agenda of a simulated job: what is planned next for each actor, in the order of moments, and who was woken since the last look.

use super::cast::Actor;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// When each actor has something to do.
pub(super) struct Agenda {
    /// How many PEs there are, of each node and of all.
    pes: (u32, u32),
    next: Vec<Option<u64>>,
    /// By node, whose actors have something to do then.
    by_moment: Vec<BTreeSet<(u64, Actor)>>,
    /// When the first actor of each node has something to do.
    first: BTreeSet<(u64, usize)>,
}

impl Agenda {
    /// One on which nothing is planned, of so many nodes with so many PEs each: the PEs come first, and then two more actors for each node.
    pub(super) fn of(nodes: usize, pes: u32) -> Self {
        let all = nodes as u32 * pes;
        Self {
            pes: (pes, all),
            next: vec![None; all as usize + 2 * nodes],
            by_moment: vec![BTreeSet::new(); nodes],
            first: BTreeSet::new(),
        }
    }

    /// The node of an actor.
    fn node_of(&self, actor: Actor) -> usize {
        let (pes, all) = self.pes;
        match actor.checked_sub(all) {
            None => (actor / pes) as usize,
            Some(other) => other as usize % self.by_moment.len(),
        }
    }

    /// When which node has the next thing to do.
    pub(super) fn first(&self) -> Option<(u64, usize)> {
        self.first.first().copied()
    }

    /// When which actor of a node has the next thing to do.
    pub(super) fn first_of(&self, node: usize) -> Option<(u64, Actor)> {
        self.by_moment[node].first().copied()
    }

    /// Takes out what is next at a node.
    pub(super) fn take_first_of(&mut self, node: usize) {
        if let Some((_, actor)) = self.change(node, BTreeSet::pop_first) {
            self.next[actor as usize] = None;
        }
    }

    /// When an actor has something to do, if it has.
    pub(super) fn planned(&self, actor: Actor) -> Option<u64> {
        self.next[actor as usize]
    }

    /// Plans that an actor does something at a moment, unless an earlier one is planned.
    pub(super) fn plan(&mut self, actor: Actor, moment: u64) {
        let planned = self.next[actor as usize];
        if planned.is_some_and(|planned| planned <= moment) {
            return;
        }
        self.next[actor as usize] = Some(moment);
        self.change(self.node_of(actor), |by_moment| {
            planned.inspect(|planned| _ = by_moment.remove(&(*planned, actor)));
            by_moment.insert((moment, actor));
        });
    }

    fn change<R>(&mut self, node: usize, change: impl FnOnce(&mut BTreeSet<(u64, Actor)>) -> R) -> R {
        let by_moment = &mut self.by_moment[node];
        let first = |by_moment: &BTreeSet<(u64, Actor)>| by_moment.first().map(|(moment, _)| *moment);
        let before = first(by_moment);
        let result = change(by_moment);
        let next = first(by_moment);
        if next != before {
            before.inspect(|moment| _ = self.first.remove(&(*moment, node)));
            next.inspect(|moment| _ = self.first.insert((*moment, node)));
        }
        result
    }
}

/// The PEs that were woken.
#[derive(Default)]
pub(super) struct Woken(Arc<Mutex<Vec<Actor>>>);

impl Woken {
    /// What wakes a PE.
    pub(super) fn waker(&self, pe: Actor) -> Waker {
        Waker::from(Arc::new(Alarm { pe, woken: Arc::clone(&self.0) }))
    }

    /// Takes out all that were woken.
    pub(super) fn take(&self) -> Vec<Actor> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// Notes the PE that was woken.
struct Alarm {
    pe: Actor,
    woken: Arc<Mutex<Vec<Actor>>>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.woken.lock().push(self.pe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_has_its_earliest_moment_alone() {
        // Two nodes with two PEs, and two more actors, each.
        let mut agenda = Agenda::of(2, 2);
        [(1, 50), (2, 40), (1, 30), (1, 60), (4, 35), (7, 45)]
            .into_iter()
            .for_each(|(actor, moment)| agenda.plan(actor, moment));
        assert_eq!(
            (agenda.first(), agenda.first_of(0), agenda.planned(2)),
            (Some((30, 0)), Some((30, 1)), Some(40))
        );
        agenda.take_first_of(0);
        assert_eq!(
            (agenda.first(), agenda.first_of(0), agenda.planned(1)),
            (Some((35, 0)), Some((35, 4)), None)
        );
        agenda.take_first_of(0);
        assert_eq!((agenda.first(), agenda.first_of(1)), (Some((40, 1)), Some((40, 2))));
        agenda.take_first_of(1);
        assert_eq!(agenda.first_of(1), Some((45, 7)));
        agenda.take_first_of(1);
        assert_eq!(agenda.first(), None);
    }
}
