//! Standstill of a job that waits for quiescence: all that is in flight waits for chares or buffers that do not exist, which is said once.
//!
//! 1. When every wave for [`PATIENCE`] has shown the same sums, with messages in flight, the coordinator asks all PEs which messages wait
//!    there for a chare, collection, member or section that is not created, or for a buffer that is not posted.
//! 2. If these are all the messages in flight, the coordinator names them on standard error. If not, something runs or travels, and
//!    nothing is said.
//! 3. The waves go on: what is waited for may still be created. Other sums begin a new standstill.

use super::sums::Sums;
use crate::model::envelope::{Body, Envelope};
use crate::model::ids::PeId;
use crate::pe::Pe;
use crate::pe::early::Missing;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// Time for which nothing moves before PEs are asked: longer than a network or a busy host delays a message.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most kinds of messages that one PE names, and that are shown.
const KINDS_MAX: usize = 16;

/// Messages on one PE that wait for what is not created there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    messages: u64,
    /// Kinds of messages and how many of each wait, the most frequent first; no more than [`KINDS_MAX`].
    kinds: Vec<(String, u64)>,
}

impl Waiting {
    /// The messages that wait on this PE.
    pub(super) fn on(pe: &Pe) -> Self {
        let mut kinds: FxHashMap<String, u64> = FxHashMap::default();
        for (missing, Envelope { body, .. }) in pe.early.borrow().waiting() {
            *kinds.entry(describe(pe, missing, body)).or_default() += 1;
        }
        kinds.extend(pe.node.posted_calls.waiting_on(pe.id));
        let messages = kinds.values().sum();
        let mut kinds: Vec<_> = kinds.into_iter().collect();
        kinds.sort_by(|(one, ones), (other, others)| others.cmp(ones).then_with(|| one.cmp(other)));
        kinds.truncate(KINDS_MAX);
        Self { messages, kinds }
    }
}

fn describe(pe: &Pe, missing: Missing, body: &Body) -> String {
    let places = pe.places.borrow();
    let awaited = match missing {
        Missing::Member(id, index) => places.collection(id).map(|collection| {
            let chare = collection.info.chare;
            let shown = chare.index.show(index);
            format!("member {shown} of {}, collection {}.{}", chare.name, id.creator.0, id.serial)
        }),
        _ => None,
    };
    format!("{} for {}", body.describe(), awaited.unwrap_or_else(|| missing.to_string()))
}

/// The coordinator's watch over the waves.
#[derive(Default)]
pub(super) struct Standstill {
    /// The sums of the last wave, and the time since which all waves have shown them.
    since: Option<(Sums, Instant)>,
    /// Number of times that PEs were asked.
    round: u64,
    /// Whether they were asked about these sums.
    is_asked: bool,
    heard: u32,
    waiting: Vec<(PeId, Waiting)>,
}

impl Standstill {
    /// Takes the sums of a wave. Returns the number of the question when all PEs are to be asked now.
    pub(super) fn watch(&mut self, sums: Sums, now: Instant) -> Option<u64> {
        match self.since {
            Some((before, since)) if before == sums => {
                if self.is_asked || sums.in_flight() == 0 || now.duration_since(since) < PATIENCE {
                    return None;
                }
                self.round += 1;
                (self.is_asked, self.heard) = (true, 0);
                self.waiting.clear();
                Some(self.round)
            }
            _ => {
                (self.since, self.is_asked) = (Some((sums, now)), false);
                None
            }
        }
    }

    /// Takes the answer of one of `pes` PEs. Returns what is to be said when that was the last and all in flight waits.
    pub(super) fn hear(&mut self, round: u64, from: PeId, waiting: Waiting, pes: u32) -> Option<String> {
        if !self.is_asked || round != self.round {
            return None;
        }
        self.heard += 1;
        self.waiting.push((from, waiting));
        let in_flight = self.since.map_or(0, |(sums, _)| sums.in_flight());
        let all = self.waiting.iter().map(|(_, waiting)| waiting.messages).sum::<u64>();
        (self.heard == pes && all == in_flight).then(|| self.tell(in_flight))
    }

