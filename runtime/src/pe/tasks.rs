//! Async entry methods: the tasks of one PE, polled by that PE alone.
//!
//! 1. A task starts inside the entry that spawned it and runs until its first `.await` that has to wait.
//! 2. The waker of a task may be used from any thread; it leaves the task's key with the PE, at most once until the task runs again.
//! 3. A wake-up is counted like a message, so that quiescence waits for it.
//! 4. The tasks of a chare form a list, which begins in the chare: they are dropped with the chare.

use super::running::Running;
use crate::base::wake_flag::WakeFlag;
use crate::model::ids::{PeId, TaskKey};
use crate::model::registry::{ChareTasks, Identity};
use crate::node::Node;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

/// No task: ends a list.
const NONE: u32 = ChareTasks::NONE;

/// The way of a woken task's key to its PE; found where PEs are known, at no cost of a call.
pub(super) trait Deliver {
    /// Leaves the key with the PE.
    fn deliver(&self);
}

pub(super) struct TaskWaker {
    pub(super) node: Arc<Node>,
    pub(super) pe: PeId,
    pub(super) key: TaskKey,
    flag: WakeFlag,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.flag.set() {
            self.deliver();
        }
    }
}

type TaskFuture = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    generation: u32,
    /// The future and the waker to poll it with; `None` while the task is being polled.
    parked: Option<(TaskFuture, Waker)>,
    waker: Arc<TaskWaker>,
    running: Running,
    /// The task's neighbours in the list of the chare's tasks.
    before: u32,
    after: u32,
}

/// The tasks of one PE.
#[derive(Default)]
pub(crate) struct Tasks {
    tasks: RefCell<Slab<Task>>,
    spawned: Cell<u32>,
    first_woken: Cell<FirstWoken>,
    /// How many futures were dropped that had no value yet.
    futures_lost: Cell<u64>,
}

/// Whether somebody asks which task is woken first, and the answer.
#[derive(Clone, Copy, Default)]
enum FirstWoken {
    #[default]
    NotAsked,
    None,
    Task(TaskKey),
}

impl Tasks {
    /// Adds a task of PE `pe` that goes on as `running`; poll it with [`Tasks::poll`].
    pub(crate) fn add(
        &self,
        (node, pe): (&Arc<Node>, PeId),
        running: Running,
        body: impl Future<Output = ()> + 'static,
    ) -> TaskKey {
        let generation = self.spawned.get().wrapping_add(1);
        self.spawned.set(generation);
        let mut tasks = self.tasks.borrow_mut();
        let slot = u32::try_from(tasks.vacant_key()).ok().filter(|slot| *slot != NONE);
        let slot = slot.expect("fewer than 2^32 tasks on one PE");
        let key = TaskKey { slot, generation };
        let waker = Arc::new(TaskWaker { node: Arc::clone(node), pe, key, flag: WakeFlag::new() });
        let after = running.chare.as_ref().map_or(NONE, |chare| chare.identity().tasks.set_first(slot));
        if let Some(after) = tasks.get_mut(after as usize) {
            after.before = slot;
        }
        let body: TaskFuture = Box::pin(body);
        let parked = Some((body, Waker::from(Arc::clone(&waker))));
        tasks.insert(Task { generation, parked, waker, running, before: NONE, after });
        key
    }

    /// The record under which a task runs, for messages to humans; `None` once the task is over.
    #[inline]
    pub(crate) fn running(&self, key: TaskKey) -> Option<Running> {
        let tasks = self.tasks.borrow();
        let task = tasks.get(key.slot as usize)?;
        (task.generation == key.generation).then(|| task.running.clone())
    }

    /// Lets a task go on; does nothing for a task that is over.
    pub(crate) fn poll(&self, key: TaskKey) {
        let (mut body, waker) = {
            let mut tasks = self.tasks.borrow_mut();
            let Some(task) = find(&mut tasks, key) else { return };
            let Some(parked) = task.parked.take() else { return };
            task.waker.flag.clear();
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
                // The chare went meanwhile, and its tasks with it.
                None => None,
            }
        };
        // Dropped after the borrow: the drop of a task may run code of the user.
        drop((over, body));
    }

    /// Runs `body`, and returns the task of this PE that it wakes first, which is not queued: the caller lets it go on. `body` runs no
    /// code of the user but wakers.
    pub(crate) fn first_woken_by(&self, body: impl FnOnce()) -> Option<TaskKey> {
        self.first_woken.set(FirstWoken::None);
        body();
        match self.first_woken.replace(FirstWoken::NotAsked) {
            FirstWoken::Task(key) => Some(key),
            FirstWoken::NotAsked | FirstWoken::None => None,
        }
    }

    /// Takes note of a task of this PE that was woken, for whoever asks which is the first. Returns whether it was taken.
    pub(super) fn take_woken(&self, key: TaskKey) -> bool {
        let is_taken = matches!(self.first_woken.get(), FirstWoken::None);
        if is_taken {
            self.first_woken.set(FirstWoken::Task(key));
        }
        is_taken
    }

    /// The tasks of a chare, in the order in which they began.
    pub(crate) fn of(&self, chare: &Identity) -> Vec<TaskKey> {
        let tasks = self.tasks.borrow();
        let mut found = Vec::new();
        let mut slot = chare.tasks.first();
        while let Some(task) = tasks.get(slot as usize) {
            found.push(TaskKey { slot, generation: task.generation });
            slot = task.after;
        }
        found.reverse();
        found
    }

    /// Drops a task that waits. Returns how many futures without a value went with it.
    pub(crate) fn cancel(&self, key: TaskKey) -> u64 {
        let lost = self.futures_lost.get();
        let over = {
            let mut tasks = self.tasks.borrow_mut();
            find(&mut tasks, key).is_some().then(|| remove(&mut tasks, key.slot))
        };
        // Dropped after the borrow: the drop of a task may run code of the user.
        drop(over);
        self.futures_lost.get() - lost
    }

    /// Takes note of a future that is dropped and has no value yet.
    pub(super) fn lose_future(&self) {
        self.futures_lost.update(|lost| lost + 1);
    }

    /// Drops the tasks of a chare that goes.
    pub(crate) fn drop_of(&self, chare: &Identity) {
        if chare.tasks.first() == NONE {
            return;
        }
        let mut over = Vec::new();
        while chare.tasks.first() != NONE {
            over.push(remove(&mut self.tasks.borrow_mut(), chare.tasks.first()));
        }
        drop(over);
    }

    /// Tells of each task that waits: the address by which its wakers are known, and the record under which it runs.
    pub(crate) fn each(&self, mut tell: impl FnMut(*const (), &Running)) {
        for (_, task) in self.tasks.borrow().iter() {
            tell(Arc::as_ptr(&task.waker).cast(), &task.running);
        }
    }

    /// Takes out all tasks, when the job is over: each with the record under which it ran.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = (Running, impl Sized)> {
        self.tasks.take().into_iter().map(|(_, task)| (task.running.clone(), task))
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
        (None, Some(chare)) => {
            chare.identity().tasks.set_first(task.after);
        }
        (None, None) => {}
    }
    task
}
