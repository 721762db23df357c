//! The kernel of `stencil2d`, compiled for the host and run thread by thread, beside the sweep of the example: the same bits.

use crate::field::Size;
use crate::sweep::Parts;
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
int main(int, char** words) {
    const i64 rows = 5, columns = 7;
    int have = atoi(words[1]);
    static double points[9][35], swept[35];
    Parts parts;
    for (int part = 0; part < 9; part++) {
        for (int at = 0; at < 35; at++) points[part][at] = (part * 100 + at * 37 % 101) / 7.0;
        parts.part[part] = have >> part & 1 ? points[part] : nullptr;
    }
    for (unsigned block = 0; block < 4; block++)
        for (unsigned thread = 0; thread < 16; thread++) {
            blockIdx = {block % 2, block / 2}, threadIdx = {thread % 4, thread / 4};
            sweep(parts, swept, rows, columns);
        }
    for (double point : swept) {
        unsigned long long bits;
        memcpy(&bits, &point, sizeof bits);
        printf("%llu\n", bits);
    }
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
    let len = SIZE.rows * SIZE.columns;
    let points: Vec<Vec<f64>> =
        (0..9).map(|part| (0..len).map(|at| (part * 100 + at * 37 % 101) as f64 / 7.0).collect()).collect();
    // All parts, the tile alone, a corner of the field, and an edge of it.
    for have in [0b1_1111_1111, 0b0_0001_0000, 0b1_1011_0000, 0b1_1111_1000] {
        let said = Command::new(&program).arg(have.to_string()).output().expect("it was compiled");
        let said = String::from_utf8(said.stdout).expect("digits");
        let parts = std::array::from_fn(|part| (have >> part & 1 == 1).then_some(&points[part][..]));
        let expected = Parts::new(SIZE, parts).swept();
        assert!(
            said.lines().eq(expected.iter().map(|point| point.to_bits().to_string())),
            "{have:b}: {said}"
        );
    }
}
