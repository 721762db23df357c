//! Calls behind streams that are held back, and steps on PEs that are never idle: others go on, quiescence waits, and nothing is kept for
//! good. What holds a stream back is a kernel that waits for the test.

use chare::devices::{self, DeviceChoice};
use chare::layout::Layout;
use chare::prelude::*;
use chare::{DeviceBuffer, DeviceBufferMut, DeviceReceived, SendDeviceBuffer};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// What a kernel waits for.
#[derive(Default)]
struct Gate {
    is_open: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    fn open(&self) {
        *self.is_open.lock().expect("nobody panics with it") = true;
        self.changed.notify_all();
    }

    fn is_open(&self) -> bool {
        *self.is_open.lock().expect("nobody panics with it")
    }

    fn pass(&self) {
        let is_open = self.is_open.lock().expect("nobody panics with it");
        drop(self.changed.wait_while(is_open, |is_open| !*is_open).expect("nobody panics with it"));
    }
}

/// A buffer of sevens, which a stream of its own writes when the gate is open; and the stream.
fn held_back(gate: &Arc<Gate>, len: usize) -> (DeviceBufferMut<u32>, devices::Stream) {
    let device = devices::mine().expect("a software device");
    let stream = device.stream(devices::Priority::Normal).expect("a stream");
    let mut buffer = DeviceBufferMut::new(&device, len).expect("it has room");
    let gate = Arc::clone(gate);
    let kernel = move |_: &[&[u32]], target: &mut [u32]| {
        gate.pass();
        target.fill(7);
    };
    buffer.compute_from::<u32>(&stream, &[], kernel).expect("a kernel");
    (buffer, stream)
}

async fn read(buffer: &DeviceBuffer<u32>) -> Vec<u32> {
    let stream = devices::stream().expect("a software device");
    let mut landed = buffer.read(&stream).expect("it has room");
    chare::io(stream.passed().expect("it goes on")).await.expect("it is there");
    landed.elements().expect("it is there").expect("it has landed").to_vec()
}

/// Hears of faces.
struct Listener;

/// Faces that came.
static HEARD: AtomicU32 = AtomicU32::new(0);

#[chare(group)]
impl Listener {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn take(this: This<Self>, #[nocopy] face: DeviceReceived<u32>, looked: Callback<()>) {
        drop(this);
        // Quiescence does not wait for what follows: it is no message.
        HEARD.fetch_add(1, Ordering::SeqCst);
        let elements = read(&face).await;
        assert!(elements.iter().all(|element| *element == 7), "what the kernel has written");
        looked.send(());
    }

    #[entry]
    fn tick(&mut self, done: Callback<()>) {
        done.send(());
    }
}

/// Short ones travel with their call, which is set aside until the kernel is over; what is sent after it comes before it.
#[test]
fn a_short_call_behind_a_kernel_keeps_no_other_waiting_and_quiescence_waits_for_it() {
    let gate = Arc::new(Gate::default());
    let job = chare::Job::in_process(2, 1).device(DeviceChoice::software(1));
    let code = job.run(move || async move {
        let listeners = ListenerProxy::create();
        let ((one, one_looked), (other, other_looked)) = (chare::future::<()>(), chare::future::<()>());
        let before = HEARD.load(Ordering::SeqCst);
        let (face, stream) = held_back(&gate, 5);
        listeners.on(PeId(1)).take(SendDeviceBuffer::from(face), one_looked);
        // A buffer that nobody writes, behind the stream.
        let device = devices::mine().expect("a software device");
        let mut free = DeviceBufferMut::<u32>::new(&device, 5).expect("it has room");
        free.write(&devices::stream().expect("a stream"), &[7; 5]).expect("it has room");
        listeners.on(PeId(1)).take(SendDeviceBuffer::from(free).after(&stream), other_looked);
        for _ in 0..20 {
            let (told, done) = chare::future::<()>();
            listeners.on(PeId(1)).tick(done);
            told.await;
        }
        assert_eq!(HEARD.load(Ordering::SeqCst), before, "both calls wait for the kernel");
        let opener = Arc::clone(&gate);
        let quiet = chare::quiescence();
        let opening = std::thread::spawn(move || opener.open());
        quiet.await;
        opening.join().expect("it opens the gate");
        assert_eq!(HEARD.load(Ordering::SeqCst), before + 2, "calls that wait are in flight");
        one.await;
        other.await;
    });
    assert_eq!(code.expect("the job ends in order"), 0);
}

