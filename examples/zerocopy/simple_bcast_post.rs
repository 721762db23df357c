//! How does one buffer land in buffers of a whole collection's members? Charm++'s example
//! `zerocopy/entry_method_bcast_post_api/*/simpleBcastPost`.
//!
//! As `simple_bcast`; every member posts a buffer of its own, which the broadcast fills.
//!
//! ```text
//! cargo run --release --example simple_bcast_post -- +n 2 +p 2
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, RegistrationMode, assert_indices, indices};
use clap::Parser;
use std::process::ExitCode;

const LEN: usize = 5000;

/// Broadcasts a buffer into buffers that the members of collections post.
#[derive(Parser)]
#[command(name = "simple_bcast_post", no_binary_name = true)]
struct Options {
    /// Elements of the array [default: ten for each PE]
    elements: Option<u64>,
    /// When memory is registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
}

/// The three kinds of collections behave alike.
macro_rules! receiver {
    ($kind:ident, $receiver:ident) => {
        struct $receiver {
            buffer: BufferMut<i32>,
        }

        #[chare($kind)]
        impl $receiver {
            #[entry]
            fn new() -> Self {
                Self { buffer: BufferMut::zeroed(LEN) }
            }

            #[entry]
            fn receive(&mut self, #[nocopy(post)] data: Posted<i32>, done: Callback<()>) {
                self.buffer = data.into_buffer();
                assert_indices(&self.buffer, 0);
                self.contribute(barrier(), done);
            }

            #[post(receive)]
            fn post(&mut self, data: Post<i32>, _done: &Callback<()>) {
                data.post(std::mem::replace(&mut self.buffer, Vec::new().into())).expect("it is as long");
            }
        }
    };
}

receiver!(array, Element);
receiver!(group, Member);
receiver!(nodegroup, NodeMember);

fn main() -> ExitCode {
    ports::run(|Options { elements, registration }| async move {
        let elements = ElementProxy::create(elements.unwrap_or(u64::from(chare::pes()) * 10));
        let members = MemberProxy::create();
        let node_members = NodeMemberProxy::create();

        let buffer = Buffer::from(indices(LEN));
        let received = [chare::future(), chare::future(), chare::future()];
        let sent = [chare::future(), chare::future(), chare::future()];
        let send = |broadcast: usize| registration.send(buffer.clone()).on_sent(sent[broadcast].1);
        elements.receive(send(0), received[0].1);
        members.receive(send(1), received[1].1);
        node_members.receive(send(2), received[2].1);

        for (back, _) in sent {
            assert_eq!(back.await.len(), LEN);
            println!("source callback invoked");
        }
        for (all_have_it, _) in received {
            all_have_it.await;
        }
        println!("All operations completed");
    })
}
