//! Quiescence detection: callbacks once no message is in flight and no entry runs, anywhere in the job.
//!
//! Every message is counted when it is sent and when it has been processed; so are transfers of the Direct API and wake-ups of async
//! entries. PE 0 asks all nodes for their sums, in waves. Two waves in a row that show the same sums, with as many processed as sent,
//! prove quiescence (Mattern's four counters, 1987). Between waves PE 0 pauses, longer each time, so a busy job is hardly
//! disturbed and an idle one sleeps.

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Envelope, SystemMessage, opened};
use crate::model::ids::{NodeId, PeId, ServiceId};
use crate::node::{Delivery, NodeService};
use crate::pe::queued::Outcome;
use crate::pe::{Pe, Service};
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::time::{Duration, Instant};

pub(crate) const ID: ServiceId = ServiceId(4);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<Wave>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Quiescence::default())),
    deliver: |pe, _, message| {
        receive(pe, opened(message));
        Outcome::NotCounted
    },
    poll: start_due_wave,
    due: |pe| state(pe).borrow().next_wave(),
    clear: |pe| drop(state(pe).take()),
    ..Service::named(ID, "quiescence detection")
};

/// The PE that asks all nodes.
const COORDINATOR: PeId = PeId(0);

/// The first pause between waves, and the longest: between a message's latency and what a user notices.
const PAUSE_FIRST: Duration = Duration::from_micros(20);
const PAUSE_LONGEST: Duration = Duration::from_millis(2);

/// Messages of the protocol; themselves not counted.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Wave {
    /// A request to be called back at quiescence: to the coordinator.
    Request { callback: ErasedCallback },
    /// The question for sums: to the first PE of each node.
    Ask,
    /// A node's sums: back to the coordinator.
    Answer(Sums),
}

/// Messages sent and processed, by a node or by all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Sums {
    sent: u64,
    processed: u64,
}

/// The coordinator's state.
#[derive(Default)]
struct Quiescence {
    waiting: Vec<ErasedCallback>,
    answers: u32,
    sums: Sums,
    previous: Option<Sums>,
    pause: Duration,
    next_wave: Option<Instant>,
    wave_is_out: bool,
}

impl Quiescence {
    /// Adds a request. The next wave is due at once.
    fn request(&mut self, callback: ErasedCallback, now: Instant) {
        self.waiting.push(callback);
        // A wave before the request does not count for it.
        self.previous = None;
        self.pause = PAUSE_FIRST;
        if !self.wave_is_out {
            self.next_wave = Some(now);
        }
    }

    /// The time at which the next wave is due, if one is.
    fn next_wave(&self) -> Option<Instant> {
        self.next_wave
    }

    /// Begins a wave if one is due; returns whether to ask all nodes now.
    fn start_wave(&mut self, now: Instant) -> bool {
        if self.next_wave.is_none_or(|due| due > now) {
            return false;
        }
        self.next_wave = None;
        self.wave_is_out = true;
        self.answers = 0;
        self.sums = Sums::default();
        true
    }

    /// Adds a node's answer. Returns the callbacks to fire when the answer proves quiescence.
    fn answer(&mut self, sums: Sums, nodes: u32, now: Instant) -> Vec<ErasedCallback> {
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

impl SystemMessage for Wave {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        "quiescence detection".to_owned()
    }

    fn is_counted(&self) -> bool {
        false
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&(to, self))
    }
}

fn state(pe: &Pe) -> &RefCell<Quiescence> {
    pe.state(ID)
}

/// Asks the coordinator to fire a callback when there is quiescence.
pub(crate) fn request(pe: &Pe, callback: ErasedCallback) {
    send(pe, COORDINATOR, Wave::Request { callback });
}

fn receive(pe: &Pe, wave: Wave) {
    match wave {
        Wave::Request { callback } => {
            state(pe).borrow_mut().request(callback, Instant::now());
            start_due_wave(pe);
        }
        Wave::Ask => send(pe, COORDINATOR, Wave::Answer(sums(pe))),
        Wave::Answer(sums) => {
            let nodes = pe.node.topology.nodes();
            let quiet = state(pe).borrow_mut().answer(sums, nodes, Instant::now());
            for callback in quiet {
                fire(pe, callback, Arguments::new(()));
            }
        }
    }
    pe.attend_to(ID, state(pe).borrow().next_wave().is_some());
}

/// On the coordinator: asks all nodes, if the pause is over. Returns whether it did.
fn start_due_wave(pe: &Pe) -> bool {
    let due = state(pe).borrow_mut().start_wave(Instant::now());
    if due {
        pe.attend_to(ID, false);
        for node in 0..pe.node.topology.nodes() {
            send(pe, pe.node.topology.pe(NodeId(node), 0), Wave::Ask);
        }
    }
    due
}

fn send(pe: &Pe, to: PeId, wave: Wave) {
    outbox::send(pe, to, Envelope::system(CallOptions::new(), wave));
}

/// The sums of this node. Processed messages are read before sent ones: a message that is sent meanwhile can only make the sums unequal.
fn sums(pe: &Pe) -> Sums {
    let all = || pe.node.counters.iter().map(|counters| &***counters).chain([&pe.node.outside]);
    let processed = all().fold(0u64, |sum, counters| sum.wrapping_add(counters.processed.read()));
    let sent = all().fold(0u64, |sum, counters| {
        let counted = [&counters.sent, &counters.resumed, &counters.woken];
        counted.into_iter().fold(sum, |sum, counter| sum.wrapping_add(counter.read()))
    });
    Sums { sent, processed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;

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
