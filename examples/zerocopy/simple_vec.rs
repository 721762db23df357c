//! How are vectors sent without a copy, and how do they come back? Charm++'s example `zerocopy/entry_method_api/misc/simpleVec`.
//!
//! The lower half of an array sends two vectors each to its partners. The vectors move into the call; when the receivers have let go
//! of them they come back through a callback: one is dropped then, one is kept for later.
//!
//! ```text
//! cargo run --release --example simple_vec -- +n 2 +p 2
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, assert_indices, indices};
use clap::Parser;
use std::process::ExitCode;

const LEN: usize = 200;

/// Which vector came back.
const DROPPED: u64 = 1;
const KEPT: u64 = 2;

/// Sends vectors without copying them.
#[derive(Parser)]
#[command(name = "simple_vec", no_binary_name = true)]
struct Options {
    /// Elements of the array, an even number
    #[arg(default_value_t = 32, value_parser = ports::parse_even)]
    elements: u64,
}

struct Element {
    partner: u64,
    kept: Vec<i32>,
    back: u32,
    done: Callback<()>,
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(elements: u64, done: Callback<()>) -> Self {
        let partner = elements - 1 - chare::this_index::<u64>();
        Self { partner, kept: indices(LEN), back: 0, done }
    }

    #[entry]
    fn start(&mut self) {
        if self.this_index() < self.partner {
            let back = self.this_chare().sent_callback();
            self.this_collection().at(self.partner).receive(
                SendBuffer::from(indices(LEN)).on_sent(back.with_reference(DROPPED)),
                SendBuffer::from(std::mem::take(&mut self.kept)).on_sent(back.with_reference(KEPT)),
            );
        }
    }

    #[entry]
    fn sent(&mut self, buffer: Sent<i32>) {
        match chare::reference() {
            DROPPED => drop(buffer),
            KEPT => self.kept = buffer.into_vec(),
            other => panic!("no vector was sent with reference {other}"),
        }
        self.back += 1;
        if self.back == 2 {
            assert_indices(&self.kept, 0);
            self.contribute(barrier(), self.done);
        }
    }

    #[entry]
    fn receive(&mut self, #[nocopy] first: Received<i32>, #[nocopy] second: Received<i32>) {
        assert_eq!((first.len(), second.len()), (LEN, LEN));
        assert_indices(&first, 0);
        assert_indices(&second, 0);
        self.contribute(barrier(), self.done);
    }
}

fn main() -> ExitCode {
    ports::run(|Options { elements }| async move {
        let (all_done, done) = chare::future();
        ElementProxy::create(elements, elements, done).start();
        all_done.await;
        println!("All sending and receiving of vectors is complete");
    })
}
