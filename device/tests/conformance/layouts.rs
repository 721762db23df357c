//! Steps by plans, beside a reference that copies one byte after the other.

use crate::rig::{Rig, arrived, finish, pattern, try_step, try_step_all};
use chare_device::{DeviceBufferMut, DeviceError};
use chare_layout::{LayoutError, Plan, Raw};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::sync::Arc;

/// One level of a layout.
#[derive(Debug, Clone)]
enum Level {
    /// So many, one after the other.
    Row(u64),
    /// So many blocks of so many, with a gap of so many bytes behind each; backwards or not.
    Strided(u64, u64, i64, bool),
    /// Blocks of so many at places with these gaps before them.
    Listed(u64, Vec<i64>),
    /// Runs of different lengths, with gaps before them.
    Runs(Vec<(u64, i64)>),
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![
        (1_u64..5).prop_map(Level::Row),
        (1_u64..6, 1_u64..4, 0_i64..40, any::<bool>())
            .prop_map(|(count, len, gap, back)| Level::Strided(count, len, gap, back)),
        (1_u64..4, prop::collection::vec(0_i64..9, 1..20)).prop_map(|(len, gaps)| Level::Listed(len, gaps)),
        prop::collection::vec((1_u64..6, 0_i64..5), 1..8).prop_map(Level::Runs),
    ]
}

/// Bytes of the elements, and the levels around them, innermost first.
fn layouts() -> impl Strategy<Value = (u64, Vec<Level>)> {
    (prop::sample::select(vec![1_u64, 2, 3, 4, 8, 12, 16]), prop::collection::vec(level(), 0..4))
}

fn laid((element, levels): &(u64, Vec<Level>)) -> Result<Raw, LayoutError> {
    levels.iter().try_fold(Raw::bytes_of(*element)?, |inner, level| match level {
        Level::Row(count) => inner.contiguous(*count),
        Level::Strided(count, len, gap, is_backwards) => {
            let stride = *len as i64 * inner.extent() + gap;
            inner.hvector(*count, *len, if *is_backwards { -stride } else { stride })
        }
        Level::Listed(len, gaps) => {
            let mut at = 0;
            let places: Vec<i64> = gaps
                .iter()
                .map(|gap| {
                    at += gap + *len as i64;
                    at - *len as i64
                })
                .collect();
            inner.indexed_block(*len, &places)
        }
        Level::Runs(runs) => {
            let mut at = 0;
            let (lens, places): (Vec<u64>, Vec<i64>) = runs
                .iter()
                .map(|(len, gap)| {
                    at += gap + *len as i64;
                    (*len, at - *len as i64)
                })
                .unzip();
            inner.indexed(&lens, &places)
        }
    })
}

/// The places of all bytes, in their order.
fn places(raw: &Raw) -> impl Iterator<Item = usize> {
    raw.runs().flat_map(|(at, len)| (at as usize..).take(len as usize))
}

/// How long a buffer must be.
fn end(raw: &Raw) -> usize {
    raw.origin() as usize + raw.span() as usize
}

/// Plans are made anew for each message; streams take turns.
pub(crate) fn the_second_step_by_a_layout_copies_no_table(rig: &Rig) {
    let layout = |last: i64| {
        let places = (0..500).map(|at| at * (at + 3) / 2).chain([last]).collect::<Vec<i64>>();
        Raw::bytes_of(4).and_then(|element| element.indexed_block(1, &places)).expect("it fits")
    };
    let len = 600_000;
    let (block, before) = (rig.filled(&pattern(len, 3)), rig.device.tables_copied());
    for (last, tables) in [(140_000, 1), (140_000, 1), (140_002, 2), (140_000, 2)] {
        let (raw, packed, stream) = (layout(last), rig.block(501 * 4), rig.stream());
        let plan = Arc::new(Plan::pack(&raw).expect("it fits"));
        try_step(&stream, &plan, &block.span(), &packed.span()).expect("it fits");
        finish(&stream);
        let source = pattern(len, 3);
        let expected: Vec<u8> = places(&raw).map(|place| source[place]).collect();
        assert!(rig.read(&packed.span()) == expected, "{last}");
        assert_eq!(rig.device.tables_copied() - before, tables);
    }
}

pub(crate) fn steps_are_those_of_the_reference(rig: &Rig) {
    let (stream, config) =
        (rig.stream(), Config { cases: 150, failure_persistence: None, ..Config::default() });
    let tested = TestRunner::new(config).run(&(layouts(), layouts()), |(from, to)| {
        let placed = |of| laid(of).and_then(|raw| raw.shifted(-raw.origin())).expect("it fits");
        let (from, to) = (placed(&from), placed(&to));
        let plan = Arc::new(Plan::beginning(&from, &to).expect("places of a target are apart"));
        let (source_bytes, mut expected) = (pattern(end(&from), 1), pattern(end(&to), 2));
        let (source, target) = (rig.filled(&source_bytes), rig.filled(&expected));
        try_step(&stream, &plan, &source.span(), &target.span()).expect("it fits");
        finish(&stream);
        for (from, to) in places(&from).zip(places(&to)) {
            expected[to] = source_bytes[from];
        }
        prop_assert!(rig.read(&target.span()) == expected, "{from:?} to {to:?}");
        Ok(())
    });
    tested.unwrap_or_else(|error| panic!("{error}"));
}

