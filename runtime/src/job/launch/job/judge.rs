//! Judgement of a node's stop or exit: it means nothing for the job, news for the user, a suspicion, or the job's end.

use super::cause::{Cause, Weight};
use super::{BETTER_CAUSE, GIVE_UP, Job, Phase, ended_by};
use crate::job::launch::exit::{Exit, name_signal, signal_code};
use crate::job::launch::message::ToAgent;
use chare_lrts::NodeId;
use std::time::Instant;

impl Job {
    /// Tells the user of nodes that have been stopped for a while.
    pub(super) fn tell_of_stops(&mut self, now: Instant) {
        for node in (0..self.nodes.len() as u32).map(NodeId) {
            let stopped = self.nodes[node.index()].keeps_waiting().filter(|(_, due)| now >= *due);
            let Some((signal, _)) = stopped else { continue };
            self.nodes[node.index()].stopped = None;
            let (name, signal) = (self.name(node), name_signal(signal));
            self.lines.push_back(format!(
                "chare: {name} was stopped by {signal}, and the others wait for it; `kill -CONT` lets it go on"
            ));
        }
    }

    pub(super) fn judge_exit(&mut self, node: NodeId, now: Instant) {
        let state = &self.nodes[node.index()];
        let (joined, finished) = (state.has_joined, state.has_finished);
        let (complained, exit) = (state.has_complained, state.exit.clone());
        let Some(exit) = exit.filter(|_| !complained) else { return self.settle(now) };
        let what = format!("{} {exit}", self.name(node));
        let awaited = self.must_join || self.first_join.is_some();
        match exit {
            Exit::Signal(number) if self.passed_on.contains(&number) => {
                self.end(Cause::last_word(ended_by(number), signal_code(number)), now);
            }
            Exit::Signal(_) | Exit::NotStarted(_) | Exit::WithHost(_) => {
                self.end(Cause::by(node, Weight::Final, what).with_code(exit.code()), now);
            }
            Exit::Code(0) if finished || !(joined || awaited) => {}
            Exit::Code(code) if finished => {
                self.first_bad_code.get_or_insert(code);
            }
            Exit::Code(_) if joined => {
                self.suspect(Cause::by(node, Weight::Ending, format!("{what} without finishing")), now);
            }
            Exit::Code(_) if awaited => {
                self.suspect(
                    Cause::by(node, Weight::Ending, format!("{what} before it joined the job")),
                    now,
                );
            }
            Exit::Code(_) => self.suspect(Cause::by(node, Weight::Ending, what), now),
        }
        self.settle(now);
    }

    pub(super) fn suspect(&mut self, cause: Cause, now: Instant) {
        match &mut self.phase {
            Phase::Running => self.phase = Phase::Suspect { cause, until: now + BETTER_CAUSE },
            Phase::Suspect { cause: known, .. } if cause.weight > known.weight => *known = cause,
            Phase::Suspect { .. } | Phase::Ending { .. } => {}
        }
        self.settle(now);
    }

    /// Ends a suspect job whose nodes have all ended: no better cause can come.
    pub(super) fn settle(&mut self, now: Instant) {
        if let Phase::Suspect { cause, .. } = &self.phase
            && self.nodes.iter().all(|node| node.exit.is_some())
        {
            self.end(cause.clone(), now);
        }
    }

    pub(super) fn end(&mut self, cause: Cause, now: Instant) {
        if self.has_failed() {
            return;
        }
        self.lines.push_back(format!("chare: {}", cause.text));
        self.stop(cause, now);
    }

    /// Ends the job without a word, because its user knows the cause.
    pub(super) fn stop(&mut self, cause: Cause, now: Instant) {
        if self.has_failed() {
            return;
        }
        self.orders.push(ToAgent::Abort { message: cause.text.clone() });
        self.phase = Phase::Ending { cause, give_up_at: now + GIVE_UP };
    }
}
