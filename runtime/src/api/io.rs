//! Waits of `async` entries for the world outside the job, by tokio: sockets, files, clients of databases and of other services.

use crate::pe::Pe;
use crate::pe::in_flight::{InFlight, Kind};
use crate::services::reactor;
use std::future::poll_fn;
use std::pin::pin;

/// Awaits a future that needs tokio, in an `async` entry or in `main`: `tokio::net`, `tokio::fs`, `tokio::time`, and what is built on
/// them. Other entries run meanwhile.
///
/// The future is polled on its PE, so it may use proxies and need not be `Send`; a thread of the node, which the first use starts, waits
/// for sockets and clocks on its behalf and wakes the PE. What the future spawns by `tokio::spawn` runs on that thread, which is no PE:
/// there, a job is reached by its [handle](crate::job_handle). Costs one wake-up from another thread for each wait.
///
/// Quiescence waits for it, as for a message.
///
/// ```
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use tokio::net::{TcpListener, TcpStream};
///
/// let code = chare::Job::in_process(1, 1).run(|| async {
///     let said = chare::io(async {
///         let listener = TcpListener::bind("127.0.0.1:0").await?;
///         let mut one = TcpStream::connect(listener.local_addr()?).await?;
///         let (mut other, _address) = listener.accept().await?;
///         one.write_all(b"hello").await?;
///         let mut said = [0; 5];
///         other.read_exact(&mut said).await?;
///         Ok::<_, std::io::Error>(said)
///     });
///     assert_eq!(said.await.unwrap(), *b"hello");
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// # Panics
/// When awaited outside a job's entries, and when the kernel grants no descriptor or thread for the waiting.
pub async fn io<F: IntoFuture>(future: F) -> F::Output {
    let (reactor, _in_flight) =
        Pe::current(|pe| (reactor::handle(&pe.node), InFlight::begin(pe, Kind::Event)));
    let reactor = reactor.unwrap_or_else(|error| panic!("no thread of tokio could be started: {error}"));
    let mut future = pin!(future.into_future());
    poll_fn(|context| {
        let _context_of_tokio = reactor.enter();
        future.as_mut().poll(context)
    })
    .await
}
