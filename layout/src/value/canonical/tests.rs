//! Each rule of the canonical form by its name.

use crate::value::op::Body;
use crate::{LayoutError, Raw};

fn bytes(len: u64) -> Raw {
    Raw::bytes_of(len).expect("it fits")
}

type Tested = Result<(), LayoutError>;

#[test]
fn counts_of_one_drop() -> Tested {
    assert_eq!(bytes(8).vector(1, 4, 100)?, bytes(8).contiguous(4)?);
    assert_eq!(bytes(8).hvector(1, 1, 7)?.ops[0].loops.len(), 0);
    Ok(())
}

#[test]
fn empty_pieces_vanish() -> Tested {
    let with = bytes(4).indexed(&[0, 2, 0, 1, 0], &[90, 0, -50, 8, 7])?;
    assert_eq!(with, bytes(4).indexed(&[2, 1], &[0, 8])?);
    assert!(bytes(4).contiguous(0)?.ops.is_empty());
    Ok(())
}

#[test]
fn a_loop_melts_into_the_run_not_into_the_extent() -> Tested {
    assert_eq!(bytes(8).vector(5, 2, 2)?, bytes(80));
    let wide = bytes(8).resized(0, 16)?;
    assert_eq!(wide.contiguous(3)?.run_count(), 3);
    Ok(())
}

#[test]
fn loops_that_go_on_fold() -> Tested {
    let rows = bytes(4).resized(0, 8)?.contiguous(6)?.resized(0, 48)?.contiguous(5)?;
    assert_eq!(rows.ops[0].loops.len(), 1);
    assert_eq!(rows.ops[0].loops[0].count, 30);
    Ok(())
}

#[test]
fn structs_splice_in_order() -> Tested {
    let inner = Raw::structure(&[(1, 20, &bytes(8)), (1, 0, &bytes(4))])?;
    let outer = Raw::structure(&[(1, 100, &inner), (1, 0, &bytes(2))])?;
    assert_eq!(outer.runs().collect::<Vec<_>>(), [(120, 8), (100, 4), (0, 2)]);
    assert_eq!(outer.ops.len(), 1, "one list");
    Ok(())
}

#[test]
fn neighbours_melt_where_one_ends_and_the_next_starts() -> Tested {
    let four =
        Raw::structure(&[(1, 0, &bytes(4)), (1, 4, &bytes(8)), (1, 12, &bytes(1)), (1, 14, &bytes(1))])?;
    assert_eq!(four.runs().collect::<Vec<_>>(), [(0, 13), (14, 1)]);
    Ok(())
}

#[test]
fn evenly_spaced_indices_are_a_loop() -> Tested {
    assert_eq!(bytes(8).indexed_block(1, &[1, 4, 7, 10])?, bytes(8).vector(4, 1, 3)?.shifted(8)?);
    let backwards = bytes(8).indexed_block(1, &[6, 3, 0])?;
    assert!(matches!(backwards.ops[0].body, Body::Block(8)));
    Ok(())
}

#[test]
fn blocks_of_one_length_are_indices_whether_they_touch_or_not() -> Tested {
    let body = |raw: &Raw| raw.ops[0].body.clone();
    assert!(matches!(
        body(&bytes(8).indexed_block(1, &[5, 1, 7])?),
        Body::Indexed { block: 8, scale: 16, .. }
    ));
    let touching = bytes(8).indexed_block(1, &[5, 1, 2, 3, 9])?;
    assert!(matches!(body(&touching), Body::Indexed { block: 8, scale: 8, .. }));
    assert_eq!(touching.runs().collect::<Vec<_>>(), [(40, 8), (8, 24), (72, 8)]);
    assert_eq!(touching.run_count(), 3);
    assert_eq!(touching, bytes(8).indexed(&[1, 3, 1], &[5, 1, 9])?, "however it was written");
    let pairs = bytes(8).indexed_block(1, &[0, 1, 5, 6, 8, 9])?;
    assert!(matches!(body(&pairs), Body::Indexed { block: 16, scale: 8, .. }), "none stands alone");
    Ok(())
}

