//! Port of Charm++'s test `zerocopy/large_bcast`: large buffers to a nodegroup, as ordinary arguments and then as nocopy ones.
//!
//! The ordinary broadcasts go on when a reduction says that all have it; the nocopy ones when the source's callback does. Every node
//! must receive each exactly once, and the source must be told exactly once for each.
//!
//! ```text
//! cargo run --release -p chare-tests --bin large_bcast -- 200000 10 +n 4
//! ```
//! Upstream's default is 1 GiB a hundred times; this program's is 4 MiB ten times. Any size of 64 bits will do.

use chare::prelude::*;
use chare_examples::ports::{self, assert_constant};
use clap::Parser;
use std::process::ExitCode;
use std::time::Instant;

const CONSTANT: u8 = 0xa5;

/// Broadcasts large buffers to all nodes.
#[derive(Parser)]
#[command(name = "large_bcast", no_binary_name = true)]
struct Options {
    /// Bytes of the buffer
    #[arg(default_value_t = 4 << 20)]
    bytes: usize,
    /// Broadcasts of each kind, after one to warm up
    #[arg(default_value_t = 10)]
    iterations: u32,
}

struct Receiver {
    regular: u32,
    nocopy: u32,
}

#[chare(nodegroup)]
impl Receiver {
    #[entry]
    fn new() -> Self {
        Self { regular: 0, nocopy: 0 }
    }

    #[entry]
    fn receive(&mut self, data: Buffer<u8>, bytes: u64, all_have_it: Callback<()>) {
        assert_eq!(data.len() as u64, bytes);
        assert_constant(&data, CONSTANT);
        self.regular += 1;
        self.contribute(barrier(), all_have_it);
    }

    #[entry]
    fn receive_nocopy(&mut self, #[nocopy] data: Received<u8>, bytes: u64) {
        assert_eq!(data.len() as u64, bytes);
        assert_constant(&data, CONSTANT);
        self.nocopy += 1;
    }

    #[entry]
    fn report(&mut self, counts: Callback<Vec<(u32, u32)>>) {
        self.contribute(set((self.regular, self.nocopy)), counts);
    }
}

async fn broadcast(Options { bytes, iterations }: Options) {
    println!("large data transfer with payload: {bytes} iterations: {iterations}");
    let receivers = ReceiverProxy::create();
    let mut buffer = Buffer::from(BufferMut::from_fn(bytes, |_| CONSTANT));
    let mut start = Instant::now();
    for iteration in 0..=iterations {
        if iteration == 1 {
            start = Instant::now();
        }
        let (all_have_it, done) = chare::future();
        receivers.receive(buffer.clone(), bytes as u64, done);
        all_have_it.await;
    }
    tell("regular", start, iterations);

    // Nobody tells when the last receiver of an ordinary argument has let go of it: another buffer from here on.
    buffer = BufferMut::from_fn(bytes, |_| CONSTANT).freeze();

    for iteration in 0..=iterations {
        if iteration == 1 {
            start = Instant::now();
        }
        let (sent, done) = chare::future();
        receivers.receive_nocopy(SendBuffer::from(buffer).on_sent(done), bytes as u64);
        // The very buffer: all nodes have let go of it.
        buffer = sent.await.into_buffer();
        buffer = buffer.try_into_mut().expect("nobody reads it any more").freeze();
    }
    tell("nocopy", start, iterations);

    chare::quiescence().await;
    let (counts, done) = chare::future();
    receivers.report(done);
    let once_each = (iterations + 1, iterations + 1);
    assert_eq!(counts.await, vec![once_each; chare::nodes() as usize], "broadcasts that arrived, per node");
    println!("All recipients have received the data");
}

fn tell(kind: &str, start: Instant, iterations: u32) {
    let each_us = start.elapsed().as_secs_f64() * 1e6 / f64::from(iterations);
    println!("{kind} broadcast: {each_us:.1} us per iteration, {iterations} iterations");
}

fn main() -> ExitCode {
    ports::run(broadcast)
}
