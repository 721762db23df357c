//! What each strategy is for, on loads that show it.

use super::*;

fn plan(strategy: Strategy, measured: Measured) -> (Loads, Moves) {
    let loads = measured.build().unwrap();
    let moves = strategy.plan(&loads);
    (loads, moves)
}

#[test]
fn rotation_moves_everybody_to_the_next_pe_where_there_is_room() {
    let mut measured = Measured::new(3, 1);
    measured.objects = [0, 0, 1, 2].map(|pe| Object { bytes: 10, ..Object::new(PeId(pe), 1.0) }).to_vec();
    measured.objects[1].may_move = false;
    measured.room[2] = 9;
    let (_, moves) = plan(Strategy::Rotate, measured);
    assert_eq!(moves.planned(), [(0, PeId(1)), (3, PeId(0))]);
}

#[test]
fn a_seed_decides_where_everybody_goes() {
    let loads = Loads::sample(7, (0..70).map(|number| (PeId(number % 7), 1.0)));
    let planned = |seed| Strategy::Random { seed }.plan(&loads).planned();
    assert_eq!(planned(Some(3)), planned(Some(3)));
    assert_ne!(planned(Some(3)), planned(Some(4)));
    assert_ne!(planned(None), planned(None), "without one the dice of the thread do");
    assert!(planned(Some(3)).len() > 40);
}

#[test]
fn refinement_moves_nothing_but_what_is_too_much() {
    // PE 3 has three times the average; the others are 2 % apart, which is within the tolerance.
    let mut measured = Measured::new(4, 1);
    for pe in 0..4 {
        let load = if pe == 3 { 0.3 } else { 0.1 + f64::from(pe) / 1000.0 };
        measured.objects.extend((0..100).map(|_| Object::new(PeId(pe), load)));
    }
    let (loads, moves) = plan(Strategy::GreedyRefine { tolerance: 1.02 }, measured);
    assert!(moves.imbalance() <= 1.02, "{}", moves.imbalance());
    let planned = moves.planned();
    assert!(planned.iter().all(|(object, _)| loads.objects()[*object].at == PeId(3)), "{planned:?}");
    // Half of PE 3 is too much.
    assert!((48..=52).contains(&planned.len()), "{}", planned.len());
}

#[test]
fn refinement_moves_what_has_little_state_for_its_load() {
    let mut measured = Measured::new(2, 1);
    let object = |number: u64| Object { bytes: (number % 2) << 20, ..Object::new(PeId(0), 1.0) };
    measured.objects = (0..20).map(object).collect();
    let (loads, moves) = plan(Strategy::GreedyRefine { tolerance: 1.02 }, measured.clone());
    assert_eq!(moves.load_of(PeId(1)), 10.0);
    assert!(moves.planned().iter().all(|(object, _)| loads.objects()[*object].bytes == 0));
    // Within a node no state travels, so it does not matter.
    let within = Measured { objects: measured.objects, ..Measured::new(1, 2) };
    let (loads, moves) = plan(Strategy::GreedyRefine { tolerance: 1.02 }, within);
    assert!(moves.planned().iter().any(|(object, _)| loads.objects()[*object].bytes > 0));
}

#[test]
fn an_object_that_weighs_more_than_the_average_is_alone() {
    let mut measured = Measured::new(1, 8);
    measured.objects = (0..64).map(|number| Object::new(PeId(number % 8), 1.0)).collect();
    measured.objects[17].load = 20.0;
    measured.objects[18].load = 20.0;
    measured.objects[17].at = PeId(2);
    for strategy in BY_LOAD {
        let (_, moves) = plan(strategy, measured.clone());
        assert_eq!(moves.max(), 20.0, "{strategy:?}");
    }
}

