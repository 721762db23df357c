//! Errors that others made with derived layouts, each by its name: TEMPI's, and from the public trackers of MPICH, Open MPI and
//! yaksa.

use chare_layout::{LayoutError, Order, Plan, Raw, pack, unpack};

type Tested = Result<(), LayoutError>;

fn bytes(len: u64) -> Raw {
    Raw::bytes_of(len).expect("it fits")
}

fn runs(raw: &Raw) -> Vec<(i64, u64)> {
    raw.runs().collect()
}

/// TEMPI sorts streams by stride.
#[test]
fn order_is_the_type_maps() -> Tested {
    // Long strides inside: by columns.
    let columns = bytes(1).hvector(3, 1, 10)?.resized(0, 1)?.contiguous(2)?;
    assert_eq!(runs(&columns), [(0, 1), (10, 1), (20, 1), (1, 1), (11, 1), (21, 1)]);
    let mut stream = [0; 6];
    pack(&columns, b"ad........be........cf", &mut stream)?;
    assert_eq!(&stream, b"abcdef");
    Ok(())
}

/// TEMPI's Fig. 3: a box of 8 x 3 x 4 bytes of one of 16 x 8 x 9, written in 29 ways, is one value, with one digest.
///
/// The ways are those that TEMPI's programs write, rows by bytes and by floats, planes and boxes by vectors, lists and subarrays, and the same by
/// bounds and by fields.
#[test]
fn a_box_is_one_value_in_whatever_way_it_is_written() -> Tested {
    const ROW: i64 = 16;
    const PLANE: i64 = 16 * 8;
    let steps = |count: i64, distance: i64| (0..count).map(|step| step * distance).collect::<Vec<_>>();
    let fields = |field: &Raw, count: i64, distance: i64| {
        Raw::structure(&steps(count, distance).iter().map(|at| (1, *at, field)).collect::<Vec<_>>())
    };
    let each_row: Vec<i64> = steps(4, PLANE)
        .iter()
        .flat_map(|plane| steps(3, ROW).into_iter().map(move |row| plane + row))
        .collect();
    let [byte, row] = [1, 8].map(bytes);
    let subarray =
        |sizes: &[u64], selected: &[u64]| byte.subarray(sizes, selected, &vec![0; sizes.len()], Order::C);
    let (float, wide) = (bytes(4), row.resized(0, ROW)?);
    let plane = row.hvector(3, 1, ROW)?;
    let square = subarray(&[8, 16], &[3, 8])?;
    let written = [
        ("a vector of bytes, in hvectors", byte.vector(8, 1, 1)?.hvector(3, 1, ROW)?.hvector(4, 1, PLANE)?),
        (
            "a vector of one row, in hvectors",
            byte.vector(1, 8, 16)?.hvector(3, 1, ROW)?.hvector(4, 1, PLANE)?,
        ),
        ("a contiguous row, in hvectors", byte.contiguous(8)?.hvector(3, 1, ROW)?.hvector(4, 1, PLANE)?),
        (
            "a subarray as the row, in hvectors",
            subarray(&[8], &[8])?.hvector(3, 1, ROW)?.hvector(4, 1, PLANE)?,
        ),
        ("floats as the row, in hvectors", float.contiguous(2)?.hvector(3, 1, ROW)?.hvector(4, 1, PLANE)?),
        (
            "an hvector of bytes, in hvectors",
            byte.hvector(8, 1, 1)?.hvector(3, 1, ROW)?.hvector(4, 1, PLANE)?,
        ),
        ("a vector of rows, in an hvector", byte.vector(3, 8, ROW)?.hvector(4, 1, PLANE)?),
        ("a vector of rows of floats, in an hvector", float.vector(3, 2, ROW / 4)?.hvector(4, 1, PLANE)?),
        ("an hvector of rows, in an hvector", byte.hvector(3, 8, ROW)?.hvector(4, 1, PLANE)?),
        ("a plane by an hvector of long rows", plane.hvector(4, 1, PLANE)?),
        ("rows resized, in a vector", wide.contiguous(3)?.hvector(4, 1, PLANE)?),
        ("planes resized, contiguous", plane.resized(0, PLANE)?.contiguous(4)?),
        ("planes resized, in a vector", plane.resized(0, PLANE)?.vector(4, 1, 1)?),
        ("a subarray", subarray(&[9, 8, 16], &[4, 3, 8])?),
        ("a Fortran subarray", byte.subarray(&[16, 8, 9], &[8, 3, 4], &[0; 3], Order::Fortran)?),
        ("a subarray of floats", float.subarray(&[9, 8, 4], &[4, 3, 2], &[0; 3], Order::C)?),
        ("a subarray as the plane, in a vector", square.vector(4, 1, 1)?),
        ("a subarray as the plane, contiguous", square.contiguous(4)?),
        ("a subarray as the plane, in an hvector", square.hvector(4, 1, PLANE)?),
        ("a subarray of subarrays", square.subarray(&[9], &[4], &[0], Order::C)?),
        ("hindexed rows", byte.hindexed(&[8; 12], &each_row)?),
        ("hindexed rows of one length", byte.hindexed_block(8, &each_row)?),
        ("indexed rows", byte.indexed(&[8; 12], &each_row)?),
        ("indexed rows of one length", byte.indexed_block(8, &each_row)?),
        (
            "indexed rows of doubles",
            row.indexed_block(1, &each_row.iter().map(|at| at / 8).collect::<Vec<_>>())?,
        ),
        ("hindexed planes", plane.hindexed(&[1; 4], &steps(4, PLANE))?),
        ("hindexed planes of one length", plane.hindexed_block(1, &steps(4, PLANE))?),
        ("fields of planes", fields(&plane, 4, PLANE)?),
        ("fields of fields of rows", fields(&fields(&row, 3, ROW)?, 4, PLANE)?),
    ];
    assert_eq!(written.len(), 29);
    let expected = byte.hvector(3, 8, ROW)?.hvector(4, 1, PLANE)?.resized(0, 1)?;
    assert_eq!(expected.runs().map(|run| run.0).collect::<Vec<_>>(), each_row);
    for (way, written) in written {
        let written = written.resized(0, 1)?;
        assert_eq!(written, expected, "{way}");
        assert_eq!(written.digest(), expected.digest(), "{way}");
    }
    Ok(())
}

