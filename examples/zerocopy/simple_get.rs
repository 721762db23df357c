//! How does one chare read another's memory? Charm++'s example `zerocopy/direct_api/*/simple_get`.
//!
//! Element 0 registers three buffers and sends their handles; element 1 reads them with `rget`. When element 0 knows that its
//! buffers have been read and element 1 that it has them, element 0 sends the same numbers as ordinary arguments, to compare.
//!
//! ```text
//! cargo run --release --example simple_get -- +n 2
//! ```

use chare::prelude::*;
use chare::{RegisteredSource, SourceHandle, rget};
use chare_examples::ports::{self, RegistrationMode};
use clap::Parser;
use std::process::ExitCode;

/// Reads three buffers of another chare.
#[derive(Parser)]
#[command(name = "simple_get", no_binary_name = true)]
struct Options {
    /// Elements of each buffer
    #[arg(default_value_t = 1_000_000)]
    size: usize,
    /// When memory is registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
}

/// The handles that element 0 offers.
struct Sources {
    integers: RegisteredSource<i32>,
    doubles: RegisteredSource<f64>,
    characters: RegisteredSource<u8>,
}

struct Ping {
    size: usize,
    registration: RegistrationMode,
    sources: Option<Sources>,
    /// Sources read, and one for the other's destinations.
    done: u32,
    integers: Vec<i32>,
    doubles: Vec<f64>,
    characters: Vec<u8>,
    validated: Callback<()>,
}

#[chare(array)]
impl Ping {
    #[entry]
    fn new(size: usize, registration: RegistrationMode, validated: Callback<()>) -> Self {
        let (integers, doubles, characters) = (Vec::new(), Vec::new(), Vec::new());
        Self { size, registration, sources: None, done: 0, integers, doubles, characters, validated }
    }

    /// On element 0.
    #[entry]
    fn start(&mut self) {
        let read = self.this_chare().source_done_callback();
        let sources = Sources {
            integers: self.registration.source(ports::integers(self.size)).notify(read),
            doubles: self.registration.source(ports::doubles(self.size)).notify(read),
            characters: self.registration.source(ports::characters(self.size)).notify(read),
        };
        let Sources { integers, doubles, characters } = &sources;
        let other = self.this_collection().at(1);
        other.get(integers.handle(), doubles.handle(), characters.handle());
        self.sources = Some(sources);
    }

    /// On element 1.
    #[entry]
    async fn get(
        this: This<Self>,
        integers: SourceHandle<i32>,
        doubles: SourceHandle<f64>,
        characters: SourceHandle<u8>,
    ) {
        let size = this.with(|ping| ping.size);
        let ((got_integers, first), (got_doubles, second), (got_characters, third)) =
            (chare::future(), chare::future(), chare::future());
        let statuses = [
            rget(&integers, vec![0; size], first).expect("it is as long"),
            rget(&doubles, vec![0.0; size], second).expect("it is as long"),
            rget(&characters, vec![0; size], third).expect("it is as long"),
        ];
        println!("gets are {statuses:?}");
        let (integers, doubles, characters) = (got_integers.await, got_doubles.await, got_characters.await);
        println!("get destination done");
        this.with(|ping| {
            (ping.integers, ping.doubles) = (integers.into_vec(), doubles.into_vec());
            ping.characters = characters.into_vec();
        });
        this.this_collection().at(0).destinations_done();
    }

    /// On element 0, for each source.
    #[entry]
    fn source_done(&mut self, _bytes: u64) {
        self.count();
    }

    /// On element 0.
    #[entry]
    fn destinations_done(&mut self) {
        self.count();
    }

    fn count(&mut self) {
        self.done += 1;
        if self.done == 4 {
            println!("get source done");
            let Sources { integers, doubles, characters } = self.sources.take().expect("they were read");
            // From here on the handles are stale and the memory is free again.
            let (integers, doubles, characters) =
                (integers.deregister(), doubles.deregister(), characters.deregister());
            self.this_collection().at(1).validate(
                integers.into_vec(),
                doubles.into_vec(),
                characters.into_vec(),
            );
        }
    }

    /// On element 1.
    #[entry]
    fn validate(&mut self, integers: Vec<i32>, doubles: Vec<f64>, characters: Vec<u8>) {
        assert!(self.integers == integers && self.doubles == doubles && self.characters == characters);
        println!("Get validated!");
        self.validated.send(());
    }
}

fn main() -> ExitCode {
    ports::run(|Options { size, registration }| async move {
        let (all_validated, validated) = chare::future();
        PingProxy::create(ports::both_ends(), size, registration, validated).at(0).start();
        all_validated.await;
    })
}
