//! Port of Charm++'s test `zerocopy/dereg_and_nodereg`: registrations that end with the transfer, and registrations that stay.
//!
//! One buffer goes three times in one call: with the default, registered by the call, and registered by the call and kept so. First
//! between pairs of elements, `i` and `n - 1 - i`, received and then posted; then from element 0 to all, received and then posted. Each
//! argument's callback must come exactly once, and then the buffer must be writable again, which ends what was kept.
//!
//! ```text
//! cargo run -p chare-tests --bin dereg_and_nodereg -- 10 +p 2 +n 2
//! ```

use chare::Registration;
use chare::prelude::*;
use chare_examples::ports::{self, assert_constant};
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// More than what travels with a message on any path, so that there is something to register.
const LEN: usize = 70_000;

/// Sends one buffer three times, registered for different times.
#[derive(Parser)]
#[command(name = "dereg_and_nodereg", no_binary_name = true)]
struct Options {
    /// Elements of the array, an even number
    #[arg(value_parser = ports::parse_even)]
    elements: u64,
}

/// A stage: the number that one element sends, its receivers, and how they receive it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Stage {
    /// Also the number that is sent.
    number: i32,
    to_all: bool,
    posted: bool,
}

struct Element {
    partner: u64,
    buffer: Buffer<i32>,
    /// Which of the three arguments came back in this stage.
    back: [bool; 3],
    done: Callback<()>,
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(elements: u64) -> Self {
        let partner = elements - 1 - chare::this_index::<u64>();
        let (buffer, done) = (vec![0; LEN].into(), Callback::ignore());
        Self { partner, buffer, back: [false; 3], done }
    }

    /// Sends, if this element sends in this stage. `done` learns when every sender's buffer is its own again.
    #[entry]
    fn start(&mut self, stage: Stage, done: Callback<()>) {
        let sends = if stage.to_all { self.this_index() == 0 } else { self.this_index() < self.partner };
        if !sends {
            return self.contribute(barrier(), done);
        }
        (self.done, self.back) = (done, [false; 3]);
        self.buffer = vec![stage.number; LEN].into();
        let back = self.this_chare().sent_callback();
        let send = |argument| SendBuffer::from(self.buffer.clone()).on_sent(back.with_reference(argument));
        let (default, registered) = (send(1), send(2).registration(Registration::Now));
        let kept = send(3).registration(Registration::Now).keep_registered();
        let all = self.this_collection();
        match (stage.to_all, stage.posted) {
            (false, false) => all.at(self.partner).receive(stage, default, registered, kept),
            (false, true) => all.at(self.partner).receive_posted(stage, default, registered, kept),
            (true, false) => all.receive(stage, default, registered, kept),
            (true, true) => all.receive_posted(stage, default, registered, kept),
        }
    }

    #[entry]
    fn sent(&mut self, sent: Sent<i32>) {
        assert_eq!(sent.transferred(), LEN);
        drop(sent);
        let argument = chare::reference();
        let back = &mut self.back[argument as usize - 1];
        assert!(!*back, "argument {argument} came back twice");
        *back = true;
        if self.back == [true; 3] {
            // Nobody reads it any more. What was kept registered for the next time ends here.
            let buffer = std::mem::replace(&mut self.buffer, Vec::new().into());
            self.buffer = buffer.try_into_mut().expect("all three arguments are back").freeze();
            self.contribute(barrier(), self.done);
        }
    }

    #[entry]
    fn receive(
        &mut self,
        stage: Stage,
        #[nocopy] first: Received<i32>,
        #[nocopy] second: Received<i32>,
        #[nocopy] third: Received<i32>,
    ) {
        check(stage, [&first, &second, &third]);
    }

    #[entry]
    fn receive_posted(
        &mut self,
        stage: Stage,
        #[nocopy(post)] first: Posted<i32>,
        #[nocopy(post)] second: Posted<i32>,
        #[nocopy(post)] third: Posted<i32>,
    ) {
        check(stage, [&first, &second, &third]);
    }

    #[post(receive_posted)]
    fn post(&mut self, _stage: &Stage, first: Post<i32>, second: Post<i32>, third: Post<i32>) {
        for (post, number) in [first, second, third].into_iter().zip(0..) {
            let tag = self.this_index() * 3 + number;
            post.match_tag(tag).expect("the tag is this argument's own");
            chare::post_buffer(tag, vec![0; LEN]).expect("it is as long");
        }
    }
}

fn check(stage: Stage, arguments: [&[i32]; 3]) {
    for argument in arguments {
        assert_eq!(argument.len(), LEN);
        assert_constant(argument, stage.number);
    }
}

fn main() -> ExitCode {
    ports::run(|Options { elements: count }| async move {
        let elements = ElementProxy::create(count, count);
        for (number, (to_all, posted)) in
            (1..).zip([(false, false), (false, true), (true, false), (true, true)])
        {
            let (all_back, done) = chare::future();
            elements.start(Stage { number, to_all, posted }, done);
            all_back.await;
            // Receivers check what they got, or the job ends.
            chare::quiescence().await;
            println!("Test {number} completed");
        }
    })
}
