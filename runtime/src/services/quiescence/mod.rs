//! Quiescence detection: callbacks once no message is in flight and no entry runs, anywhere in the job.
//!
//! Every message is counted when it is sent and when it has been processed; so are transfers of the Direct API and wake-ups of async
//! entries. PE 0 asks all nodes for their sums, in waves. Two waves in a row that show the same sums, with as many processed as sent,
//! prove quiescence (Mattern's four counters, 1987). Between waves PE 0 pauses, longer each time, so a busy job is hardly
//! disturbed and an idle one sleeps; but a wave that has found nothing in flight is followed by the next one at once, so that the proof needs
//! no longer lull than two waves take. While PE 0 has work itself, which is in flight, no wave could prove anything: it looks for one that is due
//! when it has none.
//!
//! The limit of a wait (`timeout`) is no event: whoever asks for quiescence hears of it while such limits run. The end of `main` waits for
//! them, too: what follows from a limit that is over belongs to the job.
//!
//! A job that stands still is told of, once (see [`standstill`] and [`survey`]): one in which nothing moves while messages are in flight,
//! and one that is quiet though nobody waits for that. For the second, node 0 looks from time to time whether anything moved there
//! ([`Lookout`]); only if not, PE 0 sends waves without being asked for quiescence.

mod standstill;
mod sums;
#[cfg(feature = "sim")]
mod told;

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::{Envelope, SystemMessage, opened};
use crate::model::ids::{NodeId, PeId, ServiceId};
use crate::node::credit::Cost;
use crate::node::mailbox::Work;
use crate::node::{Delivery, Node, NodeService};
use crate::pe::queued::Outcome;
use crate::pe::{Pe, Service};
use crate::services::survey::{self, Purpose, Reason};
use chare_lrts::clock;
use chare_lrts::codec::{CodecError, Writer};
use serde::{Deserialize, Serialize};
use standstill::Standstill;
use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub(crate) use sums::Sums;
#[cfg(feature = "sim")]
pub(crate) use told::{Told, Waiting};

pub(crate) const ID: ServiceId = ServiceId(4);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { arrive: |_, arrival| Delivery::of::<Wave>(arrival), ..NodeService::NONE },
    state: || TypedBox::new(RefCell::new(Quiescence::default())),
    deliver: |pe, _, message| {
        receive(pe, opened(message));
        Outcome::NotCounted
    },
    before_rest: start_due_wave,
    due: |pe| state(pe).borrow().next_wave(),
    promises: |pe, tell| {
        state(pe).borrow().waiting.iter().for_each(|(_, callback)| tell(callback, "quiescence".to_owned()));
    },
    clear: |pe| drop(state(pe).take()),
    ..Service::named(ID, "quiescence detection")
};

/// The PE that asks all nodes.
const COORDINATOR: PeId = PeId(0);

/// The first pause between waves, and the longest: between a message's latency and what a user notices.
const PAUSE_FIRST: Duration = Duration::from_micros(20);
const PAUSE_LONGEST: Duration = Duration::from_millis(2);

/// Messages of the protocol; themselves not counted.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Wave {
    /// A request to be called back at quiescence: to the coordinator.
    Request { callback: ErasedCallback, asker: Asker },
    /// The question for sums: to the first PE of each node.
    Ask,
    /// A node's sums: back to the coordinator.
    Answer(Sums),
    /// The request to see whether the job stands still: to the coordinator, from its own node.
    Look,
}

/// Who asks for quiescence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Asker {
    /// The program, while it goes on.
    Program,
    /// The end of `main`, for which limits of waits are events like others.
    End,
}

/// The coordinator's state.
#[derive(Default)]
struct Quiescence {
    waiting: Vec<(Asker, ErasedCallback)>,
    answers: u32,
    sums: Sums,
    previous: Option<Sums>,
    pause: Duration,
    next_wave: Option<Instant>,
    wave_is_out: bool,
    /// Whether waves are to show if the job stands still, though nobody waits for quiescence.
    is_looked_at: bool,
    standstill: Standstill,
    #[cfg(feature = "sim")]
    told: Told,
}

/// The use of a node's answer.
#[derive(Default)]
struct Finding {
    /// The callbacks to fire, because there is quiescence.
    quiet: Vec<ErasedCallback>,
    /// The reason to survey what waits, if there is one.
    survey: Option<Reason>,
}

