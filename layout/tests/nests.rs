//! Random nests of all constructors against type maps as the standard defines them.

mod oracle;

use chare_layout::{Cursor, LayoutError, Order, Plan, Raw, copy, pack, unpack};
use oracle::{Map, types};
use proptest::prelude::*;
use std::sync::Arc;

/// Bytes that differ from their neighbours, near and far.
fn filled(len: usize) -> Vec<u8> {
    (0..len).map(|place| (place * 167 + place / 256 * 13) as u8).collect()
}

/// The layout moved so that it starts `before` bytes into a buffer; the buffer's length, and where its bytes are.
fn placed(raw: &Raw, map: &Map, before: i64) -> (Raw, usize, Vec<usize>) {
    let by = before - raw.origin();
    let places: Vec<usize> = map.bytes.iter().map(|byte| (byte + by) as usize).collect();
    (raw.shifted(by).expect("it fits"), before as usize + raw.span() as usize, places)
}

/// What a plan's copies do, one block after the other.
fn one_by_one(plan: &Plan, buffer: &[u8], mut landed: Vec<u8>) -> Vec<u8> {
    plan.for_each_copy(&mut |copies| {
        let mut blocks = vec![(copies.source, copies.target)];
        for pair in copies.loops {
            let steps = |(source, target): (i64, i64)| {
                (0..pair.count as i64)
                    .map(move |step| (source + step * pair.source, target + step * pair.target))
            };
            blocks = blocks.into_iter().flat_map(steps).collect();
        }
        for (source, target) in blocks {
            let (from, to, len) = (source as usize, target as usize, copies.block as usize);
            landed[to..to + len].copy_from_slice(&buffer[from..from + len]);
        }
    });
    landed
}

