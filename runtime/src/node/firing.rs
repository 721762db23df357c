//! Callbacks fired by a node, outside any entry.

use super::Node;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::{ErasedCallback, Goal};
use crate::model::envelope::{Body, Envelope, Fired};

impl Node {
    /// Sends a value to a callback's goal: to a future of this node directly, to any other goal through a PE, whose outbox knows every
    /// way out.
    pub(crate) fn fire(&self, callback: ErasedCallback, value: Arguments) {
        if self.has_ended() {
            return;
        }
        let (to, body) = match callback.goal {
            Goal::Ignore => return,
            Goal::Resolve(future) if self.is_here(future.pe) => (future.pe, Body::Resolve { future, value }),
            _ => (self.topology.pe(self.id, 0), Body::Callback(Box::new(Fired { callback, value }))),
        };
        self.deliver_counted(to, Envelope { options: CallOptions::new(), body });
    }
}