/// TEMPI chooses its word by the block alone.
#[test]
fn grain_counts_strides_and_bases() -> Tested {
    assert_eq!(bytes(8).hvector(5, 1, 16)?.grain(), 8);
    assert_eq!(bytes(8).hvector(5, 1, 12)?.grain(), 4);
    assert_eq!(bytes(8).hvector(5, 1, 16)?.shifted(2)?.grain(), 2);
    assert_eq!(bytes(8).hindexed_block(1, &[0, 24, 31])?.grain(), 1);
    Ok(())
}

/// TEMPI's offsets have 32 bits.
#[test]
fn beyond_4_gib() -> Tested {
    let far = bytes(8).hvector(3, 1, 5 << 30)?;
    assert_eq!(runs(&far), [(0, 8), (5 << 30, 8), (10 << 30, 8)]);
    assert_eq!(far.span(), (10 << 30) + 8);
    let long = bytes(1).contiguous(3 << 32)?.vector(2, 1, 2)?;
    assert_eq!(long.bytes(), 6 << 32);
    assert_eq!(long.runs_within((3 << 32) - 1, 2).collect::<Vec<_>>(), [((3 << 32) - 1, 1), (6 << 32, 1)]);
    assert_eq!(
        far.check_bounds(10 << 30),
        Err(LayoutError::OutOfBounds { origin: 0, end: (10 << 30) + 8, len: 10 << 30 })
    );
    Ok(())
}

/// The same with memory: pages that nobody touches are not there.
#[test]
fn places_beyond_4_gib_are_copied() -> Tested {
    let (stride, list) = (1_usize << 31, [5_i64, 0, 3]);
    let strided = bytes(8).hvector(3, 1, stride as i64)?;
    let listed = bytes(8).hindexed_block(1, &list.map(|place| place << 30))?;
    for (layout, places) in
        [(strided, [0, stride, 2 * stride]), (listed, list.map(|place| (place as usize) << 30))]
    {
        let mut buffer = vec![0; (layout.origin() as u64 + layout.span()) as usize];
        let stream = *b"the first, second, third";
        unpack(&layout, &stream, &mut buffer)?;
        for (place, piece) in places.into_iter().zip(stream.chunks(8)) {
            assert_eq!(&buffer[place..place + 8], piece);
        }
        let mut again = [0; 24];
        pack(&layout, &buffer, &mut again)?;
        assert_eq!(again, stream);
    }
    Ok(())
}

