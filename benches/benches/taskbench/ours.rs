//! Our side: each point is an element of an array, and each dependence a call.

use crate::graph::{Graph, value};
use crate::job::Job;
use crate::kernel::compute;
use chare::prelude::*;
use std::collections::VecDeque;
use std::process::ExitCode;
use std::time::Instant;

struct Point {
    graph: Graph,
    steps: usize,
    /// For each step, round and round: the elements that take this one's value.
    targets: Vec<Vec<PointElementProxy>>,
    /// `None` between two runs.
    run: Option<(u64, Callback<u64>)>,
    step: usize,
    /// How many inputs have come, and their sum, of this step and of those after it.
    come: VecDeque<(usize, u64)>,
}

#[chare(array)]
impl Point {
    #[entry]
    fn new(words: Vec<String>) -> Self {
        let job = Job::read(0, &words).expect("the words of a job");
        Self {
            graph: job.graph(),
            steps: job.steps,
            targets: Vec::new(),
            run: None,
            step: 0,
            come: VecDeque::new(),
        }
    }

    #[entry]
    fn start(&mut self, grain: u64, done: Callback<u64>) {
        if self.targets.is_empty() {
            let (all, me) = (self.this_collection(), self.this_index() as usize);
            let others = |step| self.graph.outputs(step, me).iter().filter(move |other| **other != me);
            let targets = |step| others(step).map(|other| all.at(*other as u64)).collect();
            self.targets = (0..self.graph.period()).map(targets).collect();
        }
        self.run = Some((grain, done));
        self.go_on();
    }

    /// The value of a point that step `step` of this one needs.
    #[entry]
    fn take(&mut self, step: usize, value: u64) {
        self.add(step, value);
        self.go_on();
    }
}

impl Point {
    fn add(&mut self, step: usize, value: u64) {
        let place = step - self.step;
        if self.come.len() <= place {
            self.come.resize(place + 1, (0, 0));
        }
        let (count, sum) = &mut self.come[place];
        *count += 1;
        *sum = sum.wrapping_add(value);
    }

    fn go_on(&mut self) {
        let Some((grain, done)) = self.run else { return };
        let me = self.this_index() as usize;
        loop {
            let (count, inputs) = self.come.front().copied().unwrap_or_default();
            if count < self.graph.inputs(self.step, me).len() {
                return;
            }
            self.come.pop_front();
            compute(grain);
            let mine = value(self.step, me, inputs);
            let before = self.step;
            self.step += 1;
            if self.step == self.steps {
                (self.run, self.step) = (None, 0);
                return self.contribute(sum(mine), done);
            }
            for target in &self.targets[before % self.targets.len()] {
                target.take(self.step, mine);
            }
            if self.graph.outputs(before, me).contains(&me) {
                self.add(self.step, mine);
            }
        }
    }
}

/// Measures the job on all PEs.
pub(crate) fn play(job: Job) -> ExitCode {
    chare::run(move |_| async move {
        let [_, words @ ..] = job.words();
        let points = PointProxy::create(job.width as u64, words.to_vec());
        chare::quiescence().await;
        let result = job.graph().result(job.steps);
        for run in 0..Job::runs() {
            let (total, done) = chare::future();
            let began = Instant::now();
            points.start(job.grain, done);
            assert_eq!(total.await, result, "a value lacks, or came twice");
            job.tell(run, began.elapsed(), chare::pes() as usize);
        }
        chare::exit(0);
    })
}