#[test]
fn pieces_are_runs_where_indices_would_take_more_memory() -> Tested {
    let body = |raw: &Raw| raw.ops[0].body.clone();
    // An index has 4 bytes, a piece with its length 16.
    assert!(matches!(body(&bytes(8).indexed(&[1, 7], &[9, 1])?), Body::Indexed { block: 8, .. }));
    assert!(matches!(body(&bytes(8).indexed(&[1, 8], &[10, 1])?), Body::Runs(_)));
    let far = bytes(1).hindexed_block(1, &[0, 3, 1 << 33])?;
    assert!(matches!(body(&far), Body::Runs(_)), "32 bits do not hold it");
    Ok(())
}

#[test]
fn negative_strides_and_stride_0_stay() -> Tested {
    let back = bytes(4).hvector(3, 1, -8)?;
    assert_eq!(back.runs().collect::<Vec<_>>(), [(0, 4), (-8, 4), (-16, 4)]);
    let same = bytes(4).hvector(3, 1, 0)?;
    assert_eq!((same.bytes(), same.span()), (12, 4));
    assert_eq!(same.check_target(), Err(LayoutError::Overlaps { byte: 4 }));
    Ok(())
}

#[test]
fn steps_that_continue_a_loop_extend_it() -> Tested {
    let (first, whole) = (bytes(4).vector(20, 1, 3)?, bytes(4).vector(50, 1, 3)?);
    let second = bytes(4).vector(30, 1, 3)?.shifted(20 * 12)?;
    assert_eq!(first.then(&second)?.ops, whole.ops);
    Ok(())
}

/// A block of 4 x 3 x 6 bytes in an array of 9 x 8 x 16, as programs write it (TEMPI's figure 3, and structures besides).
#[test]
fn a_structure_of_equal_fields_at_even_distances_is_the_loop() -> Tested {
    let (row, plane) = (16, 16 * 8);
    let whole = bytes(1).subarray(&[9, 8, 16], &[4, 3, 6], &[0, 0, 0], crate::Order::C)?.resized(0, 1)?;
    let lines = bytes(6).hvector(3, 1, row)?;
    let by_fields = |field: &Raw, count: i64, distance: i64| {
        let fields: Vec<_> = (0..count).map(|step| (1, step * distance, field)).collect();
        Raw::structure(&fields)
    };
    let square = bytes(1).subarray(&[8, 16], &[3, 6], &[0, 0], crate::Order::C)?;
    let line = by_fields(&bytes(1), 6, 1)?;
    let pair = by_fields(&lines, 2, plane)?;
    let one_more = by_fields(&lines, 3, plane)?.then(&lines.shifted(3 * plane)?)?;
    for (number, written) in [
        lines.hvector(4, 1, plane)?,
        bytes(1).vector(3, 6, row)?.hvector(4, 1, plane)?,
        bytes(1).contiguous(6)?.hvector(3, 1, row)?.hvector(4, 1, plane)?,
        square.contiguous(4)?,
        lines.hindexed_block(1, &[0, 1, 2, 3].map(|step| step * plane))?,
        lines.hindexed(&[1; 4], &[0, 1, 2, 3].map(|step| step * plane))?,
        by_fields(&lines, 4, plane)?,
        by_fields(&square, 4, plane)?,
        by_fields(&by_fields(&bytes(6), 3, row)?, 4, plane)?,
        by_fields(&by_fields(&line, 3, row)?, 4, plane)?,
        by_fields(&pair, 2, 2 * plane)?,
        one_more,
    ]
    .into_iter()
    .enumerate()
    {
        let written = written.resized(0, 1)?;
        assert_eq!(written, whole, "writing {number}");
        assert_eq!(written.digest(), whole.digest(), "writing {number}");
    }
    let planes = by_fields(&bytes(8).vector(100, 1, 3)?, 47, 10_000)?;
    assert_eq!((planes.ops.len(), planes.encode().len() <= 16), (1, true));
    let lists = by_fields(&bytes(8).indexed_block(1, &[5, 1, 7])?, 9, 100)?;
    assert_eq!(lists.ops, bytes(8).indexed_block(1, &[5, 1, 7])?.hvector(9, 1, 100)?.ops);
    Ok(())
}

/// Two of a chessboard's colours would be one loop, whose steps cross.
#[test]
fn selections_that_cross_without_meeting_are_a_target_still() -> Tested {
    let rows = bytes(4).vector(2_000, 1, 2)?.hvector(1_000, 1, 32_000)?;
    let both = rows.then(&rows.shifted(12)?)?;
    assert_eq!(both.ops.len(), 1);
    assert!(both.run_count() > 1 << 20, "too many to look at each");
    both.check_target()
}
