//! Surveys: questions to all PEs of a job whose answers come together on node 0: what waits, and figures of what was done.
//!
//! 1. A survey begins on node 0, on any thread: it leaves the question with each PE of the node, and the PE that is the first to take it
//!    asks the PEs of the other nodes. Another node that wants one asks node 0 for it.
//! 2. Each PE answers what waits there ([`Waits`]) or what was done there ([`Figures`]). Answers are taken in by whichever thread reads
//!    them, so that no certain PE has to be free: an entry that does not end is one of the things that a survey is to show.
//! 3. A survey ends with its last answer or when it is [concluded](conclude); then it is told once. One that somebody asked for has a time:
//!    whichever PE of node 0 is the first to see it pass concludes the survey, and if all of them are in an entry, who waits for the job's
//!    end does ([`conclude_due`]).
//!
//! Nothing here is counted: quiescence, which asks for surveys, does not see them.

mod figures;
mod report;
mod waits;

use crate::base::typed_box::TypedBox;
use crate::delivery::fire::fire;
use crate::delivery::outbox;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::ErasedCallback;
use crate::model::envelope::frame;
use crate::model::envelope::{Envelope, SystemMessage, opened};
use crate::model::ids::{NodeId, PeId, ServiceId};
use crate::node::credit::Cost;
use crate::node::mailbox::Work;
use crate::node::{Arrival, Delivery, Node, NodeService};
use crate::pe::queued::Outcome;
use crate::pe::{Pe, Service};
use chare_lrts::clock;
use chare_lrts::codec::{self, CodecError, Writer};
use chare_lrts::events;
pub(crate) use figures::Figures;
#[cfg(feature = "dashboard")]
pub(crate) use figures::{CollectionFigures, EntryTime};
#[cfg(all(test, feature = "dashboard"))]
pub(crate) use figures::{NodeFigures, PathFigures};
use parking_lot::Mutex;
pub(crate) use report::Reason;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use waits::Waits;

pub(crate) const ID: ServiceId = ServiceId(12);

pub(crate) const SERVICE: Service = Service {
    node: NodeService { state: || Box::new(Mutex::new(Surveys::default())), arrive, ..NodeService::NONE },
    state: || TypedBox::new(()),
    deliver: |pe, _, message| {
        receive(pe, opened(message));
        Outcome::NotCounted
    },
    poll: |pe| {
        let did = conclude_due(&pe.node);
        attend(pe);
        did
    },
    due: |pe| next_due(&pe.node),
    ..Service::named(ID, "surveys")
};

/// Node on which surveys begin and end.
const HUB: NodeId = NodeId(0);

/// Time that PEs have to answer a survey that somebody asked for: longer than entries should be, and what a user waits gladly.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// Time within which requests are for one survey: a signal that goes to all nodes of a job makes each of them ask.
const TOGETHER: Duration = Duration::from_millis(500);

/// Messages of surveys.
#[derive(Serialize, Deserialize)]
enum Message {
    /// To node 0: somebody wants a survey.
    Request,
    /// To every PE: the question.
    Ask { round: u64, subject: Subject },
    /// To node 0: a PE's answer.
    Answer { round: u64, from: PeId, answer: Answer },
    /// To a PE of node 0: the survey is told, which this callback waited for.
    Over { callback: ErasedCallback },
}

/// What is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Subject {
    Waits,
    Figures,
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Waits(Waits),
    Figures(Figures),
}

impl SystemMessage for Message {
    fn service(&self) -> ServiceId {
        ID
    }

    fn describe(&self) -> String {
        "a survey".to_owned()
    }

    fn is_counted(&self) -> bool {
        false
    }

    fn write(&self, to: PeId, out: &mut Writer<'_>) -> Result<(), CodecError> {
        out.write(&(to, self))
    }
}

/// The surveys under way; used on node 0.
#[derive(Default)]
struct Surveys {
    begun: u64,
    requested: Option<Instant>,
    under_way: BTreeMap<u64, Survey>,
}

struct Survey {
    purpose: Purpose,
    /// When it is concluded, if nobody else sees to that.
    until: Option<Instant>,
    /// Whether the other nodes have been asked.
    is_spread: bool,
    answers: Vec<(PeId, Answer)>,
}

