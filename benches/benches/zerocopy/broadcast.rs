//! Broadcast side: one buffer goes to every node until all have it: `side broadcast BYTES WAY MODE`.

use crate::round::Mode;
use chare::Program;
use chare::prelude::*;
use chare_benches::tell;
use clap::{Parser, ValueEnum};
use std::process::ExitCode;
use std::time::Instant;

/// Broadcasts that are not told.
const WARM_UP: u32 = 5;

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// An ordinary argument.
    Regular,
    /// An ordinary argument, copied into the receiver's buffer by the receiver.
    RegularCopy,
    /// A `#[nocopy]` argument.
    Send,
    /// A `#[nocopy]` argument, copied into the receiver's buffer by the receiver.
    SendCopy,
    /// A `#[nocopy(post)]` argument.
    Post,
}

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Options {
    #[arg(value_parser = ["side"])]
    _side: String,
    _broadcast: String,
    bytes: usize,
    #[arg(value_enum)]
    way: Way,
    #[arg(value_enum)]
    mode: Mode,
}

struct Receiver {
    /// The buffer into which data are copied or posted; out while the runtime fills it.
    landing: BufferMut<u8>,
}

#[chare(nodegroup)]
impl Receiver {
    #[entry]
    fn new(mode: Mode, bytes: usize) -> Self {
        Self { landing: mode.buffer(bytes) }
    }

    #[entry]
    fn receive(&mut self, data: Buffer<u8>, copy: bool, done: Callback<()>) {
        self.take(&data, copy, done);
    }

    #[entry]
    fn receive_nocopy(&mut self, #[nocopy] data: Received<u8>, copy: bool, done: Callback<()>) {
        self.take(&data, copy, done);
    }

    #[entry]
    fn receive_posted(&mut self, #[nocopy(post)] data: Posted<u8>, done: Callback<()>) {
        self.landing = data.into_buffer();
        self.contribute(barrier(), done);
    }

    #[post(receive_posted)]
    fn post(&mut self, data: Post<u8>, _done: &Callback<()>) {
        let landing = std::mem::replace(&mut self.landing, Vec::new().into());
        data.post(landing).expect("it is as long");
    }

    fn take(&mut self, data: &[u8], copy: bool, done: Callback<()>) {
        if copy {
            self.landing.copy_from_slice(data);
        }
        self.contribute(barrier(), done);
    }
}

/// Tells the time of each broadcast.
pub(crate) fn measure() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let Options { way, mode, bytes, .. } = Options::parse_from(program.arguments());
    program.run(move |_| async move {
        let receivers = ReceiverProxy::create(mode, bytes);
        let source = mode.buffer(bytes).freeze();
        chare::quiescence().await;
        for broadcast in 0..WARM_UP + crate::rows::operations(bytes) {
            let begun = Instant::now();
            let (all_have_it, done) = chare::future();
            let (sent, back) = chare::future();
            let nocopy = || SendBuffer::from(source.clone()).registration(mode.registration()).on_sent(back);
            match way {
                Way::Regular => receivers.receive(source.clone(), false, done),
                Way::RegularCopy => receivers.receive(source.clone(), true, done),
                Way::Send => receivers.receive_nocopy(nocopy(), false, done),
                Way::SendCopy => receivers.receive_nocopy(nocopy(), true, done),
                Way::Post => receivers.receive_posted(nocopy(), done),
            }
            all_have_it.await;
            if !matches!(way, Way::Regular | Way::RegularCopy) {
                sent.await;
            }
            if broadcast >= WARM_UP {
                tell(begun.elapsed().as_nanos() as f64);
            }
        }
        chare::exit(0);
    })
}
