//! Agenda of a simulated job: what is planned next for each actor, in the order of moments, and who was woken since the last look.

use super::cast::Actor;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// One moment at the most for each actor.
pub(super) struct Agenda {
    next: Vec<Option<u64>>,
    /// The same, by moment.
    by_moment: BTreeSet<(u64, Actor)>,
}

impl Agenda {
    /// An empty one of so many actors.
    pub(super) fn of(actors: usize) -> Self {
        Self { next: vec![None; actors], by_moment: BTreeSet::new() }
    }

    /// The earliest moment, and whose it is.
    pub(super) fn first(&self) -> Option<(u64, Actor)> {
        self.by_moment.first().copied()
    }

    /// Takes the earliest moment out.
    pub(super) fn take_first(&mut self) {
        if let Some((_, actor)) = self.by_moment.pop_first() {
            self.next[actor as usize] = None;
        }
    }

    /// What is planned for an actor.
    pub(super) fn planned(&self, actor: Actor) -> Option<u64> {
        self.next[actor as usize]
    }

    /// Plans a moment for an actor, unless an earlier one is planned.
    pub(super) fn plan(&mut self, actor: Actor, moment: u64) {
        let next = &mut self.next[actor as usize];
        match *next {
            Some(planned) if planned <= moment => return,
            Some(planned) => _ = self.by_moment.remove(&(planned, actor)),
            None => {}
        }
        *next = Some(moment);
        self.by_moment.insert((moment, actor));
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
        let mut agenda = Agenda::of(3);
        [(1, 50), (2, 40), (1, 30), (1, 60)]
            .into_iter()
            .for_each(|(actor, moment)| agenda.plan(actor, moment));
        assert_eq!((agenda.first(), agenda.planned(2)), (Some((30, 1)), Some(40)));
        agenda.take_first();
        assert_eq!((agenda.first(), agenda.planned(1)), (Some((40, 2)), None));
        agenda.take_first();
        assert_eq!(agenda.first(), None);
    }
}
