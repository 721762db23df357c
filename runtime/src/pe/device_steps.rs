//! Steps on devices that a PE's messages want: collected until nothing else is to be run, so that all of a turn are launched together.

use crate::node::Node;
use crate::node::devices::is_same;
use crate::node::devices::lanes::Lane;
use chare_device::{Batch, Device, DeviceError, Done};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// What goes on with a step, by what it has been given to write.
pub(crate) type Then = Box<dyn FnOnce(&Arc<Node>, Result<Done, DeviceError>) + Send>;

/// When it goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// At once: the next stream waits for the step.
    Launched,
    /// When the step is over.
    Past,
}

/// Steps of one lane of one device, and what goes on with each.
pub(crate) struct Collected {
    pub(crate) device: Device,
    pub(crate) lane: Lane,
    pub(crate) batch: Batch,
    pub(crate) thens: Vec<(When, Then)>,
}

impl Collected {
    pub(crate) fn new(device: &Device, lane: Lane) -> Self {
        Self { device: device.clone(), lane, batch: Batch::default(), thens: Vec::new() }
    }

    /// Adds a step, which `add` adds to the batch.
    ///
    /// # Errors
    /// What does not fit, and what was to go on.
    pub(crate) fn add(
        &mut self,
        add: impl FnOnce(&mut Batch) -> Result<(), DeviceError>,
        when: When,
        then: Then,
    ) -> Result<(), (DeviceError, Then)> {
        match add(&mut self.batch) {
            Ok(()) => {
                self.thens.push((when, then));
                Ok(())
            }
            Err(cause) => Err((cause, then)),
        }
    }
}

/// What a PE has collected.
#[derive(Default)]
pub(crate) struct DeviceSteps {
    collected: RefCell<Vec<Collected>>,
    /// Looks at it since the first step came.
    looks: Cell<u32>,
}

impl DeviceSteps {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.collected.borrow().is_empty()
    }

    /// Does something with what was collected for a lane of a device, to which a step is added.
    pub(crate) fn with<R>(&self, device: &Device, lane: Lane, add: impl FnOnce(&mut Collected) -> R) -> R {
        let mut all = self.collected.borrow_mut();
        let found = all.iter().position(|one| one.lane == lane && is_same(&one.device, device));
        let place = found.unwrap_or_else(|| {
            all.push(Collected::new(device, lane));
            all.len() - 1
        });
        add(&mut all[place])
    }

    /// Counts a look; returns how many there were since the first step came.
    pub(crate) fn look(&self) -> u32 {
        self.looks.update(|looks| looks + 1);
        self.looks.get()
    }

    /// Takes all of it.
    pub(crate) fn take(&self) -> Vec<Collected> {
        self.looks.set(0);
        self.collected.take()
    }
}
