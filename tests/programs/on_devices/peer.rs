//! Peers: on each PE one, which sends and takes.

#![expect(unsafe_code, reason = "adopts memory of its own blocks")]

use crate::case::{Case, Parameter, Selection, UNTOUCHED};
use chare::devices::{self, Stream};
use chare::prelude::*;
use chare::{
    DeviceBuffer, DeviceBufferMut, DeviceLanding, DevicePosted, DeviceReceived, Landing, SendDeviceBuffer,
    SentDevice,
};
use std::sync::OnceLock;

pub(crate) struct Peer;

pub(crate) fn stream() -> Stream {
    devices::stream().expect("there is a software device")
}

/// Whether buffers are memory that the program adopts; set before the job, by this process alone.
static ADOPTS: OnceLock<()> = OnceLock::new();

/// From here on all buffers are adopted.
pub(crate) fn adopt_all() {
    ADOPTS.get_or_init(|| ());
}

/// Bytes of a maker's allocation before what is adopted of it.
const LEAD_BYTES: u64 = 400;

pub(crate) fn on_device(elements: &[u32]) -> DeviceBufferMut<u32> {
    let device = devices::mine().expect("there is a software device");
    let adopt = || {
        let made = device.allocate(LEAD_BYTES + 4 * elements.len() as u64).expect("it has memory");
        // SAFETY: behind the lead the block has so many bytes, which nobody else uses, and it is the guard.
        unsafe { DeviceBufferMut::from_raw_parts(&device, made.address() + LEAD_BYTES, elements.len(), made) }
    };
    let buffer = match ADOPTS.get() {
        Some(()) => adopt(),
        None => DeviceBufferMut::new(&device, elements.len()),
    };
    let mut buffer = buffer.expect("it has memory");
    buffer.write(&stream(), elements).expect("there is room for staging");
    buffer
}

/// What a device buffer holds.
pub(crate) async fn read(buffer: &DeviceBuffer<u32>) -> Vec<u32> {
    let stream = stream();
    let mut landed = buffer.read(&stream).expect("there is room for staging");
    stream.passed().expect("it is there").await.expect("it is not lost");
    landed.elements().expect("it is not lost").expect("the stream is past it").to_vec()
}

/// Where a case lands on a device.
pub(crate) fn device_landing(case: Case) -> DeviceLanding<u32> {
    let Parameter::DevicePosted(selection, has_stream) = case.parameter else {
        unreachable!("the case lands on a device")
    };
    let room = on_device(&vec![UNTOUCHED; selection.room(case.len)]);
    let landing = match (selection, selection.layout(case.len)) {
        (Selection::First, _) => DeviceLanding::first(case.taken(), room),
        (_, Some(layout)) => DeviceLanding::at(&layout, room),
        (_, None) => DeviceLanding::from(room),
    };
    if has_stream { landing.before(&stream()) } else { landing }
}

/// Where a case lands on the host.
pub(crate) fn host_landing(case: Case) -> Landing<u32> {
    let Parameter::Posted(selection) = case.parameter else { unreachable!("the case lands on the host") };
    let room = vec![UNTOUCHED; selection.room(case.len)];
    match (selection, selection.layout(case.len)) {
        (Selection::First, _) => Landing::first(case.taken(), room),
        (_, Some(layout)) => Landing::at(&layout, room),
        (_, None) => Landing::from(room),
    }
}

/// What is wrong, in words; nothing if nothing is.
pub(crate) fn compare(what: &str, have: &[u32], expected: &[u32]) -> String {
    if have.len() != expected.len() {
        return format!("{what}: {} elements instead of {}; ", have.len(), expected.len());
    }
    let wrong = have.iter().zip(expected).position(|(have, expected)| have != expected);
    wrong.map_or_else(String::new, |at| {
        format!("{what}: {:#x} instead of {:#x} at {at}; ", have[at], expected[at])
    })
}

#[chare(group)]
impl Peer {
    #[entry]
    pub(crate) fn new() -> Self {
        Self
    }

