//! Zero-copy ping-pong over every path, and its tables.

use crate::{pass, run};
use chare_tests::Row;

/// Whether the kernel lets processes of this machine copy each other's memory.
fn kernel_copies() -> bool {
    let outcome = run("hello", "+n 2 +lrts cma");
    if outcome.code != Some(0) {
        println!("skipped: pingpong over CMA: {}", outcome.stderr.trim());
    }
    outcome.code == Some(0)
}

#[test]
fn pingpong_verifies_every_path() {
    let kernel_copies = kernel_copies();
    let paths = [
        ("--path memcpy", "both players on PE 0"),
        ("--path memcpy +p 2", "used: same process"),
        ("--path shm +n 2", "used: messages by shm, memory by shared mapping"),
        ("--path cma +n 2 +p 2", "used: messages by shm, memory by CMA"),
        ("--path tcp +n 2", "used: messages by tcp (authenticated), memory by emulated over tcp"),
        ("--path emulated +n 3", "used: messages by shm, memory by emulated over shm"),
        ("+n 2 +nolocal", "path default: PE 0 on node 0 and PE 1 on node 1"),
    ];
    for (path, used) in paths {
        if path.contains("cma") && !kernel_copies {
            continue;
        }
        let said = pass("pingpong", &format!("{path} --verify --min 1 --max 256KiB --iterations 4"));
        assert!(said.contains(used), "{path}: {said}");
        // 19 sizes of 6 ways, each with 5 round trips, the warm-up included.
        assert!(said.contains("verified 1140 transfers"), "{path}: {said}");
    }
}

/// Both tables over a path that is played when it is asked for, every byte checked.
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
fn check_both_tables(play: impl Fn(&str) -> String, path: &str, used: &str) {
    let said = play(&format!("{path} --verify --csv --min 1 --max 256KiB --iterations 4"));
    assert!(said.contains(used) && said.contains("verified 1140 transfers"), "{path}: {said}");
    let charm = "--table charm --min 1024 --max 524288 --iterations 2 --large-iterations 1";
    let said = play(&format!("{path} --verify --csv {charm}"));
    assert!(said.contains(CHARM_COLUMNS) && said.contains("verified 928 transfers"), "{path}: {said}");
}

#[cfg(feature = "ofi")]
#[test]
fn pingpong_prints_both_tables_over_libfabric() {
    for provider in chare_tests::providers(&["tcp;ofi_rxm", "net", "shm", "verbs;ofi_rxm"], "pingpong") {
        let path = format!("--path ofi +n 2 +ofi {provider}");
        let used = format!("used: messages by ofi ({provider}), memory by one-sided access");
        check_both_tables(|arguments| pass("pingpong", arguments), &path, &used);
    }
}

#[cfg(feature = "verbs")]
#[test]
fn pingpong_prints_both_tables_over_rdma_devices() {
    match chare_lrts::verbs::devices() {
        Ok(devices) if !devices.is_empty() => {
            let used = format!("used: messages by verbs ({}), memory by one-sided access", devices[0]);
            check_both_tables(|arguments| pass("pingpong", arguments), "--path verbs +n 2", &used);
        }
        Ok(_) => println!("skipped: pingpong over verbs: no RDMA device"),
        Err(why) => println!("skipped: pingpong over verbs: {why}"),
    }
}

#[cfg(feature = "mpi")]
#[test]
fn pingpong_prints_both_tables_over_each_mpi() {
    let program = chare_tests::Program::example("pingpong").path().display().to_string();
    for launcher in chare_tests::Launcher::of_mpi() {
        let play = |arguments: &str| {
            let outcome = launcher.run(2, &format!("{program} {arguments}"));
            assert_eq!(outcome.code, Some(0), "{launcher} {arguments}: {outcome:?}");
            outcome.stdout
        };
        check_both_tables(play, "--path mpi", "memory by matched messages");
    }
}

#[test]
fn pingpong_without_a_path_plays_over_all() {
    let outcome = run("pingpong", "--csv --max 4KiB --iterations 2");
    let measured = 4 + usize::from(kernel_copies());
    assert_eq!(outcome.code == Some(0), measured == 5, "{outcome:?}");
    let rows = outcome.stdout.lines().filter(|line| line.split(',').count() == 9 && line.contains(",4096,"));
    assert_eq!(rows.count(), measured, "{outcome:?}");
    for path in ["memcpy", "shm", "cma", "tcp", "emulated"] {
        assert!(
            outcome.stderr.lines().any(|line| line.trim_start().starts_with(path)),
            "{path}: {outcome:?}"
        );
    }
}

