//! What runs on a PE: kept beside entries and tasks, so that failures can name them.

use crate::chare::{AnyChare, Identity};
use std::rc::Rc;

/// What is running on a PE right now.
#[derive(Clone, Default)]
pub(crate) struct Running {
    pub(crate) subject: Subject,
    /// The entry's name.
    pub(crate) entry: &'static str,
    /// The reference number that came with the call.
    pub(crate) reference: u64,
}

/// Whose entry runs.
#[derive(Clone, Default)]
pub(crate) enum Subject {
    /// Nobody's: `main`'s, or nothing runs.
    #[default]
    Nobody,
    Chare(Rc<dyn AnyChare>),
    /// A chare's that does not exist yet: its constructor runs.
    Unborn(Rc<Identity>),
}

impl Subject {
    /// The chare, if there is or will be one.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        match self {
            Self::Nobody => None,
            Self::Chare(chare) => Some(chare.identity()),
            Self::Unborn(identity) => Some(identity),
        }
    }
}

impl Running {
    /// Chare and entry, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match self.subject.identity() {
            Some(identity) => format!("{}::{} of {}", identity.name, self.entry, identity.target),
            None => self.entry.to_owned(),
        }
    }
}
