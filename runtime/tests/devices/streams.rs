//! Streams beside messages: what is sent waits for them, senders are told when they are past it, and quiescence waits.

use crate::job::{counted, filled, job_with, read, room, stream};
use crate::neighbour::NeighbourProxy;
use chare::devices::{self, DeviceChoice, Event, Faults, Stream, StreamCallbacks};
use chare::prelude::*;
use chare::{DeviceReceived, Job, SendDeviceBuffer, SentDevice};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn what_is_sent_behind_a_stream_waits_for_it() {
    let code = Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
        let neighbour = NeighbourProxy::create_on(PeId(1));
        let device = devices::mine().expect("a device");
        let kernels = device.stream(devices::Priority::Normal).expect("another one");
        let (field, gate) = (filled(&counted(9)), Gate::on(&kernels));
        let (is_open, (seen, done)) = (Arc::clone(&gate.is_open), chare::future());
        let done = Callback::once(move |seen| {
            assert!(is_open.load(Ordering::SeqCst), "the stream stood still");
            done.send(seen);
        });
        neighbour.take(SendDeviceBuffer::from(field).after(&kernels), done);
        for _ in 0..100 {
            neighbour.ping().await;
        }
        gate.open();
        assert_eq!(seen.await.1, counted(9));
    });
    assert_eq!(code.expect("the job runs"), 0);
}

/// A stream that goes no further before it is let.
struct Gate {
    is_open: Arc<AtomicBool>,
    open: mpsc::Sender<()>,
}

impl Gate {
    fn on(stream: &Stream) -> Self {
        let (open, opened) = mpsc::channel();
        let wait = move || {
            let _ = opened.recv();
        };
        stream.call(wait).expect("it goes on");
        Self { is_open: Arc::default(), open }
    }

    fn open(&self) {
        self.is_open.store(true, Ordering::SeqCst);
        let _ = self.open.send(());
    }
}

struct Holder {
    gate: Option<Gate>,
    behind: Option<Event>,
}

#[chare]
impl Holder {
    #[entry]
    fn new() -> Self {
        Self { gate: None, behind: None }
    }

    /// Gives a stream that stands still a use of the buffer, and drops the buffer.
    #[entry]
    fn use_behind_gate(&mut self, #[nocopy] face: DeviceReceived<u32>) {
        let stream = stream();
        self.gate = Some(Gate::on(&stream));
        face.before(&stream).expect("it is of this device");
        face.after(&stream).expect("it is of this device");
        self.behind = Some(stream.record().expect("it goes on"));
    }

    #[entry]
    fn is_behind_gate(&self) -> bool {
        !self.behind.as_ref().expect("it has one").is_complete().expect("it is not lost")
    }

    #[entry]
    fn open(&mut self) {
        self.gate.take().expect("it has one").open();
    }
}

#[test]
fn a_sender_hears_when_the_streams_that_read_are_past_that() {
    let code = Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
        let holder = HolderProxy::create_on(PeId(1));
        let told = Arc::new(AtomicBool::new(false));
        let (sent, on_sent) = chare::future::<SentDevice<u32>>();
        let (tell, has_told) = (Arc::clone(&told), Arc::clone(&told));
        let back = Callback::once(move |buffer: SentDevice<u32>| {
            tell.store(true, Ordering::SeqCst);
            on_sent.send(buffer);
        });
        holder.use_behind_gate(SendDeviceBuffer::from(filled(&counted(8))).on_sent(back));
        for _ in 0..100 {
            assert!(holder.is_behind_gate().await);
        }
        assert!(!has_told.load(Ordering::SeqCst), "a stream still uses it");
        holder.open();
        let buffer = sent.await.into_buffer();
        assert_eq!(read(&buffer).await, counted(8));
        buffer.try_into_mut().expect("nobody else has it");
    });
    assert_eq!(code.expect("the job runs"), 0);
}

#[test]
fn quiescence_waits_for_streams_that_call_back() {
    let faults = Faults { delay: Duration::from_millis(20), ..Faults::default() };
    let code = job_with(faults).run(|| async {
        let called = Arc::new(AtomicBool::new(false));
        let call = Arc::clone(&called);
        let stream = stream();
        let field = room(10);
        stream.then(Callback::once(move |()| call.store(true, Ordering::SeqCst)));
        chare::quiescence().await;
        assert!(called.load(Ordering::SeqCst));
        drop(field);
    });
    assert_eq!(code.expect("the job runs"), 0);
}
