//! How do members of a nodegroup, which several PEs serve, receive into their own buffers? Charm++'s example
//! `zerocopy/entry_method_post_api/*/nodegroupTest`.
//!
//! Members of the lower half of the nodes send a buffer to their partners in the upper half, which post the buffer that it lands in
//! under a tag of the node, and send it back into the sender's own.
//!
//! (Charm++'s program refuses an odd number of nodes; here the one in the middle is its own partner.)
//!
//! ```text
//! cargo run --release --example nodegroup_test -- +n 2 +p 2
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, RegistrationMode};
use clap::Parser;
use std::process::ExitCode;

const LEN: usize = 210;

/// Receives into buffers of nodes.
#[derive(Parser)]
#[command(name = "nodegroup_test", no_binary_name = true)]
struct Options {
    /// When memory is registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
}

struct Member {
    registration: RegistrationMode,
    done: Callback<()>,
}

#[chare(nodegroup)]
impl Member {
    #[entry]
    fn new(registration: RegistrationMode, done: Callback<()>) -> Self {
        Self { registration, done }
    }

    #[entry]
    fn start(&mut self) {
        if self.this_index() <= self.partner_index() {
            self.partner().receive(false, self.registration.send(ports::integers(LEN)));
        }
    }

    #[entry]
    fn receive(&mut self, is_back: bool, #[nocopy(post)] data: Posted<i32>) {
        assert!(*data == ports::integers(LEN));
        if is_back {
            self.contribute(barrier(), self.done);
        } else {
            let sent = self.this_chare().sent_callback();
            let back = self.registration.send(data.into_buffer()).on_sent(sent);
            self.partner().receive(true, back);
        }
    }

    #[post(receive)]
    fn post(&mut self, _is_back: &bool, data: Post<i32>) {
        let (tag, buffer) = (self.this_index(), vec![0; data.len()]);
        data.match_node_tag(tag).expect("one call at a time");
        chare::post_node_buffer(tag, buffer).expect("it is as long");
    }

    /// The buffer that was sent back is free again, and dropped.
    #[entry]
    fn sent(&mut self, _buffer: Sent<i32>) {
        if self.this_index() != self.partner_index() {
            self.contribute(barrier(), self.done);
        }
    }

    fn partner_index(&self) -> u64 {
        u64::from(chare::nodes()) - 1 - self.this_index()
    }

    fn partner(&self) -> MemberElementProxy {
        self.this_collection().on(NodeId(self.partner_index() as u32))
    }
}

fn main() -> ExitCode {
    ports::run(|Options { registration }| async move {
        let (all_done, done) = chare::future();
        MemberProxy::create(registration, done).start();
        all_done.await;
        println!("All sending completed and result validated");
    })
}
