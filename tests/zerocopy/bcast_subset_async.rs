//! Port of Charm++'s test `zerocopy/zc_post_async/bcast_subset_async`: of the members that a broadcast reaches, some have their buffer
//! ready in the post method and some do not.
//!
//! Odd members of an array, a group and a nodegroup post in their post method; even ones posted before the broadcast (`early`) or post
//! in an entry of their own after it (`delayed`).
//!
//! ```text
//! cargo run -p chare-tests --bin bcast_subset_async -- early +p 2 +n 2
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, assert_constant, indices};
use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

const LEN: usize = 2000;
const ELEMENTS_PER_PE: u64 = 10;
const CONSTANT: i32 = 188;

/// When even members post.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum When {
    /// Before the broadcast
    Early,
    /// After the post method
    Delayed,
}

/// Posts some buffers of a broadcast in post methods and others not.
#[derive(Parser)]
#[command(name = "bcast_subset_async", no_binary_name = true)]
struct Options {
    /// When even members post
    #[arg(value_enum)]
    when: When,
}

/// The three kinds of collections behave alike, but for their tags.
macro_rules! member {
    ($kind:ident, $member:ident, $match_tag:ident, $post_buffer:ident, $first_tag:expr) => {
        struct $member;

        #[chare($kind)]
        impl $member {
            #[entry]
            fn new() -> Self {
                Self
            }

            #[entry]
            fn post_early(&mut self, posted: Callback<()>) {
                if self.is_even() {
                    self.post_buffer();
                }
                self.contribute(barrier(), posted);
            }

            #[entry]
            fn post_buffer(&mut self) {
                chare::$post_buffer(self.tag(), indices(LEN)).expect("the tag is free, or the buffer fits");
            }

            #[entry]
            fn receive(&mut self, _when: When, #[nocopy(post)] data: Posted<i32>, done: Callback<()>) {
                assert_eq!(data.transferred(), LEN);
                assert_constant(&data, CONSTANT);
                self.contribute(barrier(), done);
            }

            #[post(receive)]
            fn post(&mut self, when: &When, data: Post<i32>, _done: &Callback<()>) {
                data.$match_tag(self.tag()).expect("the tag is free, or the buffer fits");
                match (self.is_even(), when) {
                    (false, _) => self.post_buffer(),
                    (true, When::Delayed) => self.this_chare().post_buffer(),
                    (true, When::Early) => {}
                }
            }

            fn is_even(&self) -> bool {
                self.this_index().is_multiple_of(2)
            }

            fn tag(&self) -> u64 {
                $first_tag + self.this_index()
            }
        }
    };
}

member!(array, Element, match_tag, post_buffer, 0);
member!(group, Member, match_tag, post_buffer, 1 << 32);
member!(nodegroup, NodeMember, match_node_tag, post_node_buffer, 0);

fn main() -> ExitCode {
    ports::run(|Options { when }| async move {
        let elements = ElementProxy::create(u64::from(chare::pes()) * ELEMENTS_PER_PE);
        let (members, node_members) = (MemberProxy::create(), NodeMemberProxy::create());
        if when == When::Early {
            let futures = [chare::future(), chare::future(), chare::future()];
            elements.post_early(futures[0].1);
            members.post_early(futures[1].1);
            node_members.post_early(futures[2].1);
            for (all_posted, _) in futures {
                all_posted.await;
            }
        }
        let source = Buffer::from(vec![CONSTANT; LEN]);
        let futures = [chare::future(), chare::future(), chare::future()];
        elements.receive(when, source.clone(), futures[0].1);
        members.receive(when, source.clone(), futures[1].1);
        node_members.receive(when, source, futures[2].1);
        for (all_have_it, _) in futures {
            all_have_it.await;
        }
        println!("All bcast tests have successfully completed");
    })
}
