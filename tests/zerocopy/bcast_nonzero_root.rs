//! Port of Charm++'s test `zerocopy/bcast_nonzero_root`: every PE in turn broadcasts one buffer to an array, a group and a nodegroup,
//! first to entries that receive, then to entries that post.
//!
//! ```text
//! cargo run -p chare-tests --bin bcast_nonzero_root -- +p 2 +n 3
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, assert_indices, indices};
use clap::Parser;
use std::process::ExitCode;

const ELEMENTS_PER_PE: u64 = 10;
const LEN: usize = 129;

/// Broadcasts from every PE.
#[derive(Parser)]
#[command(name = "bcast_nonzero_root", no_binary_name = true)]
struct Options {
    /// Numbers of the buffer
    #[arg(default_value_t = LEN)]
    len: usize,
}

/// The three kinds of collections behave alike.
macro_rules! member {
    ($kind:ident, $member:ident) => {
        struct $member;

        #[chare($kind)]
        impl $member {
            #[entry]
            fn new() -> Self {
                Self
            }

            #[entry]
            fn receive(&mut self, #[nocopy] data: Received<i32>, len: usize, done: Callback<()>) {
                self.check(&data, len, done);
            }

            #[entry]
            fn receive_posted(&mut self, #[nocopy(post)] data: Posted<i32>, len: usize, done: Callback<()>) {
                self.check(&data, len, done);
            }

            #[post(receive_posted)]
            fn post(&mut self, data: Post<i32>, len: &usize, _done: &Callback<()>) {
                data.post(vec![0; *len]).expect("it is as long");
            }

            fn check(&self, data: &[i32], len: usize, done: Callback<()>) {
                assert_eq!(data.len(), len);
                assert_indices(data, 0);
                self.contribute(barrier(), done);
            }
        }
    };
}

member!(array, Element);
member!(group, Member);
member!(nodegroup, NodeMember);

struct Tester {
    elements: ElementProxy,
    members: MemberProxy,
    node_members: NodeMemberProxy,
}

#[chare(group)]
impl Tester {
    #[entry]
    fn new(elements: ElementProxy, members: MemberProxy, node_members: NodeMemberProxy) -> Self {
        Self { elements, members, node_members }
    }

    #[entry]
    async fn test(this: This<Self>, len: usize, done: Callback<()>) {
        let (elements, members, node_members) = this
            .with(|tester| (tester.elements.clone(), tester.members.clone(), tester.node_members.clone()));
        let buffer = Buffer::from(indices(len));
        let callbacks = [chare::future(), chare::future(), chare::future()];
        elements.receive(buffer.clone(), len, callbacks[0].1);
        members.receive(buffer.clone(), len, callbacks[1].1);
        node_members.receive(buffer.clone(), len, callbacks[2].1);
        for (all_have_it, _) in callbacks {
            all_have_it.await;
        }
        let callbacks = [chare::future(), chare::future(), chare::future()];
        elements.receive_posted(buffer.clone(), len, callbacks[0].1);
        members.receive_posted(buffer.clone(), len, callbacks[1].1);
        node_members.receive_posted(buffer, len, callbacks[2].1);
        for (all_have_it, _) in callbacks {
            all_have_it.await;
        }
        println!("Testing with source {} completed", chare::my_pe());
        done.send(());
    }
}

fn main() -> ExitCode {
    ports::run(|Options { len }| async move {
        let pes = chare::pes();
        let elements = ElementProxy::create(u64::from(pes) * ELEMENTS_PER_PE);
        let testers = TesterProxy::create(elements, MemberProxy::create(), NodeMemberProxy::create());
        for pe in (0..pes).map(PeId) {
            let (tested, done) = chare::future();
            testers.on(pe).test(len, done);
            tested.await;
        }
        println!("Testing with {pes} source PEs completed");
    })
}