#[test]
fn fixed_loads_and_speeds_are_respected() {
    for strategy in BY_LOAD {
        let mut measured = Measured::new(1, 3);
        measured.fixed = vec![40.0, 0.0, 0.0];
        measured.speeds = vec![1.0, 1.0, 3.0];
        measured.objects = (0..160).map(|_| Object::new(PeId(0), 1.0)).collect();
        let (loads, moves) = plan(strategy, measured);
        // 200 units of work at speed 5: 40 each, of which PE 0 has 40 already.
        assert_eq!(loads.average(), 40.0);
        assert!(moves.imbalance() <= 1.021, "{strategy:?}: {}", moves.imbalance());
        assert!((118.0..=123.0).contains(&(3.0 * moves.load_of(PeId(2)))), "{strategy:?}");
    }
}

#[test]
fn one_large_object_goes_to_the_quickest() {
    let mut measured = Measured::new(1, 3);
    measured.speeds = vec![1.0, 1.0, 4.0];
    measured.objects = vec![Object::new(PeId(0), 8.0)];
    for strategy in BY_LOAD {
        assert_eq!(plan(strategy, measured.clone()).1.planned(), [(0, PeId(2))], "{strategy:?}");
    }
}

#[test]
fn what_is_bound_moves_as_one() {
    let mut measured = Measured::new(2, 1);
    let bound = |number: u32| Object { bond: Some(number / 2), bytes: 8, ..Object::new(PeId(0), 1.0) };
    measured.objects = (0..8).map(bound).collect();
    measured.room[1] = 17;
    for strategy in BALANCING {
        let (loads, moves) = plan(strategy, measured.clone());
        assert_eq!(loads.objects().len(), 4);
        // There is room for one pair of 16 bytes, and none for half of another one.
        assert_eq!(moves.planned().len(), 1, "{strategy:?}");
        assert_eq!(moves.load_of(PeId(1)), 2.0, "{strategy:?}");
    }
}

#[test]
fn nodes_are_balanced_with_few_moves_between_them() {
    // Node 0 has one PE with everything and three with nothing; node 1 is as heavy as a whole.
    let mut measured = Measured::new(2, 4);
    measured.objects = (0..100).map(|_| Object::new(PeId(0), 1.0)).collect();
    measured.objects.extend((0..100).map(|number| Object::new(PeId(4 + number % 4), 1.0)));
    let (loads, moves) = plan(Strategy::GreedyRefine { tolerance: 1.02 }, measured);
    assert!(moves.imbalance() <= 1.02);
    let stays =
        |(object, to): &(usize, PeId)| loads.node_of(loads.objects()[*object].at) == loads.node_of(*to);
    assert!(moves.planned().iter().all(stays), "{:?}", moves.planned());
}

#[test]
fn positions_are_cut_into_neighbourhoods() {
    let mut dice = dice(5);
    let scattered: Vec<u32> = (0..32 * 32).map(|_| dice.random_range(0..16)).collect();
    let place = |x: u32, y: u32| scattered[(32 * y + x) as usize];
    for strategy in [Strategy::Hilbert, Strategy::Rcb] {
        let measured = grid(Measured::new(4, 4), 32, place, |x, _| 1.0 + f64::from(x) / 8.0);
        let (loads, moves) = plan(strategy, measured);
        let (before, after) = (traffic(&loads, &Moves::new(&loads)), traffic(&loads, &moves));
        assert!(after.0 * 8 < before.0 && after.1 * 4 < before.1, "{strategy:?}: {after:?} of {before:?}");
        assert!(moves.imbalance() < 1.08, "{strategy:?}: {}", moves.imbalance());
    }
}

#[test]
fn a_second_balancing_of_the_same_loads_moves_next_to_nothing() {
    for strategy in BALANCING.into_iter().skip(1) {
        let (loads, moves) =
            plan(strategy, grid(Measured::new(4, 4), 32, |x, _| x / 2, |x, y| f64::from(1 + (x * y) % 7)));
        assert!(!moves.planned().is_empty(), "{strategy:?}");
        let mut measured = Measured::from(loads);
        moves.planned().into_iter().for_each(|(object, pe)| measured.objects[object].at = pe);
        let loads = measured.build().unwrap();
        assert!(strategy.plan(&loads).planned().len() < 20, "{strategy:?}");
    }
}