    /// Sends what the case says, and says what went wrong.
    #[entry]
    pub(crate) async fn send(this: This<Self>, to: PeId, case: Case, done: Callback<String>) {
        let peer = this.this_collection().on(to);
        drop(this);
        let (elements, _) = case.source();
        let layout = case.selection.layout(case.len);
        let (answer, told) = chare::future::<Vec<u32>>();
        macro_rules! send {
            ($argument:expr) => {
                match case.parameter {
                    Parameter::DeviceReceived => peer.take_on_device($argument, told),
                    Parameter::DevicePosted(..) => peer.land_on_device(case, $argument, told),
                    Parameter::Received => peer.take($argument, told),
                    Parameter::View => peer.look($argument, told),
                    Parameter::Posted(_) => peer.land(case, $argument, told),
                }
            };
        }
        let mut wrong = String::new();
        if case.is_on_device {
            let (back, on_sent) = chare::future::<SentDevice<u32>>();
            let argument = SendDeviceBuffer::from(on_device(&elements)).on_sent(on_sent);
            match &layout {
                Some(layout) => send!(argument.only(layout)),
                None => send!(argument),
            }
            wrong += &compare("what came", &answer.await, &case.expected());
            let sent = back.await;
            let transferred = sent.transferred();
            if transferred != case.taken() {
                wrong += &format!("{transferred} were sent instead of {}; ", case.taken());
            }
            match sent.into_buffer().try_into_mut() {
                Ok(buffer) => wrong += &compare("what was sent", &read(&buffer.freeze()).await, &elements),
                Err(_) => wrong += "somebody has the buffer still; ",
            }
        } else {
            let (back, on_sent) = chare::future::<Sent<u32>>();
            let argument = SendBuffer::from(elements).on_sent(on_sent);
            match &layout {
                Some(layout) => send!(argument.only(layout)),
                None => send!(argument),
            }
            wrong += &compare("what came", &answer.await, &case.expected());
            let transferred = back.await.transferred();
            if transferred != case.taken() {
                wrong += &format!("{transferred} were sent instead of {}; ", case.taken());
            }
        }
        done.send(wrong);
    }

    #[entry]
    pub(crate) async fn take_on_device(
        this: This<Self>,
        #[nocopy] face: DeviceReceived<u32>,
        done: Callback<Vec<u32>>,
    ) {
        drop(this);
        let elements = read(&face).await;
        drop(face);
        done.send(elements);
    }

    #[entry]
    pub(crate) async fn land_on_device(
        this: This<Self>,
        _case: Case,
        #[nocopy(post)] face: DevicePosted<u32>,
        done: Callback<Vec<u32>>,
    ) {
        drop(this);
        done.send(read(&face.into_buffer().freeze()).await);
    }

    #[post(land_on_device)]
    fn post_land_on_device(&mut self, case: &Case, face: Post<u32>, _done: &Callback<Vec<u32>>) {
        face.post_device(device_landing(*case)).expect("no longer than what is offered");
    }

    #[entry]
    pub(crate) fn take(&mut self, #[nocopy] face: Received<u32>, done: Callback<Vec<u32>>) {
        done.send(face.to_vec());
    }

    #[entry]
    pub(crate) fn look(&mut self, #[nocopy] face: ReceivedView<u32>, done: Callback<Vec<u32>>) {
        done.send(face.to_vec());
    }

    #[entry]
    pub(crate) fn land(&mut self, _case: Case, #[nocopy(post)] face: Posted<u32>, done: Callback<Vec<u32>>) {
        done.send(face.into_vec());
    }

    #[post(land)]
    fn post_land(&mut self, case: &Case, face: Post<u32>, _done: &Callback<Vec<u32>>) {
        face.post(host_landing(*case)).expect("no longer than what is offered");
    }

    /// Sends a device buffer that came as a value back as one.
    #[entry]
    pub(crate) fn reflect(&mut self, value: DeviceBuffer<u32>, done: Callback<DeviceBuffer<u32>>) {
        let mine = devices::mine().expect("there is a software device");
        let is_mine = value.device().info() == mine.info();
        // PEs of one process may have several devices: there it moves as it is, or any of them decodes it.
        let is_alone = chare::pes_of(chare::my_node()).len() == 1;
        assert!(is_mine || !is_alone, "a value is made on the device of the PE that decodes it");
        done.send(value);
    }

