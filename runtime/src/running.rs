//! What runs on a PE: kept beside entries and tasks, so that failures can name them.

use crate::object::{AnyChare, Identity};
use crate::registry;
use std::rc::Rc;

/// What is running on a PE right now.
#[derive(Clone, Default)]
pub(crate) struct Running {
    /// Whose entry runs, if it is a chare's.
    pub(crate) chare: Option<Rc<dyn AnyChare>>,
    /// Whose constructor runs.
    pub(crate) unborn: Option<Rc<Identity>>,
    /// The entry's name.
    pub(crate) entry: &'static str,
    /// The reference number that came with the call.
    pub(crate) reference: u64,
}

impl Running {
    /// Something that is no chare's.
    pub(crate) fn named(entry: &'static str) -> Self {
        Self { entry, ..Self::default() }
    }

    /// The chare, if there is or will be one.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.chare.as_ref().map(|chare| chare.identity()).or(self.unborn.as_deref())
    }

    /// Chare and entry, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match self.identity() {
            Some(Identity { name, target, .. }) => {
                format!("{name}::{} of {}", self.entry, registry::show(name, *target))
            }
            None => self.entry.to_owned(),
        }
    }
}
