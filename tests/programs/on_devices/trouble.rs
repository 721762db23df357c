//! Troubles: what ends a job that has device buffers on their way; and handles that are stale, and memory of devices that are lost, as those hear
//! of it who try.

use crate::peer::{PeerProxy, compare, on_device, read};
use chare::prelude::*;
use chare::{
    DeviceSourceHandle, DeviceTargetHandle, DeviceTransferError, DeviceTransferFailed, DeviceTransferred,
    RegisteredDeviceSource, RegisteredDeviceTarget, SendDeviceBuffer, SentDevice, try_rget_device,
    try_rput_device,
};
use clap::ValueEnum;

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Trouble {
    /// Many long buffers are on their way at the same time, which ends well
    Crowd,
    /// Buffers are sent on and on, until somebody kills a node, or a device is lost
    Endless,
    /// Buffers are sent to many on and on, until a device is lost
    Many,
    /// The program exits while buffers are on their way
    Exit,
    /// A view of a buffer is passed on to a third PE, which ends well
    Relay,
    /// A kernel panics whose buffer is sent
    Kernel,
    /// All nodes but the first view buffers of it, until somebody kills them
    View,
    /// Handles are stale when they are used, which ends well
    Stale,
    /// Registered memory is read on and on, until a device is lost, which ends well
    Tried,
}

impl Trouble {
    pub(crate) async fn run(self, peers: &PeerProxy) -> bool {
        let last = PeId(chare::pes() - 1);
        match self {
            Self::Crowd => {
                let (one, first) = chare::future::<String>();
                let (other, second) = chare::future::<String>();
                peers.on(PeId(0)).crowd(last, first);
                peers.on(last).crowd(PeId(0), second);
                let wrong = one.await + &other.await;
                println!("{wrong}");
                return wrong.is_empty();
            }
            Self::Endless => {
                peers.on(PeId(0)).send_on_and_on(last);
                peers.on(last).send_on_and_on(PeId(0));
                std::future::pending::<()>().await;
            }
            Self::Many => {
                peers.on(PeId(0)).send_to_many_on_and_on();
                std::future::pending::<()>().await;
            }
            Self::Relay => {
                let elements: Vec<u32> = (0..100_000).collect();
                let (answer, told) = chare::future::<Vec<u32>>();
                peers.on(PeId(1)).relay(last, SendDeviceBuffer::from(on_device(&elements)), told);
                return answer.await == elements;
            }
            Self::Kernel => {
                peers.on(last).send_spoilt(PeId(0));
                std::future::pending::<()>().await;
            }
            Self::View => {
                for pe in 1..chare::pes() {
                    peers.on(PeId(pe)).keep(SendDeviceBuffer::from(on_device(&vec![1; 1 << 20])));
                }
                std::future::pending::<()>().await;
            }
            Self::Stale => {
                let wrong = check_stale(last).await;
                println!("{wrong}");
                return wrong.is_empty();
            }
            Self::Tried => read_until_lost(last).await,
            Self::Exit => {
                for _ in 0..20 {
                    peers.on(last).keep(SendDeviceBuffer::from(on_device(&vec![1; 1 << 20])));
                }
                chare::exit(0);
            }
        }
        true
    }
}

/// Elements that are registered.
const LEN: usize = 50_000;

/// Uses handles of this PE on another one, before and after their memory is dropped; says what was wrong.
async fn check_stale(on: PeId) -> String {
    let user = TrierProxy::create_on(on);
    let source = RegisteredDeviceSource::register(on_device(&vec![5; LEN]).freeze());
    let target = RegisteredDeviceTarget::register(on_device(&vec![0; LEN]));
    let (from, to) = (source.handle(), target.handle());
    let (answer, done) = chare::future::<String>();
    user.go_through(from.clone(), to.clone(), false, done);
    let mut wrong = answer.await;
    let (closed, callback) = chare::future::<SentDevice<u32>>();
    target.close(callback);
    wrong += &compare("what was written", &read(&closed.await.into_buffer()).await, &vec![9; LEN]);
    drop(source);
    let (answer, done) = chare::future::<String>();
    user.go_through(from, to, true, done);
    wrong + &answer.await
}

/// Has a PE read memory of this one until a device is lost.
async fn read_until_lost(on: PeId) {
    let source = RegisteredDeviceSource::register(on_device(&vec![5; LEN]).freeze());
    let (answer, done) = chare::future::<String>();
    TrierProxy::create_on(on).read_until_lost(source.handle(), done);
    println!("a read failed: {}", answer.await);
}

struct Trier;

/// What is wrong with an outcome.
async fn judge(what: &str, outcome: DeviceTransferred<u32>, is_stale: bool, expected: u32) -> String {
    let (buffer, said) = match (outcome, is_stale) {
        (Ok(sent), false) => (sent.into_buffer(), String::new()),
        (
            Err(DeviceTransferFailed { buffer: Some(buffer), cause: DeviceTransferError::Stale(NodeId(0)) }),
            true,
        ) => (buffer, String::new()),
        (Ok(_), true) => return format!("{what} by a stale handle went well; "),
        (Err(failed), _) => return format!("{what}: {failed}; "),
    };
    match buffer.try_into_mut() {
        Ok(buffer) => said + &compare(what, &read(&buffer.freeze()).await, &vec![expected; LEN]),
        Err(_) => format!("{what}: somebody has the buffer still; "),
    }
}

#[chare]
impl Trier {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn go_through(
        this: This<Self>,
        from: DeviceSourceHandle<u32>,
        to: DeviceTargetHandle<u32>,
        is_stale: bool,
        done: Callback<String>,
    ) {
        drop(this);
        let (outcome, told) = chare::future::<DeviceTransferred<u32>>();
        try_rget_device(&from, on_device(&vec![1; LEN]), told).expect("it is as long");
        let wrong = judge("a read", outcome.await, is_stale, if is_stale { 1 } else { 5 }).await;
        let (outcome, told) = chare::future::<DeviceTransferred<u32>>();
        try_rput_device(on_device(&vec![9; LEN]), &to, told).expect("it is as long");
        done.send(wrong + &judge("a write", outcome.await, is_stale, 9).await);
    }

    #[entry]
    async fn read_until_lost(this: This<Self>, from: DeviceSourceHandle<u32>, done: Callback<String>) {
        drop(this);
        let device = chare::devices::mine().expect("there is a software device");
        loop {
            let room = match chare::DeviceBufferMut::<u32>::new(&device, LEN) {
                Ok(room) => room,
                Err(cause) => return done.send(cause.to_string()),
            };
            let (outcome, told) = chare::future::<DeviceTransferred<u32>>();
            try_rget_device(&from, room, told).expect("it is as long");
            if let Err(failed) = outcome.await {
                return done.send(failed.to_string());
            }
        }
    }
}