/// Beyond 63 bits it is refused, never wrapped.
#[test]
fn what_does_not_fit_is_refused() {
    let far = |error| matches!(error, Err(LayoutError::TooFar { .. }));
    assert!(far(bytes(8).contiguous(u64::MAX / 4)));
    assert!(far(bytes(8).hvector(3, 1, i64::MAX)));
    assert!(far(bytes(8).vector(2, 1, i64::MAX)));
    assert!(far(bytes(8).shifted(i64::MAX)));
    assert!(far(bytes(8).resized(i64::MIN, -1)));
    assert!(far(bytes(1).subarray(&[u64::MAX, 4], &[1, 1], &[0, 0], Order::C)));
}

/// MPICH #5391, yaksa PR 189: equal distances of starts were taken for contiguity, whatever the lengths.
#[test]
fn lengths_that_vary_are_not_contiguous() -> Tested {
    let varying = bytes(4).indexed(&[1, 3, 2], &[0, 4, 8])?;
    assert_eq!(runs(&varying), [(0, 4), (16, 12), (32, 8)]);
    assert!(!varying.is_contiguous());
    Ok(())
}

/// MPICH #3830, #3846: 21 blocks over a contiguous base.
#[test]
fn twenty_one_lengths_over_a_contiguous_base() -> Tested {
    let lens = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 2, 4, 6, 6, 1, 7, 6, 5, 5, 3];
    let mut places: Vec<i64> = (0..20).map(|block| block * 2).collect();
    places.push(118);
    let base = bytes(4).contiguous(1)?;
    // Some reach beyond the next one's start: packed all the same, and refused as a target.
    let blocks = base.indexed(&lens, &places)?;
    assert_eq!(blocks.bytes(), 4 * lens.iter().sum::<u64>());
    let expected: Vec<u8> = lens
        .iter()
        .zip(&places)
        .flat_map(|(len, at)| (at * 4..(at + *len as i64) * 4).map(|byte| byte as u8))
        .collect();
    let buffer: Vec<u8> = (0..blocks.span()).map(|byte| byte as u8).collect();
    let mut stream = vec![0; expected.len()];
    pack(&blocks, &buffer, &mut stream)?;
    assert_eq!(stream, expected);
    assert!(matches!(blocks.check_target(), Err(LayoutError::Overlaps { .. })));
    Ok(())
}

/// MPICH #1030: a struct of structs came out in another order and in too few pieces.
#[test]
fn a_struct_of_structs_keeps_its_order() -> Tested {
    let row = |at| Raw::structure(&[(1, at, &bytes(4)), (1, at + 4, &bytes(4))]);
    let (first, second) = (row(4)?, row(20)?);
    let last = Raw::structure(&[(1, 12, &bytes(4)), (1, 28, &bytes(4))])?;
    let all = Raw::structure(&[(1, 0, &first), (1, 0, &second), (1, 0, &last)])?;
    assert_eq!(runs(&all), [(4, 8), (20, 8), (12, 4), (28, 4)]);
    Ok(())
}

/// Open MPI #6899: an extent below the size was taken for contiguous.
#[test]
fn an_extent_below_the_size_overlaps() -> Tested {
    let short = bytes(8).resized(0, 4)?.contiguous(3)?;
    assert_eq!(runs(&short), [(0, 8), (4, 8), (8, 8)]);
    let mut stream = [0; 24];
    pack(&short, b"abcdefghijklmnop", &mut stream)?;
    assert_eq!(&stream, b"abcdefghefghijklijklmnop");
    assert!(matches!(unpack(&short, &stream, &mut [0; 16]), Err(LayoutError::Overlaps { .. })));
    Ok(())
}

/// Open MPI #380: a subarray was packed from element 0.
#[test]
fn a_subarray_starts_where_it_says() -> Tested {
    let inner = bytes(1).subarray(&[4, 4], &[2, 2], &[2, 1], Order::C)?;
    let mut stream = [0; 4];
    pack(
        &inner,
        b"................"[..9].iter().chain(b"ab..cd.").copied().collect::<Vec<_>>().as_slice(),
        &mut stream,
    )?;
    assert_eq!(&stream, b"abcd");
    assert_eq!((inner.origin(), inner.lower_bound(), inner.extent()), (9, 0, 16));
    Ok(())
}

/// Open MPI #6575: blocks of no length had bounds.
#[test]
fn blocks_of_no_length_have_no_bounds() -> Tested {
    let some = bytes(4).hindexed(&[0, 1, 0], &[-1000, 8, 1 << 40])?;
    assert_eq!((some.lower_bound(), some.extent(), some.origin(), some.span()), (8, 4, 8, 4));
    let none = bytes(4).hindexed(&[0, 0], &[-1000, 1 << 40])?;
    assert_eq!((none.lower_bound(), none.extent(), none.bytes()), (0, 0, 0));
    Ok(())
}

