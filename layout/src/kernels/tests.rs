//! Kernels against the list of runs: all block sizes, misaligned bases, strides of all kinds, stores past the caches.

#![expect(unsafe_code, reason = "streaming from the first byte on is no part of the interface")]

use super::streaming::Streamed;
use crate::plan::step::Step;
use crate::{Order, Pieces, Plan, Raw};
use proptest::prelude::*;

fn filled(len: usize) -> Vec<u8> {
    (0..len).map(|place| (place * 167 + place / 256 * 13) as u8).collect()
}

/// The places of a stream's bytes.
fn places(raw: &Raw) -> Vec<usize> {
    raw.runs().flat_map(|(at, len)| (at as usize)..(at as usize + len as usize)).collect()
}

/// Carries a plan out between buffers with misaligned bases, through the caches and past them.
fn check(source: &Raw, target: &Raw, misaligned: (usize, usize)) {
    let plan = Plan::new(source, target).expect("they go together");
    let (from, to) = (source.end() as usize, target.end() as usize);
    let buffer = filled(misaligned.0 + from);
    let mut expected = vec![0xee; misaligned.1 + to];
    for (from, to) in places(source).into_iter().zip(places(target)) {
        expected[misaligned.1 + to] = buffer[misaligned.0 + from];
    }
    for streamed in [Streamed::None, Streamed::Apart, Streamed::All] {
        let mut landed = vec![0xee; misaligned.1 + to];
        plan.check_bounds(from as u64, to as u64).expect("buffers hold their layouts");
        // SAFETY: behind what is misaligned, the buffers are as long as was checked; they are two.
        unsafe {
            plan.run_as(streamed, buffer.as_ptr().add(misaligned.0), landed.as_mut_ptr().add(misaligned.1));
        }
        assert!(landed == expected, "{source:?} to {target:?}, {misaligned:?}, {streamed:?}");
    }
    for piece_bytes in [100.max(plan.bytes() / 64), 5000] {
        let pieces = plan.pieces(piece_bytes);
        assert_eq!((0..pieces.len()).map(|piece| pieces.bytes(piece)).sum::<u64>(), plan.bytes());
        let landed = in_pieces(&pieces, &buffer[misaligned.0..], &expected, misaligned.1);
        assert!(landed == expected, "{source:?} to {target:?} in pieces of {piece_bytes}: {pieces:?}");
    }
}

/// Carries the pieces out, the last one first.
fn in_pieces(pieces: &Pieces, buffer: &[u8], like: &[u8], misaligned: usize) -> Vec<u8> {
    let mut landed = vec![0xee; like.len()];
    for piece in (0..pieces.len()).rev() {
        // SAFETY: whoever calls has checked that the buffers hold what the plan selects.
        unsafe { pieces.run(piece, buffer.as_ptr(), landed.as_mut_ptr().add(misaligned)) };
    }
    landed
}

