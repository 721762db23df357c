//! Every example, run as a user runs it: in one process and in several, and with mistakes on the command line.

mod balancing;
#[expect(dead_code, reason = "the example's, of which a part is needed here")]
#[path = "../../examples/stencil2d/field.rs"]
mod field;
mod kernel;
mod pingpong;
mod stencils;
#[path = "../../examples/stencil2d/sweep.rs"]
mod sweep;

use chare_tests::{Outcome, Program, counted};

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
    let shapes = SHAPES.into_iter().chain(["+n 2 +p 2 +seeds steal", "+p 3 +seeds least"]);
    for shape in shapes {
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

/// The same, and more PEs, more processes, and messages over TCP.
fn everywhere() -> impl Iterator<Item = String> {
    let more = ["+p 2", "+p 4", "+n 4", "+n 2 +nolocal", "+n 4 +nolocal", "+n 2 +p 2 +nolocal +shuffle 3"];
    shapes_and_orders().chain(more.map(str::to_owned))
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
        for collection in ["", "--gather"] {
            let said = pass("kmeans", &format!("--points 300 --chares 9 {collection} --verify {shape}"));
            assert!(
                said.contains("7 centres of 2700 points") && said.contains("expected"),
                "{shape}: {said}"
            );
        }
    }
}

#[test]
fn parts_of_a_gather_that_lie_on_its_pe_take_no_message() {
    let said = pass("kmeans", "--points 3 --chares 1000 --rounds 2 --gather --verify +stats");
    // Each chare adds up twice, and nobody is called with what it has.
    assert!(counted(&said, "entries") < 3000, "{said}");
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
        assert!(said.contains("are the same as on one PE"), "{shape}: {said}");
    }
    pass("wave2d", "--tiles 1 --points 1 --steps 3 +n 2");
    let folder = tempfile::tempdir().expect("a folder");
    let waves = folder.path().join("of/mine/waves");
    pass("wave2d", &format!("--steps 20 --every 10 --pictures {}", waves.display()));
    for picture in ["wave-000010.png", "wave-000020.png"] {
        let bytes = std::fs::read(waves.join(picture)).expect("it was drawn");
        assert!(bytes.starts_with(b"\x89PNG"), "{picture}");
    }
    let nowhere = run("wave2d", "--pictures /dev/null/waves");
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.stderr.contains("no picture in /dev/null/waves"), "{nowhere:?}");
}

#[test]
fn leanmd_moves_atoms_the_same_way_everywhere_and_loses_no_energy() {
    let fingerprint = |shape: &str| {
        let said = pass("leanmd", &format!("--cells 3 --steps 25 --every 5 {shape}"));
        let line = said.lines().find(|line| line.starts_with("729 atoms of 729, fingerprint "));
        line.unwrap_or_else(|| panic!("{shape}: {said}")).to_owned()
    };
    let alone = fingerprint("");
    let balanced = [
        "+p 2 +balancer rotate",
        "+n 2 +balancer greedy_refine",
        "+n 2 +p 2 +again",
        "+n 2 +p 2 +again +balancer rotate",
    ]
    .map(str::to_owned);
    for shape in everywhere().chain(balanced) {
        assert_eq!(fingerprint(&shape), alone, "{shape}");
    }
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
fn a_transform_and_its_inverse_find_the_wave_and_its_peaks() {
    for shape in SHAPES {
        for matrix in ["--size 64 --slabs 1", "--size 96 --slabs 3", "--size 512 --slabs 4 --rounds 1"] {
            let said = pass("fft2d", &format!("{matrix} --verify {shape}"));
            assert!(said.contains("off the peaks by"), "{matrix} {shape}: {said}");
        }
    }
    for path in ["+n 2 +nolocal", "+n 2 +noshm", "+n 2 +lrts emulated", "+n 2 +p 2 +shuffle 5"] {
        pass("fft2d", &format!("--size 512 --rounds 1 --verify {path}"));
    }
}

#[test]
fn stencil2d_sweeps_fields_on_devices_as_one_loop_does() {
    for shape in [
        "+n 2",
        "+p 3 --tiles 4 4",
        "+n 3 +p 2 --tiles 3 2 --size 30 20",
        "+n 2 +nolocal --tiles 1 3 --size 20 600",
        "+n 2 +p 2 --single",
    ] {
        let said = pass("stencil2d", &format!("--verify +device software {shape}"));
        assert!(said.contains("the field is right"), "{shape}: {said}");
    }
    for shape in ["+p 4", "+n 2 +p 2", "+p 4 --single"] {
        let said = pass("stencil2d", &format!("--verify --compare --steps 3 +device software {shape}"));
        let ways: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("exchange by ")).collect();
        assert!(
            matches!(ways[..], [by_hand, nocopy] if by_hand.starts_with("hand: ") && nocopy.starts_with("nocopy ")),
            "{said}"
        );
        assert!(said.contains("the field is right"), "{shape}: {said}");
    }
    let none = run("stencil2d", "+device none");
    assert_eq!(none.code, Some(1), "{none:?}");
    assert!(none.stderr.contains("no device: ") && none.stderr.contains("+device software"), "{none:?}");
}

