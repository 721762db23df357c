//! Lines in closed form against lines counted.

use super::{Method, Rates, lines};
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

#[test]
fn blocks_of_a_list_that_touch_count_their_line_once() {
    let places = [0_i64, 100, 101, 102, 300, 500, 501, 800];
    let touching = Raw::bytes_of(8).unwrap().indexed_block(1, &places).unwrap();
    let aligned = 8;
    assert!((lines(&touching) - counted(&touching, aligned)).abs() < 1e-9);
    let both = Raw::sequence(&[(0, &touching), (100_000, &touching)]).unwrap();
    assert!((lines(&both) - 2.0 * lines(&touching)).abs() < 1e-9);
}

/// Rates of a machine with a second cache of 1 MiB and a last one of 32: lines as copies between two processors took them, the kernel's
/// costs as the bench `layouts` found them.
const RATES: Rates = Rates {
    cache_bytes: [1 << 20, 32 << 20],
    read_line_ns: [0.8, 1.6, 4.0],
    write_line_ns: [1.2, 2.7, 6.0],
    run_ns: 1.0,
    setup_ns: 500.0,
    vector_ns: 150.0,
    vector_byte_ns: 0.067,
    help_ns: 4000.0,
};

/// The quicker one of two ways of 1 MiB by blocks that lie apart, to one piece of memory.
fn quicker(methods: [Method; 2], block: u64, every: i64) -> Method {
    let source = Raw::bytes_of(block).unwrap().vector((1 << 20) / block, 1, every).unwrap();
    RATES.quicker(methods, &source, &Raw::bytes_of(1 << 20).unwrap())
}

#[test]
fn vectors_beat_the_sieve_where_runs_lie_more_than_two_kibibytes_apart() {
    for block in [8_u64, 32, 64, 256, 1024, 4096] {
        for every in [2, 4, 8, 16] {
            let apart = block * every as u64;
            // Between the two the methods take about the same.
            let expected = match apart {
                ..=1024 => Method::Sieve,
                4096.. => Method::Vectors,
                _ => continue,
            };
            let quicker = quicker([Method::Sieve, Method::Vectors], block, every);
            assert_eq!(quicker, expected, "{block} B every {every}");
        }
    }
}

#[test]
fn vectors_beat_packing_from_runs_of_a_page_on() {
    for every in [2, 4, 8, 16] {
        for (block, expected) in [
            (8, Method::Stream),
            (64, Method::Stream),
            (1024, Method::Stream),
            (4096, Method::Vectors),
            (65536, Method::Vectors),
        ] {
            let quicker = quicker([Method::Stream, Method::Vectors], block, every);
            assert_eq!(quicker, expected, "{block} B every {every}");
        }
    }
}

#[test]
fn a_method_takes_what_its_own_rate_says() {
    let source = Raw::bytes_of(8).unwrap().vector(1000, 1, 8).unwrap();
    let target = Raw::bytes_of(8000).unwrap();
    let ns = |method| RATES.method_ns(method, &source, &target);
    assert_eq!(ns(Method::Step), RATES.step_ns(&source, &target));
    assert_eq!(ns(Method::Stream), RATES.stream_ns(&source, &target));
    assert_eq!(ns(Method::Sieve), RATES.sieve_ns(&source, &target));
    assert_eq!(ns(Method::Vectors), RATES.vectors_ns(&source, &target));
    assert_eq!(RATES.quicker([Method::Vectors; 2], &source, &target), Method::Vectors);
}
