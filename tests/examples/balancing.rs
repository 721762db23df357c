//! Programs whose elements move at syncs: the same answer with every balancer and without one, and less uneven with one.

use crate::{pass, run};

/// Inside a process, between processes, and both.
const SHAPES: [&str; 3] = ["+p 2", "+n 2", "+n 2 +p 2 +shuffle 1"];

/// Balancers, and the mode in which what may be called again is.
const MODES: [&str; 7] = [
    "",
    "+again",
    "+balancer rotate",
    "+again +balancer rotate",
    "+balancer greedy",
    "+balancer rcb",
    "+balancer random,greedy_refine",
];

/// How uneven the PEs were between syncs, as a program's table says.
fn unevenness(said: &str) -> Vec<f64> {
    let rows = said.lines().skip_while(|line| !line.contains("max/avg")).skip(1);
    let columns = rows.map(|row| row.split_whitespace().map(str::parse::<f64>).collect::<Vec<_>>());
    let rows = columns.map_while(|columns| match &columns[..] {
        [Ok(_), Ok(unevenness), Ok(_)] => Some(*unevenness),
        _ => None,
    });
    rows.collect()
}

/// Runs an example everywhere with every balancer, also where what may be called again is, and checks that its last line is always the same.
fn finds_the_same(example: &str, arguments: &str) {
    let last = |arguments: &str| {
        let said = pass(example, arguments);
        said.lines().last().unwrap_or_else(|| panic!("{arguments}: it says nothing")).to_owned()
    };
    let alone = last(arguments);
    for shape in SHAPES {
        for mode in MODES {
            let arguments = format!("{arguments} {shape} {mode}");
            assert_eq!(last(&arguments), alone, "{example} {arguments}");
        }
    }
}

#[test]
fn heat_spreads_in_blocks_that_move_as_in_one_piece() {
    finds_the_same("balanced_stencil3d", "--blocks 3 --points 4 --sweeps 5 --steps 9 --every 3");
    finds_the_same("balanced_stencil3d", "--blocks 1 --steps 4 --every 1");
}

#[test]
fn a_field_on_devices_is_swept_in_tiles_that_move_as_in_one_piece() {
    let tiles = "--size 24 36 --tiles 4 3 --steps 9 --every 2 --verify";
    for devices in ["software", "software:2"] {
        finds_the_same("stencil2d", &format!("{tiles} +device {devices}"));
    }
    // Between syncs, too, where calls with edges wait for tiles that a balancer asks how large they are.
    for seed in [8, 15, 76] {
        let moving =
            format!("+balancer random +balance_every 3ms +device software:2 +sim 3 +p 2 +seed {seed}");
        pass("stencil2d", &format!("{tiles} +hosts {} {moving}", 1 + seed % 3));
    }
}

#[test]
fn cells_and_clusters_move_at_any_time() {
    for shape in SHAPES {
        for balancer in ["rotate", "random", "greedy"] {
            let moving = format!("{shape} +balancer {balancer} +balance_every 2ms");
            pass("life", &format!("--generations 30 {moving}"));
            for collection in ["", "--gather"] {
                pass("kmeans", &format!("--points 300 --chares 9 --verify {collection} {moving}"));
            }
        }
    }
}

/// A balancing takes longer here than the time between two that was asked for.
#[test]
fn a_job_finds_its_rest_however_often_it_is_to_be_balanced() {
    for seed in [24, 25] {
        pass(
            "life",
            &format!("--generations 20 +sim 2 +p 2 +seed {seed} +balancer rotate +balance_every 1ms"),
        );
    }
}

#[test]
fn particles_come_where_they_belong_whatever_moves_their_patches() {
    for particles in ["--leap 1 --climb 3 --patches 5 --cells 2", "--ratio 1 --patches 2 --cells 4 --climb 0"]
    {
        finds_the_same("pic", &format!("--particles 2000 --steps 12 --every 3 --verify {particles}"));
    }
}

#[test]
fn blocks_split_and_join_while_they_move() {
    finds_the_same("amr", "--generations 12 --pairs 2 --levels 3");
    finds_the_same("amr", "--generations 3 --coarsest 0 --levels 0");
}

#[test]
fn objects_hear_each_other_wherever_they_are() {
    for topology in ["ring", "pairs"] {
        let few = format!("--topology {topology} --objects 24 --least 10 --more 20 --steps 9 --every 3");
        finds_the_same("lb_test", &few);
    }
}

#[test]
fn stencils_move_with_their_edges_however_those_travel() {
    for mode in ["messages", "posted", "awaited"] {
        finds_the_same(
            "jacobi2d",
            &format!("--columns 10 --rows 12 --blocks 3 --accuracy 0.1 --mode {mode}"),
        );
    }
    finds_the_same("wave2d", "--tiles 3 --points 5 --steps 20 --every 5");
}

