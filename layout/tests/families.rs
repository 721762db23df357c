//! What MPICH tests of datatypes, family by family: the shapes that programs have, each against the bytes that it is known to pack; and the parts
//! of large boxes, which are told apart without a look at each piece.

use chare_layout::{
    Cursor, Dims, Distributed, Distribution, INDICES_MAX, Layout, LayoutError, Order, Raw, pack, unpack,
};
use std::sync::Arc;

type Tested = Result<(), LayoutError>;

fn bytes(len: u64) -> Raw {
    Raw::bytes_of(len).expect("it fits")
}

/// The places of the bytes, in order, and that packing and unpacking go there.
fn places(raw: &Raw) -> Vec<usize> {
    let places: Vec<usize> =
        raw.runs().flat_map(|(at, len)| at as usize..at as usize + len as usize).collect();
    let buffer: Vec<u8> = (0..raw.origin() as u64 + raw.span()).map(|place| (place * 7) as u8).collect();
    let mut stream = vec![0; places.len()];
    pack(raw, &buffer, &mut stream).expect("the buffer holds it");
    assert!(stream.iter().eq(places.iter().map(|place| &buffer[*place])));
    let mut landed = vec![0; buffer.len()];
    unpack(raw, &stream, &mut landed).expect("no byte is selected twice");
    assert!(places.iter().all(|place| landed[*place] == buffer[*place]));
    places
}

/// `triangular_pack`, `triangular_indexed`: the upper triangle of a matrix, row by row.
#[test]
fn a_triangle() -> Tested {
    let side = 9;
    let lens: Vec<u64> = (0..side as u64).map(|row| side as u64 - row).collect();
    let diagonal: Vec<i64> = (0..side as i64).map(|row| row * (side as i64 + 1)).collect();
    let expected = (0..side).flat_map(|row| (row..side).map(move |column| row * side + column));
    assert!(places(&bytes(1).indexed(&lens, &diagonal)?).into_iter().eq(expected));
    Ok(())
}

/// `transpose_pack`: a matrix by columns.
#[test]
fn a_transposed_matrix() -> Tested {
    let (rows, columns) = (7, 5);
    let column = bytes(1).vector(rows, 1, columns)?.resized(0, 1)?;
    let expected = (0..5).flat_map(|column| (0..7).map(move |row| row * 5 + column));
    assert!(places(&column.contiguous(columns as u64)?).into_iter().eq(expected));
    Ok(())
}

/// `slice_pack`, `slice_pack_nested`: planes of vectors of vectors.
#[test]
fn slices_of_a_cube() -> Tested {
    let edge = 4;
    let line = bytes(1).vector(2, 1, 2)?.resized(0, edge)?;
    let plane = line.vector(2, 1, 2)?.resized(0, edge * edge)?;
    let expected = [0, 2, 8, 10, 16, 18, 24, 26, 32, 34, 40, 42, 48, 50, 56, 58];
    assert_eq!(places(&plane.contiguous(4)?), expected);
    Ok(())
}

/// `struct_verydeep`: structs in structs, each around the one before, down to the deepest.
#[test]
fn very_deep_structs() -> Tested {
    let mut nested = bytes(1);
    for depth in 1..40 {
        nested = Raw::structure(&[(1, 2 * depth, &bytes(1)), (1, 0, &nested)])?;
    }
    let expected = (0..40).rev().map(|depth| 2 * depth);
    assert!(places(&nested).into_iter().eq(expected));
    Ok(())
}

/// `struct_ezhov`, `struct_zero_count`, `struct_empty_el`, `struct_no_real_types`: fields without bytes, among others and alone.
#[test]
fn structs_with_fields_of_nothing() -> Tested {
    let nothing = bytes(4).contiguous(0)?;
    let among =
        Raw::structure(&[(1, 0, &bytes(4)), (2, 50, &nothing), (0, 8, &bytes(4)), (1, 6, &bytes(2))])?;
    assert_eq!(places(&among), [0, 1, 2, 3, 6, 7]);
    assert_eq!((among.lower_bound(), among.extent()), (0, 8));
    let alone = Raw::structure(&[(3, 16, &nothing), (0, 1, &bytes(1))])?;
    assert_eq!((alone.bytes(), alone.extent()), (0, 0));
    Ok(())
}

/// `lbub`: bounds below 0, beyond the bytes, and within them.
#[test]
fn bounds_that_were_said() -> Tested {
    for (low, extent) in [(-3, 9), (0, 6), (6, -9), (1, 2)] {
        let said = bytes(4).resized(low, extent)?;
        assert_eq!((said.lower_bound(), said.extent(), said.origin(), said.span()), (low, extent, 0, 4));
        let three = said.contiguous(3)?;
        let reach = 2 * extent;
        let (lowest, highest) = (low + reach.min(0), low + extent + reach.max(0));
        assert_eq!((three.lower_bound(), three.extent()), (lowest, highest - lowest), "{low} {extent}");
    }
    Ok(())
}

