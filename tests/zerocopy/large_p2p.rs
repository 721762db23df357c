//! Port of Charm++'s test `zerocopy/large_p2p`: one large buffer to another element by get, and back by put.
//!
//! Element 1 gets element 0's buffer; when both sides know that it is over, element 0 zeroes its buffer, and element 1 puts what it got
//! back into it. Both callbacks of each transfer must come, once; the contents are checked at the end.
//!
//! ```text
//! cargo run --release -p chare-tests --bin large_p2p -- 3000000000 +n 2
//! ```

use chare::prelude::*;
use chare::{RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use chare_examples::ports::{self, assert_constant};
use clap::Parser;
use std::process::ExitCode;

const CONSTANT: u8 = b'a';

/// Gets a large buffer and puts it back.
#[derive(Parser)]
#[command(name = "large_p2p", no_binary_name = true)]
struct Options {
    /// Bytes of the buffer
    bytes: usize,
}

struct Ping {
    bytes: usize,
    source: Option<RegisteredSource<u8>>,
    target: Option<RegisteredTarget<u8>>,
    gets_done: u32,
    done: Callback<()>,
}

#[chare(array)]
impl Ping {
    #[entry]
    fn new(bytes: usize, done: Callback<()>) -> Self {
        Self { bytes, source: None, target: None, gets_done: 0, done }
    }

    /// On element 0.
    #[entry]
    fn start(&mut self) {
        let notice = self.this_chare().source_read_callback();
        let source = RegisteredSource::register(vec![CONSTANT; self.bytes]).notify(notice);
        self.this_collection().at(1).get(source.handle());
        self.source = Some(source);
    }

    /// On element 1.
    #[entry]
    fn get(&mut self, source: SourceHandle<u8>) {
        rget(&source, vec![0; self.bytes], self.this_chare().got_callback()).expect("it is as long");
    }

    /// On element 1: its buffer is full.
    #[entry]
    fn got(&mut self, buffer: BufferMut<u8>) {
        self.source = Some(RegisteredSource::register(buffer));
        self.this_collection().at(0).get_done();
    }

    /// On element 0: its buffer has been read.
    #[entry]
    fn source_read(&mut self, bytes: u64) {
        assert_eq!(bytes as usize, self.bytes);
        self.get_done();
    }

    /// On element 0, once for each side of the get.
    #[entry]
    fn get_done(&mut self) {
        self.gets_done += 1;
        if self.gets_done == 2 {
            println!("large get done");
            let source = self.source.take().expect("it was offered").deregister();
            let mut buffer = source.try_into_mut().expect("nobody reads it any more");
            buffer.fill(0);
            let notice = self.this_chare().target_written_callback();
            let target = RegisteredTarget::register(buffer).notify(notice);
            self.this_collection().at(1).put(target.handle());
            self.target = Some(target);
        }
    }

    /// On element 1.
    #[entry]
    fn put(&mut self, target: TargetHandle<u8>) {
        let buffer = self.source.take().expect("it was got").deregister();
        rput(buffer, &target, self.this_chare().put_done_callback()).expect("it is as long");
    }

    /// On element 1: its buffer is free again; it is dropped here.
    #[entry]
    fn put_done(&mut self, _buffer: Buffer<u8>) {
        self.contribute(barrier(), self.done);
    }

    /// On element 0.
    #[entry]
    fn target_written(&mut self, bytes: u64) {
        assert_eq!(bytes as usize, self.bytes);
        let target = self.target.take().expect("it was offered");
        target.read(|buffer| assert_constant(buffer, CONSTANT)).expect("the only put is over");
        println!("large put done");
        self.contribute(barrier(), self.done);
    }
}

fn main() -> ExitCode {
    ports::run(|Options { bytes }| async move {
        let (all_done, done) = chare::future();
        PingProxy::create(ports::both_ends(), bytes, done).at(0).start();
        all_done.await;
    })
}
