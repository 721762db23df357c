//! Pauses of a simulated job: for a while a node does nothing at all, as a process that the machine does not run.

use super::drawn::Shape;
use chare_lrts::simulated::Chance;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// The stream of the seed's dice that pauses draw from.
const STREAM: u64 = u64::MAX - 3;

/// The pauses of one job.
pub(super) struct Pauses {
    /// One turn in so many finds that its node pauses.
    one_in: u32,
    /// How long at the most, in nanoseconds.
    longest_ns: u64,
    /// From when on there are none, in nanoseconds.
    calm_from: u64,
    /// Until when each node pauses.
    until: Vec<u64>,
    dice: ChaCha8Rng,
}

impl Pauses {
    /// Those of a job, until this moment: half of the seeds have none.
    pub(super) fn draw(shape: &Shape, calm_from: u64) -> Self {
        let mut dice = ChaCha8Rng::seed_from_u64(shape.seed);
        dice.set_stream(STREAM);
        let has_any = dice.random_ratio(1, 2) && shape.chances.has(Chance::Pauses);
        let one_in = [20, 500, 20_000][dice.random_range(0..3)];
        let longest_ns = [5_000, 200_000, 10_000_000][dice.random_range(0..3)];
        let calm_from = if has_any { calm_from } else { 0 };
        Self { one_in, longest_ns, calm_from, until: vec![0; shape.nodes as usize], dice }
    }

    /// Until when a node pauses that was to do something now, if it does.
    pub(super) fn until(&mut self, node: usize, now: u64) -> Option<u64> {
        if now >= self.calm_from {
            return None;
        }
        let until = &mut self.until[node];
        if *until <= now && self.dice.random_ratio(1, self.one_in) {
            *until = (now + self.dice.random_range(1..=self.longest_ns)).min(self.calm_from);
        }
        (*until > now).then_some(*until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_device::DeviceSpeeds;
    use chare_lrts::simulated::{Chances, Fidelity};

    #[test]
    fn a_node_pauses_alone_until_its_pause_is_over_and_never_in_the_calm() {
        const CALM_FROM: u64 = 100_000;
        let chances: Chances = [Chance::Pauses].into_iter().collect();
        let (mut with_any, mut apart) = (0, 0);
        for seed in 0..40 {
            let shape = Shape {
                nodes: 2,
                pes: 1,
                hosts: 1,
                threads: 1,
                seed,
                fidelity: Fidelity::default(),
                network: None,
                costs: None,
                device_speeds: DeviceSpeeds::default(),
                is_recorded: false,
                is_audited: false,
                chances,
            };
            let mut pauses = Pauses::draw(&shape, CALM_FROM);
            let mut any = false;
            for now in 0..2 * CALM_FROM {
                let until = [0, 1].map(|node| pauses.until(node, now));
                assert!(until.iter().flatten().all(|until| now < *until && *until <= CALM_FROM));
                any |= until.iter().any(Option::is_some);
                apart += u32::from(until[0].is_some() != until[1].is_some());
            }
            with_any += u32::from(any);
            let without = Shape { chances: [].into_iter().collect(), ..shape };
            assert_eq!(Pauses::draw(&without, CALM_FROM).until(0, 0), None);
        }
        assert!((8..32).contains(&with_any), "some seeds have them: {with_any} of 40");
        assert!(apart > 0);
    }
}
