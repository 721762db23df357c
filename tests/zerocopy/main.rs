//! Charm++'s zero-copy tests and examples, ported, each run over every path and on 1, 2, 4 and 6 PEs. Of the shapes over libfabric and MPI each
//! program has half.
//!
//! The programs check themselves; here they must end well and say that they are done. Those of Charm++'s `tests/charm++/zerocopy` lie
//! beside this file under their names there, those of its `examples/charm++/zerocopy` among the examples.
//!
//! Left out: `pup_buffer`, which needs elements that migrate.

use chare_tests::Program;
use std::ffi::OsStr;
use std::sync::LazyLock;

/// Which of two shapes is a program's, by its name: to start libfabric or MPI takes up to a second, so programs share the shapes among them.
fn turn(program: &Program) -> usize {
    program.path().file_name().map_or(0, OsStr::len) % 2
}

/// Ways to lay a job out over so many PEs: in one process, and in several over each path between them. Instead of these,
/// `CHARE_TEST_LAYOUTS` may name others, with `;` between them: over networks that are not everywhere.
fn layouts(program: &Program) -> Vec<String> {
    if let Ok(named) = std::env::var("CHARE_TEST_LAYOUTS") {
        return named.split(';').map(str::to_owned).collect();
    }
    let mut layouts: Vec<String> = [1, 2, 4, 6].map(|pes| format!("+p {pes}")).into();
    let between =
        ["+lrts shm +nocma", "+lrts cma", "+lrts tcp +nolocal", "+lrts emulated"].into_iter().enumerate();
    for (position, path) in between {
        if path.contains("lrts cma") && !*KERNEL_COPIES {
            continue;
        }
        // Pure processes and mixes of processes and PEs take turns.
        let shapes =
            if position % 2 == 0 { ["+n 2", "+n 4", "+n 3 +p 2"] } else { ["+n 2", "+n 2 +p 2", "+n 6"] };
        layouts.extend(shapes.map(|shape| format!("{shape} {path}")));
    }
    layouts.extend(over_libfabric(turn(program)));
    layouts
}

/// Two providers of this machine, each with a shape.
#[cfg(feature = "ofi")]
fn over_libfabric(turn: usize) -> Vec<String> {
    let here = chare_tests::providers(&["tcp;ofi_rxm", "net", "shm"], "ports");
    let shapes =
        [[("tcp;ofi_rxm", "+n 2 +p 2"), ("net", "+n 2")], [("tcp;ofi_rxm", "+n 4"), ("shm", "+n 3")]][turn];
    let shapes = shapes.into_iter().filter(|(provider, _)| here.contains(provider));
    shapes.map(|(provider, shape)| format!("{shape} +lrts ofi +ofi {provider}")).collect()
}

#[cfg(not(feature = "ofi"))]
fn over_libfabric(_: usize) -> Vec<String> {
    Vec::new()
}

/// Whether the kernel lets processes of this machine copy each other's memory: asked once, by whoever wants to know.
static KERNEL_COPIES: LazyLock<bool> = LazyLock::new(|| {
    let outcome = Program::binary(env!("CARGO_BIN_EXE_direct_api")).run("2 +n 2 +lrts cma");
    if outcome.code != Some(0) {
        println!("skipped: ports over CMA: {}", outcome.stderr.trim());
    }
    outcome.code == Some(0)
});

/// Runs a program on every layout; each run must succeed and say `expected`, once.
#[track_caller]
fn pass_everywhere(program: &Program, arguments: &str, expected: &str) {
    for layout in layouts(program) {
        let said = program.pass(&format!("{arguments} {layout}"));
        assert_eq!(said.matches(expected).count(), 1, "`{arguments} {layout}`: {said}");
    }
    #[cfg(feature = "mpi")]
    pass_over_mpi(program, arguments, expected);
}

/// The same under the launchers of both MPIs.
#[cfg(feature = "mpi")]
#[track_caller]
fn pass_over_mpi(program: &Program, arguments: &str, expected: &str) {
    for (position, launcher) in chare_tests::Launcher::of_mpi().into_iter().enumerate() {
        let (processes, pes) = [(2, 2), (4, 1)][(position + turn(program)) % 2];
        let command = format!("{} {arguments} +p {pes} +lrts mpi", program.path().display());
        let outcome = launcher.run(processes, &command);
        assert_eq!(outcome.code, Some(0), "{launcher} {command}: {outcome:?}");
        assert_eq!(outcome.stdout.matches(expected).count(), 1, "{launcher} {command}: {outcome:?}");
    }
}

macro_rules! ported_tests {
    ($($name:ident: $program:ident $arguments:literal => $expected:literal;)*) => {
        $(#[test]
        fn $name() {
            let program = Program::binary(env!(concat!("CARGO_BIN_EXE_", stringify!($program))));
            pass_everywhere(&program, $arguments, $expected);
        })*
    };
}

macro_rules! ported_examples {
    ($($name:ident: $program:ident $arguments:literal => $expected:literal;)*) => {
        $(#[test]
        fn $name() {
            pass_everywhere(&Program::example(stringify!($program)), $arguments, $expected);
        })*
    };
}

