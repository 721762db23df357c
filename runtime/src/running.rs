//! What runs on a PE: kept beside entries and tasks, so that failures can name them.

use crate::chare::Identity;
use std::rc::Rc;

/// What is running on a PE right now.
#[derive(Clone, Default)]
pub(crate) struct Running {
    /// The chare, if it is an entry of one.
    pub(crate) identity: Option<Rc<Identity>>,
    /// The entry's name.
    pub(crate) entry: &'static str,
    /// The reference number that came with the call.
    pub(crate) reference: u64,
}

impl Running {
    /// Chare and entry, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match &self.identity {
            Some(identity) => format!("{}::{} of {}", identity.name, self.entry, identity.target),
            None => self.entry.to_owned(),
        }
    }
}
