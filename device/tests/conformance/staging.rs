//! Staging of chunks: steps of one beside copies of another, rows, batches of steps, and what is chosen by a measurement.

use crate::rig::{Rig, finish, pattern};
use chare_device::{
    Batch, Device, DeviceBufferMut, DeviceError, Done, Event, Facts, Lanes, Method, Model, Pinned, Stream,
    Way,
};
use chare_layout::{LayoutError, Plan, Raw};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

/// Elements of 4 bytes, every other one.
fn every_other(count: u64) -> Raw {
    Raw::bytes_of(4).and_then(|element| element.hvector(count, 1, 8)).expect("it fits")
}

fn meant(layout: &Raw, bytes: &[u8]) -> Vec<u8> {
    layout.runs().flat_map(|(at, len)| &bytes[at as usize..][..len as usize]).copied().collect()
}

fn filled(rig: &Rig, bytes: &[u8]) -> DeviceBufferMut<u8> {
    let stream = rig.stream();
    let mut buffer = DeviceBufferMut::new(&rig.device, bytes.len()).expect("memory");
    buffer.write(&stream, bytes).expect("a write");
    buffer
}

/// Has a stream stand still until the sender is used.
fn hold(rig: &Rig, held: &Stream) -> Sender<()> {
    let (open, opened) = channel();
    let gate = rig.stream();
    gate.call(move || opened.recv().unwrap_or_default()).expect("it goes on");
    held.wait(&gate.record().expect("an event")).expect("it waits");
    open
}

fn wait_until_complete(event: &Event) {
    while !event.is_complete().expect("the device is there") {
        std::thread::yield_now();
    }
}

pub(crate) fn chunks_are_packed_while_others_are_copied(rig: &Rig) {
    const COUNT: u64 = 1000;
    let (steps, copies) = (rig.stream(), rig.stream());
    let lanes = Lanes { steps: &steps, copies: &copies };
    let (bytes, layout) = (pattern(8 * COUNT as usize, 3), every_other(COUNT));
    let source = filled(rig, &bytes).freeze();
    let chunks = [0..4 * 500, 4 * 500..4 * COUNT];
    let open = hold(rig, &copies);
    let landed = chunks.map(|range| {
        let plan = Arc::new(Plan::pack_range(&layout, range).expect("it fits"));
        source.stage_by(Method::Packed, lanes, &plan).expect("a step")
    });
    // Both are packed, and neither has come.
    wait_until_complete(&steps.record().expect("an event"));
    assert!(landed.iter().all(|landed| landed.event().is_complete() == Ok(false)));
    open.send(()).expect("it waits");
    finish(Method::Packed.last(Way::Out, lanes));
    let pinned =
        landed.map(|landed| landed.into_pinned().expect("the device is there").expect("it is there"));
    let came = pinned.map(|mut pinned| pinned.bytes().expect("nobody else has it").to_vec());
    assert!(came.concat() == meant(&layout, &bytes));
}

pub(crate) fn chunks_are_copied_while_others_are_unpacked(rig: &Rig) {
    const COUNT: u64 = 1000;
    let (steps, copies) = (rig.stream(), rig.stream());
    let lanes = Lanes { steps: &steps, copies: &copies };
    let (bytes, layout) = (pattern(4 * COUNT as usize, 4), every_other(COUNT));
    let mut target = filled(rig, &[0; 8 * COUNT as usize]);
    let open = hold(rig, &steps);
    for range in [0..4 * 500, 4 * 500..4 * COUNT] {
        let chunk = rig.staged(&bytes[range.start as usize..range.end as usize]);
        let plan = Arc::new(Plan::unpack_range(&layout, range).expect("it fits"));
        target.unstage_by(Method::Packed, lanes, &plan, chunk).expect("a step");
    }
    // Both have come to the device, and neither is unpacked: so its pinned memory is free.
    let unpacked = steps.record().expect("an event");
    wait_until_complete(&copies.record().expect("an event"));
    assert_eq!(unpacked.is_complete(), Ok(false));
    open.send(()).expect("it waits");
    finish(Method::Packed.last(Way::In, lanes));
    let mut landed = target.read(&steps).expect("a read");
    finish(&steps);
    let elements = landed.elements().expect("the device is there").expect("it is there");
    assert!(meant(&layout, elements) == bytes);
}

