//! Our side: a call of all elements, which answer with a sum.

use chare::prelude::*;
use chare_benches::Batches;
use std::process::ExitCode;
use std::time::Instant;

struct Cell {
    state: u64,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self { state: chare::this_index() }
    }

    #[entry]
    fn step(&mut self, amount: u64, done: Callback<u64>) {
        self.state += amount;
        self.contribute(sum(self.state), done);
    }

    #[entry]
    fn step_in(&mut self, section: CellSectionProxy, amount: u64, done: Callback<u64>) {
        self.state += amount;
        self.contribute_to(&section, sum(self.state), done);
    }
}

/// The sum of the states when each has been raised `steps` times by one.
fn total(elements: u64, steps: u64) -> u64 {
    elements * (elements - 1) / 2 + elements * steps
}

fn measure(
    batches: Batches,
    prepare: impl FnOnce(CellProxy, u64) -> Box<dyn Fn(Callback<u64>)> + Send + 'static,
) -> ExitCode {
    chare::run(move |_| async move {
        let cells = CellProxy::create(batches.operations);
        let step = prepare(cells, batches.operations);
        let mut steps = 0;
        let batch = async |elements| {
            let (sum, done) = chare::future();
            let began = Instant::now();
            step(done);
            let sum = sum.await;
            let elapsed = began.elapsed();
            steps += 1;
            assert_eq!(sum, total(elements, steps));
            elapsed
        };
        batches.run_async(batch).await;
        chare::exit(0);
    })
}

pub(crate) fn array(batches: Batches) -> ExitCode {
    measure(batches, |cells, _| Box::new(move |done| cells.step(1, done)))
}

pub(crate) fn section(batches: Batches) -> ExitCode {
    measure(batches, |cells, elements| {
        let section = cells.section(0..elements);
        Box::new(move |done| section.step_in(section.clone(), 1, done))
    })
}