/// A group's members, several to a process, read what a stream had written before the call was made.
#[test]
fn a_call_of_many_comes_behind_the_stream_that_it_names() {
    static AFTER: AtomicU32 = AtomicU32::new(0);
    static OPEN: AtomicBool = AtomicBool::new(false);
    struct Member;
    #[chare(group)]
    impl Member {
        #[entry]
        fn new() -> Self {
            Self
        }

        #[entry]
        async fn take(this: This<Self>, #[nocopy] face: DeviceReceived<u32>) {
            drop(this);
            assert_eq!(read(&face).await.len(), 3_000);
            assert!(OPEN.load(Ordering::SeqCst), "the stream is past the kernel");
            AFTER.fetch_add(1, Ordering::SeqCst);
        }

        #[entry]
        fn look(&mut self, #[nocopy] face: Received<u32>) {
            assert_eq!(face[..], [1; 3_000]);
            assert!(OPEN.load(Ordering::SeqCst), "the stream is past the kernel");
            AFTER.fetch_add(1, Ordering::SeqCst);
        }
    }

    let gate = Arc::new(Gate::default());
    let job = chare::Job::in_process(2, 2).device(DeviceChoice::software(1));
    let code = job.run(move || async move {
        let members = MemberProxy::create();
        let (_held, stream) = held_back(&gate, 1);
        let device = devices::mine().expect("a software device");
        let mut face = DeviceBufferMut::<u32>::new(&device, 3_000).expect("it has room");
        face.write(&devices::stream().expect("a stream"), &[1; 3_000]).expect("it has room");
        let face = face.freeze();
        members.take(SendDeviceBuffer::from(face.clone()).after(&stream));
        members.look(SendDeviceBuffer::from(face).after(&stream));
        assert!(!gate.is_open());
        OPEN.store(true, Ordering::SeqCst);
        gate.open();
        chare::quiescence().await;
        assert_eq!(AFTER.load(Ordering::SeqCst), 8);
    });
    assert_eq!(code.expect("the job ends in order"), 0);
}

/// A PE that always has work launches steps all the same.
#[test]
fn steps_are_launched_on_a_pe_that_is_never_idle() {
    struct Spinner {
        came: Option<Callback<()>>,
        spun: u32,
    }
    #[chare(group)]
    impl Spinner {
        #[entry]
        fn new() -> Self {
            Self { came: None, spun: 0 }
        }

        /// Until the face is here.
        #[entry]
        fn spin(&mut self, began: Callback<()>, came: Callback<()>) {
            began.send(());
            self.came = Some(came);
            self.spun += 1;
            self.go_round();
        }

        fn go_round(&mut self) {
            self.this_collection().on(chare::my_pe()).go_on();
        }

        #[entry]
        fn go_on(&mut self) {
            self.spun += 1;
            if self.came.is_some() {
                self.go_round();
            }
        }

        #[entry]
        fn take(&mut self, #[nocopy] face: DeviceReceived<u32>) {
            assert_eq!(face.len(), 100);
            assert!(self.spun > 0, "it was at work");
            self.came.take().expect("one face").send(());
        }
    }

    for nodes in [1, 2] {
        let job = chare::Job::in_process(nodes, 1).device(DeviceChoice::software(1));
        let code = job.run(move || async move {
            let spinners = SpinnerProxy::create();
            let last = PeId(nodes - 1);
            let ((begun, began), (came, told)) = (chare::future::<()>(), chare::future::<()>());
            spinners.on(last).spin(began, told);
            begun.await;
            let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
            let field = DeviceBufferMut::<u32>::zeroed(&device, &stream, 200).expect("it has room");
            let every_other = Layout::vector(100, 1, 2).expect("it fits");
            spinners.on(last).take(SendDeviceBuffer::from(field).only(&every_other));
            came.await;
        });
        assert_eq!(code.expect("the job ends in order"), 0);
    }
}
