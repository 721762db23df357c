//! Balanced jobs: a program runs in jobs of all shapes, in shuffled ones and in simulated ones, however elements are balanced.

use super::SHAPES;
use crate::every_path::asked_seeds;
#[cfg(feature = "sim")]
use crate::every_path::on_simulated_paths;
use chare::Job;

/// How elements move in a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Balance {
    pub(crate) balancer: Option<&'static str>,
    /// Whether entries that may be called again are, wherever they might be.
    pub(crate) again: bool,
}

impl Balance {
    const ALL: [Self; 4] = [
        Self { balancer: None, again: false },
        Self { balancer: Some("rotate"), again: false },
        Self { balancer: None, again: true },
        Self { balancer: Some("rotate"), again: true },
    ];

    /// Whether each entry begins anew at each sync.
    pub(crate) fn begins_anew(self) -> bool {
        self.again || (self.balancer.is_some() && chare::pes() > 1)
    }
}

/// Runs a program with a balancer.
pub(crate) fn balanced<Fut>(balancer: &'static str, main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    balanced_by(Balance { balancer: Some(balancer), again: false }, main);
}

/// Runs a program without a balancer, with one that moves every element, and so that entries begin anew wherever they might.
pub(crate) fn in_every_balance<Fut>(main: impl Fn(Balance) -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    for balance in Balance::ALL {
        let main = main.clone();
        balanced_by(balance, move || main(balance));
    }
}

fn balanced_by<Fut>(balance: Balance, main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    for (nodes, pes) in SHAPES {
        for seed in [None, Some(1), Some(2)].into_iter().filter(|_| asked_seeds().is_none()) {
            let job = Job::in_process(nodes, pes);
            let job = balance.balancer.into_iter().fold(job, |job, name| job.balancer(name));
            let job = if balance.again { job.again() } else { job };
            let job = seed.into_iter().fold(job, |job, seed| job.shuffled(seed));
            assert_eq!(job.run(main.clone()).unwrap(), 0, "{nodes}x{pes}, {balance:?}, {seed:?}");
        }
    }
    #[cfg(feature = "sim")]
    {
        let with = |job: chare::Simulation| {
            let job = balance.balancer.into_iter().fold(job, |job, name| job.balancer(name));
            if balance.again { job.again() } else { job }
        };
        on_simulated_paths(&SHAPES, with, &main);
    }
}
