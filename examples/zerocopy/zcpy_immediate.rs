//! Who may be told that a transfer is over? Any chare: here the nodegroup's member of each side's node, ahead of its other calls.
//! Charm++'s example `zerocopy/direct_api/misc/zcpy_immediate`.
//!
//! The lower half of an array offers sources and targets; its partners get the one and put into the other. Each of the two transfers
//! of a pair tells both its sides, by `immediate` entries.
//!
//! ```text
//! cargo run --release --example zcpy_immediate -- +n 2
//! ```

use chare::prelude::*;
use chare::{RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use chare_examples::ports;
use clap::Parser;
use std::process::ExitCode;

const SIZE: usize = 2000;

/// Tells a nodegroup about the ends of transfers.
#[derive(Parser)]
#[command(name = "zcpy_immediate", no_binary_name = true)]
struct Options {
    /// Elements of the array, an even number
    #[arg(default_value_t = 32, value_parser = ports::parse_even)]
    elements: u64,
}

struct Element {
    partner: u64,
    watchers: WatcherProxy,
    offered: Option<(RegisteredSource<u8>, RegisteredTarget<u8>)>,
}

#[chare(array)]
impl Element {
    #[entry]
    fn new(elements: u64, watchers: WatcherProxy) -> Self {
        Self { partner: elements - 1 - chare::this_index::<u64>(), watchers, offered: None }
    }

    #[entry]
    fn start(&mut self) {
        if self.this_index() < self.partner {
            let watcher = self.watchers.local();
            let source = RegisteredSource::register(ports::characters(SIZE));
            let target = RegisteredTarget::register(vec![0; SIZE]);
            let (source, target) = (
                source.notify(watcher.offered_done_callback()),
                target.notify(watcher.offered_done_callback()),
            );
            self.this_collection().at(self.partner).transfer(source.handle(), target.handle());
            self.offered = Some((source, target));
        }
    }

    #[entry]
    fn transfer(&mut self, source: SourceHandle<u8>, target: TargetHandle<u8>) {
        let watcher = self.watchers.local();
        rget(&source, vec![0; SIZE], watcher.receiver_done_callback()).expect("it is as long");
        rput(ports::characters(SIZE), &target, watcher.sender_done_callback()).expect("it is as long");
    }
}

struct Watcher {
    expected: u64,
    seen: Callback<()>,
    count: u64,
}

#[chare(nodegroup)]
impl Watcher {
    #[entry]
    fn new(expected: u64, seen: Callback<()>) -> Self {
        Self { expected, seen, count: 0 }
    }

    /// A source offered was read, or a target offered was written.
    #[entry(immediate)]
    fn offered_done(&mut self, bytes: u64) {
        assert_eq!(bytes as usize, SIZE);
        self.tell();
    }

    #[entry(immediate)]
    fn receiver_done(&mut self, destination: BufferMut<u8>) {
        assert!(*destination == ports::characters(SIZE));
        self.tell();
    }

    #[entry(immediate)]
    fn sender_done(&mut self, source: Buffer<u8>) {
        assert!(*source == ports::characters(SIZE));
        self.tell();
    }

    /// On node 0, for each of them.
    #[entry]
    fn count(&mut self) {
        self.count += 1;
        if self.count == self.expected {
            println!("All gets and puts have completed");
            self.seen.send(());
        }
    }

    fn tell(&self) {
        self.this_collection().on(NodeId(0)).count();
    }
}

fn main() -> ExitCode {
    ports::run(|Options { elements }| async move {
        let (all_seen, seen) = chare::future();
        // Half as many pairs as elements, two transfers each, two sides each.
        let watchers = WatcherProxy::create(elements * 2, seen);
        ElementProxy::create(elements, elements, watchers).start();
        all_seen.await;
    })
}
