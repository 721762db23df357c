//! How does a chare receive many buffers at once without mixing them up? Charm++'s example
//! `zerocopy/entry_method_post_api/reg/multiplePostedBuffers`.
//!
//! Pairs of elements send each other a buffer in each of 40 iterations, and go on when theirs is back and their partner's has come.
//! A partner may be an iteration ahead, so each iteration has a buffer and a tag of its own.
//!
//! (Charm++'s program also balances load every five iterations, which has to wait for migration.)
//!
//! ```text
//! cargo run --release --example multiple_posted_buffers -- +n 2 +p 2
//! ```

use chare::prelude::*;
use chare::{ArrayOptions, Placement};
use chare_examples::ports;
use clap::Parser;
use std::process::ExitCode;

const LEN: usize = 210;
const ITERATIONS: usize = 40;

/// Receives many buffers by tag.
#[derive(Parser)]
#[command(name = "multiple_posted_buffers", no_binary_name = true)]
struct Options {
    /// Elements of the array, an even number
    #[arg(default_value_t = 32, value_parser = ports::parse_even)]
    elements: u64,
}

struct Element {
    partner: u64,
    iteration: usize,
    sent: usize,
    /// The buffers that have come, by iteration.
    received: Vec<Option<BufferMut<i32>>>,
    done: Callback<()>,
}

/// The numbers that are sent in an iteration.
fn values(iteration: usize) -> Vec<i32> {
    (0..LEN).map(|position| (position + iteration) as i32).collect()
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(elements: u64, done: Callback<()>) -> Self {
        let partner = elements - 1 - chare::this_index::<u64>();
        let received = (0..ITERATIONS).map(|_| None).collect();
        Self { partner, iteration: 0, sent: 0, received, done }
    }

    #[entry]
    fn iterate(&mut self) {
        chare::post_buffer(self.tag(self.iteration), vec![0; LEN])
            .expect("each iteration has a tag of its own");
        let buffer = SendBuffer::from(values(self.iteration)).on_sent(self.this_chare().back_callback());
        self.this_collection().at(self.partner).receive(self.iteration, buffer);
    }

    #[entry]
    fn back(&mut self, sent: Sent<i32>) {
        assert_eq!(sent.transferred(), LEN);
        self.sent += 1;
        self.go_on();
    }

    #[entry]
    fn receive(&mut self, iteration: usize, #[nocopy(post)] data: Posted<i32>) {
        self.received[iteration] = Some(data.into_buffer());
        self.go_on();
    }

    /// The partner may be ahead: its buffer waits until this element posts.
    #[post(receive)]
    fn post(&mut self, iteration: &usize, data: Post<i32>) {
        data.match_tag(self.tag(*iteration)).expect("each iteration has a tag of its own");
    }

    fn go_on(&mut self) {
        let is_back = self.sent > self.iteration;
        let Some(received) = self.received[self.iteration].as_ref().filter(|_| is_back) else { return };
        assert!(**received == values(self.iteration), "iteration {}", self.iteration);
        self.iteration += 1;
        if self.iteration < ITERATIONS {
            self.iterate();
        } else {
            self.contribute(barrier(), self.done);
        }
    }

    fn tag(&self, iteration: usize) -> u64 {
        self.this_index() * ITERATIONS as u64 + iteration as u64
    }
}

fn main() -> ExitCode {
    ports::run(|Options { elements }| async move {
        let (all_done, done) = chare::future();
        let options = ArrayOptions::new(elements).placement(Placement::RoundRobin);
        ElementProxy::create(options, elements, done).iterate();
        all_done.await;
        println!("All sending completed and result validated after {ITERATIONS} iterations");
    })
}