ported_tests! {
    bcast_nonzero_root: bcast_nonzero_root "" => "source PEs completed";
    bcast_subset_async_early: bcast_subset_async "early" => "All bcast tests have successfully completed";
    bcast_subset_async_delayed: bcast_subset_async "delayed" => "All bcast tests have successfully completed";
    dereg_and_nodereg: dereg_and_nodereg "10" => "Test 4 completed";
    direct_api: direct_api "60" => "Test 1 (direct API with a smaller source, get and put) completed";
    large_bcast: large_bcast "200000 10" => "All recipients have received the data";
    large_p2p: large_p2p "1000000" => "large put done";
    post_and_match_early: post_and_match "early" => "All bcast tests have successfully completed";
    post_and_match_sync: post_and_match "sync" => "All bcast tests have successfully completed";
    post_and_match_delayed: post_and_match "delayed" => "All bcast tests have successfully completed";
    zc_post_modify_size: zc_post_modify_size "" => "All tests have successfully completed";
    zerocopy_with_qd: zerocopy_with_qd "10 --readonly 300000" => "reached for a broadcast that is posted";
}

ported_examples! {
    get_put_pingpong: get_put_pingpong "20" => "Result validated!";
    large_readonly: large_readonly "300000" => "Verified successful readonly transfer";
    multiple_posted_buffers: multiple_posted_buffers "32" => "All sending completed and result validated";
    nodegroup_test: nodegroup_test "" => "All sending completed and result validated";
    simple_bcast: simple_bcast "--len 100000" => "All operations completed";
    simple_bcast_post: simple_bcast_post "" => "All operations completed";
    simple_get: simple_get "20" => "Get validated!";
    simple_put: simple_put "20" => "Put validated!";
    simple_vec: simple_vec "32" => "All sending and receiving of vectors is complete";
    simple_zero_copy: simple_zero_copy "32" => "All sending completed and result validated";
    simple_zero_copy_post: simple_zero_copy "32 --post" => "All sending completed and result validated";
    stencil3d: stencil3d "16 24 32 8 8 16 --iterations 10 --verify" => "Every block is what one process alone computes";
    zcpy_immediate: zcpy_immediate "20" => "All gets and puts have completed";
}

/// The examples that Charm++ has once for each mode of registration.
#[test]
fn examples_in_every_mode() {
    if std::env::var_os("CHARE_TEST_LAYOUTS").is_some() {
        println!(
            "skipped: all modes of registration of all examples: they are for the paths of every machine"
        );
        return;
    }
    let paths = [
        "+p 2",
        "+n 2 +lrts shm +nocma",
        "+n 2 +lrts cma",
        "+n 2 +p 2 +lrts tcp +nolocal",
        "+n 2 +lrts emulated",
    ];
    for (example, arguments, expected) in [
        ("get_put_pingpong", "100000", "Result validated!"),
        ("nodegroup_test", "", "All sending completed and result validated"),
        ("simple_bcast", "--len 100000", "All operations completed"),
        ("simple_bcast_post", "", "All operations completed"),
        ("simple_get", "100000", "Get validated!"),
        ("simple_put", "100000", "Put validated!"),
        ("simple_zero_copy", "8", "All sending completed and result validated"),
        ("simple_zero_copy", "8 --post", "All sending completed and result validated"),
        ("stencil3d", "16 8 --iterations 3 --verify", "Every block is what one process alone computes"),
        (
            "stencil3d",
            "16 8 --iterations 3 --verify --mode posted",
            "Every block is what one process alone computes",
        ),
    ] {
        let program = Program::example(example);
        for path in paths.iter().filter(|path| *KERNEL_COPIES || !path.contains("lrts cma")) {
            for registration in ["unreg", "reg", "prereg"] {
                let said = program.pass(&format!("{arguments} --registration {registration} {path}"));
                assert!(
                    said.contains(expected),
                    "{example} {arguments} --registration {registration} {path}: {said}"
                );
            }
        }
    }
}

/// Sizes that need more than 31 bits, and more than 32; between two processes over each path.
#[test]
#[ignore = "moves tens of gigabytes: run it in release, on a machine with 24 GiB"]
fn large_p2p_beyond_4_gib() {
    let program = Program::binary(env!("CARGO_BIN_EXE_large_p2p"));
    for layout in layouts(&program).iter().filter(|layout| ["+p 2", "+n 2"].contains(&&layout[..4])) {
        for bytes in [(2u64 << 30) + 5, (4u64 << 30) + 5] {
            let said = program.pass(&format!("{bytes} {layout}"));
            assert!(said.contains("large put done"), "{bytes} {layout}: {said}");
        }
    }
}

#[test]
#[ignore = "moves tens of gigabytes: run it in release, on a machine with 24 GiB"]
fn large_bcast_beyond_2_gib() {
    let program = Program::binary(env!("CARGO_BIN_EXE_large_bcast"));
    for layout in layouts(&program).iter().filter(|layout| ["+p 2", "+n 2"].contains(&&layout[..4])) {
        let said = program.pass(&format!("{} 1 {layout}", (2u64 << 30) + 5));
        assert!(said.contains("All recipients have received the data"), "{layout}: {said}");
    }
}