/// The figures of PEs, by PE.
pub(crate) type AllFigures = Vec<(PeId, Figures)>;

/// What becomes of the answers.
pub(crate) enum Purpose {
    /// A report of what waits, if it is worth telling for this reason, as an event.
    Report(Reason),
    /// A report of what waits, to whoever asked.
    #[cfg_attr(
        not(any(feature = "dashboard", feature = "sim")),
        expect(dead_code, reason = "asked by the dashboard and by simulations alone")
    )]
    Reply(Box<dyn FnOnce(String) + Send>),
    /// The figures of the PEs that have answered, to whoever asked.
    #[cfg_attr(not(feature = "dashboard"), expect(dead_code, reason = "asked by the dashboard alone"))]
    Figures(Box<dyn FnOnce(AllFigures) + Send>),
}

impl Purpose {
    fn subject(&self) -> Subject {
        match self {
            Self::Report(_) | Self::Reply(_) => Subject::Waits,
            Self::Figures(_) => Subject::Figures,
        }
    }
}

fn surveys(node: &Node) -> &Mutex<Surveys> {
    node.state(ID)
}

/// On node 0, on any thread: begins a survey. Returns its number.
pub(crate) fn begin(node: &Arc<Node>, purpose: Purpose) -> u64 {
    begin_until(node, purpose, None)
}

/// Begins a survey that is concluded at a certain time, if it has one.
pub(crate) fn begin_until(node: &Arc<Node>, purpose: Purpose, until: Option<Instant>) -> u64 {
    let subject = purpose.subject();
    let round = {
        let mut surveys = surveys(node).lock();
        surveys.begun += 1;
        let round = surveys.begun;
        surveys.under_way.insert(round, Survey { purpose, until, is_spread: false, answers: Vec::new() });
        round
    };
    leave_with_all(node, || Message::Ask { round, subject });
    round
}

/// On any node and thread: begins a survey because somebody asked this process for one.
pub(crate) fn request(node: &Arc<Node>) {
    if node.id != HUB {
        return leave_with_all(node, || Message::Request);
    }
    let until = {
        let (mut surveys, now) = (surveys(node).lock(), clock::now());
        let is_new = surveys.requested.is_none_or(|before| now.duration_since(before) > TOGETHER);
        if is_new {
            surveys.requested = Some(now);
        }
        is_new.then_some(now + PATIENCE)
    };
    if until.is_some() {
        begin_until(node, Purpose::Report(Reason::Request), until);
    }
}

/// Leaves a message with each PE of this node.
fn leave_with_all(node: &Node, message: impl Fn() -> Message) {
    for pe in node.pes() {
        node.deliver(pe, Work::Message(Envelope::system(CallOptions::new(), message()), Cost::NONE));
    }
}

fn receive(pe: &Pe, message: Message) {
    match message {
        Message::Request => send_to_hub(pe, &Message::Request),
        Message::Ask { round, subject } => {
            attend(pe);
            if pe.node.id == HUB && claim_spread(&pe.node, round) {
                let all = (0..pe.node.topology.pes()).map(PeId);
                for to in all.filter(|to| !pe.node.is_here(*to)) {
                    outbox::send(
                        pe,
                        to,
                        Envelope::system(CallOptions::new(), Message::Ask { round, subject }),
                    );
                }
            }
            let from = pe.id;
            let answer = match subject {
                Subject::Waits => Answer::Waits(Waits::on(pe)),
                Subject::Figures => Answer::Figures(Figures::of(pe)),
            };
            if pe.node.id == HUB {
                hear(&pe.node, round, from, answer);
            } else {
                send_to_hub(pe, &Message::Answer { round, from, answer });
            }
        }
        Message::Over { callback } => fire(pe, callback, Arguments::new(())),
        Message::Answer { .. } => unreachable!("node 0 takes answers in as they arrive"),
    }
}

/// Sends node 0 a message that is for no PE in particular; it costs nothing, because no PE runs it.
fn send_to_hub(pe: &Pe, message: &Message) {
    match frame::encode_system(ID, &(pe.node.topology.pe(HUB, 0), message)) {
        Ok(bytes) => pe.node.post(&pe.counters, HUB, bytes),
        Err(cause) => pe.fail("a survey".to_owned(), cause),
    }
}

