//! How do ordinary and nocopy arguments live together in one call? Charm++'s examples `zerocopy/entry_method_api/*/simpleZeroCopy` and
//! `zerocopy/entry_method_post_api/*/simpleZeroCopy`.
//!
//! Elements work in pairs, `i` and `n - 1 - i`. The lower one sends three buffers as ordinary arguments, then as nocopy ones, then
//! two of each in one call; the upper one sends back what it got. Then both send each other four calls of two buffers in each of 40
//! iterations, and go on when all theirs are back and all their partner's have come.
//!
//! ```text
//! cargo run --release --example simple_zero_copy -- +n 2 +p 2
//! cargo run --release --example simple_zero_copy -- --post +n 2 +p 2      into buffers that the receivers post
//! ```
//! (Charm++'s programs also balance load every five iterations, which has to wait for migration.)

use chare::prelude::*;
use chare::{ArrayOptions, Placement};
use chare_examples::ports::{self, RegistrationMode, characters, doubles, integers};
use clap::Parser;
use std::process::ExitCode;

const INTEGERS: usize = 210;
const DOUBLES: usize = 11;
const CHARACTERS: usize = 32;
const ITERATIONS: u32 = 40;
const CALLS: u32 = 4;

/// Sends ordinary and nocopy arguments, alone and together.
#[derive(Parser)]
#[command(name = "simple_zero_copy", no_binary_name = true)]
struct Options {
    /// Elements of the array, an even number
    #[arg(default_value_t = 32, value_parser = ports::parse_even)]
    elements: u64,
    /// Receive into posted buffers
    #[arg(long)]
    post: bool,
    /// When memory is registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
}

struct Element {
    partner: u64,
    post: bool,
    registration: RegistrationMode,
    iteration: u32,
    sent: u32,
    /// Calls that have come of even and of odd iterations: the partner may be ahead by one.
    received: [u32; 2],
    validated: Callback<()>,
    done: Callback<()>,
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(
        elements: u64,
        post: bool,
        registration: RegistrationMode,
        validated: Callback<()>,
        done: Callback<()>,
    ) -> Self {
        let partner = elements - 1 - chare::this_index::<u64>();
        Self { partner, post, registration, iteration: 0, sent: 0, received: [0; 2], validated, done }
    }

    #[entry]
    fn start(&mut self) {
        if self.is_lower() {
            self.partner().send(integers(INTEGERS), doubles(DOUBLES), characters(CHARACTERS));
        }
    }

    /// Ordinary arguments.
    #[entry]
    fn send(&mut self, first: Vec<i32>, second: Vec<f64>, third: Vec<u8>) {
        check(&first, &second, &third);
        if !self.is_lower() {
            self.partner().send(first, second, third);
        } else if self.post {
            self.partner().send_posted(first, second, third);
        } else {
            self.partner().send_nocopy(first, second, third);
        }
    }

    /// Nocopy arguments.
    #[entry]
    fn send_nocopy(
        &mut self,
        #[nocopy] first: Received<i32>,
        #[nocopy] second: Received<f64>,
        #[nocopy] third: Received<u8>,
    ) {
        check(&first, &second, &third);
        if self.is_lower() {
            self.partner().send_mixed(first.to_vec(), second.into_vec(), first.into_vec(), doubles(DOUBLES));
        } else {
            self.partner().send_nocopy(first.into_vec(), second.into_vec(), third.into_vec());
        }
    }

    /// Nocopy arguments, into posted buffers.
    #[entry]
    fn send_posted(
        &mut self,
        #[nocopy(post)] first: Posted<i32>,
        #[nocopy(post)] second: Posted<f64>,
        #[nocopy(post)] third: Posted<u8>,
    ) {
        check(&first, &second, &third);
        if self.is_lower() {
            self.partner().send_mixed_posted(
                first.to_vec(),
                second.into_vec(),
                first.into_vec(),
                doubles(DOUBLES),
            );
        } else {
            self.partner().send_posted(first.into_vec(), second.into_vec(), third.into_vec());
        }
    }

    #[post(send_posted)]
    fn post_three(&mut self, first: Post<i32>, second: Post<f64>, third: Post<u8>) {
        first.post(vec![0; INTEGERS]).expect("it is as long");
        second.post(vec![0.0; DOUBLES]).expect("it is as long");
        third.post(vec![0; CHARACTERS]).expect("it is as long");
    }

