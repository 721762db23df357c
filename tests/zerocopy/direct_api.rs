//! Port of Charm++'s test `zerocopy/direct_api`: a source smaller than its destination, by get and by put.
//!
//! Element `i` and its partner `n - 1 - i` transfer in opposite directions: the partner gets 200 numbers into a buffer of 2,000 and
//! puts 200 into one of 2,000. Afterwards the first 200 are the source's and the rest is untouched.
//!
//! ```text
//! cargo run -p chare-tests --bin direct_api -- 60 +p 2 +n 2
//! ```

use chare::prelude::*;
use chare::{RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use chare_examples::ports::{self, assert_constant, assert_indices, indices};
use clap::Parser;
use std::process::ExitCode;

const CONSTANT: i32 = 557;
const SMALL: usize = 200;
const LARGE: usize = 2000;

/// Gets and puts small sources into large destinations.
#[derive(Parser)]
#[command(name = "direct_api", no_binary_name = true)]
struct Options {
    /// Elements of the array, an even number
    #[arg(value_parser = ports::parse_even)]
    elements: u64,
}

struct Element {
    partner: u64,
    source: Option<RegisteredSource<i32>>,
    target: Option<RegisteredTarget<i32>>,
    done: Callback<()>,
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(elements: u64, done: Callback<()>) -> Self {
        Self { partner: elements - 1 - chare::this_index::<u64>(), source: None, target: None, done }
    }

    #[entry]
    fn begin(&mut self) {
        if self.this_index() < self.partner {
            let source = RegisteredSource::register(vec![CONSTANT; SMALL]);
            let notice = self.this_chare().put_done_callback();
            let target = RegisteredTarget::register(indices(LARGE)).notify(notice);
            self.this_collection().at(self.partner).transfer(source.handle(), target.handle());
            (self.source, self.target) = (Some(source), Some(target));
        }
    }

    #[entry]
    fn transfer(&mut self, source: SourceHandle<i32>, target: TargetHandle<i32>) {
        rget(&source, indices(LARGE), self.this_chare().get_done_callback()).expect("it is larger");
        rput(vec![CONSTANT; SMALL], &target, Callback::ignore()).expect("it is smaller");
    }

    #[entry]
    fn get_done(&mut self, buffer: BufferMut<i32>) {
        self.check(&buffer);
    }

    #[entry]
    fn put_done(&mut self, bytes: u64) {
        assert_eq!(bytes as usize, SMALL * size_of::<i32>());
        let target = self.target.as_ref().expect("this element offered it");
        target.read(|buffer| self.check(buffer)).expect("the only put is over");
    }

    fn check(&self, buffer: &[i32]) {
        assert_constant(&buffer[..SMALL], CONSTANT);
        assert_indices(&buffer[SMALL..], SMALL);
        self.contribute(barrier(), self.done);
    }
}

fn main() -> ExitCode {
    ports::run(|Options { elements }| async move {
        let (all_done, done) = chare::future();
        ElementProxy::create(elements, elements, done).begin();
        all_done.await;
        println!("Test 1 (direct API with a smaller source, get and put) completed");
    })
}