    fn tell(&self, in_flight: u64) -> String {
        let mut text = format!(
            "chare: quiescence is waited for, and all that is in flight ({in_flight} messages) waits for what does not exist:\n"
        );
        let of_pe = |(pe, waiting): &(PeId, Waiting)| {
            let pe = *pe;
            waiting.kinds.clone().into_iter().map(move |(what, count)| (count, pe, what))
        };
        let mut kinds: Vec<_> = self.waiting.iter().flat_map(of_pe).collect();
        kinds.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.cmp(other)));
        let mut shown = 0;
        for (count, pe, what) in kinds.into_iter().take(KINDS_MAX) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  {count} x {what}, on {pe}");
            shown += count;
        }
        if shown < in_flight {
            let _ = writeln!(text, "  and {} more", in_flight - shown);
        }
        text + "the job goes on when it is created or posted; what was destroyed, or nobody creates, must not be called"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(sent: u64) -> Sums {
        Sums { sent, processed: 7 }
    }

    fn waiting(messages: u64) -> Waiting {
        Waiting { messages, kinds: vec![("a call of Cell::step for member 7".to_owned(), messages)] }
    }

    #[test]
    fn a_standstill_is_asked_about_once_and_told_if_all_waits() {
        let (mut standstill, begin) = (Standstill::default(), Instant::now());
        let almost = begin + PATIENCE - Duration::from_millis(1);
        assert_eq!(standstill.watch(sums(8), begin), None);
        assert_eq!(standstill.watch(sums(10), begin), None, "it moves");
        assert_eq!(standstill.watch(sums(10), almost), None, "too early");
        let round = standstill.watch(sums(10), begin + PATIENCE).expect("nothing has moved");
        assert_eq!(standstill.watch(sums(10), begin + 2 * PATIENCE), None, "once");
        assert_eq!(standstill.hear(round, PeId(1), waiting(2), 2), None, "another PE is to answer");
        let told = standstill.hear(round, PeId(0), waiting(1), 2).expect("these are all");
        for clue in ["3 messages", "2 x a call of Cell::step for member 7, on PE 1", "1 x"] {
            assert!(told.contains(clue), "{clue}: {told}");
        }
        assert_eq!(standstill.watch(sums(11), begin + 3 * PATIENCE), None, "it goes on: a new one");
        assert!(standstill.watch(sums(11), begin + 4 * PATIENCE).is_some());
    }

    #[test]
    fn nothing_is_said_while_anything_else_is_in_flight_or_nothing_is() {
        let (mut standstill, begin) = (Standstill::default(), Instant::now());
        assert_eq!(standstill.watch(sums(7), begin), None);
        assert_eq!(standstill.watch(sums(7), begin + 9 * PATIENCE), None, "quiescence");
        assert_eq!(standstill.watch(sums(9), begin), None);
        let round = standstill.watch(sums(9), begin + PATIENCE).expect("nothing has moved");
        assert_eq!(standstill.hear(round, PeId(0), waiting(1), 1), None, "one message runs or travels");
        assert_eq!(standstill.watch(sums(8), begin + PATIENCE), None);
        assert_eq!(standstill.hear(round, PeId(0), waiting(1), 1), None, "a late answer");
    }

    #[test]
    fn many_kinds_are_counted_and_few_are_shown() {
        let (mut standstill, begin) = (Standstill::default(), Instant::now());
        assert_eq!(standstill.watch(sums(107), begin), None);
        let round = standstill.watch(sums(107), begin + PATIENCE).expect("nothing has moved");
        let kinds = (0..KINDS_MAX).map(|number| (number.to_string(), 2)).collect();
        assert_eq!(standstill.hear(round, PeId(0), Waiting { messages: 50, kinds }, 2), None);
        let told = standstill.hear(round, PeId(1), waiting(50), 2).expect("these are all");
        let more = 100 - 50 - 2 * (KINDS_MAX - 1);
        assert!(told.contains(&format!("and {more} more")), "{told}");
    }
}
