//! Quiescence: nothing in flight and no entry running, anywhere.
//!
//! Every message is counted when it is sent and when it has been processed; so are transfers of the Direct API and wake-ups of async
//! entries. PE 0 asks all nodes for their sums, in waves. Two waves in a row that show the same sums, with as many processed as sent,
//! prove quiescence (Mattern's four counters, 1987). Between waves PE 0 pauses, longer each time, so a busy job is hardly
//! disturbed and an idle one sleeps.

use crate::callback::ErasedCallback;
use crate::ids::PeId;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The PE that asks.
pub(crate) const COORDINATOR: PeId = PeId(0);

/// The first pause between waves, and the longest: between a message's latency and what a user notices.
const PAUSE_FIRST: Duration = Duration::from_micros(20);
const PAUSE_LONGEST: Duration = Duration::from_millis(2);

/// Messages of the protocol; themselves not counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Wave {
    /// Somebody wants to know: to the coordinator.
    Request { callback: ErasedCallback },
    /// To the first PE of each node.
    Ask,
    /// Back to the coordinator.
    Answer(Sums),
}

/// Messages sent and processed, by a node or by all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    pub(crate) sent: u64,
    pub(crate) processed: u64,
}

/// The coordinator's state.
#[derive(Default)]
pub(crate) struct Quiescence {
    waiting: Vec<ErasedCallback>,
    answers: u32,
    sums: Sums,
    previous: Option<Sums>,
    pause: Duration,
    next_wave: Option<Instant>,
    wave_is_out: bool,
}

impl Quiescence {
    /// Somebody wants to know. The next wave is due at once.
    pub(crate) fn request(&mut self, callback: ErasedCallback, now: Instant) {
        self.waiting.push(callback);
        // What was seen before the request does not count for it.
        self.previous = None;
        self.pause = PAUSE_FIRST;
        if !self.wave_is_out {
            self.next_wave = Some(now);
        }
    }

    /// When the next wave is due, if one is.
    pub(crate) fn next_wave(&self) -> Option<Instant> {
        self.next_wave
    }

    /// Whether to ask all nodes now.
    pub(crate) fn start_wave(&mut self, now: Instant) -> bool {
        if self.next_wave.is_none_or(|due| due > now) {
            return false;
        }
        self.next_wave = None;
        self.wave_is_out = true;
        self.answers = 0;
        self.sums = Sums::default();
        true
    }

    /// A node answered. Returns the callbacks to fire when this proves quiescence.
    pub(crate) fn answer(&mut self, sums: Sums, nodes: u32, now: Instant) -> Vec<ErasedCallback> {
        self.answers += 1;
        self.sums.sent = self.sums.sent.wrapping_add(sums.sent);
        self.sums.processed = self.sums.processed.wrapping_add(sums.processed);
        if self.answers < nodes {
            return Vec::new();
        }
        self.wave_is_out = false;
        if self.sums.sent == self.sums.processed && self.previous == Some(self.sums) {
            self.previous = None;
            return std::mem::take(&mut self.waiting);
        }
        self.previous = Some(self.sums);
        self.next_wave = Some(now + self.pause);
        self.pause = (self.pause * 2).min(PAUSE_LONGEST);
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callback::Callback;

    fn wave(state: &mut Quiescence, answers: [(u64, u64); 2]) -> usize {
        let now = Instant::now() + Duration::from_secs(1);
        assert!(state.start_wave(now), "a wave is due");
        answers
            .into_iter()
            .map(|(sent, processed)| {
                state.answer(Sums { sent, processed }, 2, now - Duration::from_secs(1)).len()
            })
            .sum()
    }

    #[test]
    fn two_equal_waves_with_nothing_in_flight_prove_it() {
        let mut state = Quiescence::default();
        state.request(Callback::<()>::ignore().erase(), Instant::now());
        assert_eq!(wave(&mut state, [(5, 4), (0, 0)]), 0, "one in flight");
        assert_eq!(wave(&mut state, [(5, 4), (0, 1)]), 0, "balanced, but only once");
        assert_eq!(wave(&mut state, [(6, 4), (0, 2)]), 0, "balanced, but it moved");
        assert_eq!(wave(&mut state, [(6, 4), (0, 2)]), 1);
        assert_eq!(state.next_wave(), None, "nobody waits: no more waves");
    }

    #[test]
    fn a_request_during_a_wave_needs_two_waves_of_its_own() {
        let mut state = Quiescence::default();
        let now = Instant::now();
        state.request(Callback::<()>::ignore().erase(), now);
        assert_eq!(wave(&mut state, [(0, 0), (0, 0)]), 0);
        state.request(Callback::<()>::ignore().erase(), now);
        assert_eq!(wave(&mut state, [(0, 0), (0, 0)]), 0);
        assert_eq!(wave(&mut state, [(0, 0), (0, 0)]), 2);
    }
}
