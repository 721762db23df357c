//! The least that a balancer takes that looks at everything.

use chare::Loads;
use chare_benches::Batches;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::Instant;

/// Sorts the objects by load, and puts each on the PE that a heap says has the least.
pub(crate) fn heap(batches: Batches, loads: &Loads) {
    let objects: Vec<f64> = loads.objects().iter().map(|object| object.load).collect();
    batches.run(|_| {
        let begin = Instant::now();
        // Numbers that are not negative are in the order of their bits.
        let mut order: Vec<(u64, u32)> = objects.iter().map(|load| !load.to_bits()).zip(0..).collect();
        order.sort_unstable();
        let mut pes: BinaryHeap<Reverse<(u64, u32)>> = (0..loads.pes()).map(|pe| Reverse((0, pe))).collect();
        let mut places = vec![0; objects.len()];
        for (load, number) in order {
            let Some(mut lightest) = pes.peek_mut() else { break };
            let Reverse((work, pe)) = *lightest;
            places[number as usize] = pe;
            *lightest = Reverse(((f64::from_bits(work) + f64::from_bits(!load)).to_bits(), pe));
        }
        black_box(places);
        begin.elapsed()
    });
}

/// Looks at both ends of each call, and sums up what leads from node to node.
pub(crate) fn calls(batches: Batches, loads: &Loads) {
    batches.run(|_| {
        let begin = Instant::now();
        let node = |object: usize| loads.node_of(loads.objects()[object].at);
        let across = loads.edges().iter().filter(|edge| node(edge.from) != node(edge.to));
        black_box(across.map(|edge| edge.bytes).sum::<u64>());
        begin.elapsed()
    });
}
