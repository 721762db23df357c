//! Async entry methods: the tasks of one PE, polled by that PE alone.
//!
//! 1. A task starts inside the entry that spawned it and runs until its first `.await` that has to wait.
//! 2. Its waker may be used from any thread; it leaves the task's key with the PE, at most once until the task runs again.
//! 3. A wake-up is counted like a message, so that quiescence waits for it.
//! 4. The tasks of a chare are a list, which begins in the chare: they are dropped with it.

use crate::ids::{PeId, TaskKey};
use crate::mailbox::Work;
use crate::node::Node;
use crate::object::Identity;
use crate::pe::Pe;
use crate::running::Running;
use crate::wish::Wish;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

struct TaskWaker {
    node: Arc<Node>,
    pe: PeId,
    key: TaskKey,
    wish: Wish,
}

impl TaskWaker {
    /// Leaves the key with the PE: in its queue, if the PE is the caller's.
    fn deliver(&self) {
        let is_mine = |pe: &Pe| pe.id == self.pe && Arc::ptr_eq(&pe.node, &self.node);
        let queued = Pe::try_current(|pe| {
            is_mine(pe).then(|| {
                pe.counters.resumed.add(1);
                pe.queue.borrow_mut().push_work(Work::Task(self.key));
            })
        });
        if queued.flatten().is_none() {
            self.node.counters[self.node.layout.rank_of(self.pe)].woken.add_shared(1);
            self.node.deliver(self.pe, Work::Task(self.key));
        }
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.wish.make() {
            self.deliver();
        }
    }
}

type Body = Pin<Box<dyn Future<Output = ()>>>;

/// No task: ends a list.
const NONE: u32 = u32::MAX;

/// The first of a chare's tasks.
#[derive(Clone, Debug)]
pub(crate) struct ChareTasks(Cell<u32>);

impl Default for ChareTasks {
    fn default() -> Self {
        Self(Cell::new(NONE))
    }
}

struct Task {
    generation: u32,
    /// What to poll, and with which waker; out while it is being polled.
    parked: Option<(Body, Waker)>,
    waker: Arc<TaskWaker>,
    running: Running,
    /// The chare's other tasks.
    before: u32,
    after: u32,
}

/// The tasks of one PE.
#[derive(Default)]
pub(crate) struct Tasks {
    tasks: RefCell<Slab<Task>>,
    spawned: Cell<u32>,
}

impl Tasks {
    /// Adds a task that goes on as `running`; poll it with [`Tasks::poll`].
    pub(crate) fn add(
        &self,
        node: &Arc<Node>,
        pe: PeId,
        running: Running,
        body: impl Future<Output = ()> + 'static,
    ) -> TaskKey {
        let generation = self.spawned.get().wrapping_add(1);
        self.spawned.set(generation);
        let mut tasks = self.tasks.borrow_mut();
        let slot = u32::try_from(tasks.vacant_key()).ok().filter(|slot| *slot != NONE);
        let slot = slot.expect("fewer than 2^32 tasks on one PE");
        let key = TaskKey { slot, generation };
        let waker = Arc::new(TaskWaker { node: Arc::clone(node), pe, key, wish: Wish::new() });
        let after = running.chare.as_ref().map_or(NONE, |chare| chare.identity().tasks.0.replace(slot));
        if let Some(after) = tasks.get_mut(after as usize) {
            after.before = slot;
        }
        let body: Body = Box::pin(body);
        let parked = Some((body, Waker::from(Arc::clone(&waker))));
        tasks.insert(Task { generation, parked, waker, running, before: NONE, after });
        key
    }

    /// What a task runs as, for messages to humans; `None` once it is over.
    pub(crate) fn running(&self, key: TaskKey) -> Option<Running> {
        let tasks = self.tasks.borrow();
        let task = tasks.get(key.slot as usize)?;
        (task.generation == key.generation).then(|| task.running.clone())
    }

    /// Lets a task go on; a task that is over is left alone.
    pub(crate) fn poll(&self, key: TaskKey) {
        let (mut body, waker) = {
            let mut tasks = self.tasks.borrow_mut();
            let Some(task) = find(&mut tasks, key) else { return };
            let Some(parked) = task.parked.take() else { return };
            task.waker.wish.grant();
            parked
        };
        let poll = body.as_mut().poll(&mut Context::from_waker(&waker));
        let over = {
            let mut tasks = self.tasks.borrow_mut();
            match find(&mut tasks, key) {
                Some(task) if poll.is_pending() => {
                    task.parked = Some((body, waker));
                    return;
                }
                Some(_) => Some(remove(&mut tasks, key.slot)),
                // Its chare went meanwhile.
                None => None,
            }
        };
        // Dropped after the borrow: a task's remains may run code of the user.
        drop((over, body));
    }

    /// Drops the tasks of a chare that goes.
    pub(crate) fn drop_of(&self, chare: &Identity) {
        let mut over = Vec::new();
        while chare.tasks.0.get() != NONE {
            over.push(remove(&mut self.tasks.borrow_mut(), chare.tasks.0.get()));
        }
        drop(over);
    }

    /// Drops all tasks, when the job is over.
    pub(crate) fn clear(&self) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        drop(tasks);
    }
}

fn find(tasks: &mut Slab<Task>, key: TaskKey) -> Option<&mut Task> {
    tasks.get_mut(key.slot as usize).filter(|task| task.generation == key.generation)
}

/// Takes a task out of its chare's list and the table.
fn remove(tasks: &mut Slab<Task>, slot: u32) -> Task {
    let task = tasks.remove(slot as usize);
    if let Some(after) = tasks.get_mut(task.after as usize) {
        after.before = task.before;
    }
    match (tasks.get_mut(task.before as usize), &task.running.chare) {
        (Some(before), _) => before.after = task.after,
        (None, Some(chare)) => chare.identity().tasks.0.set(task.after),
        (None, None) => {}
    }
    task
}
