//! How does one chare write another's memory? Charm++'s example `zerocopy/direct_api/*/simple_put`.
//!
//! Element 1 registers three buffers and sends their handles; element 0 writes them with `rput`. When element 0 knows that its
//! sources are free and element 1 that its buffers are full, element 0 sends the same numbers as ordinary arguments, to compare.
//!
//! ```text
//! cargo run --release --example simple_put -- +n 2
//! ```

use chare::prelude::*;
use chare::{RegisteredTarget, TargetHandle, rput};
use chare_examples::ports::{self, RegistrationMode};
use clap::Parser;
use std::process::ExitCode;

/// Writes three buffers of another chare.
#[derive(Parser)]
#[command(name = "simple_put", no_binary_name = true)]
struct Options {
    /// Elements of each buffer
    #[arg(default_value_t = 1_000_000)]
    size: usize,
    /// When memory is registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
}

/// The handles that element 1 offers.
struct Targets {
    integers: RegisteredTarget<i32>,
    doubles: RegisteredTarget<f64>,
    characters: RegisteredTarget<u8>,
}

struct Ping {
    size: usize,
    registration: RegistrationMode,
    targets: Option<Targets>,
    /// Targets written.
    written: u32,
    /// Sides that are done.
    done: u32,
    validated: Callback<()>,
}

#[chare(array)]
impl Ping {
    #[entry]
    fn new(size: usize, registration: RegistrationMode, validated: Callback<()>) -> Self {
        Self { size, registration, targets: None, written: 0, done: 0, validated }
    }

    /// On element 1.
    #[entry]
    fn start(&mut self) {
        let written = self.this_chare().target_done_callback();
        let targets = Targets {
            integers: self.registration.target(self.size).notify(written),
            doubles: self.registration.target(self.size).notify(written),
            characters: self.registration.target(self.size).notify(written),
        };
        let Targets { integers, doubles, characters } = &targets;
        let other = self.this_collection().at(0);
        other.put(integers.handle(), doubles.handle(), characters.handle());
        self.targets = Some(targets);
    }

    /// On element 0.
    #[entry]
    async fn put(
        this: This<Self>,
        integers: TargetHandle<i32>,
        doubles: TargetHandle<f64>,
        characters: TargetHandle<u8>,
    ) {
        let size = this.with(|ping| ping.size);
        let ((put_integers, first), (put_doubles, second), (put_characters, third)) =
            (chare::future(), chare::future(), chare::future());
        rput(ports::integers(size), &integers, first).expect("it is as long");
        rput(ports::doubles(size), &doubles, second).expect("it is as long");
        rput(ports::characters(size), &characters, third).expect("it is as long");
        // The sources come back; dropped here.
        drop((put_integers.await, put_doubles.await, put_characters.await));
        println!("put source done");
        this.this_collection().at(0).side_done();
    }

    /// On element 1, for each target.
    #[entry]
    fn target_done(&mut self, _bytes: u64) {
        self.written += 1;
        if self.written == 3 {
            println!("put destination done");
            self.this_collection().at(0).side_done();
        }
    }

    /// On element 0, for each side.
    #[entry]
    fn side_done(&mut self) {
        self.done += 1;
        if self.done == 2 {
            self.this_collection().at(1).validate(
                ports::integers(self.size),
                ports::doubles(self.size),
                ports::characters(self.size),
            );
        }
    }

    /// On element 1.
    #[entry]
    fn validate(&mut self, integers: Vec<i32>, doubles: Vec<f64>, characters: Vec<u8>) {
        let targets = self.targets.as_ref().expect("they were offered");
        targets.integers.read(|written| assert!(written == integers)).expect("no put is under way");
        targets.doubles.read(|written| assert!(written == doubles)).expect("no put is under way");
        targets.characters.read(|written| assert!(written == characters)).expect("no put is under way");
        println!("Put validated!");
        self.validated.send(());
    }
}

fn main() -> ExitCode {
    ports::run(|Options { size, registration }| async move {
        let (all_validated, validated) = chare::future();
        PingProxy::create(ports::both_ends(), size, registration, validated).at(1).start();
        all_validated.await;
    })
}