/// All faces of a cube of elements, packed one behind the other; elements of several lengths, so that words differ.
pub(crate) fn many_steps_are_given_at_once(rig: &Rig) {
    const EDGE: u64 = 9;
    let stream = rig.stream();
    for element in [1, 4, 12, 16] {
        let faces = || -> Result<Vec<Raw>, LayoutError> {
            let one = Raw::bytes_of(element)?;
            let (row, stride) = (one.contiguous(EDGE)?, (EDGE * element) as i64);
            let plane = stride * EDGE as i64;
            let last = EDGE as i64 - 1;
            let each =
                [row.contiguous(EDGE)?, row.hvector(EDGE, 1, plane)?, one.hvector(EDGE * EDGE, 1, stride)?];
            let shifts = [last * plane, last * stride, last * element as i64];
            each.into_iter().zip(shifts).try_fold(Vec::new(), |mut all, (face, shift)| {
                all.extend([face.shifted(0)?, face.shifted(shift)?]);
                Ok(all)
            })
        };
        let faces = faces().expect("it fits");
        let (bytes, face_bytes) = ((EDGE * EDGE * EDGE * element) as usize, EDGE * EDGE * element);
        let cube = pattern(bytes, element);
        let (source, target) = (rig.filled(&cube), rig.block(face_bytes as usize * faces.len()));
        let plans: Vec<_> = faces.iter().map(|face| Arc::new(Plan::pack(face).expect("it fits"))).collect();
        let part =
            |face| target.span().part(face * face_bytes..(face + 1) * face_bytes).expect("it lies within");
        let parts: Vec<_> = (0..faces.len() as u64).map(part).collect();
        let source = source.span();
        let steps: Vec<_> = plans.iter().zip(&parts).map(|(plan, part)| (plan, &source, part)).collect();
        try_step_all(&stream, &steps).expect("all fit");
        // One that does not fit: nothing is done.
        let short = target.span().part(0..face_bytes - 1).expect("it lies within");
        let refused = try_step_all(&stream, &[steps[1], (&plans[0], &source, &short)]);
        assert!(matches!(refused, Err(DeviceError::Layout(LayoutError::OutOfBounds { .. }))), "{refused:?}");
        assert_eq!(try_step_all(&stream, &[]), Ok(()));
        finish(&stream);
        let expected: Vec<u8> = faces.iter().flat_map(places).map(|place| cube[place]).collect();
        assert!(rig.read(&target.span()) == expected, "elements of {element} bytes");
    }
}

/// Faces of a field go to buffers of their own, while other streams write the field before and read the buffers after.
pub(crate) fn halos_of_a_turn_are_in_order(rig: &Rig) {
    const EDGE: u64 = 50;
    let (writer, stepper, reader) = (rig.stream(), rig.stream(), rig.stream());
    let faces = || -> Result<[Raw; 4], LayoutError> {
        let element = Raw::bytes_of(8)?;
        let (row, column) = (element.contiguous(EDGE)?, element.hvector(EDGE, 1, 8 * EDGE as i64)?);
        let last = 8 * (EDGE as i64 - 1);
        Ok([row.shifted(0)?, row.shifted(last * EDGE as i64)?, column.shifted(0)?, column.shifted(last)?])
    };
    let faces = faces().expect("it fits");
    let plans = faces.each_ref().map(|face| Arc::new(Plan::pack(face).expect("it fits")));
    let halo = || DeviceBufferMut::<u8>::new(&rig.device, 8 * EDGE as usize).expect("memory");
    let mut halos = [halo(), halo(), halo(), halo()];
    let mut field = DeviceBufferMut::<u8>::new(&rig.device, (8 * EDGE * EDGE) as usize).expect("memory");
    let mut reads = Vec::new();
    for turn in 0..10 {
        field.write(&writer, &pattern((8 * EDGE * EDGE) as usize, turn)).expect("a write");
        let shared = field.freeze();
        let mut steps: Vec<_> =
            plans.iter().zip(&mut halos).map(|(plan, halo)| (plan, &shared, halo)).collect();
        DeviceBufferMut::step_all(&stepper, &mut steps).expect("all fit");
        reads.extend(
            faces
                .iter()
                .zip(&mut halos)
                .map(|(face, halo)| (turn, face, halo.read(&reader).expect("a read"))),
        );
        field = shared.try_into_mut().expect("nobody else has it");
    }
    for (turn, face, landed) in reads {
        let field = pattern((8 * EDGE * EDGE) as usize, turn);
        assert!(
            arrived(landed, &reader).into_iter().eq(places(face).map(|place| field[place])),
            "turn {turn}"
        );
    }
}

pub(crate) fn plans_beyond_their_memory_are_refused(rig: &Rig) {
    let rows = Raw::bytes_of(8).and_then(|element| element.hvector(10, 1, 16)).expect("it fits");
    let plan = Arc::new(Plan::pack(&rows).expect("it fits"));
    let (stream, long, short) = (rig.stream(), rig.block(152), rig.block(80));
    assert_eq!(try_step(&stream, &plan, &long.span(), &short.span()), Ok(()));
    let cut = long.span().part(0..151).expect("it lies within");
    let refused = try_step(&stream, &plan, &cut, &short.span());
    assert!(matches!(refused, Err(DeviceError::Layout(LayoutError::OutOfBounds { .. }))), "{refused:?}");
    let cut = short.span().part(1..80).expect("it lies within");
    let refused = try_step(&stream, &plan, &long.span(), &cut);
    assert!(matches!(refused, Err(DeviceError::Layout(LayoutError::OutOfBounds { .. }))), "{refused:?}");
    finish(&stream);
}
