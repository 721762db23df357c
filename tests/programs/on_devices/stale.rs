//! Handles that are stale, and memory of devices that are lost, as those hear of it who try.

use crate::peer::{compare, on_device, read};
use chare::prelude::*;
use chare::{
    DeviceSourceHandle, DeviceTargetHandle, DeviceTransferError, DeviceTransferFailed, DeviceTransferred,
    RegisteredDeviceSource, RegisteredDeviceTarget, SentDevice, try_rget_device, try_rput_device,
};

/// Elements that are registered.
const LEN: usize = 50_000;

/// Uses handles of this PE on another one, before and after their memory is dropped; says what was wrong.
pub(crate) async fn check(on: PeId) -> String {
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
pub(crate) async fn read_until_lost(on: PeId) {
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
