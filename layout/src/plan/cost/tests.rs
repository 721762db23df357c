//! Lines in closed form against lines counted.

use super::lines;
use crate::Raw;
use std::collections::HashSet;

/// Lines touched, on average over all starts that are multiples of `aligned`.
fn counted(raw: &Raw, aligned: usize) -> f64 {
    let starts = (0_i64..64).step_by(aligned);
    let of = |start: i64| {
        let touched = raw.runs().flat_map(|(at, len)| (at + start) / 64..=(at + start + len as i64 - 1) / 64);
        touched.collect::<HashSet<_>>().len() as f64
    };
    starts.clone().map(of).sum::<f64>() / starts.count() as f64
}

#[test]
fn strided_lines_are_those_counted() {
    for (block, stride, count) in
        [(8_u64, 16_i64, 50), (8, 200, 30), (24, 64, 17), (24, 96, 17), (64, 128, 9), (1, 1000, 7)]
    {
        let raw = Raw::bytes_of(block).unwrap().hvector(count, 1, stride).unwrap();
        let aligned = (raw.grain() & raw.grain().wrapping_neg()).min(64) as usize;
        let (closed, counted) = (lines(&raw), counted(&raw, aligned));
        assert!((closed - counted).abs() < 1e-9, "{block} {stride} {count}: {closed}, counted {counted}");
    }
}

#[test]
fn a_face_counts_each_line_once() {
    let face =
        Raw::bytes_of(8).unwrap().subarray(&[10, 10, 10], &[10, 10, 1], &[0, 0, 3], crate::Order::C).unwrap();
    let (closed, counted) = (lines(&face), counted(&face, 8));
    assert!((closed / counted - 1.0).abs() < 0.2, "{closed}, counted {counted}");
}