impl Quiescence {
    /// Adds a request. The next wave is due at once.
    fn request(&mut self, asker: Asker, callback: ErasedCallback, now: Instant) {
        self.waiting.push((asker, callback));
        // A wave before the request does not count for it.
        self.previous = None;
        self.pause = PAUSE_FIRST;
        if !self.wave_is_out {
            self.next_wave = Some(now);
        }
    }

    /// Begins to look whether the job stands still, unless waves are under way.
    fn look(&mut self, now: Instant) {
        if self.waiting.is_empty() && !self.wave_is_out {
            self.is_looked_at = true;
            self.previous = None;
            self.pause = PAUSE_FIRST;
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

    /// Adds a node's answer. Returns what follows from it.
    fn answer(&mut self, sums: Sums, nodes: u32, now: Instant) -> Finding {
        self.answers += 1;
        self.sums.add(sums);
        if self.answers < nodes {
            return Finding::default();
        }
        self.wave_is_out = false;
        let finding = self.end_wave(now);
        #[cfg(feature = "sim")]
        self.told.note(!finding.quiet.is_empty(), self.sums.in_flight());
        finding
    }

    /// What follows from a wave that all nodes have answered.
    fn end_wave(&mut self, now: Instant) -> Finding {
        let in_flight = self.sums.in_flight();
        let stuck = self.standstill.watch(self.sums, now).then_some(Reason::Stuck { in_flight });
        let is_still = self.previous == Some(self.sums);
        if in_flight == 0 && !is_still && self.previous.is_some_and(|sums| sums.in_flight() == 0) {
            chare_lrts::sometimes!("two waves in a row found nothing in flight, and other sums");
        }
        let callbacks =
            |all: Vec<(Asker, ErasedCallback)>| all.into_iter().map(|(_, callback)| callback).collect();
        if in_flight == 0 && is_still {
            self.previous = None;
            let quiet: Vec<_> = callbacks(std::mem::take(&mut self.waiting));
            let is_looked_at = std::mem::take(&mut self.is_looked_at) && quiet.is_empty();
            let is_new = is_looked_at && self.standstill.find_quiet(self.sums);
            return Finding { quiet, survey: is_new.then_some(Reason::Quiet) };
        }
        let quiet = if self.sums.are_limits_alone() && is_still {
            callbacks(self.waiting.extract_if(.., |(asker, _)| *asker == Asker::Program).collect())
        } else {
            Vec::new()
        };
        // A look ends when it sees messages in flight; whether they move, the next one sees.
        self.is_looked_at &= in_flight == 0;
        if self.is_looked_at || !self.waiting.is_empty() {
            let was_over = self.previous.is_some_and(Sums::are_limits_alone);
            self.previous = Some(self.sums);
            self.next_wave = Some(now);
            if was_over || !self.sums.are_limits_alone() {
                self.next_wave = Some(now + self.pause);
                self.pause = (self.pause * 2).min(PAUSE_LONGEST);
            }
        }
        Finding { quiet, survey: stuck }
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

/// Lookout of node 0's process: it has the job looked at when nothing has moved on the node between two looks.
#[derive(Default)]
pub(crate) struct Lookout {
    before: Option<Sums>,
}

impl Lookout {
    /// Time between two looks.
    pub(crate) const INTERVAL: Duration = standstill::PATIENCE;

    /// Looks, on any thread.
    pub(crate) fn look(&mut self, node: &Arc<Node>) {
        let sums = Some(Sums::of_node(node));
        if std::mem::replace(&mut self.before, sums) == sums {
            let message = Envelope::system(CallOptions::new(), Wave::Look);
            node.deliver(COORDINATOR, Work::Message(message, Cost::NONE));
        }
    }
}

/// Asks the coordinator to fire a callback when there is quiescence.
pub(crate) fn request(pe: &Pe, asker: Asker, callback: ErasedCallback) {
    send(pe, COORDINATOR, Wave::Request { callback, asker });
}

/// What the coordinator has told so far, and who waits there.
#[cfg(feature = "sim")]
pub(crate) fn look_at(coordinator: &Pe) -> (Told, Waiting) {
    let quiescence = state(coordinator).borrow();
    let program = quiescence.waiting.iter().any(|(asker, _)| *asker == Asker::Program);
    (quiescence.told, Waiting { anybody: !quiescence.waiting.is_empty(), program })
}

fn receive(pe: &Pe, wave: Wave) {
    match wave {
        Wave::Request { callback, asker } => {
            state(pe).borrow_mut().request(asker, callback, clock::now());
            start_due_wave(pe);
        }
        Wave::Ask => send(pe, COORDINATOR, Wave::Answer(Sums::of_node(&pe.node))),
        Wave::Answer(sums) => {
            let nodes = pe.node.topology.nodes();
            let Finding { quiet, survey } = state(pe).borrow_mut().answer(sums, nodes, clock::now());
            for callback in quiet {
                fire(pe, callback, Arguments::new(()));
            }
            if let Some(reason) = survey {
                survey::begin(&pe.node, Purpose::Report(reason));
            }
        }
        Wave::Look => {
            state(pe).borrow_mut().look(clock::now());
            start_due_wave(pe);
        }
    }
    pe.attend_to(ID, state(pe).borrow().next_wave().is_some());
}

/// On the coordinator: asks all nodes, if the pause is over. Returns whether it did.
fn start_due_wave(pe: &Pe) -> bool {
    let due = state(pe).borrow_mut().start_wave(clock::now());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;

    fn wave(state: &mut Quiescence, answers: [(u64, u64); 2]) -> usize {
        let now = clock::now() + Duration::from_secs(1);
        assert!(state.start_wave(now), "a wave is due");
        answers
            .into_iter()
            .map(|(sent, processed)| {
                state.answer(Sums { sent, processed, limits: 0 }, 2, now - Duration::from_secs(1)).quiet.len()
            })
            .sum()
    }

    #[test]
    fn two_equal_waves_with_nothing_in_flight_prove_it() {
        let mut state = Quiescence::default();
        state.request(Asker::Program, Callback::<()>::ignore().erase(), clock::now());
        assert_eq!(wave(&mut state, [(5, 4), (0, 0)]), 0, "one in flight");
        assert_eq!(wave(&mut state, [(5, 4), (0, 1)]), 0, "balanced, but only once");
        assert_eq!(wave(&mut state, [(6, 4), (0, 2)]), 0, "balanced, but it moved");
        assert_eq!(wave(&mut state, [(6, 4), (0, 2)]), 1);
        assert_eq!(state.next_wave(), None, "nobody waits: no more waves");
    }

    #[test]
    fn what_may_be_over_is_looked_at_again_at_once_and_no_more_often_than_what_is_not() {
        let mut state = Quiescence::default();
        let begin = clock::now();
        state.request(Asker::Program, Callback::<()>::ignore().erase(), begin);
        let mut pause_after = |sent, processed| {
            assert!(state.start_wave(begin + Duration::from_secs(1)), "a wave is due");
            state.answer(Sums { sent, processed, limits: 0 }, 1, begin);
            state.next_wave().map(|next| next - begin)
        };
        let pauses = [(4, 3), (5, 4), (6, 6), (7, 7), (8, 8), (9, 8), (9, 9), (9, 9)];
        let pauses = pauses.map(|(sent, processed)| pause_after(sent, processed));
        let [first, second, third, fourth] = [1, 2, 4, 8].map(|times| Some(PAUSE_FIRST * times));
        let at_once = Some(Duration::ZERO);
        assert_eq!(pauses, [first, second, at_once, third, fourth, Some(PAUSE_FIRST * 16), at_once, None]);
    }

    #[test]
    fn a_request_during_a_wave_needs_two_waves_of_its_own() {
        let mut state = Quiescence::default();
        let now = clock::now();
        state.request(Asker::Program, Callback::<()>::ignore().erase(), now);
        assert_eq!(wave(&mut state, [(0, 0), (0, 0)]), 0);
        state.request(Asker::Program, Callback::<()>::ignore().erase(), now);
        assert_eq!(wave(&mut state, [(0, 0), (0, 0)]), 0);
        assert_eq!(wave(&mut state, [(0, 0), (0, 0)]), 2);
    }

    #[test]
    fn limits_of_waits_keep_the_end_alone_waiting() {
        let mut state = Quiescence::default();
        let begin = clock::now();
        state.request(Asker::Program, Callback::<()>::ignore().erase(), begin);
        state.request(Asker::End, Callback::<()>::ignore().erase(), begin);
        let mut heard = |sent, processed, limits| {
            assert!(state.start_wave(begin + Duration::from_secs(1)), "a wave is due");
            state.answer(Sums { sent, processed, limits }, 1, begin).quiet.len()
        };
        assert_eq!([heard(9, 7, 1), heard(9, 7, 1)], [0, 0], "a message is in flight beside the limit");
        assert_eq!([heard(9, 8, 1), heard(9, 8, 1)], [0, 1], "the program hears");
        assert_eq!([heard(9, 8, 1), heard(9, 8, 1)], [0, 0], "the end waits");
        assert_eq!([heard(9, 9, 0), heard(9, 9, 0)], [0, 1]);
    }
}
