//! Wake-ups of tasks: each leaves the task's key with its PE, from any thread.

use super::Pe;
use super::running::Running;
use super::tasks::{Deliver, TaskWaker};
use crate::model::ids::TaskKey;
use crate::node::mailbox::Work;
use std::sync::Arc;

impl Deliver for TaskWaker {
    /// With whoever lets the first that is woken go on at once, if somebody does; in the run queue if the caller runs on that PE; else in
    /// its mailbox.
    #[inline]
    fn deliver(&self) {
        let Self { node, pe, key, .. } = self;
        let is_here = |current: &Pe| current.id == *pe && Arc::ptr_eq(&current.node, node);
        let queued = Pe::try_current(|current| {
            is_here(current).then(|| {
                if current.tasks.take_woken(*key) {
                    return;
                }
                current.counters.resumed.add(1);
                current.queue.borrow_mut().push_task(*key);
            })
        });
        if queued.flatten().is_none() {
            node.counters[node.topology.rank_of(*pe)].woken.add_shared(1);
            node.deliver(*pe, Work::Task(*key));
        }
    }
}

impl Pe {
    /// Adds a task that goes on as `running`; poll it with [`Tasks::poll`](super::tasks::Tasks::poll).
    pub(crate) fn add_task(&self, running: Running, body: impl Future<Output = ()> + 'static) -> TaskKey {
        self.tasks.add((&self.node, self.id), running, body)
    }
}
