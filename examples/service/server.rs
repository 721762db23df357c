//! Server in front of the shelves: its handlers are tasks of tokio, and ask chares by the job's handle.

use crate::shelf::ShelfProxy;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use chare::{LimitedJobHandle, NoAnswer};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// What all handlers share.
pub(crate) struct Service {
    /// Its bounded room is the back-pressure: more requests than that wait in tokio's tasks, and their clients with them.
    pub(crate) job: LimitedJobHandle,
    pub(crate) shelves: ShelfProxy,
    pub(crate) shelf_count: u64,
    /// Requests that chares answered, and those that they did not.
    pub(crate) answered: AtomicU64,
    pub(crate) failed: AtomicU64,
    /// Told when the service is to stop.
    pub(crate) stop: Notify,
}

type Reply = Result<String, (StatusCode, String)>;

pub(crate) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/words/{word}", get(look_up).post(add))
        .route("/stumble/{word}", post(stumble))
        .route("/metrics", get(metrics))
        .route("/stop", post(stop))
        .with_state(service)
}

impl Service {
    fn shelf_of(&self, word: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        hasher.finish() % self.shelf_count
    }

    /// Turns a chare's answer into a reply, and counts it.
    fn reply(&self, answer: Result<u64, NoAnswer>) -> Reply {
        let counter = if answer.is_ok() { &self.answered } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
        answer.map(|count| format!("{count}\n")).map_err(|error| {
            let code = match error {
                NoAnswer::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            };
            (code, format!("{error}\n"))
        })
    }
}

async fn add(State(service): State<Arc<Service>>, Path(word): Path<String>) -> Reply {
    let shelf = service.shelves.at(service.shelf_of(&word));
    service.reply(service.job.run(move || shelf.add(word)).await)
}

async fn look_up(State(service): State<Arc<Service>>, Path(word): Path<String>) -> Reply {
    let shelf = service.shelves.at(service.shelf_of(&word));
    service.reply(service.job.run(move || shelf.count(word)).await)
}

async fn stumble(State(service): State<Arc<Service>>, Path(word): Path<String>) -> Reply {
    let shelf = service.shelves.at(service.shelf_of(&word));
    service.reply(service.job.run(move || shelf.stumble()).await)
}

/// In the text format of Prometheus.
async fn metrics(State(service): State<Arc<Service>>) -> Reply {
    let shelves = service.shelves.clone();
    let asked = service.job.run(async move || {
        let (report, to) = chare::future();
        shelves.report(to);
        (report.await, chare::pes())
    });
    let ((words, counted), pes) =
        asked.await.map_err(|error| (StatusCode::SERVICE_UNAVAILABLE, error.to_string()))?;
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (answered, failed, room) = (read(&service.answered), read(&service.failed), service.job.room());
    Ok(format!(
        "# TYPE service_requests_total counter\n\
         service_requests_total{{answer=\"ok\"}} {answered}\n\
         service_requests_total{{answer=\"failed\"}} {failed}\n\
         # TYPE service_room gauge\n\
         service_room {room}\n\
         # TYPE service_words gauge\n\
         service_words {words}\n\
         # TYPE service_counted_total counter\n\
         service_counted_total {counted}\n\
         # TYPE service_pes gauge\n\
         service_pes {pes}\n"
    ))
}

async fn stop(State(service): State<Arc<Service>>) -> &'static str {
    service.stop.notify_one();
    "the service stops\n"
}
