//! Registered memory of devices: read and written by layouts on both sides.

use crate::case::{Selection, UNTOUCHED};
use crate::peer::{compare, on_device, read};
use chare::prelude::*;
use chare::{
    DeviceLanding, DeviceSourceHandle, DeviceTargetHandle, RegisteredDeviceSource, RegisteredDeviceTarget,
    SendDeviceBuffer, SentDevice, rget_device, rput_device,
};
use serde::{Deserialize, Serialize};

/// A read and a write of registered memory.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Shared {
    /// Which elements are meant of what is registered, and of the buffer of who reads and writes.
    far: Selection,
    near: Selection,
    len: usize,
}

impl Shared {
    pub(crate) fn all() -> Vec<Self> {
        let selections = [Selection::All, Selection::EveryOther, Selection::Listed];
        let pairs = selections.into_iter().flat_map(|far| selections.map(|near| (far, near)));
        pairs.flat_map(|(far, near)| [0, 5, 300_001].map(|len| Self { far, near, len })).collect()
    }

    /// The elements of PE 0 are read and written on another PE.
    pub(crate) fn check(self, on: u32) -> chare::Future<String> {
        let (answer, done) = chare::future();
        OwnerProxy::create_on(PeId(0)).check(PeId(on), self, done);
        answer
    }

    /// Elements of a buffer of which some are meant.
    fn elements(self, selection: Selection) -> Vec<u32> {
        (0..selection.room(self.len) as u32).map(|at| at.wrapping_mul(2_654_435_761) ^ 77).collect()
    }

    /// What is meant of them, in its order, put elsewhere.
    fn moved(self, from: Selection, to: Selection) -> Vec<u32> {
        let (elements, mut room) = (self.elements(from), vec![UNTOUCHED; to.room(self.len)]);
        let places = from.places(self.len).into_iter().zip(to.places(self.len));
        places.for_each(|(from, to)| room[to] = elements[from]);
        room
    }
}

struct Owner;

#[chare]
impl Owner {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn check(this: This<Self>, on: PeId, shared: Shared, done: Callback<String>) {
        drop(this);
        let user = UserProxy::create_on(on);
        let Shared { far, near, len } = shared;
        let (told, notify) = chare::future::<u64>();
        let source =
            RegisteredDeviceSource::register(on_device(&shared.elements(far)).freeze()).notify(notify);
        let target = RegisteredDeviceTarget::register(on_device(&vec![UNTOUCHED; far.room(len)]));
        let layout = far.layout(len);
        let (mut read_from, mut written_to) = (source.handle(), target.handle());
        if let Some(layout) = &layout {
            (read_from, written_to) = (read_from.only(layout), written_to.only(layout));
        }
        let (got, got_done) = chare::future::<Vec<u32>>();
        user.get(shared, read_from, got_done);
        let mut wrong = compare("what was read", &got.await, &shared.moved(far, near));
        if told.await != 4 * len as u64 {
            wrong += "the owner was told of other bytes; ";
        }
        let (put, put_done) = chare::future::<usize>();
        user.put(shared, written_to, put_done);
        if put.await != len {
            wrong += "others were sent; ";
        }
        let (closed, callback) = chare::future::<SentDevice<u32>>();
        target.close(callback);
        let values = read(&closed.await.into_buffer()).await;
        done.send(wrong + &compare("what was written", &values, &shared.moved(near, far)));
    }
}

struct User;

#[chare]
impl User {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn get(this: This<Self>, shared: Shared, from: DeviceSourceHandle<u32>, done: Callback<Vec<u32>>) {
        drop(this);
        let room = on_device(&vec![UNTOUCHED; shared.near.room(shared.len)]);
        let landing = match shared.near.layout(shared.len) {
            Some(layout) => DeviceLanding::at(&layout, room),
            None => DeviceLanding::from(room),
        };
        let (filled, callback) = chare::future::<SentDevice<u32>>();
        rget_device(&from, landing, callback).expect("it is as long");
        done.send(read(&filled.await.into_buffer()).await);
    }

    #[entry]
    async fn put(this: This<Self>, shared: Shared, to: DeviceTargetHandle<u32>, done: Callback<usize>) {
        drop(this);
        let (back, on_sent) = chare::future::<SentDevice<u32>>();
        let argument = SendDeviceBuffer::from(on_device(&shared.elements(shared.near))).on_sent(on_sent);
        let put = match shared.near.layout(shared.len) {
            Some(layout) => rput_device(argument.only(&layout), &to),
            None => rput_device(argument, &to),
        };
        put.expect("it is as long");
        done.send(back.await.transferred());
    }
}
