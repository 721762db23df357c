//! DSA: Intel's Data Streaming Accelerator as a copy engine, which moves fragments by itself while the processors do other things.
//!
//! Written after the specification and never seen on hardware: the words are tested byte by byte, the rest against a device in software.
//! So it is asked for by an option.
//!
//! 1. A fragment both of whose ends are in this process's address space becomes one descriptor; all others are left to the processors.
//! 2. Each descriptor has a completion record of its own, which is empty when the descriptor is handed over, and read until it is not.
//! 3. A page that is not there ends the operation early. Whatever the device has not moved, for this or any other reason, a processor copies.
//! 4. Queues of the nearest devices take fragments in turn; one that is full is passed over.
//! 5. The portal goes first: when it is closed, the device has done with all fragments and records.

#![expect(clippy::disallowed_methods, reason = "a device answers in real time")]

mod instructions;
mod portal;
#[cfg(test)]
pub(super) mod software;
mod words;
mod work_queue;

use super::engine::{Engine, Submitted};
use super::job::Fragment;
use crate::ids::NodeId;
use crate::sync::spin_lock::SpinMutex;
use portal::Portal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use words::{CompletionRecord, Descriptor};
use work_queue::WorkQueue;

/// How long a device may take for an operation that does nothing, before it is believed not to work: some microseconds if it works.
const PATIENCE: Duration = Duration::from_secs(1);

/// The work queues of DSAs that are near, which take fragments in turn.
pub(crate) struct Dsa {
    queues: Box<[Queue]>,
    /// The queue that is offered a fragment next, counted on and on. It orders nothing.
    turn: AtomicUsize,
    description: String,
}

/// A work queue of a DSA, and what is in it.
struct Queue {
    /// Dropped before what the device reads and writes.
    portal: Box<dyn Portal>,
    places: SpinMutex<Places>,
    /// By place.
    records: Box<[CompletionRecord]>,
    bytes_max: usize,
    description: String,
}

/// Places for fragments under way.
struct Places {
    taken: Vec<Option<Fragment>>,
    free: Vec<usize>,
}

impl Dsa {
    /// Opens the work queues that are near for a node of this host, and has each do nothing, to see that it works. At most a second each.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) fn open(node: NodeId) -> Result<Self, String> {
        Self::on(work_queue::find(node.index())?)
    }

    /// Those of the work queues that work.
    fn on(queues: Vec<WorkQueue>) -> Result<Self, String> {
        let (mut working, mut reasons) = (Vec::new(), Vec::new());
        for queue in queues {
            match Queue::on(queue) {
                Ok(queue) => working.push(queue),
                Err(reason) => reasons.push(reason),
            }
        }
        if working.is_empty() {
            return Err(reasons.join("; "));
        }
        let description = working.iter().map(|queue| &*queue.description).collect::<Vec<_>>().join(" and ");
        Ok(Self { queues: working.into(), turn: AtomicUsize::new(0), description })
    }
}

impl Queue {
    fn on(WorkQueue { portal, depth, bytes_max, description }: WorkQueue) -> Result<Self, String> {
        let places = Places { taken: (0..depth).map(|_| None).collect(), free: (0..depth).collect() };
        let records = (0..depth.max(1)).map(|_| CompletionRecord::default()).collect();
        let queue = Self { portal, places: SpinMutex::new(places), records, bytes_max, description };
        queue.check().map_err(|cause| format!("{}: {cause}", queue.description))?;
        Ok(queue)
    }

    /// Has the device do nothing.
    fn check(&self) -> Result<(), String> {
        let record = &self.records[0];
        record.clear();
        let (began, descriptor) = (Instant::now(), Descriptor::nothing(record));
        while !self.portal.submit(&descriptor) {
            if began.elapsed() > PATIENCE {
                return Err("it takes no descriptor".to_owned());
            }
            std::thread::yield_now();
        }
        loop {
            match record.read(0) {
                Some(outcome) if outcome.is_success() => return Ok(()),
                Some(outcome) => return Err(format!("it answers with status {:#x}", outcome.status)),
                None if began.elapsed() > PATIENCE => return Err("it does not answer".to_owned()),
                None => std::thread::yield_now(),
            }
        }
    }

    /// A fragment that the device has done with, and how many bytes it moved.
    fn pop_done(&self) -> Option<(Fragment, usize)> {
        let Places { taken, free } = &mut *self.places.lock();
        taken.iter_mut().enumerate().find_map(|(place, fragment)| {
            let outcome = self.records[place].read(fragment.as_ref()?.len())?;
            free.push(place);
            Some((fragment.take()?, outcome.moved))
        })
    }

    fn submit(&self, fragment: Fragment) -> Result<Submitted, Fragment> {
        let len = fragment.len();
        let Some((source, target)) = fragment.places().filter(|_| len <= self.bytes_max) else {
            return Err(fragment);
        };
        let place = {
            let Places { taken, free } = &mut *self.places.lock();
            let Some(place) = free.pop() else { return Err(fragment) };
            // An empty record before the fragment is there: who looks finds that it is under way.
            self.records[place].clear();
            taken[place] = Some(fragment);
            place
        };
        let descriptor = Descriptor::copy(source, target, len as u32, &self.records[place]);
        if self.portal.submit(&descriptor) {
            return Ok(Submitted::UnderWay);
        }
        let Places { taken, free } = &mut *self.places.lock();
        free.push(place);
        Err(taken[place].take().expect("its record stayed empty, so that nobody took it out"))
    }

    fn is_idle(&self) -> bool {
        let Places { taken, free } = &*self.places.lock();
        taken.len() == free.len()
    }
}

impl Engine for Dsa {
    fn describe(&self) -> &str {
        &self.description
    }

    fn submit(&self, mut fragment: Fragment) -> Result<Submitted, Fragment> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed) % self.queues.len();
        let (before, from_first) = self.queues.split_at(first);
        for queue in from_first.iter().chain(before) {
            match queue.submit(fragment) {
                Ok(submitted) => return Ok(submitted),
                Err(refused) => fragment = refused,
            }
        }
        Err(fragment)
    }

    fn poll(&self, done: &mut dyn FnMut(Fragment, usize)) {
        for queue in &self.queues {
            while let Some((fragment, moved)) = queue.pop_done() {
                done(fragment, moved);
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.queues.iter().all(Queue::is_idle)
    }
}
