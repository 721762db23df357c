//! How do buffers go to another chare and come back, one-sided both ways? Charm++'s example
//! `zerocopy/direct_api/*/get_put_pingpong`.
//!
//! Element 0 offers three sources and three targets; element 1 gets the sources into its own buffers and then puts those into the
//! targets. Element 0 compares what came back with what it had.
//!
//! ```text
//! cargo run --release --example get_put_pingpong -- +n 2
//! ```

use chare::prelude::*;
use chare::{RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use chare_examples::ports::{self, RegistrationMode};
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// Gets three buffers and puts them back.
#[derive(Parser)]
#[command(name = "get_put_pingpong", no_binary_name = true)]
struct Options {
    /// Elements of each buffer
    #[arg(default_value_t = 1_000_000)]
    size: usize,
    /// When memory is registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
}

/// A buffer to read and one to write, as element 0 keeps them.
struct Offer<T: chare::Element> {
    source: RegisteredSource<T>,
    target: RegisteredTarget<T>,
}

/// The same for the other side.
#[derive(Clone, Serialize, Deserialize)]
#[serde(bound = "")]
struct Handles<T: chare::Element> {
    source: SourceHandle<T>,
    target: TargetHandle<T>,
}

impl<T: chare::Element> Offer<T> {
    fn new(registration: RegistrationMode, values: Vec<T>, written: Callback<u64>) -> Self {
        let target = registration.target(values.len()).notify(written);
        Self { source: registration.source(values), target }
    }

    fn handles(&self) -> Handles<T> {
        Handles { source: self.source.handle(), target: self.target.handle() }
    }
}

impl<T: chare::Element + PartialEq> Offer<T> {
    fn came_back(&self) -> bool {
        self.target.read(|target| *target == *self.source).expect("no put is under way")
    }
}

impl<T: chare::Element> Handles<T> {
    /// Gets the source, puts it into the target, and waits for both.
    async fn bounce(self) {
        let (got, done) = chare::future();
        rget(&self.source, BufferMut::zeroed(self.source.len()), done).expect("it is as long");
        let (put, done) = chare::future();
        rput(got.await, &self.target, done).expect("it is as long");
        put.await;
    }
}

struct Ping {
    size: usize,
    registration: RegistrationMode,
    offers: Option<(Offer<i32>, Offer<f64>, Offer<u8>)>,
    written: u32,
    validated: Callback<()>,
}

#[chare(array)]
impl Ping {
    #[entry]
    fn new(size: usize, registration: RegistrationMode, validated: Callback<()>) -> Self {
        Self { size, registration, offers: None, written: 0, validated }
    }

    /// On element 0.
    #[entry]
    fn start(&mut self) {
        let written = self.this_chare().target_written_callback();
        let integers = Offer::new(self.registration, ports::integers(self.size), written);
        let doubles = Offer::new(self.registration, ports::doubles(self.size), written);
        let characters = Offer::new(self.registration, ports::characters(self.size), written);
        let other = self.this_collection().at(1);
        other.bounce(integers.handles(), doubles.handles(), characters.handles());
        self.offers = Some((integers, doubles, characters));
    }

    /// On element 1.
    #[entry]
    async fn bounce(
        _this: This<Self>,
        integers: Handles<i32>,
        doubles: Handles<f64>,
        characters: Handles<u8>,
    ) {
        integers.bounce().await;
        doubles.bounce().await;
        characters.bounce().await;
        println!("get and put calls completed");
    }

    /// On element 0, for each target.
    #[entry]
    fn target_written(&mut self, _bytes: u64) {
        self.written += 1;
        if self.written == 3 {
            let (integers, doubles, characters) = self.offers.as_ref().expect("they were offered");
            assert!(integers.came_back() && doubles.came_back() && characters.came_back());
            println!("Result validated!");
            self.validated.send(());
        }
    }
}

fn main() -> ExitCode {
    ports::run(|Options { size, registration }| async move {
        let (all_validated, validated) = chare::future();
        PingProxy::create(ports::both_ends(), size, registration, validated).at(0).start();
        all_validated.await;
    })
}