/// Takes a message from another node.
fn arrive(node: &Arc<Node>, arrival: Arrival<'_>) -> Result<Option<Delivery>, String> {
    let (to, message): (PeId, Message) = codec::decode(arrival.said).map_err(|error| error.to_string())?;
    match message {
        Message::Ask { .. } => {
            Ok(Some(Delivery { to, options: CallOptions::new(), message: Box::new(message) }))
        }
        Message::Request if node.id == HUB => {
            request(node);
            Ok(None)
        }
        Message::Answer { round, from, answer } if node.id == HUB => {
            if from.0 >= node.topology.pes() || node.topology.node_of(from) != arrival.source {
                return Err(format!("an answer for {from}, which is not there"));
            }
            hear(node, round, from, answer);
            Ok(None)
        }
        Message::Request | Message::Answer { .. } | Message::Over { .. } => {
            Err("a message about a survey that is another node's".to_owned())
        }
    }
}

/// Whether the caller is the one that asks the other nodes.
fn claim_spread(node: &Node, round: u64) -> bool {
    let mut surveys = surveys(node).lock();
    surveys.under_way.get_mut(&round).is_some_and(|survey| !std::mem::replace(&mut survey.is_spread, true))
}

/// Takes in an answer.
fn hear(node: &Arc<Node>, round: u64, from: PeId, answer: Answer) {
    let is_whole = {
        let mut surveys = surveys(node).lock();
        let Some(survey) = surveys.under_way.get_mut(&round) else { return };
        if survey.answers.iter().all(|(pe, _)| *pe != from) {
            survey.answers.push((from, answer));
        }
        survey.answers.len() == node.topology.pes() as usize
    };
    if is_whole {
        conclude(node, round);
    }
}

/// A PE of node 0 looks at the clock while a survey has a time.
fn attend(pe: &Pe) {
    pe.attend_to(ID, next_due(&pe.node).is_some());
}

fn next_due(node: &Node) -> Option<Instant> {
    surveys(node).lock().under_way.values().filter_map(|survey| survey.until).min()
}

/// Tells the surveys whose time is over; returns whether there were any. On any thread.
pub(crate) fn conclude_due(node: &Arc<Node>) -> bool {
    let now = clock::now();
    let is_over = |survey: &Survey| survey.until.is_some_and(|until| until <= now);
    let over: Vec<u64> = {
        let surveys = surveys(node).lock();
        surveys.under_way.iter().filter(|(_, survey)| is_over(survey)).map(|(round, _)| *round).collect()
    };
    over.iter().for_each(|round| conclude(node, *round));
    !over.is_empty()
}

/// Tells a survey that is whole, or whose time is over; does nothing if it has been told.
pub(crate) fn conclude(node: &Arc<Node>, round: u64) {
    let survey = surveys(node).lock().under_way.remove(&round);
    let Some(Survey { purpose, mut answers, .. }) = survey.filter(|_| !node.has_ended()) else { return };
    answers.sort_by_key(|(pe, _)| *pe);
    let (mut waits, mut figures) = (Vec::new(), Vec::new());
    for (pe, answer) in answers {
        match answer {
            Answer::Waits(there) => waits.push((pe, there)),
            Answer::Figures(there) => figures.push((pe, there)),
        }
    }
    let pes = node.topology.pes();
    match purpose {
        Purpose::Report(Reason::End { callback }) => {
            waits.iter_mut().for_each(|(_, waits)| waits.leave_out(callback));
            report::tell(Reason::End { callback }, &waits, pes).into_iter().for_each(events::warn);
            let message = Envelope::system(CallOptions::new(), Message::Over { callback });
            node.deliver(node.topology.pe(HUB, 0), Work::Message(message, Cost::NONE));
        }
        Purpose::Report(reason) => {
            report::tell(reason, &waits, pes).into_iter().for_each(events::warn);
        }
        Purpose::Reply(reply) => reply(report::tell(Reason::Request, &waits, pes).unwrap_or_default()),
        Purpose::Figures(take) => take(figures),
    }
}
