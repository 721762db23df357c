//! Clearing of a PE: what its tables keep of a chare is dropped when the chare goes, and what they keep of an element's journey when nothing of
//! it is under way any more; and at the job's end every value that user code may own, each by itself, in an order in which a drop can still
//! reach the PE. There, a drop that panics takes no other value along.

use super::early::Missing;
use super::places::Places;
use super::{ChareEvent, Hearer, Pe};
use crate::base::numbering::Numbers;
use crate::base::panics;
use crate::base::spsc::Received;
use crate::model::error::JobError;
use crate::model::home::Settled;
use crate::model::ids::{CollectionId, Index, Target};
use crate::model::registry::show;

/// The tables of the PE itself that hear of chares, beside its places, from which `delivery/lifecycle` takes the chare. They come after the
/// services: what they drop may run code of the user.
const OWN: [Hearer; 2] = [drop_tasks, drop_renewal];

impl Pe {
    /// Tells everybody of an event, whom it can concern.
    pub(crate) fn tell(&self, mut event: ChareEvent<'_>) {
        let is_of_singleton =
            matches!(&event, ChareEvent::Gone { chare, .. } if matches!(chare.target, Target::Chare(_)));
        let services: &[Hearer] = if is_of_singleton { &[] } else { &self.hearers };
        services.iter().chain(&OWN).for_each(|hear| hear(self, &mut event));
    }
}

fn drop_tasks(pe: &Pe, event: &mut ChareEvent<'_>) {
    if let ChareEvent::Gone { chare, .. } = event {
        pe.tasks.drop_of(chare);
    }
}

fn drop_renewal(pe: &Pe, event: &mut ChareEvent<'_>) {
    if let ChareEvent::Gone { chare, .. } = event
        && !pe.renewals.borrow().is_empty()
    {
        let arguments = pe.renewals.borrow_mut().remove(&chare.target);
        // Dropped after the borrow.
        drop(arguments);
    }
}

/// Panics of drops, on one PE.
struct Panics<'a> {
    pe: &'a Pe,
    first: Option<(String, String)>,
    others: usize,
}

impl Panics<'_> {
    /// Drops a value; `describe` names the value.
    fn drop_apart(&mut self, describe: impl FnOnce() -> String, value: impl Sized) {
        self.run_apart(describe, || drop(value));
    }

    fn run_apart(&mut self, describe: impl FnOnce() -> String, body: impl FnOnce()) {
        let Err(cause) = panics::catch(body) else { return };
        if panics::is_closed_output(&cause) {
            return;
        }
        match &self.first {
            None => self.first = Some((describe(), cause)),
            Some(_) => self.others += 1,
        }
    }

    fn into_error(self) -> Option<JobError> {
        let Self { pe, first, others } = self;
        let (what, mut cause) = first?;
        if others > 0 {
            cause += &format!("; so did {others} more drops on this PE");
        }
        Some(JobError::Panic { what, pe: pe.id, node: pe.node.id, cause })
    }
}

impl Pe {
    /// Drops all values that user code may own.
    ///
    /// # Errors
    /// The first drop that panicked, and how many others did.
    pub(crate) fn clear(&self) -> Result<(), JobError> {
        let mut panics = Panics { pe: self, first: None, others: 0 };
        for (running, task) in self.tasks.take_all() {
            panics.drop_apart(|| format!("the drop of a task, {},", running.describe()), task);
        }
        // The one whose entry panicked.
        let panicked = self.running.end_entry();
        let (chares, rest) = self.places.replace(Places::new(1, true)).into_chares();
        for chare in panicked.into_iter().chain(chares) {
            let (name, target) = (chare.identity().name(), chare.identity().target);
            panics.drop_apart(|| format!("{name}::drop of {}", show(name, target)), chare);
        }
        panics.drop_apart(|| "the drop of what members contributed".to_owned(), rest);
        let renewals = self.renewals.take();
        for arguments in renewals.into_values() {
            panics.drop_apart(|| "the drop of a constructor's arguments".to_owned(), arguments);
        }
        for service in self.services {
            let describe = || format!("the drop of what waits in the service {}", service.name);
            panics.run_apart(describe, || (service.clear)(self));
        }
        let early = self.early.borrow_mut().take_all();
        for message in early {
            panics.drop_apart(|| "the drop of a message that waited".to_owned(), message);
        }
        let futures = self.futures.take();
        let futures_end = futures.end();
        for value in futures.into_values() {
            panics.drop_apart(|| "the drop of a callback's closure or value".to_owned(), value);
        }
        for steps in self.device_steps.take() {
            panics.drop_apart(|| "the drop of steps that were not launched".to_owned(), steps);
        }
        let unsent = || "the drop of a message that did not run".to_owned();
        while let Some(work) = self.take_queued() {
            panics.drop_apart(unsent, work);
        }
        while let Some(work) = self.mailbox.pop() {
            panics.drop_apart(unsent, work);
        }
        for mut way in self.ways_in.take() {
            way.take(usize::MAX, |received| match received {
                Received::Short(call) => panics.drop_apart(unsent, call),
                Received::Long(work) => panics.drop_apart(unsent, work.take()),
            });
        }
        self.node.numbers.note(Numbers { creations: self.serials.end(), futures: futures_end });
        panics.into_error().map_or(Ok(()), Err)
    }

    fn take_queued(&self) -> Option<Box<super::queued::Queued>> {
        let mut queue = self.queue.borrow_mut();
        queue.pop().or_else(|| queue.pop_idle())
    }

    /// At the home of an element: sees whether its journey is over, or it has ended, and does what follows.
    pub(crate) fn settle(&self, id: CollectionId, index: Index) {
        let target = Target::Member(id, index);
        let settled = {
            let mut places = self.places.borrow_mut();
            let home = places.collection_mut(id).and_then(|collection| collection.home.as_mut());
            home.map_or(Settled::Nothing, |home| home.settle(index))
        };
        match settled {
            Settled::Nothing => {}
            Settled::AtHome(standing) => {
                let chare = self.places.borrow().look_up(target);
                chare.inspect(|chare| chare.identity().standing.set(standing));
            }
            Settled::Over(standing, mut parcel) => {
                self.places.borrow_mut().forget(target);
                self.tell(ChareEvent::Forgotten {
                    member: target,
                    afar: Some(standing),
                    parcel: &mut parcel,
                });
                self.release_early(Missing::Member(id, index));
            }
        }
    }
}