#[test]
fn what_has_no_position_makes_up_for_what_has() {
    let mut measured = grid(Measured::new(1, 4), 10, |_, _| 0, |_, _| 1.0);
    measured.objects.extend((0..100).map(|_| Object::new(PeId(1), 1.0)));
    measured.objects.iter_mut().skip(95).take(5).for_each(|object| object.load = 10.0);
    for strategy in [Strategy::Hilbert, Strategy::Rcb] {
        let (_, moves) = plan(strategy, measured.clone());
        assert!(moves.imbalance() < 1.06, "{strategy:?}: {}", moves.imbalance());
    }
}

#[test]
fn who_calls_each_other_is_brought_together() {
    // Pairs that talk much, scattered.
    let mut dice = dice(9);
    let mut measured = Measured::new(8, 1);
    for number in 0..400 {
        measured.objects.push(Object::new(PeId(dice.random_range(0..8)), 1.0));
        measured.edges.push(Edge { from: number, to: number ^ 1, bytes: 1000, calls: 100 });
    }
    for strategy in [Strategy::Bisect { tolerance: 1.05 }, Strategy::Diffuse { tolerance: 1.05 }] {
        let (loads, moves) = plan(strategy, measured.clone());
        let (before, after) = (traffic(&loads, &Moves::new(&loads)).0, traffic(&loads, &moves).0);
        assert!(after * 20 <= before, "{strategy:?}: {after} of {before}");
        assert!(moves.imbalance() <= 1.05, "{strategy:?}: {}", moves.imbalance());
    }
}

#[test]
fn who_is_called_by_what_cannot_move_goes_there() {
    let mut measured = Measured::new(2, 1);
    for number in 0..40 {
        let (pe, may_move) = (number % 2, number < 20);
        measured.objects.push(Object { may_move, ..Object::new(PeId(pe), 1.0) });
        let partner = if may_move { number + 21 - 2 * pe } else { number };
        measured.edges.push(Edge { from: number as usize, to: partner as usize, bytes: 1000, calls: 10 });
    }
    measured.edges.retain(|edge| edge.from < 20 && edge.to < 40);
    for strategy in [Strategy::Bisect { tolerance: 1.1 }, Strategy::Diffuse { tolerance: 1.1 }] {
        let (loads, moves) = plan(strategy, measured.clone());
        assert!(traffic(&loads, &moves).0 <= 4000, "{strategy:?}: {:?}", traffic(&loads, &moves));
    }
}

#[test]
fn diffusion_moves_the_border_and_not_the_rest() {
    // Four nodes in a row, a strip of the grid each; the first takes twice as long.
    let measured = grid(Measured::new(4, 1), 40, |x, _| x / 10, |x, _| if x < 10 { 2.0 } else { 1.0 });
    let (loads, moves) = plan(Strategy::Diffuse { tolerance: 1.05 }, measured);
    assert!(moves.imbalance() <= 1.05, "{}", moves.imbalance());
    let (before, after) = (traffic(&loads, &Moves::new(&loads)).0, traffic(&loads, &moves).0);
    assert!(after <= before + before / 4, "{after} after {before}");
    for (object, to) in moves.planned() {
        assert!(loads.objects()[object].at.0.abs_diff(to.0) <= 1, "{object} to {to}");
    }
}

#[test]
fn diffusion_fills_pes_that_nobody_calls() {
    let measured = grid(Measured::new(6, 1), 30, |_, _| 0, |_, _| 1.0);
    let (loads, moves) = plan(Strategy::Diffuse { tolerance: 1.05 }, measured);
    assert!(moves.imbalance() <= 1.05, "{}", moves.imbalance());
    let all: u64 = loads.edges().iter().map(|edge| edge.bytes).sum();
    assert!(traffic(&loads, &moves).0 * 4 < all, "{} of {all}", traffic(&loads, &moves).0);
}
