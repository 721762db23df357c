//! The deadline of start-up, and who keeps the others waiting until then: hosts, nodes, or programs that join no job.
//!
//! Each process of a program that joins no job runs by itself, which the user is told, once, and which is no success: a script that launched
//! them believes that they were one job. They are told from nodes by the greeting that a node sends first. One that has not come after the time
//! for start-up may still come, and one that had not come when the last process ended never will.

use super::Job;
use crate::job::launch::exit::Exit;
use crate::job::patience::TIMEOUT_VARIABLE;
use chare_lrts::NodeId;
use std::time::Instant;

/// How many missing nodes are named.
const NAMED_MAX: usize = 8;

impl Job {
    pub(super) fn startup_deadline(&self) -> Option<Instant> {
        let is_everybody_here = self.nodes.iter().all(|node| node.has_joined);
        let since = if self.hosts.iter().any(|host| !host.is_ready) || (self.must_join && !is_everybody_here)
        {
            Some(self.began)
        } else if !is_everybody_here {
            self.first_join
        } else {
            self.rounds.since()
        };
        since.and_then(|since| since.checked_add(self.patience))
    }

    /// A sentence that names the hosts or nodes that keep the others waiting.
    pub(super) fn explain_wait(&self) -> String {
        let seconds = self.patience.as_secs();
        if let Some(host) = self.hosts.iter().find(|host| !host.is_ready) {
            let name = host.name.as_deref().unwrap_or("this one");
            return format!(
                "host {name} has not answered after {seconds} s; does its remote shell ask for something?"
            );
        }
        let is_everybody_here = self.nodes.iter().all(|node| node.has_joined);
        let missing: Vec<NodeId> = (0..self.nodes.len() as u32)
            .map(NodeId)
            .filter(|node| match is_everybody_here {
                true => self.rounds.lacks(*node),
                false => !self.nodes[node.index()].has_joined,
            })
            .collect();
        let names: Vec<String> = missing.iter().take(NAMED_MAX).map(|node| self.name(*node)).collect();
        let more = match missing.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let have = if missing.len() == 1 { "has" } else { "have" };
        format!(
            "{}{more} {have} not arrived after {seconds} s, and the other nodes wait; `{}` sets the seconds",
            names.join(", "),
            TIMEOUT_VARIABLE
        )
    }

    /// The time at which the user is to be told that nobody has joined; `None`: somebody has, must, or the user was told.
    pub(super) fn strangers_deadline(&self) -> Option<Instant> {
        let is_strange = !(self.must_join || self.told_of_strangers) && self.first_join.is_none();
        let is_started = self.hosts.iter().all(|host| host.is_ready);
        self.began.checked_add(self.patience).filter(|_| is_strange && is_started)
    }

    /// Tells the user of a job that nobody has joined in time.
    pub(super) fn tell_of_strangers(&mut self, now: Instant) {
        if self.strangers_deadline().is_some_and(|deadline| now >= deadline) {
            let seconds = self.patience.as_secs();
            self.tell(&format!("has joined the job after {seconds} s"), "so far each runs by itself");
        }
    }

    /// Ends a job that is over and that nobody has joined with a code that is not zero, and tells the user.
    pub(super) fn tell_of_singles(&mut self) {
        let is_over = self.hosts.iter().all(|host| host.is_over);
        let ended_well = self.nodes.iter().all(|node| node.exit == Some(Exit::Code(0)));
        if !(is_over && ended_well) || self.has_failed() || self.must_join || self.first_join.is_some() {
            return;
        }
        self.first_bad_code.get_or_insert(1);
        if !self.told_of_strangers {
            self.tell("joined the job", "each ran by itself");
        }
    }

    fn tell(&mut self, joined: &str, consequence: &str) {
        self.told_of_strangers = true;
        let count = self.nodes.len();
        self.lines.push_back(format!(
            "chare: none of the {count} processes {joined}: {consequence}; is it a chare program, whose `main` calls `chare::run`?"
        ));
    }
}