/// MPICH #2073, #32: data was lost behind a first block of no length.
#[test]
fn a_first_block_of_no_length_loses_nothing() -> Tested {
    let (byte, none) = (bytes(1), bytes(1).contiguous(0)?);
    assert_eq!(runs(&byte.indexed(&[0, 2, 1], &[0, 3, 7])?), [(3, 2), (7, 1)]);
    assert_eq!(runs(&Raw::structure(&[(0, 0, &byte), (1, 0, &none), (2, 4, &byte)])?), [(4, 2)]);
    Ok(())
}

/// MPICH #2218 to #2220: bounds that were said for a subarray stuck to the struct around it.
#[test]
fn bounds_of_a_field_do_not_stick() -> Tested {
    let body = bytes(4).subarray(&[5, 20], &[5, 5], &[0, 5], Order::C)?;
    let both = Raw::structure(&[(1, 0, &bytes(16)), (1, 32, &body)])?;
    assert_eq!((both.lower_bound(), both.extent()), (0, 32 + 400));
    // Example 4.6 of the standard.
    let pair = Raw::structure(&[(1, 0, &bytes(8)), (1, 8, &bytes(1))])?.resized(0, 16)?;
    let all = Raw::structure(&[(2, 0, &bytes(4)), (1, 16, &pair), (3, 26, &bytes(1))])?;
    assert_eq!((all.lower_bound(), all.bytes()), (0, 20));
    assert_eq!(runs(&all), [(0, 8), (16, 9), (26, 3)]);
    Ok(())
}

/// Open MPI #8560: extents of structs were rounded to an alignment that nobody had said.
#[test]
fn an_extent_is_what_was_said() -> Tested {
    let plane = bytes(1).subarray(&[3], &[3], &[0], Order::C)?;
    assert_eq!(Raw::structure(&[(1, 0, &plane)])?.extent(), 3);
    assert_eq!(Raw::structure(&[(1, 0, &bytes(8)), (1, 8, &bytes(1))])?.extent(), 9);
    Ok(())
}

/// Lengths in bytes, not in blocks, decide how much is copied at once: one byte more than a power of two.
#[test]
fn one_more_than_a_power_of_two_is_copied_whole() -> Tested {
    for block in [1_u64, 2, 4, 8, 16, 32, 64].map(|block| block + 1) {
        let laid = bytes(block).hvector(33, 1, block as i64 + 3)?;
        let buffer: Vec<u8> = (0..laid.span()).map(|byte| byte as u8).collect();
        let mut stream = vec![0; laid.bytes() as usize];
        pack(&laid, &buffer, &mut stream)?;
        let expected: Vec<u8> =
            laid.runs().flat_map(|(at, len)| at..at + len as i64).map(|byte| byte as u8).collect();
        assert_eq!(stream, expected);
    }
    Ok(())
}

/// A layout that says 2^40 pieces in a few bytes is told, planned and walked without making them.
#[test]
fn huge_loops_cost_nothing() -> Tested {
    let huge =
        Raw::structure(&[(1, 0, &bytes(4)), (1, 8, &bytes(2))])?.resized(0, 16)?.contiguous(1 << 40)?;
    assert!(huge.encode().len() < 40);
    assert_eq!(Raw::decode(&huge.encode())?, huge);
    assert_eq!(huge.run_count(), 2 << 40);
    assert_eq!(huge.check_target(), Ok(()));
    assert_eq!(huge.runs_within(6 << 39, 6).collect::<Vec<_>>(), [(8 << 40, 4), ((8 << 40) + 8, 2)]);
    assert_eq!(Plan::new(&huge, &huge)?.bytes(), 6 << 40);
    Ok(())
}

/// What no encoding may do: take memory for lists that are not there.
#[test]
fn lists_longer_than_the_bytes_are_refused() {
    for (bytes, why) in [
        (&b""[..], "empty"),
        (&[9, 0][..], "another version"),
        (&[1, 0xff, 0xff, 0xff, 0xff, 0x7f][..], "too many operations"),
        (&[1, 1, 1, 0, 8, 1, 0xff, 0xff, 0xff, 1, 0][..], "too many indices"),
        (&[1, 1, 4, 0, 0][..], "an empty group"),
        (&[1, 1, 0, 0, 8, 7][..], "bytes left over"),
        (&[1, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f][..], "70 bits"),
    ] {
        assert!(Raw::decode(bytes).is_err(), "{why}");
    }
}
