//! What holds for every strategy on every machine.

use super::*;

/// Every shape of up to 16 PEs.
fn shapes() -> impl Iterator<Item = (u32, u32)> {
    (1..=16_u32).flat_map(|pes| {
        (1..=pes).filter(move |nodes| pes % nodes == 0).map(move |nodes| (nodes, pes / nodes))
    })
}

/// Anything that a job may say of itself.
fn anything(nodes: u32, pes_per_node: u32, seed: u64) -> Loads {
    let (mut dice, pes) = (dice(seed), nodes * pes_per_node);
    let mut measured = Measured::new(nodes, pes_per_node);
    let count = dice.random_range(0..60);
    // Every second machine has something that the others have not.
    let [has_speeds, has_fixed, has_room, has_pinned, has_positions, has_edges] =
        std::array::from_fn(|_| dice.random_bool(0.5));
    measured.hosts.iter_mut().for_each(|host| *host = dice.random_range(0..3));
    if has_speeds {
        measured.speeds.iter_mut().for_each(|speed| *speed = dice.random_range(0.5..2.0));
    }
    if has_fixed {
        measured.fixed.iter_mut().for_each(|fixed| *fixed = dice.random_range(0.0..5.0));
    }
    if has_room {
        measured.room.iter_mut().for_each(|room| *room = dice.random_range(0..3000));
    }
    let crowded = dice.random_range(1..=pes);
    for _ in 0..count {
        let mut object = Object::new(PeId(dice.random_range(0..crowded)), exponential(&mut dice));
        object.bytes = dice.random_range(0..1000);
        object.may_move = !has_pinned || dice.random_bool(0.7);
        if has_positions && dice.random_bool(0.8) {
            object.position = Some(std::array::from_fn(|_| f64::from(dice.random_range(0..4_u32))));
        }
        measured.objects.push(object);
    }
    if has_edges && count > 0 {
        for _ in 0..3 * count {
            let [from, to] = std::array::from_fn(|_| dice.random_range(0..count));
            measured.edges.push(Edge { from, to, bytes: dice.random_range(0..9000), calls: 1 });
        }
    }
    measured.build().unwrap()
}

#[test]
fn every_plan_can_be_carried_out_and_no_longest_pe_becomes_longer() {
    for ((nodes, pes_per_node), seed) in shapes().flat_map(|shape| (0..50).map(move |seed| (shape, seed))) {
        let loads = anything(nodes, pes_per_node, seed);
        for strategy in BALANCING.into_iter().chain(MOVING) {
            let said = format!("{strategy:?}, {nodes} nodes of {pes_per_node}, seed {seed}");
            let moves = strategy.plan(&loads);
            assert_eq!(moves.refused(), 0, "{said}");
            for (object, pe) in moves.planned() {
                assert!(loads.objects()[object].may_move && loads.objects()[object].at != pe, "{said}");
            }
            for node in (0..nodes).map(NodeId) {
                assert!(arriving(&loads, &moves, node) <= loads.room(node), "{said}");
            }
            let bound = match strategy {
                Strategy::Rotate | Strategy::Random { .. } => f64::INFINITY,
                Strategy::Bisect { tolerance } | Strategy::Diffuse { tolerance } => {
                    f64::max(loads.max(), tolerance * loads.average())
                }
                _ => loads.max(),
            };
            assert!(moves.max() <= bound * (1.0 + 1e-9), "{said}: {} after {}", moves.max(), loads.max());
        }
    }
}

#[test]
fn the_same_loads_have_the_same_plan() {
    for seed in 0..20 {
        let loads = anything(4, 2, seed);
        for strategy in BALANCING.into_iter().chain(MOVING) {
            assert_eq!(
                strategy.plan(&loads).planned(),
                strategy.plan(&loads).planned(),
                "{strategy:?}, seed {seed}"
            );
        }
    }
}

#[test]
fn nothing_moves_where_all_is_even() {
    for (nodes, pes_per_node) in shapes() {
        let machine = Measured::new(nodes, pes_per_node);
        let pes = nodes * pes_per_node;
        let even = grid(machine, 4 * pes, |x, y| (x + 3 * y) % pes, |_, _| 0.1);
        let loads = Measured { edges: Vec::new(), ..even }.build().unwrap();
        for strategy in BALANCING {
            assert_eq!(strategy.plan(&loads).planned(), [], "{strategy:?}, {nodes} nodes of {pes_per_node}");
        }
    }
}

#[test]
fn nothing_moves_where_nothing_is_to_do_or_nobody_is() {
    let idle = Loads::sample(4, (0..9).map(|number| (PeId(number % 2), 0.0)));
    for loads in [Loads::sample(4, []), Loads::sample(1, [(PeId(0), 3.0)]), idle] {
        for strategy in BALANCING {
            assert_eq!(strategy.plan(&loads).planned(), [], "{strategy:?}");
        }
    }
}

#[test]
fn eight_objects_on_five_pes_are_as_even_as_they_can_be() {
    for placed in [[0; 8], [0, 0, 0, 0, 1, 1, 1, 1], [0, 1, 2, 3, 4, 4, 4, 4]] {
        let mut measured = Measured::new(5, 1);
        for (number, pe) in placed.into_iter().enumerate() {
            let position = Some([number as f64, 0.0, 0.0]);
            measured.objects.push(Object { position, ..Object::new(PeId(pe), 1.0) });
            measured.edges.push(Edge { from: number, to: (number + 1) % 8, bytes: 1000, calls: 1 });
        }
        let loads = measured.build().unwrap();
        for strategy in BALANCING {
            let moves = strategy.plan(&loads);
            assert_eq!(moves.max(), 2.0, "{strategy:?}, {placed:?}: {:?}", moves.planned());
        }
    }
}
