//! How does one buffer reach a whole collection without copies? Charm++'s example `zerocopy/entry_method_bcast_api/*/simpleBcast`.
//!
//! One buffer goes to an array, a group and a nodegroup at once. The source's callback fires once for each broadcast, when all
//! processes have let go of the buffer.
//!
//! ```text
//! cargo run --release --example simple_bcast -- +n 2 +p 2
//! cargo run --release --example simple_bcast -- 32 --len 2000000
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, RegistrationMode, assert_indices};
use clap::Parser;
use std::process::ExitCode;

/// Broadcasts a buffer to collections of every kind.
#[derive(Parser)]
#[command(name = "simple_bcast", no_binary_name = true)]
struct Options {
    /// Elements of the array [default: ten for each PE]
    elements: Option<u64>,
    /// Numbers of the buffer
    #[arg(long, default_value_t = 2_000_000)]
    len: usize,
    /// When memory is registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
}

/// The three kinds of collections behave alike.
macro_rules! receiver {
    ($kind:ident, $receiver:ident) => {
        struct $receiver;

        #[chare($kind)]
        impl $receiver {
            #[entry]
            fn new() -> Self {
                Self
            }

            #[entry]
            fn receive(&mut self, #[nocopy] data: Received<i32>, len: usize, done: Callback<()>) {
                assert_eq!(data.len(), len);
                assert_indices(&data, 0);
                self.contribute(barrier(), done);
            }
        }
    };
}

receiver!(array, Element);
receiver!(group, Member);
receiver!(nodegroup, NodeMember);

fn main() -> ExitCode {
    ports::run(|Options { elements, len, registration }| async move {
        let elements = ElementProxy::create(elements.unwrap_or(u64::from(chare::pes()) * 10));
        let members = MemberProxy::create();
        let node_members = NodeMemberProxy::create();

        let buffer = Buffer::from(BufferMut::from_fn(len, |position| position as i32));
        let received = [chare::future(), chare::future(), chare::future()];
        let sent = [chare::future(), chare::future(), chare::future()];
        let send = |broadcast: usize| registration.send(buffer.clone()).on_sent(sent[broadcast].1);
        elements.receive(send(0), len, received[0].1);
        members.receive(send(1), len, received[1].1);
        node_members.receive(send(2), len, received[2].1);

        for (back, _) in sent {
            assert_eq!(back.await.len(), len);
            println!("source callback invoked");
        }
        for (all_have_it, _) in received {
            all_have_it.await;
        }
        // Nobody reads the buffer any more: it may be written again.
        let mut buffer = buffer.try_into_mut().expect("three callbacks said so");
        buffer.fill(0);
        println!("All operations completed");
    })
}
