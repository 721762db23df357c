//! Gathering of figures for whoever looks: the last ones of each PE, asked for anew when they are not fresh.

#![expect(clippy::disallowed_methods, reason = "who looks at a page looks in real time")]

use crate::model::ids::PeId;
use crate::node::Node;
use crate::services::survey::{self, Figures, Purpose};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;

/// Time for which figures serve several requests: shorter than the page's interval.
pub(super) const FRESH_FOR: Duration = Duration::from_millis(500);

/// Time that PEs have to send their figures; a page waits no longer for one in a long entry.
const PATIENCE: Duration = Duration::from_millis(300);

/// The figures of a job's PEs, as far as they came.
#[derive(Clone, Default, Serialize)]
pub(super) struct Snapshot {
    /// The program's name.
    pub(super) program: String,
    /// PEs that the job has.
    pub(super) pes: u32,
    pub(super) nodes: u32,
    pub(super) figures: Vec<OfPe>,
}

/// The figures of one PE.
#[derive(Clone, Serialize)]
pub(super) struct OfPe {
    pub(super) pe: u32,
    /// Whether the PE did not answer the last time: an entry runs there.
    pub(super) is_late: bool,
    #[serde(flatten)]
    pub(super) figures: Figures,
}

/// Figures that are gathered on demand.
pub(super) struct Gathering {
    node: Arc<Node>,
    last: Mutex<Last>,
}

#[derive(Default)]
struct Last {
    at: Option<Instant>,
    of: BTreeMap<PeId, (bool, Figures)>,
}

impl Gathering {
    pub(super) fn new(node: Arc<Node>) -> Self {
        Self { node, last: Mutex::default() }
    }

    /// The figures, none older than they may be. Those who ask at one time share an answer.
    pub(super) async fn look(&self) -> Snapshot {
        let mut last = self.last.lock().await;
        if last.at.is_none_or(|at| at.elapsed() > FRESH_FOR) {
            let came = self.ask().await;
            last.of.values_mut().for_each(|(is_late, _)| *is_late = true);
            last.of.extend(came.into_iter().map(|(pe, figures)| (pe, (false, figures))));
            last.at = Some(Instant::now());
        }
        let of_pe = |(pe, (is_late, figures)): (&PeId, &(bool, Figures))| OfPe {
            pe: pe.0,
            is_late: *is_late,
            figures: figures.clone(),
        };
        Snapshot {
            program: program(),
            pes: self.node.topology.pes(),
            nodes: self.node.topology.nodes(),
            figures: last.of.iter().map(of_pe).collect(),
        }
    }

    async fn ask(&self) -> Vec<(PeId, Figures)> {
        let (tell, told) = oneshot::channel();
        let take = move |figures| drop(tell.send(figures));
        let round = survey::begin(&self.node, Purpose::Figures(Box::new(take)));
        concluded(&self.node, round, told, PATIENCE).await.unwrap_or_default()
    }

    /// A report of what waits in the job.
    pub(super) async fn report(&self) -> String {
        let (tell, told) = oneshot::channel();
        let take = move |report| drop(tell.send(report));
        let round = survey::begin(&self.node, Purpose::Reply(Box::new(take)));
        concluded(&self.node, round, told, survey::PATIENCE)
            .await
            .unwrap_or_else(|| "the job is over".to_owned())
    }
}

/// The outcome of a survey, after this time that of the PEs which have answered; `None` when the job is over.
async fn concluded<T>(
    node: &Arc<Node>,
    round: u64,
    mut told: oneshot::Receiver<T>,
    patience: Duration,
) -> Option<T> {
    match timeout(patience, &mut told).await {
        Ok(outcome) => outcome.ok(),
        Err(_) => {
            survey::conclude(node, round);
            told.await.ok()
        }
    }
}

fn program() -> String {
    let name = std::env::args_os().next().unwrap_or_default();
    let name = std::path::Path::new(&name).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