/// `hvecblklen`: blocks of several elements whose extent is more than their bytes.
#[test]
fn blocks_of_elements_with_gaps() -> Tested {
    let element = bytes(2).resized(0, 3)?;
    assert_eq!(places(&element.hvector(2, 3, 10)?), [0, 1, 3, 4, 6, 7, 10, 11, 13, 14, 16, 17]);
    Ok(())
}

/// `darray_pack`, `darray_cyclic`: rows in blocks, columns dealt out in turn.
#[test]
fn shares_of_a_distributed_array() -> Tested {
    let (rows, columns) = (5, 7);
    let mut owners = vec![None; rows * columns];
    for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let dealt = |size, distribution, process| Distributed { size, distribution, processes: 2, process };
        let share = [
            dealt(rows as u64, Distribution::Block, row),
            dealt(columns as u64, Distribution::Cyclic(2), column),
        ];
        for place in places(&bytes(1).darray(&share, Order::C)?) {
            assert_eq!(owners[place].replace((row, column)), None, "nobody else has {place}");
        }
    }
    let owner = |place: usize| Some(((place / columns / 3) as u64, (place % columns / 2 % 2) as u64));
    assert!((0..rows * columns).all(|place| owners[place] == owner(place)));
    Ok(())
}

/// `segtest`, `localpack`: a stream by segments whose ends are those of no block.
#[test]
fn segments_that_end_within_blocks() -> Tested {
    let blocks = bytes(12).vector(50, 1, 2)?;
    let buffer: Vec<u8> = (0..blocks.span()).map(|place| (place * 11) as u8).collect();
    let mut whole = vec![0; 600];
    pack(&blocks, &buffer, &mut whole)?;
    for segment in [1, 5, 7, 64, 599] {
        let mut cursor = Cursor::new(Arc::new(bytes(12).vector(50, 1, 2)?));
        let mut stream = Vec::new();
        while cursor.left() > 0 {
            let mut chunk = vec![0; segment];
            let len = cursor.pack(&buffer, &mut chunk)?;
            stream.extend_from_slice(&chunk[..len]);
        }
        assert_eq!(stream, whole, "by {segment}");
    }
    Ok(())
}

/// The inside of a box with a frame, and the six faces of the frame.
/// One list has a limit, and a layout of several has another one.
#[test]
fn lists_that_are_too_long_for_one_are_joined() -> Tested {
    let places = |first: i64, count: usize| -> Vec<i64> {
        (0..count as i64).map(|at| first + 3 * at + at * at % 2).collect()
    };
    let list = |first, count| Layout::<u8>::indexed_block(1, &places(first, count));
    let (most, second) = (INDICES_MAX, 4 * INDICES_MAX as i64);
    assert!(matches!(list(0, most + 1), Err(LayoutError::TooMany { .. })));
    let both = list(0, most)?.then(&list(second, most)?)?;
    assert_eq!(both.raw().bytes(), 2 * most as u64);
    let (buffer, mut packed) = (vec![3_u8; 8 * most], vec![0; 2 * most]);
    pack(both.raw(), &buffer, &mut packed)?;
    assert!(packed.iter().all(|byte| *byte == 3));
    Ok(())
}

fn parts(edge: usize) -> Vec<Layout<f64>> {
    let points = Dims::new([edge + 2; 3]);
    let (inside, low, high) = (1..=edge, 0..=0, edge + 1..=edge + 1);
    let mut parts = vec![points.select((inside.clone(), inside.clone(), inside.clone()))];
    for end in [low, high] {
        parts.push(points.select((end.clone(), inside.clone(), inside.clone())));
        parts.push(points.select((inside.clone(), end.clone(), inside.clone())));
        parts.push(points.select((inside.clone(), inside.clone(), end)));
    }
    parts
}

#[test]
fn the_parts_of_a_large_box_share_no_byte() {
    for edge in [8, 100, 1000, 3000] {
        let all = parts(edge).iter().try_fold(Raw::bytes_of(0).unwrap(), |all, part| all.then(part)).unwrap();
        assert_eq!(all.check_target(), Ok(()), "edge {edge}");
        let parts = parts(edge);
        let points = Dims::new([edge + 2; 3]);
        let face: Layout<f64> = points.select((1..=edge, 1..=edge, edge));
        for other in &parts[1..] {
            assert_eq!(face.raw().then(other).unwrap().check_target(), Ok(()), "edge {edge}");
        }
        assert!(face.raw().then(&parts[0]).unwrap().check_target().is_err(), "it is of the inside");
    }
}
