//! Every example, run as a user runs it: in one process and in several, and with mistakes on the command line.

use chare_tests::{Outcome, Program};

fn run(example: &str, arguments: &str) -> Outcome {
    Program::example(example).run(arguments)
}

#[track_caller]
fn pass(example: &str, arguments: &str) -> String {
    Program::example(example).pass(arguments)
}

/// One process and several, one PE and several, fewer and more PEs than any machine of ours has cores.
const SHAPES: [&str; 5] = ["", "+p 3", "+n 2", "+n 2 +p 2", "+n 4 +p 3"];

#[test]
fn hello_greets_from_every_pe() {
    for (shape, pes) in SHAPES.into_iter().zip([1, 3, 2, 4, 12]) {
        let said = pass("hello", shape);
        for pe in 0..pes {
            let greeting = format!("Hello from PE {pe} on node");
            assert_eq!(said.lines().filter(|line| line.starts_with(&greeting)).count(), 1, "{shape}: {said}");
        }
        assert!(said.contains(&format!("{pes} of {pes} PEs said hello")), "{shape}: {said}");
    }
}

#[test]
fn ring_counts_every_hop() {
    for shape in SHAPES {
        let said = pass("ring", &format!("--elements 7 --rounds 50 {shape}"));
        assert!(said.contains("350 hops over 7 elements"), "{shape}: {said}");
        assert!(said.contains("visited 50 to 50 times"), "{shape}: {said}");
    }
}

#[test]
fn fib_computes_the_number() {
    for shape in SHAPES {
        let said = pass("fib", &format!("--n 20 --grain 12 {shape}"));
        assert!(said.contains("fib(20) = 6765,"), "{shape}: {said}");
    }
    assert!(pass("fib", "--n 0").contains("fib(0) = 0,"));
}

#[test]
fn queens_finds_all_ways_in_any_order() {
    for shape in shapes_and_orders() {
        let said = pass("queens", &format!("--queens 9 --grain 5 {shape}"));
        assert!(said.contains("352 ways to place 9 queens"), "{shape}: {said}");
    }
    assert!(pass("queens", "--queens 1 --grain 0").contains("1 ways"));
}

#[test]
fn primes_are_counted_whatever_the_ranges() {
    for shape in SHAPES {
        for range in [7, 500, 1_000_000] {
            let said = pass("primes", &format!("--limit 10000 --range {range} {shape}"));
            assert!(said.contains("1229 primes below 10000"), "{shape}: {said}");
        }
    }
    assert!(pass("primes", "--limit 0").contains("0 primes below 0"));
}

/// Shapes, in the order of messages and in two others.
fn shapes_and_orders() -> impl Iterator<Item = String> {
    SHAPES
        .into_iter()
        .flat_map(|shape| ["", "+shuffle 1", "+shuffle 2"].map(|order| format!("{shape} {order}")))
}

#[test]
fn kneighbor_gets_every_answer() {
    for shape in shapes_and_orders() {
        let said = pass("kneighbor", &format!("--elements 7 --neighbours 2 --bytes 300 --rounds 20 {shape}"));
        assert!(said.contains("560 of 560 answers are right"), "{shape}: {said}");
    }
    // More neighbours than elements: some are asked twice, and an element asks itself.
    pass("kneighbor", "--elements 2 --neighbours 3 --bytes 0 --rounds 5 +n 2");
    pass("kneighbor", "--elements 1 --rounds 0");
}

#[test]
fn alltoall_loses_nothing() {
    for shape in shapes_and_orders() {
        for how in ["", "--aggregate"] {
            let said = pass("alltoall", &format!("--messages 300 --burst 7 {how} {shape}"));
            assert!(said.contains("messages among"), "{shape}: {said}");
        }
    }
}

/// What the lines of `+stats` say that they counted under this name, together.
fn counted(said: &str, name: &str) -> u64 {
    let counts = said.lines().filter(|line| line.contains(" entries ")).map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != name);
        words.nth(1).and_then(|word| word.parse::<u64>().ok()).expect("a number after its name")
    });
    counts.sum()
}

#[test]
fn calls_that_travel_together_share_messages_and_inside_a_process_encode_nothing() {
    for (shape, pairs) in [("+p 2", 4), ("+n 2", 4), ("+n 2 +p 3", 36)] {
        let alone = pass("alltoall", &format!("--messages 3000 +stats {shape}"));
        assert!(counted(&alone, "sent") >= pairs * 3000, "{shape}: {alone}");
        let together = pass("alltoall", &format!("--messages 3000 --aggregate +stats {shape}"));
        assert!(counted(&together, "entries") >= pairs * 3000, "{shape}: {together}");
        assert!(counted(&together, "sent") < pairs * 3000 / 4, "{shape}: {together}");
        assert!(shape != "+p 2" || counted(&together, "encodes") == 0, "{shape}: {together}");
    }
}