#[test]
fn halos_of_26_neighbours_are_right_on_hosts_and_on_devices() {
    let shapes =
        ["--side 12", "--side 5 --radius 5 --blocks 1 1 1 +p 2", "--side 9 --blocks 3 1 2 +n 2 +p 2"];
    let paths = ["--side 12 +n 2 +nolocal", "--side 12 +n 2 +noshm", "--side 12 +p 3 +shuffle 5"];
    for memory in ["host", "device", "device +device software:2"] {
        for shape in shapes.iter().chain(&paths) {
            let said = pass("halo", &format!("--exchanges 3 {shape} --memory {memory}"));
            assert!(said.contains("all points are right"), "{memory} {shape}: {said}");
        }
    }
    let too_deep = run("halo", "--side 3 --radius 4");
    assert_eq!(too_deep.code, Some(2), "{too_deep:?}");
    assert!(too_deep.stderr.contains("a block has only 3 points along an axis"), "{too_deep:?}");
}

#[test]
fn a_product_of_matrices_is_put_together_from_its_tiles() {
    for shape in shapes_and_orders() {
        for matrix in ["--size 60 --tiles 3", "--size 65 --tiles 4", "--size 300 --tiles 2"] {
            let said = pass("matmul", &format!("{matrix} --verify {shape}"));
            assert!(said.contains("the product is right"), "{matrix} {shape}: {said}");
        }
    }
    for path in ["+n 2 +nolocal", "+n 2 +noshm", "+n 2 +lrts emulated"] {
        pass("matmul", &format!("--size 3 --tiles 5 --verify {path}"));
    }
}

#[test]
fn ddtbench_lands_every_kernel_where_it_belongs() {
    let said = pass("ddtbench", "--verify --repeats 1 +n 2");
    assert!(said.contains("verified 69 kernels both ways"), "{said}");
    // One and several arrays, boxes, lists, and a transposition.
    let names = ["WRF_x_sa", "NAS_LU_y", "LAMMPS_full", "SPECFEM3D_cm", "SPECFEM3D_mt", "FFT2"];
    let some = names.map(|name| format!("--kernel {name} ")).concat();
    for path in ["", "+p 2", "+n 2 +nolocal", "+n 2 +noshm", "+n 2 +lrts emulated", "+n 3 +p 2 +shuffle 5"] {
        let said = pass("ddtbench", &format!("{some} --verify --repeats 3 {path}"));
        assert!(said.contains("verified 26 kernels both ways"), "{path}: {said}");
    }
}

#[test]
fn ddtbench_lands_kernels_on_devices_too() {
    let names = ["MILC_su3_zd", "NAS_LU_y", "LAMMPS_atomic", "SPECFEM3D_oc", "SPECFEM3D_mt"];
    let some = names.map(|name| format!("--kernel {name} ")).concat();
    for path in ["+p 2", "+n 2", "+n 2 +nolocal", "+p 2 +device software:2"] {
        let said = pass("ddtbench", &format!("{some} --memory device --verify --repeats 2 {path}"));
        assert!(said.contains("verified 22 kernels both ways"), "{path}: {said}");
    }
}

#[test]
fn ddtbench_has_larger_classes_and_objects_by_their_rows() {
    let said =
        pass("ddtbench", "--size paper --kernel MILC_su3_zd --kernel WRF_x_sa --verify --repeats 1 +n 2");
    assert!(said.contains("verified 8 kernels both ways") && said.contains("E 32x32x64x64"), "{said}");
    for path in ["+p 2", "+n 2", "+n 2 +nolocal", "--memory device +n 2"] {
        let said = pass("ddtbench", &format!("--size objects --verify --repeats 2 {path}"));
        assert!(said.contains("verified 16 kernels both ways"), "{path}: {said}");
    }
}

#[test]
fn ddtbench_tells_the_steps_of_messages() {
    let said = pass("ddtbench", "--breakdown --kernel NAS_MG_x --kernel WRF_x_sa --repeats 20 +n 2");
    let rows: Vec<&str> = said.lines().filter(|line| line.starts_with("NAS_MG_x")).collect();
    assert!(rows.len() == 4 && !said.contains("WRF_x_sa"), "of kernels of one array: {said}");
    for row in rows {
        let cells: Vec<f64> = row.split_whitespace().skip(2).map(|cell| cell.parse().expect(row)).collect();
        let [_bytes, make, plan, exchange, address, copy, rest, message] = cells[..] else { panic!("{row}") };
        assert!([make, plan, exchange, copy, message].iter().all(|time_us| *time_us > 0.0), "{row}");
        let sum = exchange + address + copy + rest;
        assert!((sum - message).abs() < 0.05, "{row}");
    }
    let apart = run("ddtbench", "--breakdown --kernel NAS_MG_x --repeats 2 +n 2 +nolocal");
    assert_eq!(apart.code, Some(1), "{apart:?}");
    assert!(apart.stderr.contains("players that see each other's memory"), "{apart:?}");
}

