//! How good strategies are, on fixed loads: bounds on balance, moves and calls, and none on time.

use super::*;

/// 20,000 objects on 2,000 PEs, ten on each as chance has it, and twelve times as many on a few.
fn crowded(nodes: u32) -> Loads {
    let mut dice = dice(7);
    let mut measured = Measured::new(nodes, 2000 / nodes);
    for _ in 0..20_000 {
        let at = dice.random_range(0..2000);
        let at = if dice.random_bool(0.05) { at / 400 * 400 + at % 2 } else { at };
        let bytes = dice.random_range(1000..20_000);
        let load = exponential(&mut dice).min(3.0);
        measured.objects.push(Object { bytes, ..Object::new(PeId(at), load) });
    }
    measured.build().unwrap()
}

#[test]
fn greedy_is_within_a_percent_of_even() {
    for nodes in [1, 20, 2000] {
        let loads = crowded(nodes);
        assert!(loads.imbalance() > 7.0, "{}", loads.imbalance());
        let moves = Strategy::Greedy.plan(&loads);
        assert!(moves.imbalance() < 1.01, "{nodes} nodes: {}", moves.imbalance());
    }
}

#[test]
fn refinement_is_within_its_tolerance_and_moves_one_object_of_six_at_most() {
    for nodes in [1, 20, 2000] {
        let loads = crowded(nodes);
        let moves = Strategy::GreedyRefine { tolerance: 1.02 }.plan(&loads);
        assert!(moves.imbalance() <= 1.021, "{nodes} nodes: {}", moves.imbalance());
        let (moved, all) = (moves.planned().len(), loads.objects().len());
        assert!(moved * 6 < all, "{nodes} nodes: {moved} of {all}");
    }
}

#[test]
fn equal_objects_of_many_nodes_are_dealt_to_the_last_one() {
    let mut dice = dice(11);
    let mut measured = Measured::new(20, 10);
    measured.objects = (0..2000).map(|_| Object::new(PeId(dice.random_range(0..200)), 1.0)).collect();
    let loads = measured.build().unwrap();
    for strategy in BY_LOAD {
        assert_eq!(strategy.plan(&loads).max(), 10.0, "{strategy:?}");
    }
}

/// A particle-in-cell program: blocks of a cube, dealt in boxes to 8 nodes of 4 PEs. Particles are many on one side, and fewer the farther
/// from it.
fn particles() -> Loads {
    let (side, half) = (24_u32, 12_u32);
    let mut measured = Measured::new(8, 4);
    for number in 0..side.pow(3) {
        let [x, y, z] = [number % side, number / side % side, number / side / side];
        let node = x / half + 2 * (y / half) + 4 * (z / half);
        let load = 0.2 + 8.0 * 0.9_f64.powi(x as i32);
        let position = Some([x, y, z].map(f64::from));
        let at = PeId(4 * node + z % half / 3);
        measured.objects.push(Object { position, bytes: 100_000, ..Object::new(at, load) });
        let ahead = [(x, 1), (y, side), (z, side * side)];
        for (_, step) in ahead.into_iter().filter(|(along, _)| along + 1 < side) {
            let (from, to) = (number as usize, (number + step) as usize);
            measured.edges.push(Edge { from, to, bytes: 8000, calls: 1 });
        }
    }
    measured.build().unwrap()
}

#[test]
fn diffusion_balances_particles_with_a_fifth_of_the_traffic_of_greedy() {
    let loads = particles();
    let greedy = traffic(&loads, &Strategy::Greedy.plan(&loads)).0;
    let moves = Strategy::Diffuse { tolerance: 1.05 }.plan(&loads);
    assert!(
        loads.imbalance() > 1.5 && moves.imbalance() <= 1.05,
        "{} to {}",
        loads.imbalance(),
        moves.imbalance()
    );
    assert!(traffic(&loads, &moves).0 * 5 <= greedy, "{} beside {greedy}", traffic(&loads, &moves).0);
    assert!(moves.planned().len() * 4 < loads.objects().len(), "{}", moves.planned().len());
}

#[test]
fn cuts_of_space_and_of_calls_have_a_fifth_of_the_traffic_of_greedy() {
    let loads = particles();
    let greedy = traffic(&loads, &Strategy::Greedy.plan(&loads)).0;
    for strategy in [Strategy::Hilbert, Strategy::Rcb, Strategy::Bisect { tolerance: 1.05 }] {
        let moves = strategy.plan(&loads);
        assert!(
            traffic(&loads, &moves).0 * 5 <= greedy,
            "{strategy:?}: {} beside {greedy}",
            traffic(&loads, &moves).0
        );
        assert!(moves.imbalance() <= 1.06, "{strategy:?}: {}", moves.imbalance());
    }
}
