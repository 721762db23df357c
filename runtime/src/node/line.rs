//! Line: messages that wait for one node, the urgent ones before the others.

use std::collections::VecDeque;

/// Messages in the order in which they go: urgent ones, oldest first, then the others, oldest first.
pub(super) struct Line<M> {
    messages: VecDeque<M>,
    urgent: usize,
}

/// A message that stood in a line, and whether it was urgent there.
pub(super) struct Next<M> {
    pub(super) message: M,
    pub(super) is_urgent: bool,
}

impl<M> Line<M> {
    pub(super) fn new() -> Self {
        Self { messages: VecDeque::new(), urgent: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn first(&self) -> Option<&M> {
        self.messages.front()
    }

    /// Adds a message behind those that are as urgent.
    pub(super) fn push(&mut self, message: M, is_urgent: bool) {
        if is_urgent {
            self.messages.insert(self.urgent, message);
            self.urgent += 1;
        } else {
            self.messages.push_back(message);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Next<M>> {
        let message = self.messages.pop_front()?;
        let is_urgent = self.urgent > 0;
        self.urgent -= usize::from(is_urgent);
        Some(Next { message, is_urgent })
    }

    /// Puts back what was the first.
    pub(super) fn put_back(&mut self, Next { message, is_urgent }: Next<M>) {
        self.messages.push_front(message);
        self.urgent += usize::from(is_urgent);
    }
}
