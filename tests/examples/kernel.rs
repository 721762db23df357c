//! The kernels of `stencil2d`, compiled for the host and run thread by thread, beside the sweep of the example: the same bits, in both precisions.

use crate::field::Size;
use crate::sweep::{Parts, Real};
use std::ops::Div;
use std::path::Path;
use std::process::Command;

/// A tile smaller than a block of threads, so that some have no point.
const SIZE: Size = Size { rows: 5, columns: 7 };

/// What the source needs of CUDA, where threads are calls; says the bits of all points. It is told which parts there are.
const HOST: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define __device__
#define __global__
struct Dim { unsigned x, y; };
static Dim blockIdx, threadIdx, blockDim = {4, 4};
#include "sweep.cu"
template <typename T, typename Bits>
void say(void (*kernel)(Parts<T>, T*, i64, i64), int have) {
    const i64 rows = 5, columns = 7;
    static T points[9][35], swept[35];
    Parts<T> parts;
    for (int part = 0; part < 9; part++) {
        for (int at = 0; at < 35; at++) points[part][at] = T(part * 100 + at * 37 % 101) / T(7);
        parts.part[part] = have >> part & 1 ? points[part] : nullptr;
    }
    for (unsigned block = 0; block < 4; block++)
        for (unsigned thread = 0; thread < 16; thread++) {
            blockIdx = {block % 2, block / 2}, threadIdx = {thread % 4, thread / 4};
            kernel(parts, swept, rows, columns);
        }
    for (T point : swept) {
        Bits bits;
        memcpy(&bits, &point, sizeof bits);
        printf("%llu\n", (unsigned long long)bits);
    }
}
int main(int, char** words) {
    int have = atoi(words[1]);
    if (words[2][0] == 's')
        say<float, unsigned>(sweep_single, have);
    else
        say<double, unsigned long long>(sweep, have);
}
"#;

#[test]
fn the_kernel_of_stencil2d_has_the_bits_of_its_sweep() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("host.cpp"), folder.path().join("host"));
    std::fs::write(&source, HOST).expect("a file");
    let kernels = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/stencil2d");
    let options = ["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Werror", "-I", kernels, "-o"];
    match Command::new("c++").args(options).args([&program, &source]).status() {
        Ok(status) => assert!(status.success(), "the kernel is C++"),
        Err(error) => {
            println!("skipped: the kernel on the host: c++: {error}");
            return;
        }
    }
    compare::<f64>(&program, "double", |point| point.to_bits());
    compare::<f32>(&program, "single", |point| point.to_bits().into());
}

/// Compares the bits that the kernel says with those of the sweep.
fn compare<R: Real + Div<Output = R> + From<u16>>(program: &Path, precision: &str, bits: impl Fn(&R) -> u64) {
    let len = (SIZE.rows * SIZE.columns) as u16;
    let point = |part: u16, at: u16| R::from(part * 100 + at * 37 % 101) / R::from(7_u8);
    let points: Vec<Vec<R>> = (0..9).map(|part| (0..len).map(|at| point(part, at)).collect()).collect();
    // All parts, the tile alone, a corner of the field, and an edge of it.
    for have in [0b1_1111_1111, 0b0_0001_0000, 0b1_1011_0000, 0b1_1111_1000] {
        let said = Command::new(program).args([&have.to_string(), precision]).output();
        let said = String::from_utf8(said.expect("it was compiled").stdout).expect("digits");
        let parts = std::array::from_fn(|part| (have >> part & 1 == 1).then_some(&points[part][..]));
        let expected = Parts::new(SIZE, parts).swept();
        assert!(
            said.lines().eq(expected.iter().map(|point| bits(point).to_string())),
            "{precision}, {have:b}: {said}"
        );
    }
}
