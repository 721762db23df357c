//! Sides that make layouts, compare them and take their digests.

use crate::samples::{BATCHES, measure};
use crate::shape::{GRID, INSIDE, Shape};
use chare_benches::Batches;
use chare_layout::{Dims, Layout, LayoutError, Raw};
use sha2::{Digest, Sha256};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Values made in one batch.
pub(crate) const STRIDED: u64 = 20_000;

/// Lists walked in one batch: each is of a quarter of a million indices.
const LISTS: u64 = 4;

/// What a strided value takes in memory, its count of owners included.
pub(crate) fn value_bytes() -> usize {
    size_of::<Raw>() + 2 * size_of::<usize>()
}

pub(crate) fn play(what: &str) -> Option<io::Result<()>> {
    let result = match what {
        "vector" => measure(STRIDED, || {
            black_box(Layout::<f64>::vector(black_box(1000), black_box(1), black_box(20))?);
            Ok(())
        }),
        "face" => measure(STRIDED, || {
            let grid = Dims::new(black_box([GRID; 3]));
            black_box(grid.try_select::<f64>((1..=INSIDE, 1..=INSIDE, black_box(INSIDE)))?);
            Ok(())
        }),
        "allocation" => measure(STRIDED, || {
            black_box(Arc::new(black_box([0_u8; size_of::<Raw>()])));
            Ok(())
        }),
        "list" => {
            let places = places();
            for_lists(|| list(black_box(&places)).map(drop))
        }
        "copy" => {
            let places = places();
            for_lists(|| {
                black_box(black_box(&places).clone());
                Ok(())
            })
        }
        "equality" => {
            let (one, other) = (places(), places());
            list(&one).and_then(|one| {
                let other = list(&other)?;
                for_lists(|| {
                    assert!(black_box(&one) == black_box(&other), "they are of the same indices");
                    Ok(())
                })
            })
        }
        "comparison" => {
            let (one, other) = (Shape::Shuffled.indices(), Shape::Shuffled.indices());
            for_lists(|| {
                assert!(black_box(&one) == black_box(&other), "they are of the same indices");
                Ok(())
            })
        }
        "digest" => digests(),
        "sha256" => {
            let bytes: Vec<u8> = Shape::Shuffled.indices().into_iter().flat_map(u32::to_le_bytes).collect();
            for_lists(|| {
                black_box(Sha256::digest(black_box(&bytes)));
                Ok(())
            })
        }
        _ => return None,
    };
    Some(result.map_err(io::Error::other))
}

fn places() -> Vec<i64> {
    Shape::Shuffled.indices().into_iter().map(i64::from).collect()
}

fn list(places: &[i64]) -> Result<Layout<f64>, LayoutError> {
    Layout::indexed_block(1, places)
}

/// Tells the time of `walk` for each index.
pub(crate) fn for_lists<E>(mut walk: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    let indices = places().len() as u64;
    let mut result = Ok(());
    Batches { operations: LISTS * indices, count: BATCHES }.run(|_| {
        let began = Instant::now();
        for _ in 0..LISTS {
            if result.is_ok() {
                result = walk();
            }
        }
        began.elapsed()
    });
    result
}

/// A value takes its digest once, so that each time is that of a new one.
fn digests() -> Result<(), LayoutError> {
    let places = places();
    let mut result = Ok(());
    Batches { operations: places.len() as u64, count: BATCHES }.run(|_| match list(&places) {
        Ok(list) => {
            let began = Instant::now();
            black_box(list.digest());
            began.elapsed()
        }
        Err(error) => {
            result = Err(error);
            Duration::ZERO
        }
    });
    result
}