fn blocks() -> impl Strategy<Value = u64> {
    prop_oneof![
        prop::sample::select(vec![1_u64, 2, 4, 8, 12, 16, 24, 32, 48, 64]),
        1_u64..200,
        1000_u64..5000
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn blocks_at_even_distances(block in blocks(), count in 1_u64..300, gap in 0_u64..90, by in (0_usize..65, 0_usize..65)) {
        let laid = Raw::bytes_of(block).unwrap().hvector(count, 1, (block + gap) as i64).unwrap();
        let dense = Raw::bytes_of(laid.bytes()).unwrap();
        check(&laid, &dense, by);
        check(&dense, &laid, by);
        check(&laid, &laid, by);
    }

    #[test]
    fn blocks_a_page_apart(block in blocks(), count in 1_u64..40, by in (0_usize..65, 0_usize..65)) {
        let laid = Raw::bytes_of(block).unwrap().hvector(count, 1, 8192).unwrap();
        let dense = Raw::bytes_of(laid.bytes()).unwrap();
        check(&laid, &dense, by);
        check(&dense, &laid, by);
    }

    #[test]
    fn lists_of_places(block in blocks(), mut at in prop::collection::btree_set(0_i64..500, 1..100), by in (0_usize..65, 0_usize..65), turn in any::<bool>()) {
        let mut places: Vec<i64> = std::mem::take(&mut at).into_iter().collect();
        if turn {
            places.rotate_left(1);
        }
        let laid = Raw::bytes_of(block).unwrap().indexed_block(1, &places).unwrap();
        let dense = Raw::bytes_of(laid.bytes()).unwrap();
        check(&laid, &dense, by);
        check(&dense, &laid, by);
        let rows = laid.resized(0, laid.end()).unwrap().contiguous(3).unwrap();
        check(&rows, &Raw::bytes_of(rows.bytes()).unwrap(), by);
        let strided = Raw::bytes_of(block).unwrap().vector(places.len() as u64, 1, 2).unwrap();
        check(&laid, &strided, by);
        check(&strided, &laid, by);
        places.reverse();
        let backwards = Raw::bytes_of(block).unwrap().indexed_block(1, &places).unwrap();
        check(&laid, &backwards, by);
        check(&backwards, &backwards, by);
    }

    #[test]
    fn transpositions(block in prop::sample::select(vec![1_u64, 2, 3, 4, 8, 12, 16, 24, 32, 48, 64, 80]), rows in 1_u64..70, columns in 1_u64..70, by in (0_usize..65, 0_usize..65)) {
        let element = Raw::bytes_of(block).unwrap();
        let column = element.vector(rows, 1, columns as i64).unwrap();
        let turned = column.resized(0, block as i64).unwrap().contiguous(columns).unwrap();
        let dense = Raw::bytes_of(turned.bytes()).unwrap();
        check(&dense, &turned, by);
        check(&turned, &dense, by);
    }

    #[test]
    fn faces_of_grids(size in (2_u64..20, 2_u64..20, 2_u64..20), element in blocks(), by in (0_usize..65, 0_usize..65)) {
        let element = Raw::bytes_of(element.min(100)).unwrap();
        let sizes = [size.0, size.1, size.2];
        let lens = [size.0 - 1, size.1, size.2.div_ceil(2)];
        for (from, to) in [(Order::C, Order::Fortran), (Order::C, Order::C), (Order::Fortran, Order::Fortran)] {
            let source = element.subarray(&sizes, &lens, &[1, 0, 0], from).unwrap();
            let target = element.subarray(&sizes, &lens, &[0, 0, size.2 / 2], to).unwrap();
            check(&source, &target, by);
        }
    }
}

#[test]
fn fields_are_blocks_within_loops() {
    for (lens, places, extent) in [
        (vec![24_u64, 8], vec![8_i64, 0], 64_i64),
        (vec![1, 2, 13], vec![40, 3, 11], 56),
        (vec![8, 8, 8], vec![0, 24, 40], 48),
        (vec![8, 24], vec![24, 4096], 5000),
    ] {
        let fields = Raw::bytes_of(1).unwrap().hindexed(&lens, &places).unwrap().resized(0, extent).unwrap();
        // More than two strips, and one step into the next.
        let laid = fields.contiguous(257).unwrap();
        let dense = Raw::bytes_of(laid.bytes()).unwrap();
        let spaced = Raw::bytes_of(8).unwrap().hvector(laid.bytes() / 8, 1, 24).unwrap();
        let mut pairs = vec![(&laid, &dense), (&dense, &laid), (&laid, &laid)];
        if spaced.bytes() == laid.bytes() {
            pairs.extend([(&laid, &spaced), (&spaced, &laid)]);
        }
        for (source, target) in pairs {
            check(source, target, (3, 5));
            let plan = Plan::new(source, target).unwrap();
            assert!(matches!(&plan.steps[..], [Step::Loop { .. }]), "{source:?} to {target:?}: {plan:?}");
        }
    }
}

#[test]
fn pieces_of_all_short_lengths() {
    let lens: Vec<u64> = (0..70).map(|step| step * 29 % 67).collect();
    let places: Vec<i64> = (0..70).map(|step| (step * 41 % 70) * 67).collect();
    let laid = Raw::bytes_of(1).unwrap().hindexed(&lens, &places).unwrap();
    let dense = Raw::bytes_of(laid.bytes()).unwrap();
    check(&laid, &dense, (0, 1));
    check(&dense, &laid, (1, 0));
}

#[test]
fn lists_go_to_what_is_cut_otherwise() {
    // More than two stages, and pieces across their ends.
    let at: Vec<i64> = (0..1500).map(|step| step * 1009 % 1500).collect();
    let even = Raw::bytes_of(8).unwrap().indexed_block(1, &at).unwrap();
    let lens: Vec<u64> = (0..1500).map(|step| 1 + step % 15).collect();
    let at: Vec<i64> = at.iter().map(|place| place * 16).collect();
    let uneven = Raw::bytes_of(1).unwrap().hindexed(&lens, &at).unwrap();
    for list in [even, uneven] {
        let (short, long) = (list.bytes() / 24, list.bytes() / 600);
        let others =
            [Raw::bytes_of(24).unwrap().vector(short, 1, 2), Raw::bytes_of(600).unwrap().vector(long, 1, 2)];
        for other in others.map(Result::unwrap) {
            let rest = Raw::bytes_of(list.bytes() - other.bytes()).unwrap();
            let other = Raw::structure(&[(1, 0, &other), (1, other.extent() + 5, &rest)]).unwrap();
            check(&list, &other, (3, 1));
            check(&other, &list, (1, 3));
        }
        for at in [0, 1, 4095, 8001] {
            let buffer = filled(list.end() as usize);
            let mut chunk = vec![0; 700];
            crate::pack_range(&list, at, &buffer, &mut chunk).unwrap();
            let expected: Vec<u8> =
                places(&list)[at as usize..][..700].iter().map(|place| buffer[*place]).collect();
            assert!(chunk == expected, "{at}");
        }
    }
}
