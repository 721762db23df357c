//! Execution of entries, and of calls that entries make like functions: each is recorded while it runs, so that failures can name it.

use super::Pe;
use super::running::{Running, Whose};
use super::times::EntryName;
use crate::base::deadline::Deadline;
use crate::model::ids::{BroadcastId, CollectionId, Target, TaskKey};
use crate::model::registry::{AnyChare, Identity};
use crate::node::timeline::Kind;
use std::hint::cold_path;
use std::iter;
use std::rc::Rc;

/// The stack that calls inside an entry may take, in bytes: a quarter of what Rust gives a thread by default, for the entries' own frames
/// are the user's.
const INSIDE_BYTES_MAX: usize = 512 << 10;

/// The position of the stack, to be compared with another one of the same thread.
#[inline(never)]
fn stack_position() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&mark)).addr()
}

/// A chare that is dropped: a panic there leaves the record of it.
struct Dropping<'a> {
    pe: &'a Pe,
    identity: Identity,
}

impl Drop for Dropping<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let unborn = Some(Rc::new(self.identity.clone()));
            self.pe.running.begin(Running { unborn, ..Running::named("drop") });
        }
    }
}

impl Pe {
    /// Drops a chare that has left its PE, which is the user's code: a panic there names the chare.
    pub(crate) fn drop_chare(&self, chare: Rc<dyn AnyChare>) {
        // Code of the user runs when the last handle goes.
        if Rc::strong_count(&chare) == 1 {
            let _dropping = Dropping { pe: self, identity: chare.identity().clone() };
            drop(chare);
        }
    }

    /// Runs `body` and records it as `running` meanwhile. Entries do not run inside each other. After a panic the record stays: the
    /// scheduler names the failed entry by it.
    pub(crate) fn run_as<R>(&self, running: Running, body: impl FnOnce() -> R) -> R {
        self.running.begin(running);
        self.run_begun(body)
    }

    /// Like [`Pe::run_as`], for a task that goes on. Returns the chare to which the task belongs; does nothing for a task that is over.
    pub(crate) fn run_task(&self, key: TaskKey) -> Option<Target> {
        let running = self.tasks.running(key)?;
        let target = running.identity().map(|identity| identity.target);
        let (within, deadline) = (running.within, running.deadline);
        self.running.begin(running);
        self.run_of(within, deadline, || self.run_begun(|| self.tasks.poll(key)));
        target
    }

    /// Runs `body`, whose record stands as running.
    fn run_begun<R>(&self, body: impl FnOnce() -> R) -> R {
        let _span = self.span(|| self.running.get().as_span(Kind::Task));
        let result = self.timed(|| self.running.get().name(), body);
        self.running.end();
        result
    }

    /// Like [`Pe::run_as`], for an entry of a chare, which nearly all work is: writes no more cells than change. Gives the chare back.
    #[inline(always)]
    pub(crate) fn run_entry<R>(
        &self,
        chare: Rc<dyn AnyChare>,
        entry: &'static str,
        reference: u64,
        body: impl FnOnce(&Rc<dyn AnyChare>) -> R,
    ) -> (R, Rc<dyn AnyChare>) {
        let lent = Rc::clone(&chare);
        self.running.begin_entry(chare, entry, reference);
        let result = body(&lent);
        (result, self.running.end_entry().unwrap_or(lent))
    }

    /// Runs `body`, which is this entry's, and takes its time if times are taken.
    #[inline]
    pub(crate) fn timed<R>(&self, name: impl FnOnce() -> EntryName, body: impl FnOnce() -> R) -> R {
        if self.takes_times() { self.take_time(name, body) } else { body() }
    }

    #[cold]
    fn take_time<R>(&self, name: impl FnOnce() -> EntryName, body: impl FnOnce() -> R) -> R {
        let chare = self.running.chare().map(|chare| chare.identity().target);
        let metered = || match &self.meter {
            None => body(),
            Some(meter) => meter.measure(chare, body),
        };
        match &self.times {
            None => metered(),
            Some(times) => times.take(name(), metered),
        }
    }

    /// Leaves the times of entries with the node, if times are taken. To be called when the PE ends.
    pub(crate) fn leave_times(&self) {
        if let Some(times) = &self.times {
            self.node.entry_times.add(times.all());
        }
    }

    /// Like [`Pe::run_as`], for a call from inside an entry, like a function.
    pub(crate) fn run_inside<R>(
        &self,
        kind: Kind,
        call: (Whose, &'static str),
        body: impl FnOnce() -> R,
    ) -> R {
        let _span = self.span(|| Running::inside(call.clone()).as_span(kind));
        let depth = self.inside.borrow().len();
        if depth == 0 {
            self.inside_from.set(stack_position());
        }
        self.inside.borrow_mut().push(call);
        let result = body();
        self.leave_inside(depth);
        result
    }

    /// Whether calls inside the entry have taken so much of the stack that the next one has to wait for their end.
    pub(crate) fn is_deep_inside(&self) -> bool {
        !self.inside.borrow().is_empty()
            && self.inside_from.get().abs_diff(stack_position()) > INSIDE_BYTES_MAX
    }

    /// Forgets the calls inside the entry but the outermost `depth`: the one that is over, and those that a panic left, if the code that
    /// called them has outlived it.
    pub(crate) fn leave_inside(&self, depth: usize) {
        let over = || {
            let mut inside = self.inside.borrow_mut();
            if inside.len() > depth { inside.pop() } else { None }
        };
        // Dropped after the borrow: it may be the last handle of a chare.
        iter::from_fn(over).for_each(drop);
    }

    /// Runs `body` as a part of a broadcast: what members contribute there belongs to it, and so do calls of other members.
    pub(crate) fn run_within<R>(&self, broadcast: Option<BroadcastId>, body: impl FnOnce() -> R) -> R {
        let before = self.running.set_within(broadcast);
        let result = body();
        self.running.set_within(before);
        result
    }

    /// Runs `body` as code of a call with these options, or of the task of one: as a part of its broadcast, with its deadline.
    #[inline]
    pub(crate) fn run_of<R>(
        &self,
        within: Option<BroadcastId>,
        deadline: Option<Deadline>,
        body: impl FnOnce() -> R,
    ) -> R {
        match (within, deadline) {
            (None, None) => body(),
            (within, None) => self.run_within(within, body),
            (within, deadline) => {
                cold_path();
                let before = self.running.set_deadline(deadline);
                let result = self.run_within(within, body);
                self.running.set_deadline(before);
                result
            }
        }
    }

    /// The broadcast over a collection within which code runs.
    #[inline(always)]
    pub(crate) fn within(&self, collection: CollectionId) -> Option<BroadcastId> {
        self.running.within().filter(|broadcast| broadcast.collection == collection)
    }

    /// The innermost entry, task or call that is running.
    pub(crate) fn running(&self) -> Running {
        let inside = self.inside.borrow().last().cloned();
        let of_caller = |inside| {
            let (within, deadline) = (self.running.within(), self.running.deadline());
            Running { within, deadline, ..Running::inside(inside) }
        };
        inside.map_or_else(|| self.running.get(), of_caller)
    }

    /// Runs `body` with the identity of the chare that is running.
    ///
    /// # Panics
    /// If no chare is running: in `main`.
    #[inline]
    pub(crate) fn with_running<R>(&self, body: impl FnOnce(&Identity) -> R) -> R {
        if self.inside.borrow().is_empty()
            && let Some(chare) = self.running.chare()
        {
            return body(chare.identity());
        }
        cold_path();
        body(self.running().identity().expect("this needs a chare: call it from an entry method"))
    }
}
