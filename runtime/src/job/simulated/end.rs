//! End of a simulated job, of a part of it, and of all parts together.

use super::log::Log;
use crate::job::life;
use crate::model::error::JobError;
use std::collections::BTreeMap;
use std::time::Duration;

/// The end of a simulated job: how, when, what happened, and the marks that were passed.
pub(super) struct End {
    pub(super) result: Result<i32, JobError>,
    /// The error of a job that went on only because it was asked what waits.
    pub(super) hidden: Option<JobError>,
    /// When the last PE was over, and when anything happened last.
    pub(super) over_at: Option<u64>,
    pub(super) latest: u64,
    pub(super) messages: u64,
    pub(super) log: Log,
    pub(super) marks: Vec<(&'static str, u64)>,
}

impl End {
    /// That of a job of which nothing has happened.
    pub(super) fn at_once(result: Result<i32, JobError>) -> Self {
        let (log, marks) = (Log::default(), Vec::new());
        Self { result, hidden: None, over_at: None, latest: 0, messages: 0, log, marks }
    }

    /// The end of a job at these nodes and at those behind them.
    pub(super) fn with(self, behind: Self) -> Self {
        let mut marks: BTreeMap<_, _> = self.marks.into_iter().collect();
        behind.marks.into_iter().for_each(|(mark, hits)| *marks.entry(mark).or_default() += hits);
        Self {
            result: life::together(self.result, behind.result),
            hidden: self.hidden.or(behind.hidden),
            over_at: self.over_at.max(behind.over_at),
            latest: self.latest.max(behind.latest),
            messages: self.messages + behind.messages,
            log: self.log.with(behind.log),
            marks: marks.into_iter().collect(),
        }
    }

    /// The end of the job once all of its nodes are in.
    pub(super) fn of_all(mut self, pes: u32) -> Self {
        if let (Ok(_), Some(hidden)) = (&self.result, self.hidden.take()) {
            self.result = Err(hidden);
        }
        self.log.sort(pes);
        self
    }

    /// The virtual time that the job took.
    pub(super) fn time(&self) -> Duration {
        Duration::from_nanos(self.over_at.unwrap_or(self.latest))
    }
}
