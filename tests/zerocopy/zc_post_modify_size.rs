//! Port of Charm++'s test `zerocopy/zc_post_modify_size`: a posted buffer may be shorter than what is sent.
//!
//! One member of an array, of a group and of a nodegroup posts the first quarter of its buffer; then all of them post the first half.
//! Just that much is written, and the rest stays untouched.
//!
//! ```text
//! cargo run -p chare-tests --bin zc_post_modify_size -- +p 2 +n 2
//! ```

use chare::Landing;
use chare::prelude::*;
use chare_examples::ports::{self, assert_constant, assert_indices, indices};
use clap::Parser;
use std::process::ExitCode;

const LEN: usize = 2000;
const ELEMENTS_PER_PE: u64 = 10;
const CONSTANT: i32 = 188;

/// Posts buffers shorter than what is sent.
#[derive(Parser)]
#[command(name = "zc_post_modify_size", no_binary_name = true)]
struct Options {}

/// The three kinds of collections behave alike, but for their tags.
macro_rules! member {
    ($kind:ident, $member:ident, $match_tag:ident, $post_buffer:ident, $first_tag:expr) => {
        struct $member {
            buffer: BufferMut<i32>,
            /// Elements that were written before.
            written: usize,
        }

        #[chare($kind)]
        impl $member {
            #[entry]
            fn new() -> Self {
                Self { buffer: indices(LEN).into(), written: 0 }
            }

            /// To one member alone, or to all.
            #[entry]
            fn receive(&mut self, to_all: bool, #[nocopy(post)] data: Posted<i32>, done: Callback<()>) {
                let transferred = data.transferred();
                self.buffer = data.into_buffer();
                assert_eq!(transferred, Self::wanted(to_all));
                self.written = self.written.max(transferred);
                assert_constant(&self.buffer[..self.written], CONSTANT);
                assert_indices(&self.buffer[self.written..], self.written);
                if to_all {
                    self.contribute(barrier(), done);
                } else {
                    done.send(());
                }
            }

            #[post(receive)]
            fn post(&mut self, to_all: &bool, data: Post<i32>, _done: &Callback<()>) {
                let tag = $first_tag + self.this_index();
                data.$match_tag(tag).expect("the tag is this member's own");
                let buffer = std::mem::replace(&mut self.buffer, Vec::new().into());
                chare::$post_buffer(tag, Landing::first(Self::wanted(*to_all), buffer))
                    .expect("it is shorter than what is sent");
            }

            fn wanted(to_all: bool) -> usize {
                if to_all { LEN / 2 } else { LEN / 4 }
            }
        }
    };
}

member!(array, Element, match_tag, post_buffer, 0);
member!(group, Member, match_tag, post_buffer, 1 << 32);
member!(nodegroup, NodeMember, match_node_tag, post_node_buffer, 2 << 32);

fn main() -> ExitCode {
    ports::run(|Options {}| async move {
        let (pes, nodes) = (chare::pes(), chare::nodes());
        let elements = ElementProxy::create(u64::from(pes) * ELEMENTS_PER_PE);
        let (members, node_members) = (MemberProxy::create(), NodeMemberProxy::create());
        let source = Buffer::from(vec![CONSTANT; LEN]);

        let callbacks = [chare::future(), chare::future(), chare::future()];
        elements.at(9).receive(false, source.clone(), callbacks[0].1);
        members.on(PeId(pes - 1)).receive(false, source.clone(), callbacks[1].1);
        node_members.on(NodeId(nodes - 1)).receive(false, source.clone(), callbacks[2].1);
        for (received, _) in callbacks {
            received.await;
        }

        let callbacks = [chare::future(), chare::future(), chare::future()];
        elements.receive(true, source.clone(), callbacks[0].1);
        members.receive(true, source.clone(), callbacks[1].1);
        node_members.receive(true, source, callbacks[2].1);
        for (received, _) in callbacks {
            received.await;
        }
        println!("All tests have successfully completed");
    })
}
