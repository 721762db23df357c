//! Reactor of a node: the one thread on which tokio waits for sockets, files and clocks, started when an entry first needs it.
//!
//! A future that needs tokio is polled on its own PE, inside the reactor's context; the reactor only wakes the PE. What such a future
//! spawns by tokio runs on the reactor's thread.

#![expect(
    clippy::disallowed_methods,
    reason = "tokio waits for what is outside the job, on a thread of the machine's"
)]

use crate::model::ids::ServiceId;
use crate::node::{Node, NodeService};
use crate::pe::Service;
use parking_lot::Mutex;
use rustix::thread::{Pid, sched_getaffinity, sched_setaffinity};
use std::io;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

const ID: ServiceId = ServiceId(11);

pub(crate) const SERVICE: Service = Service {
    node: NodeService {
        state: || Box::new(Mutex::new(None::<Reactor>)),
        clear: |node| drop(state(node).lock().take()),
        ..NodeService::NONE
    },
    ..Service::named(ID, "the reactor of tokio")
};

/// The reactor's thread; it ends when this is dropped.
struct Reactor {
    handle: Handle,
    _stop: oneshot::Sender<()>,
}

fn state(node: &Node) -> &Mutex<Option<Reactor>> {
    node.state(ID)
}

/// The context of tokio for this node; starts the reactor if it does not run yet.
///
/// # Errors
/// When the kernel grants no descriptor or thread for it.
pub(crate) fn handle(node: &Node) -> io::Result<Handle> {
    if !chare_lrts::may_block() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a simulated job knows nothing of the world outside it",
        ));
    }
    let mut reactor = state(node).lock();
    if let Some(reactor) = &*reactor {
        return Ok(reactor.handle.clone());
    }
    let started = Reactor::start()?;
    Ok(reactor.insert(started).handle.clone())
}

impl Reactor {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::Builder::new().name("chare-io".to_owned()).spawn(move || {
            leave_processor_of_pe();
            // An error says that the reactor was dropped.
            let _ = runtime.block_on(stopped);
            runtime.shutdown_background();
        })?;
        Ok(Self { handle, _stop: stop })
    }
}

/// A thread inherits the processor to which the PE that starts it is pinned; the process's first thread is not pinned.
fn leave_processor_of_pe() {
    let first = Pid::from_raw(std::process::id().cast_signed());
    if let Ok(processors) = sched_getaffinity(first) {
        // Without it, the thread is only slower.
        let _ = sched_setaffinity(None, &processors);
    }
}
