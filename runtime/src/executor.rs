//! Async entry methods: the tasks of one PE, polled by that PE alone.
//!
//! 1. A task starts inside the entry that spawned it and runs until its first `.await` that has to wait.
//! 2. Its waker may be used from any thread; it leaves the task's key in the PE's mailbox, at most once until the task runs again.
//! 3. A wake-up is counted like a message, so that quiescence waits for it.

use crate::ids::{PeId, TaskKey};
use crate::mailbox::Work;
use crate::node::Node;
use crate::running::Running;
use slab::Slab;
use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

struct TaskWaker {
    node: Arc<Node>,
    pe: PeId,
    key: TaskKey,
    /// Set by whoever wakes, cleared by the PE before it polls.
    queued: AtomicBool,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.node.counters[self.node.layout.rank_of(self.pe)].woken.add_shared(1);
            self.node.deliver(self.pe, Work::Task(self.key));
        }
    }
}

type Body = Pin<Box<dyn Future<Output = ()>>>;

struct Task {
    generation: u32,
    /// Out while it is being polled.
    body: Option<Body>,
    waker: Arc<TaskWaker>,
    running: Running,
}

/// The tasks of one PE.
#[derive(Default)]
pub(crate) struct Tasks {
    tasks: RefCell<Slab<Task>>,
    spawned: std::cell::Cell<u32>,
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
        let entry = tasks.vacant_entry();
        let slot = u32::try_from(entry.key()).expect("fewer than 2^32 tasks on one PE");
        let key = TaskKey { slot, generation };
        let waker = Arc::new(TaskWaker { node: Arc::clone(node), pe, key, queued: AtomicBool::new(false) });
        entry.insert(Task { generation, body: Some(Box::pin(body)), waker, running });
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
        let slot = key.slot as usize;
        let (mut body, waker) = {
            let mut tasks = self.tasks.borrow_mut();
            let Some(task) = tasks.get_mut(slot).filter(|task| task.generation == key.generation) else {
                return;
            };
            let Some(body) = task.body.take() else { return };
            task.waker.queued.store(false, Ordering::Release);
            (body, Waker::from(Arc::clone(&task.waker)))
        };
        match body.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(()) => {
                // Dropped after the borrow: a task's remains may run code of the user.
                let over = self.tasks.borrow_mut().remove(slot);
                drop(over);
            }
            Poll::Pending => {
                if let Some(task) = self.tasks.borrow_mut().get_mut(slot) {
                    task.body = Some(body);
                }
            }
        }
    }

    /// Drops all tasks, when the job is over.
    pub(crate) fn clear(&self) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        drop(tasks);
    }
}
