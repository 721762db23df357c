//! Port of Charm++'s test `zerocopy/zc_post_async/post_and_match`: a buffer and the call that it is for meet by tag, whichever comes
//! first.
//!
//! Members of an array, a group and a nodegroup post the buffers that a call names by tag: before the call (`early`), in its post
//! method (`sync`), or in an entry of their own after it (`delayed`). First one member of each kind, then all of them. Charm++ builds
//! one program for each; here it is an argument.
//!
//! ```text
//! cargo run -p chare-tests --bin post_and_match -- delayed +p 2 +n 2
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, assert_constant, indices};
use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

const LEN: usize = 2000;
const ELEMENTS_PER_PE: u64 = 10;
const CONSTANT: i32 = 188;

/// When buffers are posted.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum When {
    /// Before the call
    Early,
    /// In the post method
    Sync,
    /// After the post method
    Delayed,
}

/// Posts buffers before, in and after post methods.
#[derive(Parser)]
#[command(name = "post_and_match", no_binary_name = true)]
struct Options {
    /// When buffers are posted
    #[arg(value_enum)]
    when: When,
}

/// The three kinds of collections behave alike, but for their tags.
macro_rules! member {
    ($kind:ident, $member:ident, $match_tag:ident, $post_buffer:ident, $first_tag:expr) => {
        struct $member {
            when: When,
            /// Out while posted.
            buffers: [BufferMut<i32>; 2],
        }

        #[chare($kind)]
        impl $member {
            #[entry]
            fn new(when: When) -> Self {
                Self { when, buffers: [indices(LEN).into(), indices(LEN).into()] }
            }

            /// Ahead of the call.
            #[entry]
            fn post_early(&mut self, to_all: bool, posted: Callback<()>) {
                self.post_buffers();
                if to_all {
                    self.contribute(barrier(), posted);
                } else {
                    posted.send(());
                }
            }

            #[entry]
            fn post_buffers(&mut self) {
                let empty = || Vec::new().into();
                for (tag, buffer) in self.tags().into_iter().zip(&mut self.buffers) {
                    chare::$post_buffer(tag, std::mem::replace(buffer, empty())).expect("the tag is free");
                }
            }

            #[entry]
            fn receive(
                &mut self,
                to_all: bool,
                #[nocopy(post)] first: Posted<i32>,
                #[nocopy(post)] second: Posted<i32>,
                done: Callback<()>,
            ) {
                for (data, buffer) in [first, second].into_iter().zip(&mut self.buffers) {
                    assert_eq!(data.transferred(), LEN);
                    *buffer = data.into_buffer();
                    assert_constant(buffer, CONSTANT);
                    buffer.iter_mut().zip(0..).for_each(|(value, index)| *value = index);
                }
                if to_all {
                    self.contribute(barrier(), done);
                } else {
                    done.send(());
                }
            }

            #[post(receive)]
            fn post(&mut self, _to_all: &bool, first: Post<i32>, second: Post<i32>, _done: &Callback<()>) {
                for (tag, post) in self.tags().into_iter().zip([first, second]) {
                    post.$match_tag(tag).expect("the tag is free, or the buffer fits");
                }
                match self.when {
                    When::Early => {}
                    When::Sync => self.post_buffers(),
                    When::Delayed => self.this_chare().post_buffers(),
                }
            }

            fn tags(&self) -> [u64; 2] {
                [0, 1].map(|buffer| $first_tag + 2 * self.this_index() + buffer)
            }
        }
    };
}

member!(array, Element, match_tag, post_buffer, 0);
member!(group, Member, match_tag, post_buffer, 1 << 32);
member!(nodegroup, NodeMember, match_node_tag, post_node_buffer, 0);

async fn test(when: When) {
    let (pes, nodes) = (chare::pes(), chare::nodes());
    let elements = ElementProxy::create(u64::from(pes) * ELEMENTS_PER_PE, when);
    let (members, node_members) = (MemberProxy::create(when), NodeMemberProxy::create(when));
    let element = elements.at(u64::from(pes) * ELEMENTS_PER_PE - 1);
    let (member, node_member) = (members.on(PeId(pes - 1)), node_members.on(NodeId(nodes - 1)));
    let (first, second) = (Buffer::from(vec![CONSTANT; LEN]), Buffer::from(vec![CONSTANT; LEN]));

    if when == When::Early {
        all_three(|[one, two, three]| {
            element.post_early(false, one);
            member.post_early(false, two);
            node_member.post_early(false, three);
        })
        .await;
    }
    all_three(|[one, two, three]| {
        element.receive(false, first.clone(), second.clone(), one);
        member.receive(false, first.clone(), second.clone(), two);
        node_member.receive(false, first.clone(), second.clone(), three);
    })
    .await;
    println!("All p2p tests have successfully completed");

    if when == When::Early {
        all_three(|[one, two, three]| {
            elements.post_early(true, one);
            members.post_early(true, two);
            node_members.post_early(true, three);
        })
        .await;
    }
    all_three(|[one, two, three]| {
        elements.receive(true, first.clone(), second.clone(), one);
        members.receive(true, first.clone(), second.clone(), two);
        node_members.receive(true, first.clone(), second.clone(), three);
    })
    .await;
    println!("All bcast tests have successfully completed");
}

/// Begins three things and waits until each has called back.
async fn all_three(begin: impl FnOnce([Callback<()>; 3])) {
    let futures = [chare::future(), chare::future(), chare::future()];
    begin([futures[0].1, futures[1].1, futures[2].1]);
    for (done, _) in futures {
        done.await;
    }
}

fn main() -> ExitCode {
    ports::run(|Options { when }| test(when))
}
