//! How does a program of chares serve others? An HTTP server, in tasks of tokio, stands in front of an array of chares that count words. It
//! takes no more work than there is room for, outlives the panic of a chare, shows metrics, and ends without losing what it began.
//!
//! ```text
//! cargo run --release --example service -- --listen 127.0.0.1:8080 +p 2
//! curl -X POST http://127.0.0.1:8080/words/chare     # counts a word
//! curl http://127.0.0.1:8080/metrics
//! curl -X POST http://127.0.0.1:8080/stop            # or Ctrl-C
//! ```

mod server;
mod shelf;

use chare::{JobHandle, Program};
use chare_examples::start::parse;
use clap::Parser;
use server::{Service, router};
use shelf::ShelfProxy;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::net::TcpListener;

/// Counts words for whoever asks by HTTP.
#[derive(Parser)]
#[command(name = "service", no_binary_name = true)]
struct Options {
    /// Address and port to listen on; port 0 is any free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// Chares among which the words are spread
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    shelves: u64,
    /// Requests that chares work on at once
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    room: u16,
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options: Options = parse(program.arguments());
    // Only node 0 gets past this line; the other processes have done their part when they return here.
    let job = match program.start() {
        Ok(job) => job,
        Err(code) => return code,
    };
    let served = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(serve(&job, options)));
    if let Err(error) = &served {
        eprintln!("service: {error}");
    }
    job.shut_down(i32::from(served.is_err()));
    match job.join() {
        Ok(0) => ExitCode::SUCCESS,
        // The job has said why.
        _ => ExitCode::FAILURE,
    }
}

async fn serve(job: &JobHandle, options: Options) -> Result<(), Box<dyn std::error::Error>> {
    // From here on a signal, to whichever process of the job, does not end it but is told.
    let asked = job.run(async || chare::shutdown_requested()).await?;
    let shelf_count = options.shelves;
    let shelves = job.run(async move || ShelfProxy::create(shelf_count)).await?;
    let service = Arc::new(Service {
        job: job.limited(options.room.into()),
        shelves,
        shelf_count,
        answered: AtomicU64::new(0),
        failed: AtomicU64::new(0),
        stop: tokio::sync::Notify::new(),
    });
    let listener = TcpListener::bind(&options.listen).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let stop = stop(asked, job.clone(), Arc::clone(&service));
    // Requests that have begun get their answers.
    axum::serve(listener, router(service)).with_graceful_shutdown(stop).await?;
    // Nobody awaits what is still in flight among the chares, but it is not lost either.
    job.run(chare::quiescence).await?;
    println!("stopped");
    Ok(())
}

/// Waits until a signal, a request by HTTP or the end of the job stops the service.
async fn stop(asked: impl Future<Output = ()>, job: JobHandle, service: Arc<Service>) {
    tokio::select! {
        () = asked => {}
        () = service.stop.notified() => {}
        _ = job.ended() => {}
    }
}
