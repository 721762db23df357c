//! Dashboard of a running job: a page and metrics over HTTP, which node 0 serves while somebody asks (`+dashboard`, feature `dashboard`).
//!
//! 1. Every request names the job's token, in its path's query (`?token=...`) or as `Authorization: Bearer ...`. The token is made anew for
//!    each job and printed with the address, once.
//! 2. Figures are gathered by a [survey](crate::services::survey) when they are asked for, at most every [`FRESH_FOR`](gathering::FRESH_FOR); a PE that does not
//!    answer in time keeps those that it had. Nobody asks: nothing is sent.
//! 3. Without the option there is no listener, and PEs take no times of entries.
//!
//! What is served is read-only; what crosses the network is not encrypted. So the address is this host's own unless the option names
//! another.

#![expect(clippy::disallowed_methods, reason = "serves whoever looks, on a thread of the machine's")]

mod gathering;
mod metrics;
mod server;
mod token;

use crate::node::Node;
use gathering::Gathering;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use token::Token;
use tokio::sync::oneshot;

/// The dashboard, until this is dropped.
pub(super) struct Dashboard {
    /// Its drop ends the server.
    _end: oneshot::Sender<()>,
}

impl Dashboard {
    /// Serves the dashboard of this node's job, and prints where.
    ///
    /// # Errors
    /// When the address cannot be listened on, or there is no thread.
    pub(super) fn serve(node: &Arc<Node>, at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let token = Token::random();
        let url = format!("http://{}/?token={token}", listener.local_addr()?);
        let (end, ended) = oneshot::channel();
        let gathering = Gathering::new(Arc::clone(node));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || runtime.block_on(server::run(listener, token, gathering, ended));
        std::thread::Builder::new().name("dashboard".to_owned()).spawn(run)?;
        // No event: who asked for the dashboard needs it, whatever the program's subscriber shows.
        let _ = writeln!(io::stderr(), "dashboard: {url}");
        Ok(Self { _end: end })
    }
}