#[test]
fn ddtbench_writes_its_table_and_draws_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name);
    let (table, plot) = (file("table.csv"), file("plot.svg"));
    let files = format!("--csv {} --plot {}", table.display(), plot.display());
    pass("ddtbench", &format!("--kernel MILC_su3_zd --kernel NAS_LU_x --repeats 5 {files} +n 2"));
    let lines = std::fs::read_to_string(table).expect("it was written");
    assert_eq!(lines.lines().count(), 1 + 4 + 7, "{lines}");
    assert!(lines.starts_with("kernel,size,bytes,layout_us,manual_us,ratio\n"), "{lines}");
    assert!(lines.contains("\nMILC_su3_zd,16x16x16x16,98304,"), "{lines}");
    let drawn = std::fs::read_to_string(plot).expect("it was drawn");
    assert!(drawn.contains("NAS_LU_x") && drawn.contains("</svg>"), "{drawn}");

    let nowhere = run("ddtbench", "--kernel NAS_LU_x --repeats 1 --csv /no-such-place/table.csv");
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.stderr.contains("cannot write /no-such-place/table.csv"), "{nowhere:?}");
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
fn mistakes_are_answered_in_plain_words() {
    let mistakes = [
        ("ring", "--elements 0", "'--elements <ELEMENTS>': 0 is not in 1.."),
        ("ring", "--round 3", "'--rounds'"),
        ("fib", "--n 200", "200 is not in 0..=50"),
        ("jacobi2d", "--blocks 100", "a block needs a point"),
        ("jacobi2d", "--accuracy zero", "invalid float literal"),
        ("fft2d", "--size 100 --slabs 3", "100 rows cannot be shared"),
        ("ddtbench", "--kernel WRF", "possible values: FFT2, LAMMPS_atomic"),
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

/// Examples that end by themselves, with arguments by which they are short. Not among them: `service`, which serves sockets and threads
/// outside its job; `pingpong`, which measures paths between processes; and three of the zero-copy examples that move gigabytes.
#[cfg(feature = "sim")]
const SIMULATED: [(&str, &str); 34] = [
    ("alltoall", "--messages 20 --burst 7"),
    ("amr", "--generations 8 --pairs 2 +balancer random"),
    ("balanced_stencil3d", "--blocks 3 --points 2 --sweeps 2 --steps 8 --every 2 +balancer rotate"),
    ("collectives", ""),
    ("ddtbench", "--kernel NAS_LU_x --repeats 1"),
    ("fft2d", ""),
    ("fib", "--n 16 --grain 8"),
    ("get_put_pingpong", ""),
    ("halo", "--side 6 --exchanges 2 --memory device"),
    ("hello", ""),
    ("jacobi2d", "--columns 12 --rows 12 --accuracy 0.1"),
    ("kmeans", "--points 30 --chares 9"),
    ("kneighbor", "--elements 7 --neighbours 2 --bytes 300 --rounds 5"),
    ("lb_test", "--objects 40 --more 1 --steps 12 --every 3 +balancer random"),
    ("leanmd", "--cells 3 --steps 4 --every 2 +balancer rotate"),
    ("life", "--generations 10"),
    ("matmul", "--size 60"),
    ("multiple_posted_buffers", ""),
    ("nodegroup_test", ""),
    ("pic", "--particles 500 --steps 12 --every 3 +balancer rcb"),
    ("primes", "--limit 10000 --range 500"),
    ("queens", "--queens 8 --grain 5"),
    ("ring", "--elements 7 --rounds 20"),
    ("skeletons", "--pattern reduce --rounds 4"),
    ("simple_bcast_post", ""),
    ("simple_get", ""),
    ("simple_put", ""),
    ("simple_vec", ""),
    ("simple_zero_copy", ""),
    ("sssp", "--vertices 300 --degree 3"),
    ("stencil2d", "--size 32 32 --tiles 4 4 --verify --compare +device software:2"),
    ("uts", "--root 60 --grain 20"),
    ("wave2d", "--tiles 3 --points 9 --steps 20"),
    ("zcpy_immediate", ""),
];

#[cfg(feature = "sim")]
#[test]
fn an_example_is_the_same_run_twice_in_a_simulated_job() {
    for (example, arguments) in SIMULATED {
        let run = || {
            let said = pass(example, &format!("{arguments} +sim 16 +p 2 +hosts 4 +seed 3 +stats"));
            let trace = said.lines().find(|line| line.starts_with("simulated "));
            trace.unwrap_or_else(|| panic!("{example}: {said}")).to_owned()
        };
        assert_eq!(run(), run(), "{example}");
    }
}