#[test]
fn a_balancer_makes_pes_less_uneven() {
    // The work of patches is counted, so all runs are alike.
    let pic =
        |arguments: &str| unevenness(&pass("pic", &format!("--particles 20000 --steps 40 {arguments}")));
    for shape in ["+p 2", "+n 2"] {
        let alone = pic(shape);
        assert_eq!((alone.len(), alone[0] > 1.5), (5, true), "{shape}: {alone:?}");
        for balancer in ["greedy", "rcb"] {
            let balanced = pic(&format!("{shape} +balancer {balancer}"));
            assert_eq!(balanced[0], alone[0], "{shape} {balancer}");
            assert!(balanced[1..].iter().all(|uneven| *uneven < 1.1), "{shape} {balancer}: {balanced:?}");
        }
    }
}

#[test]
fn the_loads_of_pes_are_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let pictures = folder.path().join("of/loads");
    let small = "--points 2 --sweeps 3 --steps 4 --every 2 +p 3";
    pass("balanced_stencil3d", &format!("{small} --pictures {}", pictures.display()));
    let drawn = std::fs::read_to_string(pictures.join("loads.svg")).expect("it was drawn");
    assert!(drawn.starts_with("<svg") && drawn.contains("work of each PE"), "{drawn}");
    let nowhere = run("balanced_stencil3d", &format!("{small} --pictures /dev/null/loads"));
    assert_eq!(nowhere.code, Some(1), "{nowhere:?}");
    assert!(nowhere.stderr.contains("no picture in /dev/null/loads"), "{nowhere:?}");
}

#[test]
fn a_balancer_that_is_not_there_stops_the_start() {
    let outcome = run("pic", "+balancer GreedyLB");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(outcome.stderr.contains("here, it is `greedy`"), "{outcome:?}");
}

#[test]
fn pairs_that_talk_to_each_other_come_together() {
    let pairs =
        "--topology pairs --objects 16 --least 100 --more 0 --bytes 1000 --steps 12 --every 3 +n 2 +p 2";
    let crossing = |arguments: &str| {
        let said = pass("lb_test", arguments);
        let line = said.lines().find_map(|line| line.strip_prefix("bytes from node to node: "));
        let line = line.unwrap_or_else(|| panic!("{arguments}: {said}"));
        let numbers = line.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
        numbers.collect::<Vec<_>>()
    };
    let alone = crossing(pairs);
    assert_eq!(alone, [16 * 3 * 1008; 2], "nobody moves without a balancer");
    // One looks for the best parts, the other one moves who talks across only where loads differ, which here they do by chance alone.
    for (balancer, most) in [("bisect", alone[1] / 2), ("diffuse", alone[1])] {
        let balanced = crossing(&format!("{pairs} +balancer {balancer}"));
        assert_eq!(balanced[0], alone[0], "{balancer}");
        assert!(balanced[1] <= most, "{balancer}: {balanced:?}");
    }
}

#[test]
fn what_a_job_has_balanced_is_read_again_and_another_balancer_tried() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("balancings");
    let shape = format!("+p 3 +balancer greedy +balance_dump {}", file.display());
    pass("pic", &format!("--particles 5000 --steps 24 {shape}"));
    let balancings = chare::read_balancings(&file).expect("they were written");
    assert_eq!(balancings.iter().map(|one| one.number).collect::<Vec<_>>(), [0, 1]);
    let [greedy, refine] = ["greedy", "greedy_refine"].map(|name| chare::Balancer::named(name).expect(name));
    for one in &balancings {
        assert_eq!(
            (greedy.plan(one.number, &one.loads).planned(), &one.balancer[..]),
            (one.moves.clone(), "greedy")
        );
        let refined = refine.plan(one.number, &one.loads);
        assert!(refined.planned().len() < one.moves.len() && refined.imbalance() < one.loads.imbalance());
    }
    std::fs::write(&file, "{}\n").expect("a file");
    let error = chare::read_balancings(&file).expect_err("no balancing").to_string();
    assert!(error.contains("line 1 of") && error.contains("is no balancing"), "{error}");
    let refused = run("pic", "--particles 500 --steps 12 +p 2 +balancer greedy +balance_dump /dev/null/x");
    assert!(refused.stderr.contains("`+balance_dump /dev/null/x` cannot be written"), "{refused:?}");
}

#[test]
fn a_balancer_that_decides_itself_finds_the_same_and_leaves_alone_what_is_even() {
    let auto = |arguments: &str| pass("pic", &format!("--particles 5000 --steps 40 --verify {arguments}"));
    let last = |said: &str| said.lines().last().map(str::to_owned);
    let alone = auto("+p 2");
    for shape in ["+p 2", "+n 2 +p 2"] {
        let said = auto(&format!("{shape} +balancer greedy_refine +balance_when auto"));
        assert_eq!(last(&said), last(&alone), "{shape}");
        // As soon as there is a gap the first one is tried.
        assert!(unevenness(&said)[1] < unevenness(&said)[0], "{said}");
    }
    let refused = run("pic", "+balancer greedy +balance_when often");
    assert!(refused.stderr.contains("write always, or auto"), "{refused:?}");
    let refused = run("pic", "+balance_when auto");
    assert_eq!(refused.code, Some(2), "{refused:?}");
}
