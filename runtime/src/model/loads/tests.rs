//! Tests of loads and of moves.

use super::*;
use crate::model::ids::{NodeId, PeId};
use chare_lrts::codec;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

fn on(pe: u32, load: f64) -> Object {
    Object::new(PeId(pe), load)
}

/// A strategy runs on a thread of its own.
const _: fn() = || {
    fn sent<T: Send>() {}
    sent::<Loads>();
    sent::<Moves>();
};

#[test]
fn objects_are_sorted_by_pe_and_edges_with_them() {
    let mut measured = Measured::new(3, 1);
    measured.objects = vec![on(2, 1.0), on(0, 2.0), on(2, 3.0), on(1, 4.0), on(0, 5.0)];
    let edge = |from, to| Edge { from, to, bytes: 10, calls: 1 };
    measured.edges = vec![edge(0, 1), edge(2, 2), edge(4, 3)];
    let (loads, numbers) = measured.clone().build_numbered().unwrap();
    assert_eq!(numbers, [3, 0, 4, 2, 1]);
    assert!((0..5).all(|given| loads.objects()[numbers[given]] == measured.objects[given]));
    assert_eq!([0, 1, 2].map(|pe| loads.on(PeId(pe))), [0..2, 2..3, 3..5]);
    assert_eq!(loads.edges(), [edge(3, 0), edge(1, 2)], "nobody's calls of itself count");
    assert_eq!(loads, measured.build().unwrap());
}

#[test]
fn what_is_bound_is_one_object_that_moves_only_if_all_of_it_may() {
    let bound = |load, bytes, may_move| Object { bytes, may_move, bond: Some(3), ..on(1, load) };
    let mut measured = Measured::new(1, 2);
    measured.objects = vec![on(0, 1.0), bound(2.0, 10, true), on(1, 4.0), bound(3.0, 20, true)];
    measured.edges =
        vec![Edge { from: 1, to: 3, bytes: 1, calls: 1 }, Edge { from: 0, to: 3, bytes: 1, calls: 1 }];
    let (loads, numbers) = measured.clone().build_numbered().unwrap();
    assert_eq!(numbers, [0, 1, 2, 1]);
    assert_eq!(loads.objects()[1], bound(5.0, 30, true));
    assert_eq!(loads.edges(), [Edge { from: 0, to: 1, bytes: 1, calls: 1 }]);
    measured.objects[3].may_move = false;
    assert!(!measured.build().unwrap().objects()[1].may_move);
}

#[test]
fn sums_are_of_all_work_and_times_by_speed() {
    let mut measured = Measured::new(1, 2);
    measured.speeds = vec![1.0, 3.0];
    measured.fixed = vec![2.0, 0.0];
    measured.objects = vec![on(0, 3.0), on(1, 3.0)];
    let loads = measured.build().unwrap();
    assert_eq!((loads.total(), loads.average(), loads.max(), loads.imbalance()), (8.0, 2.0, 5.0, 2.5));
    assert_eq!(loads.load_of(PeId(1)), 1.0);
    assert_eq!(Loads::sample(3, []).imbalance(), 1.0, "where there is nothing to do all is even");
}