#[test]
fn sssp_finds_what_dijkstra_finds() {
    for shape in shapes_and_orders() {
        for graph in ["--vertices 3000 --degree 5", "--vertices 500 --degree 1 --weight 1 --blocks 7"] {
            let said = pass("sssp", &format!("{graph} {shape}"));
            assert!(said.contains("as Dijkstra's algorithm finds it"), "{shape}: {said}");
        }
    }
    // More blocks than vertices, and nobody to reach.
    pass("sssp", "--vertices 3 --blocks 8 --degree 0 +n 2");
}

#[test]
fn uts_counts_the_trees_that_are_published() {
    let t3 = "4112897 nodes, 3599034 leaves, depth 1572";
    for shape in ["+p 2", "+n 2"] {
        let said = pass("uts", shape);
        assert!(said.contains(t3), "{shape}: {said}");
    }
    for shape in shapes_and_orders() {
        pass("uts", &format!("--root 60 --grain 20 {shape}"));
    }
    let endless = run("uts", "--probability 0.2");
    assert_eq!(endless.code, Some(1), "{endless:?}");
    assert!(endless.stderr.contains("lower --probability"), "{endless:?}");
}

#[test]
fn kmeans_finds_the_same_centres_on_any_number_of_pes() {
    for shape in shapes_and_orders() {
        let said = pass("kmeans", &format!("--points 300 --chares 9 {shape}"));
        assert!(said.contains("7 centres of 2700 points"), "{shape}: {said}");
    }
}

#[test]
fn life_grows_beyond_any_bounds() {
    for shape in shapes_and_orders() {
        let said = pass("life", &format!("--generations 30 {shape}"));
        assert!(said.contains("cells live after 30 generations"), "{shape}: {said}");
    }
}

#[test]
fn wave2d_computes_and_draws_the_same_waves_everywhere() {
    for shape in shapes_and_orders() {
        let said = pass("wave2d", &format!("--tiles 3 --points 9 --steps 40 --every 15 {shape}"));
        assert!(said.contains("as on one"), "{shape}: {said}");
    }
    pass("wave2d", "--tiles 1 --points 1 --steps 3 +n 2");
    let folder = tempfile::tempdir().expect("a folder");
    pass("wave2d", &format!("--steps 20 --every 10 --pictures {}", folder.path().display()));
    for picture in ["wave-000010.png", "wave-000020.png"] {
        let bytes = std::fs::read(folder.path().join(picture)).expect("it was drawn");
        assert!(bytes.starts_with(b"\x89PNG"), "{picture}");
    }
    let nowhere = run("wave2d", "--pictures /no-such-place");
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.stderr.contains("no picture in /no-such-place"), "{nowhere:?}");
}

#[test]
fn elements_meet_in_every_way() {
    for shape in SHAPES {
        for elements in [1, 2, 10, 33] {
            let said = pass("collectives", &format!("--elements {elements} {shape}"));
            assert!(said.contains(&format!("{elements} elements met at a barrier")), "{shape}: {said}");
            let some = u64::div_ceil(elements, 2);
            assert!(said.contains(&format!("{some} elements of a section")), "{shape}: {said}");
        }
    }
    pass("collectives", "+shuffle 3 +n 2 +p 2");
}

#[test]
fn a_shuffled_program_says_its_seed() {
    for shape in ["", "+n 2 +p 2"] {
        let outcome = run("fib", &format!("--n 18 --grain 8 +shuffle 77 {shape}"));
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert_eq!(outcome.stderr.matches("from the seed 77").count(), 1, "{outcome:?}");
    }
}

#[test]
fn jacobi2d_converges_whatever_the_number_of_blocks() {
    for shape in SHAPES {
        for blocks in [1, 2, 3, 7] {
            let said = pass("jacobi2d", &format!("--columns 30 --rows 12 --blocks {blocks} {shape}"));
            assert!(said.contains("largest error"), "{blocks} blocks, {shape}: {said}");
        }
    }
}

