//! Order of a peer's messages: which of them is due, and those that came before it.
//!
//! 1. A message is taken when all before it were. What comes early is copied, so that its buffer goes back to the network.
//! 2. How early it may be is up to the network. `udp;ofi_rxd` was seen to be some hundred messages ahead. `tcp;ofi_rxm` (libfabric 1.17) has
//!    the receiver fetch each message of more than 16 KiB from its sender: what was sent behind it, as much as sockets hold, comes first.
//!    If the sender is killed meanwhile, the message never comes, and the end of the sender's process is what there is to tell.
//!    If it fails to arrive otherwise, the network says so ([`Event::Missing`](crate::leased::endpoint::Event::Missing)).
//! 3. A number is an allegation: what is kept is bounded in bytes.

use std::collections::BTreeMap;

/// Bytes of early messages that are kept of one peer at most: several times what sockets hold on a machine as it comes (6 MiB to receive,
/// 4 MiB to send).
const EARLY_BYTES_MAX: usize = 32 << 20;

/// Bytes that a kept message takes beside its own.
const KEPT_BYTES: usize = 64;

/// What is to be done with a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WindowPosition {
    /// It is due: it is to be taken, and then what waits behind it.
    Due,
    /// It is to be kept.
    Early,
    /// It was here before.
    Past,
    /// It is early, and so much is kept that the one that is due will not come.
    Beyond,
}

/// The order in which the messages of a peer are taken.
#[derive(Default)]
pub(super) struct Order {
    /// The number of the message that is due.
    next: u32,
    early: BTreeMap<u32, Vec<u8>>,
    early_bytes: usize,
}

impl Order {
    /// The place of a message of so many bytes; one that is due is counted as taken.
    #[inline]
    pub(super) fn place(&mut self, sequence: u32, len: usize) -> WindowPosition {
        if sequence == self.next {
            self.next = self.next.wrapping_add(1);
            return WindowPosition::Due;
        }
        let is_past = sequence.wrapping_sub(self.next) > u32::MAX / 2;
        if is_past || self.early.contains_key(&sequence) {
            return WindowPosition::Past;
        }
        if self.early_bytes + len + KEPT_BYTES > EARLY_BYTES_MAX {
            WindowPosition::Beyond
        } else {
            WindowPosition::Early
        }
    }

    /// Keeps an early message.
    pub(super) fn keep(&mut self, sequence: u32, bytes: Vec<u8>) {
        self.early_bytes += bytes.len() + KEPT_BYTES;
        self.early.insert(sequence, bytes);
    }

    /// The message that is due, if it is kept.
    pub(super) fn take_next(&mut self) -> Option<Vec<u8>> {
        let bytes = self.early.remove(&self.next)?;
        self.early_bytes -= bytes.len() + KEPT_BYTES;
        self.next = self.next.wrapping_add(1);
        Some(bytes)
    }

    /// Whether messages have come before the one that is due.
    pub(super) fn has_gap(&self) -> bool {
        !self.early.is_empty()
    }

    /// What is missing, in words.
    pub(super) fn describe_gap(&self) -> String {
        format!("message {} never came, and {} later ones have", self.next, self.early.len())
    }

    /// Whether no message has come.
    pub(super) fn is_new(&self) -> bool {
        self.next == 0 && !self.has_gap()
    }

    /// Forgets what is kept.
    pub(super) fn clear(&mut self) {
        self.early.clear();
        self.early_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that are taken when these come one after the other.
    fn taken(order: &mut Order, sequences: impl IntoIterator<Item = u32>) -> Vec<u8> {
        let mut taken = Vec::new();
        for sequence in sequences {
            let bytes = vec![sequence as u8];
            match order.place(sequence, bytes.len()) {
                WindowPosition::Due => taken.extend(bytes),
                WindowPosition::Early => order.keep(sequence, bytes),
                refused => panic!("message {sequence}: {refused:?}"),
            }
            taken.extend(std::iter::from_fn(|| order.take_next()).flatten());
        }
        taken
    }

    #[test]
    fn messages_are_taken_in_the_order_of_their_numbers() {
        let mut order = Order::default();
        assert_eq!(taken(&mut order, [2, 1, 4, 0]), [0, 1, 2]);
        assert_eq!(taken(&mut order, [5, 3, 6]), [3, 4, 5, 6]);
        assert_eq!(order.early_bytes, 0);
        let mut order = Order { next: u32::MAX, ..Order::default() };
        assert_eq!(taken(&mut order, [1, 0, u32::MAX]), [u8::MAX, 0, 1]);
    }

    #[test]
    fn a_message_that_comes_twice_is_known() {
        let mut order = Order::default();
        assert_eq!(taken(&mut order, [0, 1, 3]), [0, 1]);
        for sequence in [0, 1, 3, u32::MAX] {
            assert_eq!(order.place(sequence, 10), WindowPosition::Past, "message {sequence}");
        }
    }

    #[test]
    fn as_much_as_sockets_hold_may_come_before_the_message_that_is_due() {
        let mut order = Order::default();
        let len = 1_000;
        let most = EARLY_BYTES_MAX / (len + KEPT_BYTES);
        assert!(most * len > 20 << 20);
        for sequence in 1..=most as u32 {
            assert_eq!(order.place(sequence, len), WindowPosition::Early);
            order.keep(sequence, vec![0; len]);
        }
        assert_eq!(order.place(most as u32 + 1, len), WindowPosition::Beyond);
        assert_eq!(order.describe_gap(), format!("message 0 never came, and {most} later ones have"));
        assert_eq!(order.place(0, len), WindowPosition::Due);
        assert_eq!(std::iter::from_fn(|| order.take_next()).count(), most);
        assert_eq!(order.early_bytes, 0);
    }
}
