//! Devices in chares: an entry awaits its streams while other entries run, what it waits for counts for quiescence, and faces of fields
//! travel from device to device by way of the host.

use chare::layout::{Dims, Layout, Plan};
use chare::prelude::*;
use chare_device::{Device, DeviceBufferMut, Faults, Priority, Software, Stream};
use std::sync::Arc;
use std::time::Duration;

/// Side of a field.
const SIDE: usize = 64;

fn device() -> Device {
    // Slow enough that entries wait.
    let faults = Faults { delay: Duration::from_millis(1), seed: 3, ..Faults::default() };
    Software { memory_bytes: 16 << 20, pinned_bytes: 4 << 20, faults, ..Software::default() }.open()
}

/// A field on a device; its west column is a neighbour's east one.
struct Field {
    device: Device,
    stream: Stream,
    field: Option<DeviceBufferMut<u32>>,
    /// Calls that ran while an entry waited.
    meanwhile: u32,
    /// Faces that are in the field.
    faces: u32,
}

impl Field {
    fn column(at: usize) -> Layout<u32> {
        Dims::new([SIDE, SIDE]).select((.., at))
    }
}

#[chare]
impl Field {
    #[entry]
    fn new(first: u32) -> Self {
        let device = device();
        let stream = device.stream(Priority::Normal).expect("a stream");
        let mut field = DeviceBufferMut::new(&device, SIDE * SIDE).expect("memory");
        let values: Vec<u32> = (first..).take(SIDE * SIDE).collect();
        field.write(&stream, &values).expect("a write");
        Self { device, stream, field: Some(field), meanwhile: 0, faces: 0 }
    }

    /// Packs the east column on the device, and sends it when it has landed.
    #[entry]
    async fn send_east(this: This<Self>, to: FieldProxy) {
        let (mut landed, passed) = this.with(|field| {
            let stream = &field.stream;
            let plan = Arc::new(Plan::pack(Self::column(SIDE - 1).raw()).expect("it fits"));
            let mut packed = DeviceBufferMut::<u32>::new(&field.device, SIDE).expect("memory");
            let whole = field.field.take().expect("nobody else has it").freeze();
            packed.step_from(stream, &plan, &whole).expect("a step");
            field.field = whole.try_into_mut().ok();
            (packed.read(stream).expect("a read"), stream.passed().expect("a wait"))
        });
        chare::io(passed).await.expect("the device is there");
        let face = landed.elements().expect("the device is there").expect("it has landed").to_vec();
        to.take_west(face);
    }

    /// Unpacks a face into the west column, on the device.
    #[entry]
    async fn take_west(this: This<Self>, #[nocopy] face: Received<u32>) {
        let passed = this.with(|field| {
            let stream = &field.stream;
            let plan = Arc::new(Plan::unpack(Self::column(0).raw()).expect("it fits"));
            let mut packed = DeviceBufferMut::<u32>::new(&field.device, SIDE).expect("memory");
            packed.write(stream, &face).expect("a write");
            let field = field.field.as_mut().expect("nobody else has it");
            field.step_from(stream, &plan, &packed.freeze()).expect("a step");
            stream.passed().expect("a wait")
        });
        chare::io(passed).await.expect("the device is there");
        this.with(|field| field.faces += 1);
    }

    #[entry]
    fn tick(&mut self) {
        self.meanwhile += 1;
    }

    /// Calls that ran meanwhile, and faces that are here, now.
    #[entry]
    fn counts(&mut self) -> (u32, u32) {
        (self.meanwhile, self.faces)
    }

    #[entry]
    async fn values(this: This<Self>) -> Vec<u32> {
        let (mut landed, passed) = this.with(|field| {
            let whole = field.field.as_mut().expect("nobody else has it");
            (whole.read(&field.stream).expect("a read"), field.stream.passed().expect("a wait"))
        });
        chare::io(passed).await.expect("the device is there");
        landed.elements().expect("the device is there").expect("it has landed").to_vec()
    }
}

#[test]
fn fields_on_devices_exchange_faces() {
    const TICKS: u32 = 20;
    let code = chare::Job::in_process(2, 1).run(|| async {
        let fields = [0, 1_000_000].map(|first| {
            let pe = PeId(u32::from(first > 0));
            (first, FieldProxy::create_on(pe, first))
        });
        let [(_, one), (_, other)] = &fields;
        one.send_east(other.clone());
        other.send_east(one.clone());
        (0..TICKS).for_each(|_| one.tick());
        // Entries that wait for a device are in flight.
        chare::quiescence().await;
        for ((first, field), neighbour) in fields.iter().zip([1_000_000, 0]) {
            assert_eq!(field.counts().await, (if *first == 0 { TICKS } else { 0 }, 1));
            let expected = (0..).take(SIDE * SIDE).map(|at: u32| match at as usize % SIDE {
                0 => neighbour + at + SIDE as u32 - 1,
                _ => first + at,
            });
            assert!(
                field.values().await.into_iter().eq(expected),
                "the west column is the neighbour's east one"
            );
        }
    });
    assert_eq!(code.expect("the job ends in order"), 0);
}