    /// Ordinary and nocopy arguments together.
    #[entry]
    fn send_mixed(
        &mut self,
        first: Vec<i32>,
        #[nocopy] second: Received<f64>,
        #[nocopy] third: Received<i32>,
        fourth: Vec<f64>,
    ) {
        self.check_mixed((&first, &second), (&third, &fourth));
        if !self.is_lower() {
            self.partner().send_mixed(first, second.into_vec(), third.into_vec(), fourth);
        }
    }

    /// Ordinary and nocopy arguments together, into posted buffers.
    #[entry]
    fn send_mixed_posted(
        &mut self,
        first: Vec<i32>,
        #[nocopy(post)] second: Posted<f64>,
        #[nocopy(post)] third: Posted<i32>,
        fourth: Vec<f64>,
    ) {
        self.check_mixed((&first, &second), (&third, &fourth));
        if !self.is_lower() {
            self.partner().send_mixed_posted(first, second.into_vec(), third.into_vec(), fourth);
        }
    }

    #[post(send_mixed_posted)]
    fn post_mixed(&mut self, _first: &[i32], second: Post<f64>, third: Post<i32>, _fourth: &[f64]) {
        second.post(vec![0.0; DOUBLES]).expect("it is as long");
        third.post(vec![0; INTEGERS]).expect("it is as long");
    }

    fn check_mixed(&self, (first, second): (&[i32], &[f64]), (third, fourth): (&[i32], &[f64])) {
        assert!(first == third && second == fourth);
        check(first, second, &characters(CHARACTERS));
        self.contribute(barrier(), self.validated);
    }

    #[entry]
    fn iterate(&mut self) {
        let sent = (self.this_chare().integers_sent_callback(), self.this_chare().doubles_sent_callback());
        for _ in 0..CALLS {
            let first = self.registration.send(integers(INTEGERS)).on_sent(sent.0);
            let second = self.registration.send(doubles(DOUBLES)).on_sent(sent.1);
            if self.post {
                self.partner().receive_posted(self.iteration, first, second);
            } else {
                self.partner().receive(self.iteration, first, second);
            }
        }
    }

    #[entry]
    fn integers_sent(&mut self, buffer: Sent<i32>) {
        assert_eq!(buffer.transferred(), INTEGERS);
        self.sent += 1;
        self.go_on();
    }

    #[entry]
    fn doubles_sent(&mut self, buffer: Sent<f64>) {
        assert_eq!(buffer.transferred(), DOUBLES);
        self.sent += 1;
        self.go_on();
    }

    #[entry]
    fn receive(&mut self, iteration: u32, #[nocopy] first: Received<i32>, #[nocopy] second: Received<f64>) {
        self.count(iteration, &first, &second);
    }

    #[entry]
    fn receive_posted(
        &mut self,
        iteration: u32,
        #[nocopy(post)] first: Posted<i32>,
        #[nocopy(post)] second: Posted<f64>,
    ) {
        self.count(iteration, &first, &second);
    }

    #[post(receive_posted)]
    fn post_two(&mut self, _iteration: &u32, first: Post<i32>, second: Post<f64>) {
        first.post(vec![0; INTEGERS]).expect("it is as long");
        second.post(vec![0.0; DOUBLES]).expect("it is as long");
    }

    fn count(&mut self, iteration: u32, first: &[i32], second: &[f64]) {
        check(first, second, &characters(CHARACTERS));
        self.received[iteration as usize % 2] += 1;
        self.go_on();
    }

    fn go_on(&mut self) {
        let parity = self.iteration as usize % 2;
        if self.sent < 2 * CALLS || self.received[parity] < CALLS {
            return;
        }
        (self.sent, self.received[parity]) = (0, 0);
        self.iteration += 1;
        if self.iteration < ITERATIONS {
            self.iterate();
        } else {
            self.contribute(barrier(), self.done);
        }
    }

    fn is_lower(&self) -> bool {
        self.this_index() < self.partner
    }

    fn partner(&self) -> ElementElementProxy {
        self.this_collection().at(self.partner)
    }
}

fn check(first: &[i32], second: &[f64], third: &[u8]) {
    assert!(first == integers(INTEGERS) && second == doubles(DOUBLES) && third == characters(CHARACTERS));
}

fn main() -> ExitCode {
    ports::run(|Options { elements: count, post, registration }| async move {
        let ((all_validated, validated), (all_done, done)) = (chare::future(), chare::future());
        // Round robin, so that partners live on different PEs.
        let options = ArrayOptions::new(count).placement(Placement::RoundRobin);
        let elements = ElementProxy::create(options, count, post, registration, validated, done);
        elements.start();
        all_validated.await;
        elements.iterate();
        all_done.await;
        println!("All sending completed and result validated after {ITERATIONS} iterations");
    })
}
