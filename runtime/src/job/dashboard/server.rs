//! HTTP of the dashboard: who may look, and what is where.
//!
//! A connection beyond the most has one of the others closed: the oldest that has not shown the token, or else the oldest. So nobody holds the
//! dashboard by connections from which nothing is read.
//!
//! | path | content |
//! |---|---|
//! | `/` | the page |
//! | `/figures` | the figures of all PEs, as JSON |
//! | `/waits` | a report of what waits |
//! | `/metrics` | the figures in the format that Prometheus reads |

use super::gathering::Gathering;
use super::metrics;
use super::token::Token;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::cell::Cell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::TcpListener;
use std::rc::Rc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet, spawn_local};

const PAGE: &str = include_str!("page.html");

/// The most connections at one time: some readers, and a scraper.
const CONNECTIONS_MAX: usize = 32;

/// How long a reader may take to say what it wants.
const HEADER_PATIENCE: Duration = Duration::from_secs(10);

/// The page needs nothing from elsewhere, and no other page may hold it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; \
                      frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// A connection that is served.
struct Served {
    task: JoinHandle<()>,
    /// Whether a request has named the token.
    is_known: Rc<Cell<bool>>,
}

/// The connections, from the oldest to the newest.
#[derive(Default)]
struct Connections(VecDeque<Served>);

impl Connections {
    /// Adds one; closes another if there are too many.
    fn add(&mut self, served: Served) {
        self.0.retain(|one| !one.task.is_finished());
        if self.0.len() >= CONNECTIONS_MAX {
            let known: Vec<bool> = self.0.iter().map(|one| one.is_known.get()).collect();
            if let Some(closed) = self.0.remove(who_makes_room(&known)) {
                closed.task.abort();
            }
        }
        self.0.push_back(served);
    }
}

/// The place of the one that is closed, among connections of which some have shown the token.
fn who_makes_room(known: &[bool]) -> usize {
    known.iter().position(|is_known| !is_known).unwrap_or(0)
}

/// What all connections show, and who may see it.
type Shared = Rc<(Token, Gathering)>;

/// Serves until the dashboard is dropped.
pub(super) async fn run(
    listener: TcpListener,
    token: Token,
    gathering: Gathering,
    mut ended: oneshot::Receiver<()>,
) {
    // It is non-blocking, as it must be.
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    let shared: Shared = Rc::new((token, gathering));
    let serve = async {
        let mut connections = Connections::default();
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let is_known = Rc::<Cell<bool>>::default();
                    let task = spawn_local(serve_one(stream, Rc::clone(&shared), Rc::clone(&is_known)));
                    connections.add(Served { task, is_known });
                }
                // Descriptors may run out for a while.
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    };
    LocalSet::new()
        .run_until(async {
            tokio::select! {
                () = serve => {}
                _ = &mut ended => {}
            }
        })
        .await;
}

/// Serves a connection to its end.
async fn serve_one(stream: TcpStream, shared: Shared, is_known: Rc<Cell<bool>>) {
    let service = service_fn(|request| answer(Rc::clone(&shared), Rc::clone(&is_known), request));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_PATIENCE);
    // A reader that goes away, or does not speak HTTP, is nobody's concern.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    shared: Shared,
    is_known: Rc<Cell<bool>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (token, gathering) = &*shared;
    if !token_of(&request).is_some_and(|said| token.is(said)) {
        let text = "the token is missing or wrong: open the address that the job printed at its start\n";
        return Ok(response(StatusCode::UNAUTHORIZED, "text/plain; charset=utf-8", text.to_owned()));
    }
    is_known.set(true);
    if request.method() != Method::GET {
        return Ok(response(StatusCode::METHOD_NOT_ALLOWED, "text/plain; charset=utf-8", String::new()));
    }
    let (kind, body) = match request.uri().path() {
        "/" => ("text/html; charset=utf-8", PAGE.to_owned()),
        "/figures" => {
            let figures = serde_json::to_string(&gathering.look().await);
            ("application/json", figures.expect("numbers and names have a JSON"))
        }
        "/waits" => ("text/plain; charset=utf-8", gathering.report().await),
        "/metrics" => (metrics::CONTENT_TYPE, metrics::encode(&gathering.look().await)),
        _ => {
            return Ok(response(StatusCode::NOT_FOUND, "text/plain; charset=utf-8", "not here\n".to_owned()));
        }
    };
    Ok(response(StatusCode::OK, kind, body))
}

/// The token that a request names.
fn token_of(request: &Request<Incoming>) -> Option<&str> {
    let header = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let query = request.uri().query().unwrap_or_default();
    let named = query.split('&').find_map(|pair| pair.strip_prefix("token="));
    header.and_then(|value| value.strip_prefix("Bearer ")).or(named)
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_has_not_shown_the_token_makes_room() {
        assert_eq!(who_makes_room(&[true, false, true, false]), 1);
        assert_eq!(who_makes_room(&[true, true]), 0);
    }

    #[test]
    fn there_are_never_more_connections_than_the_most() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let mut connections = Connections::default();
            let reads_nothing = || spawn_local(std::future::pending());
            let (first, known) = (spawn_local(async {}), Rc::new(Cell::new(true)));
            connections.add(Served { task: reads_nothing(), is_known: Rc::clone(&known) });
            for _ in 0..2 * CONNECTIONS_MAX {
                connections.add(Served { task: reads_nothing(), is_known: Rc::default() });
                assert!(connections.0.len() <= CONNECTIONS_MAX);
            }
            assert!(Rc::ptr_eq(&connections.0[0].is_known, &known), "who has shown the token stays");
            first.await.expect("those that are served go on");
        });
    }
}