/// What a plan's pieces do, the last one first.
#[expect(unsafe_code, reason = "carries pieces out, as threads do that share a plan")]
fn in_pieces(plan: &Plan, bytes: u64, buffer: &[u8], mut landed: Vec<u8>) -> Vec<u8> {
    plan.check_bounds(buffer.len() as u64, landed.len() as u64).expect("buffers hold their layouts");
    let pieces = plan.pieces(bytes);
    assert_eq!((0..pieces.len()).map(|piece| pieces.bytes(piece)).sum::<u64>(), plan.bytes());
    for piece in (0..pieces.len()).rev() {
        // SAFETY: the buffers hold what the plan selects; they are two, and nobody else's.
        unsafe { pieces.run(piece, buffer.as_ptr(), landed.as_mut_ptr()) };
    }
    landed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn what_is_known_is_what_the_type_map_says(of in types()) {
        let Some(map) = of.map() else { return Ok(()) };
        let raw = of.raw().expect("small types fit");
        prop_assert_eq!(raw.bytes(), map.bytes.len() as u64);
        prop_assert_eq!(raw.runs().collect::<Vec<_>>(), map.runs());
        prop_assert_eq!(raw.run_count(), map.runs().len() as u64);
        prop_assert_eq!(raw.origin(), map.bytes.iter().copied().min().unwrap_or(0));
        let end = map.bytes.iter().copied().max().map_or(0, |last| last + 1);
        prop_assert_eq!(raw.span(), (end - raw.origin()) as u64);
        prop_assert_eq!((raw.lower_bound(), raw.extent()), (map.lower, map.upper - map.lower));
        for (at, len) in map.runs() {
            prop_assert!(len % raw.grain() == 0 && at % raw.grain() as i64 == 0);
        }
        match raw.check_target() {
            Ok(()) => prop_assert!(map.is_injective()),
            Err(LayoutError::Overlaps { byte }) => {
                let place = map.bytes[byte as usize];
                prop_assert!(map.bytes[..byte as usize].contains(&place), "{} lands on no earlier one", byte);
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn encoding_and_digest_keep_the_value(of in types()) {
        let Ok(raw) = of.raw() else { return Ok(()) };
        let bytes = raw.encode();
        let again = Raw::decode(&bytes).expect("what was encoded decodes");
        prop_assert_eq!(&again, &raw);
        prop_assert_eq!(again.encode(), bytes);
        prop_assert_eq!(again.digest(), raw.digest());
        let facts = |raw: &Raw| (raw.bytes(), raw.origin(), raw.span(), raw.grain(), raw.run_count());
        prop_assert_eq!(facts(&again), facts(&raw));
    }

    #[test]
    fn packing_gathers_the_type_map(of in types(), before in 0_i64..9) {
        let Some(map) = of.map() else { return Ok(()) };
        let (raw, len, places) = placed(&of.raw().expect("it fits"), &map, before);
        let buffer = filled(len);
        let mut stream = vec![0; places.len()];
        pack(&raw, &buffer, &mut stream).expect("the buffer holds it");
        let expected: Vec<u8> = places.iter().map(|place| buffer[*place]).collect();
        prop_assert_eq!(&stream, &expected);
        if map.is_injective() {
            let mut target = vec![0xee; len];
            unpack(&raw, &stream, &mut target).expect("the buffer holds it");
            let mut expected = vec![0xee; len];
            places.iter().zip(&stream).for_each(|(place, byte)| expected[*place] = *byte);
            prop_assert_eq!(target, expected);
        }
    }

    #[test]
    fn chunks_of_any_length_make_the_same_stream(
        of in types(),
        chunks in prop::collection::vec(1_usize..40, 1..40),
        start in 0_u64..200,
    ) {
        let Some(map) = of.map() else { return Ok(()) };
        let (raw, len, places) = placed(&of.raw().expect("it fits"), &map, 3);
        let buffer = filled(len);
        let mut cursor = Cursor::new(Arc::new(raw));
        let mut into = Cursor::new(Arc::clone(cursor.layout()));
        cursor.seek(start.min(cursor.left())).expect("within");
        into.seek(cursor.at()).expect("within");
        let mut target = vec![0xee; len];
        let mut expected = target.clone();
        for chunk_len in chunks {
            let at = cursor.at() as usize;
            let mut chunk = vec![0; chunk_len];
            let packed = cursor.pack(&buffer, &mut chunk).expect("the buffer holds it");
            prop_assert_eq!(packed, chunk_len.min(places.len() - at));
            for (place, byte) in places[at..at + packed].iter().zip(&chunk) {
                prop_assert_eq!(buffer[*place], *byte);
                expected[*place] = *byte;
            }
            let range = at as u64..(at + packed) as u64;
            let mut by_plan = vec![0; packed];
            copy(&Plan::pack_range(cursor.layout(), range.clone()).expect("within"), &buffer, &mut by_plan)
                .expect("the buffer holds it");
            prop_assert_eq!(&by_plan, &chunk[..packed]);
            let runs: u64 = cursor.layout().runs_within(at as u64, packed as u64).map(|run| run.1).sum();
            prop_assert_eq!(runs, packed as u64);
            if map.is_injective() {
                prop_assert_eq!(into.unpack(&chunk[..packed], &mut target), Ok(packed));
                prop_assert_eq!(&target, &expected);
                let plan = Plan::unpack_range(cursor.layout(), range).expect("within");
                let mut again = vec![0xee; len];
                copy(&plan, &by_plan, &mut again).expect("the buffer has room");
                let mut alone = vec![0xee; len];
                places[at..at + packed].iter().zip(&chunk).for_each(|(place, byte)| alone[*place] = *byte);
                prop_assert_eq!(&again, &alone);
            }
        }
    }

    #[test]
    fn a_stream_is_entered_and_left_at_every_byte(of in types()) {
        let Some(map) = of.map().filter(|map| map.bytes.len() <= 120) else { return Ok(()) };
        let (raw, len, places) = placed(&of.raw().expect("it fits"), &map, 2);
        let buffer = filled(len);
        let stream: Vec<u8> = places.iter().map(|place| buffer[*place]).collect();
        let mut cursor = Cursor::new(Arc::new(raw));
        let mut target = vec![0xee; len];
        for at in 0..=stream.len() {
            cursor.seek(at as u64).expect("within");
            let mut rest = vec![0; stream.len() - at];
            prop_assert_eq!(cursor.pack(&buffer, &mut rest), Ok(rest.len()));
            prop_assert_eq!(&rest, &stream[at..]);
            prop_assert_eq!(cursor.left(), 0);
            if map.is_injective() && at < stream.len() {
                cursor.seek(at as u64).expect("within");
                prop_assert_eq!(cursor.unpack(&stream[at..=at], &mut target), Ok(1));
                prop_assert_eq!(cursor.at(), at as u64 + 1);
            }
        }
        if map.is_injective() {
            let mut expected = vec![0xee; len];
            places.iter().zip(&stream).for_each(|(place, byte)| expected[*place] = *byte);
            prop_assert_eq!(target, expected);
        }
    }

    #[test]
    fn a_plan_copies_stream_to_stream(from in types(), to in types(), before in 0_i64..9) {
        let (Some(source_map), Some(target_map)) = (from.map(), to.map()) else { return Ok(()) };
        let (source, source_len, froms) = placed(&from.raw().expect("it fits"), &source_map, before);
        let (target, target_len, tos) = placed(&to.raw().expect("it fits"), &target_map, 8 - before);
        // As many of the shorter one as fill the other, where that can be said.
        let plan = Plan::new(&source, &target);
        if froms.len() > tos.len() {
            let (have, room) = (froms.len() as u64, tos.len() as u64);
            prop_assert_eq!(plan.err(), Some(LayoutError::TooLong { have, room }));
        } else if !target_map.is_injective() {
            prop_assert!(plan.is_err());
        } else {
            let buffer = filled(source_len);
            let mut landed = vec![0xee; target_len];
            let plan = plan.expect("they go together");
            copy(&plan, &buffer, &mut landed).expect("both buffers hold them");
            let mut expected = vec![0xee; target_len];
            froms.iter().zip(&tos).for_each(|(from, to)| expected[*to] = buffer[*from]);
            prop_assert_eq!(&landed, &expected);
            prop_assert_eq!(&one_by_one(&plan, &buffer, vec![0xee; target_len]), &expected);
            for bytes in [1, 7] {
                prop_assert_eq!(&in_pieces(&plan, bytes, &buffer, vec![0xee; target_len]), &expected);
            }
        }
    }

    #[test]
    fn hostile_bytes_neither_panic_nor_pass_unchecked(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let mut bytes = bytes;
        if let Some(version) = bytes.first_mut() {
            *version = *version & 0x80 | 1;
        }
        if let Ok(raw) = Raw::decode(&bytes) {
            let again = Raw::decode(&raw.encode());
            prop_assert_eq!(again.as_ref(), Ok(&raw));
            let _ = raw.check_target();
            prop_assert!(raw.runs().take(100).all(|(at, _)| at >= raw.origin()));
        }
    }

    #[test]
    fn changed_encodings_neither_panic_nor_pass_unchecked(
        of in types(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let Ok(raw) = of.raw() else { return Ok(()) };
        let mut bytes = raw.encode();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(raw) = Raw::decode(&bytes) {
            let again = Raw::decode(&raw.encode());
            prop_assert_eq!(again.as_ref(), Ok(&raw));
            let end = raw.origin().checked_add_unsigned(raw.span());
            prop_assert!(raw.runs().take(100).all(|(at, len)| at.checked_add_unsigned(len) <= end));
        }
    }
}

/// What MPI says of arrays, and both Open MPI and MPICH do: from 0 to sizes times extent, whatever the sign.
#[test]
fn an_array_of_elements_that_go_backwards_ends_before_it_starts() -> Result<(), LayoutError> {
    let backwards = Raw::bytes_of(1)?.resized(0, -1)?;
    let block = backwards.subarray(&[4], &[2], &[1], Order::C)?;
    assert_eq!((block.lower_bound(), block.extent(), block.origin(), block.span()), (0, -4, -2, 2));
    assert_eq!(block.contiguous(2)?.runs().collect::<Vec<_>>(), [-1, -2, -5, -6].map(|at| (at, 1)));
    Ok(())
}

#[test]
fn most_random_nests_have_something_to_check() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let maps: Vec<Map> =
        (0..2_000).filter_map(|_| types().new_tree(&mut runner).expect("a type").current().map()).collect();
    let rich = maps.iter().filter(|map| map.runs().len() > 3).count();
    let targets = maps.iter().filter(|map| map.runs().len() > 3 && map.is_injective()).count();
    println!("{} of 2000 short enough, {rich} of more than 3 runs, {targets} of these targets", maps.len());
    assert!(rich >= 400 && targets >= 150, "{rich} {targets}");
}

#[test]
fn blocks_of_two_lists_that_touch_on_both_sides_are_one_copy() {
    let double = Raw::bytes_of(8).expect("it fits");
    let list = |lens: &[u64], places: &[i64]| double.indexed(lens, places).expect("it fits");
    let source = list(&[3, 4, 1, 4], &[20, 0, 90, 50]);
    for (target, copies) in
        [(list(&[3, 4, 1, 4], &[7, 70, 30, 11]), 4), (list(&[1, 6, 1, 4], &[40, 2, 30, 60]), 5)]
    {
        let plan = Plan::new(&source, &target).expect("as many bytes");
        let mut seen = 0;
        plan.for_each_copy(&mut |copies| seen += copies.loops.iter().fold(1, |all, pair| all * pair.count));
        assert_eq!(seen, copies, "{plan:?}");
        let (buffer, untouched) = (filled(94 * 8), vec![0; 74 * 8]);
        let mut landed = untouched.clone();
        copy(&plan, &buffer, &mut landed).expect("buffers hold their layouts");
        assert_eq!(one_by_one(&plan, &buffer, untouched), landed);
    }
}
