//! Agenda of a simulated job: what is planned next for each actor, in the order of moments, and who was woken since the last look.

use super::cast::Actor;
use chare_lrts::simulated::Moments;
use parking_lot::Mutex;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// When each actor has something to do.
pub(super) struct Agenda {
    /// How many PEs there are, of each node and of all.
    pes: (u32, u32),
    /// By node, of its PEs and then of its two other actors.
    actors: Vec<Moments>,
    /// Of the first actor of each node.
    nodes: Moments,
}

impl Agenda {
    /// One on which nothing is planned, of so many nodes with so many PEs each: the PEs come first, and then two more actors for each node.
    pub(super) fn of(nodes: usize, pes: u32) -> Self {
        Self {
            pes: (pes, nodes as u32 * pes),
            actors: (0..nodes).map(|_| Moments::of(pes as usize + 2)).collect(),
            nodes: Moments::of(nodes),
        }
    }

    /// The node of an actor, and its number there.
    fn place(&self, actor: Actor) -> (usize, usize) {
        let (pes, all) = self.pes;
        match actor.checked_sub(all) {
            None => ((actor / pes) as usize, (actor % pes) as usize),
            Some(other) => {
                let (other, nodes) = (other as usize, self.actors.len());
                (other % nodes, pes as usize + other / nodes)
            }
        }
    }

    /// The actor of this number at a node.
    fn actor(&self, node: usize, number: usize) -> Actor {
        let (pes, all) = self.pes;
        match (number as u32).checked_sub(pes) {
            None => node as u32 * pes + number as u32,
            Some(other) => all + other * self.actors.len() as u32 + node as u32,
        }
    }

    /// When which node has the next thing to do.
    pub(super) fn first(&self) -> Option<(u64, usize)> {
        self.nodes.first()
    }

    /// When which actor of a node has the next thing to do.
    pub(super) fn first_of(&self, node: usize) -> Option<(u64, Actor)> {
        self.actors[node].first().map(|(moment, number)| (moment, self.actor(node, number)))
    }

    /// When an actor has something to do, if it has.
    pub(super) fn planned(&self, actor: Actor) -> Option<u64> {
        let (node, number) = self.place(actor);
        self.actors[node].get(number)
    }

    /// Takes out what an actor has to do.
    pub(super) fn take(&mut self, actor: Actor) {
        self.set(actor, None);
    }

    /// Plans that an actor does something at a moment, unless an earlier one is planned.
    pub(super) fn plan(&mut self, actor: Actor, moment: u64) {
        if self.planned(actor).is_none_or(|planned| moment < planned) {
            self.set(actor, Some(moment));
        }
    }

    fn set(&mut self, actor: Actor, moment: Option<u64>) {
        let (node, number) = self.place(actor);
        self.actors[node].set(number, moment);
        self.nodes.set(node, self.actors[node].first_moment());
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
        let first = |agenda: &Agenda, node| agenda.first_of(node).expect("something is planned there").1;
        [(1, 50), (2, 40), (1, 30), (1, 60), (4, 35), (7, 45)]
            .into_iter()
            .for_each(|(actor, moment)| agenda.plan(actor, moment));
        assert_eq!(
            (agenda.first(), agenda.first_of(0), agenda.planned(2)),
            (Some((30, 0)), Some((30, 1)), Some(40))
        );
        agenda.take(first(&agenda, 0));
        assert_eq!(
            (agenda.first(), agenda.first_of(0), agenda.planned(1)),
            (Some((35, 0)), Some((35, 4)), None)
        );
        agenda.take(first(&agenda, 0));
        assert_eq!((agenda.first(), agenda.first_of(1)), (Some((40, 1)), Some((40, 2))));
        agenda.take(first(&agenda, 1));
        assert_eq!(agenda.first_of(1), Some((45, 7)));
        agenda.take(first(&agenda, 1));
        assert_eq!(agenda.first(), None);
    }
}
