//! Jacobi's method in two and three dimensions, in every mode.

use crate::{SHAPES, everywhere, pass, run};
use chare_tests::counted;

#[test]
fn jacobi2d_converges_whatever_the_number_of_blocks() {
    for shape in SHAPES {
        for blocks in [1, 2, 3, 7] {
            let said = pass("jacobi2d", &format!("--columns 30 --rows 12 --blocks {blocks} {shape}"));
            assert!(said.contains("largest error"), "{blocks} blocks, {shape}: {said}");
        }
    }
}

/// The blocks' results: how often they swept, and how large the error is.
fn jacobi2d_finds(arguments: &str) -> (String, String) {
    let said = pass("jacobi2d", arguments);
    let word = |before: &str, after: &str| {
        let line = said.lines().find(|line| line.starts_with(before) && line.contains(after))?;
        line.strip_prefix(before)?.split_once(after).map(|(word, _)| word.to_owned())
    };
    (word("", " iterations in").expect("it says so"), word("largest error ", ",").expect("it says so"))
}

#[test]
fn jacobi2d_finds_what_a_sequential_sweep_finds_in_every_mode() {
    let rectangle = "--columns 40 --rows 21 --accuracy 1e-2";
    // One block on one PE is the sequential program.
    let alone = jacobi2d_finds(&format!("{rectangle} --blocks 1"));
    for mode in ["messages", "posted", "awaited"] {
        for shape in everywhere() {
            for blocks in [2, 5] {
                let arguments = format!("{rectangle} --mode {mode} --blocks {blocks} {shape}");
                assert_eq!(jacobi2d_finds(&arguments), alone, "{arguments}");
            }
        }
    }
}

#[test]
fn jacobi2d_takes_as_many_iterations_over_every_path() {
    // Edges of 300 points are read in place where they can be, and travel with their message elsewhere.
    let iterations = |path: &str| {
        let said = pass("jacobi2d", &format!("--columns 600 --rows 6 --blocks 2 {path}"));
        said.lines().find_map(|line| Some(line.split_once(" iterations")?.0.to_owned())).expect("it says so")
    };
    let alone = iterations("");
    for path in ["+p 2", "+n 2", "+n 2 +nocma", "+n 2 +noshm", "+n 2 +nolocal", "+n 2 +lrts emulated"] {
        assert_eq!(iterations(path), alone, "{path}");
    }
}

#[test]
fn stencil3d_finds_what_a_sequential_sweep_finds_in_every_mode() {
    for mode in ["messages", "view", "posted", "awaited"] {
        for shape in everywhere() {
            // One block from bottom to top: it is its own neighbour, on both sides.
            let said =
                pass("stencil3d", &format!("8 12 16 4 12 8 --iterations 7 --verify --mode {mode} {shape}"));
            assert!(
                said.contains("Every block is what one process alone computes"),
                "{mode} {shape}: {said}"
            );
        }
    }
}

/// The copies by layouts of all nodes, as `+stats` tells: from layout to layout, packed, sieved, by vectors.
fn copies_by_layouts(said: &str) -> [u64; 4] {
    ["stepped", "packed", "sieved", "vectored"].map(|name| counted(said, name))
}

#[test]
fn stencil3d_copies_a_posted_face_once_and_a_viewed_one_not_at_all() {
    // Faces of 8 KiB, which no path between processes sends along with a message.
    let faces = 8 * 6 * 10;
    for shape in ["+p 2", "+n 4"] {
        for (mode, stepped) in [("posted", faces), ("view", 0), ("awaited", 0)] {
            let said =
                pass("stencil3d", &format!("64 32 --iterations 10 --verify --mode {mode} +stats {shape}"));
            assert_eq!(copies_by_layouts(&said), [stepped, 0, 0, 0], "{mode} {shape}: {said}");
        }
    }
    let said = pass("stencil3d", "64 32 --iterations 10 --verify --mode posted +stats +n 4 +nolocal");
    let [stepped, packed, sieved, vectored] = copies_by_layouts(&said);
    assert_eq!((stepped, sieved, vectored), (faces, 0, 0), "from what came, into the frame: {said}");
    assert!(packed > 0, "faces that leave the process are packed for the way: {said}");
}

#[test]
fn stencil3d_finds_the_same_by_each_method_that_reads_what_the_kernel_copies() {
    if run("hello", "+n 2 +lrts cma").code != Some(0) {
        return eprintln!("skipped: the kernel does not copy between processes here");
    }
    // What is packed is one piece, which is read as a whole and copied to where it belongs.
    for (method, expected) in
        [("pack", [true, true, false]), ("sieve", [false, true, false]), ("vectors", [false, false, true])]
    {
        let arguments =
            format!("64 32 --iterations 10 --verify --mode posted +stats +n 2 +lrts cma +layouts {method}");
        let said = pass("stencil3d", &arguments);
        let [_, packed, sieved, vectored] = copies_by_layouts(&said);
        assert_eq!([packed, sieved, vectored].map(|count| count > 0), expected, "{method}: {said}");
    }
}
