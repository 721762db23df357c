//! Programs that join no job: each of their processes runs by itself, which the user is told, once, and which is no success: a script that
//! launched them believes that they were one job.
//!
//! They are told from nodes by the greeting that a node sends first. One that has not come after the time for start-up may still come, and
//! one that had not come when the last process ended never will.

use super::Job;
use crate::job::launch::exit::Exit;
use std::time::Instant;

impl Job {
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