/// Rows that overlap, stand backwards, or lie in loops around loops.
pub(crate) fn rows_are_copied_however_they_stand(rig: &Rig) {
    let stream = rig.stream();
    let bytes = pattern(5000, 6);
    let source = filled(rig, &bytes).freeze();
    let rows = |count, stride| Raw::bytes_of(24).and_then(|row| row.hvector(count, 1, stride));
    let layouts = || -> Result<Vec<Raw>, LayoutError> {
        let boxes =
            [rows(10, 30)?.hvector(5, 1, 600)?, rows(10, 30)?.hvector(5, 1, 300)?.hvector(2, 1, 2000)?];
        let apart = [rows(10, 30)?.hvector(5, 1, 700)?, rows(10, 300)?.hvector(5, 1, 30)?];
        let single = [rows(100, 40)?, rows(100, 10)?, rows(50, -30)?.shifted(2000)?];
        Ok(single.into_iter().chain(apart).chain(boxes).collect())
    };
    for layout in layouts().expect("it fits") {
        let plan = Arc::new(Plan::pack(&layout).expect("it fits"));
        let landed = source.stage_by(Method::Rows, &stream, &plan).expect("copies");
        finish(&stream);
        let mut pinned = landed.into_pinned().expect("the device is there").expect("it is there");
        assert!(pinned.bytes().expect("nobody else has it") == meant(&layout, &bytes), "{layout:?}");
    }
}

pub(crate) fn steps_of_a_batch_are_launched_together(rig: &Rig) {
    let (stream, device): (Stream, &Device) = (rig.stream(), &rig.device);
    let (bytes, layout) = (pattern(800, 7), every_other(100));
    let (pack, unpack) = (Plan::pack(&layout).expect("it fits"), Plan::unpack(&layout).expect("it fits"));
    let (pack, unpack) = (Arc::new(pack), Arc::new(unpack));
    let source = filled(rig, &bytes).freeze();
    let buffer = |len| DeviceBufferMut::<u8>::new(device, len).expect("memory");
    let mut batch = Batch::default();
    assert!(batch.is_empty());
    batch.step(&pack, source.clone(), buffer(400)).expect("it fits");
    batch.stage(&pack, source.clone(), device.pinned(400).expect("memory")).expect("it fits");
    batch.unstage(&unpack, rig.staged(&pattern(400, 8)), filled(rig, &[0; 800])).expect("it fits");
    // What does not fit is refused at once, and is not of the batch.
    let refused = batch.step(&pack, source.part(0..790), buffer(400));
    assert!(matches!(refused, Err(DeviceError::Layout(LayoutError::OutOfBounds { .. }))), "{refused:?}");
    assert_eq!(batch.len(), 3);
    let done = batch.launch(&stream).expect("a launch");
    let [Done::Filled(packed), Done::Landed(landed), Done::Filled(unpacked)] =
        <[Done; 3]>::try_from(done).expect("three steps")
    else {
        panic!("a step, a stage, an unstage")
    };
    // Others wait for it.
    let other = rig.stream();
    let read = |mut buffer: DeviceBufferMut<u8>| {
        let mut landed = buffer.read(&other).expect("a read");
        finish(&other);
        landed.elements().expect("the device is there").expect("it is there").to_vec()
    };
    assert!(read(packed) == meant(&layout, &bytes));
    assert!(meant(&layout, &read(unpacked)) == pattern(400, 8));
    let mut landed: Pinned = landed.into_pinned().expect("the device is there").expect("it is there");
    assert!(landed.bytes().expect("nobody else has it") == meant(&layout, &bytes));
    assert!(source.try_into_mut().is_ok(), "the batch holds no handle any more");
    assert!(Batch::default().launch(&stream).expect("nothing to do").is_empty());
}

pub(crate) fn a_measured_model_chooses_what_takes_the_least_time(rig: &Rig) {
    let model = Model::measure(&rig.device).expect("there is memory enough");
    assert!(model.is_measured());
    for way in [Way::Out, Way::In] {
        for bytes in [1_u64, 4 << 10, 1 << 20, 100 << 20] {
            for blocks in [1, bytes.div_ceil(1000), bytes.div_ceil(4)] {
                let facts = Facts { bytes, blocks, are_rows: blocks > 1 };
                let choice = model.choose(facts, way, &[]);
                assert!((64 << 10..=4 << 20).contains(&choice.chunk_bytes), "{choice}");
                assert!(choice.expected.is_some_and(|time| !time.is_zero()), "{choice}");
                // So many copies are not tried.
                assert!(choice.method != Method::Blocks || blocks == 1 || bytes / blocks > 4, "{choice}");
                let scattered = model.choose(Facts { are_rows: false, ..facts }, way, &[]);
                assert_ne!(scattered.method, Method::Rows, "{scattered}");
            }
        }
    }
    // All that was taken for it has come back.
    assert!(rig.device.pinned(16 << 20).is_ok() && rig.device.allocate(32 << 20).is_ok());
}