    #[entry]
    pub(crate) fn measure(&mut self, done: Callback<()>) {
        let model = devices::measure().expect("there is a software device");
        assert!(model.is_measured());
        done.send(());
    }

    /// Keeps what it is given, for ever.
    #[entry]
    pub(crate) async fn keep(this: This<Self>, #[nocopy] face: DeviceReceived<u32>) {
        drop(this);
        println!("node {} has process {}", chare::my_node().0, std::process::id());
        println!("{} elements came", face.len());
        std::future::pending::<()>().await;
    }

    /// Sends a long buffer to another PE, again and again, to the host and to a device there.
    #[entry]
    pub(crate) async fn send_on_and_on(this: This<Self>, to: PeId) {
        println!("node {} has process {}", chare::my_node().0, std::process::id());
        let peer = this.this_collection().on(to);
        drop(this);
        for round in 0_u64.. {
            let (back, on_sent) = chare::future::<SentDevice<u32>>();
            let (answer, told) = chare::future::<Vec<u32>>();
            let long = SendDeviceBuffer::from(on_device(&vec![7; 1 << 20])).on_sent(on_sent);
            if round.is_multiple_of(2) {
                peer.take(long, told);
            } else {
                peer.take_on_device(long, told);
            }
            drop((back.await, answer.await));
            println!("a buffer came");
        }
    }

    /// Passes what came on, as it lies.
    #[entry]
    pub(crate) fn relay(&mut self, to: PeId, #[nocopy] face: DeviceReceived<u32>, done: Callback<Vec<u32>>) {
        self.this_collection().on(to).take_on_device(SendDeviceBuffer::from(face.into_buffer()), done);
    }

    /// Sends a long buffer to all peers, again and again.
    #[entry]
    pub(crate) async fn send_to_many_on_and_on(this: This<Self>) {
        let peers = this.this_collection();
        drop(this);
        loop {
            let (back, on_sent) = chare::future::<SentDevice<u32>>();
            peers.hear(SendDeviceBuffer::from(on_device(&vec![7; 100_000])).on_sent(on_sent));
            drop(back.await);
        }
    }

    #[entry]
    pub(crate) async fn hear(this: This<Self>, #[nocopy] face: DeviceReceived<u32>) {
        drop(this);
        assert_eq!(read(&face).await.len(), 100_000);
    }

    /// Sends what a kernel was to write that panics.
    #[entry]
    pub(crate) fn send_spoilt(&mut self, to: PeId) {
        let mut spoilt = on_device(&[1; 100]);
        let panics = |_: &[&[u32]], _: &mut [u32]| panic!("there is no such point");
        spoilt.compute_from(&stream(), &[], panics).expect("it is not known yet");
        self.this_collection().on(to).take(SendDeviceBuffer::from(spoilt), Callback::once(|_: Vec<u32>| ()));
    }

    /// Sends long buffers of the host by way of another PE's device, all at once, and says what was wrong with those that came back.
    #[entry]
    pub(crate) async fn crowd(this: This<Self>, by: PeId, done: Callback<String>) {
        let (peer, home) = (this.this_collection().on(by), chare::my_pe());
        drop(this);
        let elements = |number: u32| (number..).step_by(3).take(CROWDED).collect::<Vec<u32>>();
        let mut answers = Vec::new();
        for number in 0..CROWD {
            let (answer, told) = chare::future::<Vec<u32>>();
            peer.echo(home, SendBuffer::from(elements(number)), told);
            answers.push(answer);
        }
        let came = chare::wait_all(answers).await;
        let wrong = (0..).zip(came).map(|(number, came)| compare("what came back", &came, &elements(number)));
        done.send(wrong.collect());
    }

    /// Sends what came on, from the device.
    #[entry]
    pub(crate) async fn echo(
        this: This<Self>,
        home: PeId,
        #[nocopy] face: DeviceReceived<u32>,
        done: Callback<Vec<u32>>,
    ) {
        this.this_collection().on(home).take(SendDeviceBuffer::from(face.into_buffer()), done);
    }
}

/// Buffers of a crowd, and the elements of each: several chunks.
const CROWD: u32 = 12;
const CROWDED: usize = 700_001;