/// What the blocks found: how often they swept, and how large the error is.
fn jacobi2d_finds(arguments: &str) -> (String, String) {
    let said = pass("jacobi2d", arguments);
    let word = |before: &str, after: &str| {
        let line = said.lines().find(|line| line.starts_with(before) && line.contains(after))?;
        line.strip_prefix(before)?.split_once(after).map(|(word, _)| word.to_owned())
    };
    (word("", " iterations in").expect("it says so"), word("largest error ", ",").expect("it says so"))
}

#[test]
fn jacobi2d_finds_what_a_sequential_sweep_finds_in_every_style() {
    let rectangle = "--columns 40 --rows 21 --accuracy 1e-4";
    // One block on one PE is the sequential program.
    let alone = jacobi2d_finds(&format!("{rectangle} --blocks 1"));
    for style in ["posted", "awaited"] {
        for shape in SHAPES.into_iter().chain(["+shuffle 1", "+n 2 +nolocal", "+n 2 +p 2 +shuffle 2"]) {
            for blocks in [1, 2, 5] {
                let arguments = format!("{rectangle} --style {style} --blocks {blocks} {shape}");
                assert_eq!(jacobi2d_finds(&arguments), alone, "{arguments}");
            }
        }
    }
}

#[test]
fn jacobi2d_takes_as_many_iterations_over_every_path() {
    // Edges of 300 points are fetched instead of travelling with their message.
    let iterations = |path: &str| {
        let said = pass("jacobi2d", &format!("--columns 600 --rows 6 --blocks 2 {path}"));
        said.lines().find_map(|line| Some(line.split_once(" iterations")?.0.to_owned())).expect("it says so")
    };
    let alone = iterations("");
    for path in ["+p 2", "+n 2", "+n 2 +nocma", "+n 2 +noshm", "+n 2 +nolocal", "+n 2 +lrts emulated"] {
        assert_eq!(iterations(path), alone, "{path}");
    }
}

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
        ("--path tcp +n 2", "used: messages by tcp, memory by emulated over tcp"),
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
    assert!(said.contains(CHARM_COLUMNS) && said.contains("verified 672 transfers"), "{path}: {said}");
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
    let program = Program::example("pingpong").path().display().to_string();
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
        // 16 ways, the warm-up of 512 bytes included.
        assert!(said.contains("verified 672 transfers"), "{path}: {said}");
    }
}

#[test]
fn pingpong_passes_options_on_to_every_path() {
    let outcome = run("pingpong", "--max 2KiB --iterations 1 +stats");
    for path in ["memcpy", "shm", "tcp", "emulated"] {
        assert!(outcome.stdout.contains(&format!("path {path}:")), "{outcome:?}");
    }
    let counters = outcome.stdout.lines().filter(|line| line.starts_with("PE 1 ") && line.contains("sent"));
    assert!(counters.count() >= 4, "each run prints its counters: {outcome:?}");
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
fn mistakes_are_answered_in_plain_words() {
    let mistakes = [
        ("ring", "--elements 0", "'--elements <ELEMENTS>': 0 is not in 1.."),
        ("ring", "--round 3", "'--rounds'"),
        ("fib", "--n 200", "200 is not in 0..=50"),
        ("jacobi2d", "--blocks 100", "a block needs a point"),
        ("jacobi2d", "--accuracy zero", "invalid float literal"),
        ("pingpong", "--path shm", "add +n 2"),
        ("pingpong", "--path memcpy +n 2", "leave +n away"),
        ("pingpong", "--path carrier-pigeon", "possible values: memcpy, shm, cma, tcp, emulated"),
        ("pingpong", "--min 4M --max 2M", "--min 4194304 is more than --max 2097152 bytes"),
        ("pingpong", "--max 3parsec", "`parsec` is no unit"),
        ("pingpong", "--max KiB", "a size is a number"),
        ("pingpong", "--max 1000G", "between 1 and"),
        ("pingpong", "--large-iterations 5", "is for --table charm"),
    ];
    for (example, arguments, answer) in mistakes {
        let outcome = run(example, arguments);
        assert_eq!(outcome.code, Some(2), "`{example} {arguments}`: {outcome:?}");
        assert!(outcome.stderr.contains(answer), "`{example} {arguments}`: {outcome:?}");
        assert_eq!(outcome.stdout, "", "`{example} {arguments}`");
    }
    let unwritable =
        run("pingpong", "--path memcpy --max 2KiB --iterations 1 --plot /no-such-place/times.svg");
    assert_eq!(unwritable.code, Some(1), "{unwritable:?}");
    assert!(unwritable.stderr.contains("cannot write /no-such-place/times.svg"), "{unwritable:?}");
}