/// The columns of Charm++'s zero-copy ping-pong behind size and iterations, in its order.
const CHARM_COLUMNS: &str = "regular,entry UNREG,entry REG,entry PREREG,regular+copy,entry+copy,\
    get UNREG,get REG,get PREREG,get reg/dereg,post UNREG,post REG,post PREREG,\
    match UNREG,match REG,match PREREG,register,deregister,reg+dereg,reg+dereg 2";

#[test]
fn pingpong_prints_every_column_of_charm() {
    let kernel_copies = kernel_copies();
    for path in ["memcpy", "memcpy +p 2", "shm +n 2", "cma +n 2", "tcp +n 2", "emulated +n 2"] {
        if path.contains("cma") && !kernel_copies {
            continue;
        }
        let arguments =
            "--table charm --verify --csv --min 1024 --max 524288 --iterations 2 --large-iterations 1";
        let said = pass("pingpong", &format!("{arguments} --path {path}"));
        let mut lines = said.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.next(), Some(&format!("path,bytes,iterations,{CHARM_COLUMNS}")[..]), "{said}");
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        let sizes: Vec<&str> = rows.iter().map(|row| row[1]).collect();
        let expected =
            ["1024", "2048", "4096", "8192", "16384", "32768", "65536", "131072", "262144", "524288"];
        assert_eq!(sizes, expected, "{path}");
        for row in rows {
            assert_eq!(row[2], if row[1] == "524288" { "1" } else { "2" }, "{path}: {row:?}");
            assert_eq!(row.len(), 23, "{path}: {row:?}");
            for time in &row[3..22] {
                assert!(time.parse::<f64>().is_ok_and(|time| time >= 0.0), "{path}: {row:?}");
            }
        }
        // 16 ways; each size has a round trip to warm up.
        assert!(said.contains("verified 928 transfers"), "{path}: {said}");
    }
}

#[test]
fn pingpong_passes_options_on_to_every_path() {
    let outcome = run("pingpong", "--max 2KiB --iterations 1 +stats");
    for path in ["memcpy", "shm", "tcp", "emulated"] {
        assert!(outcome.stdout.contains(&format!("path {path}:")), "{outcome:?}");
    }
    let counters = Row::all(&outcome.stdout).into_iter().filter(|row| row.name == "PE 1");
    assert!(counters.count() >= 4, "each run prints its counters: {outcome:?}");
}

#[test]
fn pingpong_weighs_each_way_in_a_job_of_its_own() {
    for path in ["--path memcpy +p 2", "--path shm +n 2", "--path tcp +n 2"] {
        let said = pass("pingpong", &format!("--footprint --min 8MiB --max 16MiB --csv {path}"));
        let mut lines = said.lines();
        assert_eq!(lines.next(), Some("path,bytes,regular,entry,regular+recv,entry+recv,get,put"), "{path}");
        for (line, buffer) in lines.by_ref().take(2).zip([8.0, 16.0]) {
            let cells: Vec<f64> =
                line.split(',').skip(2).map(|cell| cell.parse().expect("a number")).collect();
            // Each way has two buffers at least, and none has more than the players' and their copies.
            assert!(
                cells.len() == 6 && cells.iter().all(|mebibytes| (buffer..12.0 * buffer).contains(mebibytes)),
                "{said}"
            );
        }
        assert_eq!(lines.next(), None, "{said}");
    }
    let both = run("pingpong", "--footprint --table charm");
    assert!(both.code == Some(2) && both.stderr.contains("cannot be used with"), "{both:?}");
}

#[test]
fn pingpong_draws_its_times() {
    let file = format!("{}/times.svg", env!("CARGO_TARGET_TMPDIR"));
    pass("pingpong", &format!("--path memcpy --max 16KiB --iterations 2 --plot {file}"));
    let picture = std::fs::read_to_string(&file).expect("it was drawn");
    assert!(picture.starts_with("<svg"), "{picture}");
    for word in ["16 KiB", "regular+recv", "put", "one-way microseconds"] {
        assert!(picture.contains(word), "{word}");
    }
}

#[test]
fn pingpong_plays_with_buffers_on_devices() {
    for path in ["--path memcpy +p 2", "+n 2", "+n 2 +nocma", "+n 2 +nolocal"] {
        let sizes = "--min 1 --max 1MiB --iterations 2";
        let said = pass("pingpong", &format!("--memory device +device software {path} --verify {sizes}"));
        assert!(said.contains("buffers on device 0 (software)"), "{path}: {said}");
        // 21 sizes of 2 ways, each with 3 round trips, the warm-up included.
        assert!(said.contains("verified 252 transfers"), "{path}: {said}");
    }
    let none = run("pingpong", "--memory device +p 2 +device none --path memcpy");
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.stderr.contains("no device: "), "{none:?}");
}