#[test]
fn measurements_that_cannot_be_are_refused_in_words() {
    let refused = |change: fn(&mut Measured)| {
        let mut measured = Measured::new(2, 2);
        measured.objects = vec![on(0, 1.0), on(3, 1.0)];
        change(&mut measured);
        measured.build().expect_err("it cannot be").to_string()
    };
    for (change, part) in [
        ((|one| one.pes_per_node = 0) as fn(&mut Measured), "2 nodes of 0 PEs"),
        (|one| one.hosts.clear(), "0 nodes of 2 PEs"),
        (|one| one.pes_per_node = u32::MAX, "fewer than 2^32 PEs"),
        (|one| one.speeds.truncate(3), "`speeds` has 3 values for 4 PEs"),
        (|one| one.fixed.push(0.0), "`fixed` has 5 values"),
        (|one| one.room.clear(), "`room` has 0 values for 2 nodes"),
        (|one| one.speeds[2] = 0.0, "the speed of PE 2 is 0: it is to be a number from 10^-6 to 10^6"),
        (|one| one.fixed[1] = -1.0, "the fixed load of PE 1 is -1: it is to be a number from 0"),
        (|one| one.objects[1].load = f64::NAN, "the load of object 1 is NaN"),
        (|one| one.objects[0].position = Some([0.0, f64::INFINITY, 0.0]), "a coordinate of object 0 is inf"),
        (|one| one.objects[1].at = PeId(4), "object 1 is on PE 4, and the job has 4 PEs"),
        (
            |one| one.edges.push(Edge { from: 0, to: 2, bytes: 0, calls: 0 }),
            "edge 0 is of object 2, and there are 2",
        ),
        (
            |one| one.objects.iter_mut().for_each(|object| object.bond = Some(9)),
            "bond 9 are on PE 0 and on PE 3",
        ),
        (|one| one.objects.iter_mut().for_each(|object| object.bytes = 1 << 63), "2^64 bytes"),
    ] {
        let text = refused(change);
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn loads_are_read_as_they_were_written_and_checked_again() {
    let mut measured = Measured::new(2, 1);
    measured.objects =
        vec![Object { position: Some([1.0, 2.0, 3.0]), bond: Some(1), ..on(1, 0.5) }, on(1, 0.5)];
    measured.edges = vec![Edge { from: 0, to: 1, bytes: 7, calls: 2 }];
    let loads = measured.clone().build().unwrap();
    let mut bytes = Vec::new();
    codec::encode_into(&loads, &mut bytes).unwrap();
    assert_eq!(codec::decode::<Loads>(&bytes).unwrap(), loads);
    measured.objects[0].at = PeId(7);
    bytes.clear();
    codec::encode_into(&measured, &mut bytes).unwrap();
    let error = codec::decode::<Loads>(&bytes).unwrap_err().to_string();
    assert!(error.contains("object 0 is on PE 7"), "{error}");
}

#[test]
fn a_move_that_cannot_be_is_refused_and_changes_nothing() {
    let mut measured = Measured::new(2, 2);
    measured.room[1] = 100;
    measured.objects = vec![
        Object { bytes: 60, ..on(0, 1.0) },
        Object { bytes: 60, ..on(0, 2.0) },
        Object { may_move: false, ..on(1, 3.0) },
    ];
    let loads = measured.build().unwrap();
    let mut moves = Moves::new(&loads);
    assert!(!moves.to(2, PeId(0)), "it may not move");
    assert!(!moves.to(0, PeId(4)), "there is no such PE");
    assert!(!moves.to(3, PeId(0)), "there is no such object");
    assert!(moves.to(0, PeId(2)));
    assert!(!moves.to(1, PeId(3)), "there is no room");
    assert_eq!((moves.refused(), moves.room(NodeId(1)), moves.planned()), (4, 40, vec![(0, PeId(2))]));
    assert!(moves.to(0, PeId(3)), "it has its room there already");
    assert!(moves.to(0, PeId(1)), "and gives it back");
    assert!(moves.to(1, PeId(3)));
    assert_eq!((moves.room(NodeId(0)), moves.room(NodeId(1))), (u64::MAX, 40), "who leaves makes no room");
    assert!(moves.to(0, PeId(0)) && moves.to(1, PeId(0)) && moves.to(2, PeId(1)));
    assert_eq!((moves.planned(), moves.room(NodeId(1)), moves.refused()), (vec![], 100, 4));
    assert_eq!((moves.place_of(1), moves.load_of(PeId(0)), moves.load_of(PeId(3))), (PeId(0), 3.0, 0.0));
}

#[test]
fn the_lightest_and_the_heaviest_are_those_of_a_search_whatever_moves() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut measured = Measured::new(5, 4);
    measured.speeds.iter_mut().for_each(|speed| *speed = f64::from(random.random_range(1..4_u32)));
    measured.objects =
        (0..100).map(|_| on(random.random_range(0..20), f64::from(random.random_range(0..9_u32)))).collect();
    let loads = measured.build().unwrap();
    let mut moves = Moves::new(&loads);
    for _ in 0..500 {
        let times: Vec<f64> = (0..20).map(|pe| moves.load_of(PeId(pe))).collect();
        let first = |wanted: f64| PeId(times.iter().position(|time| *time == wanted).unwrap() as u32);
        assert_eq!(moves.lightest(), first(times.iter().copied().fold(f64::INFINITY, f64::min)));
        assert_eq!(moves.heaviest(), first(moves.max()));
        assert_eq!(moves.imbalance(), moves.max() / loads.average());
        assert!(moves.to(random.random_range(0..100), PeId(random.random_range(0..20))));
    }
}
