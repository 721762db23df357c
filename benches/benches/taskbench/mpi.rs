//! The peer by MPI: processes that have a block of points each, and a message for each dependence on a point of another process.

#![expect(unsafe_code, reason = "calls MPI as a C program would")]

use crate::graph::{Graph, value};
use crate::job::Job;
use crate::kernel::compute;
use chare_benches::launcher::Mpi;
use chare_benches::{processor, take_seat, tell_library};
use chare_lrts::mpi::start;
use chare_mpi_sys::{Communicator, MpiError, Request, Threads};
use std::io;
use std::time::Instant;

/// Measures the job as one of MPI's processes.
pub(crate) fn play(job: Job, mpi: &Mpi) -> io::Result<()> {
    let (world, _) = start::start(Some(&mpi.library()), Threads::Single).map_err(io::Error::other)?;
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    take_seat(processor(rank));
    if rank == 0 {
        tell_library(world.library().version());
    }
    let mut worker = Worker::new(&job, &world);
    let mut result = Ok(());
    for run in 0..Job::runs() {
        result = worker.meet().and_then(|()| {
            let began = Instant::now();
            let mine = worker.run(&job)?;
            let total = worker.add_up(mine)?;
            if rank == 0 {
                assert_eq!(total, worker.graph.result(job.steps), "a value lacks, or came twice");
                job.tell(run, began.elapsed(), size);
            }
            Ok(())
        });
        if result.is_err() {
            break;
        }
    }
    drop(worker);
    // SAFETY: the thread that initialised it; nobody uses it any more.
    unsafe { start::end(world.library()) };
    result.map_err(io::Error::other)
}

struct Worker<'a> {
    world: &'a Communicator,
    graph: Graph,
    /// Values of the step before, of all points that this process has or needs.
    before: Vec<u64>,
    now: Vec<u64>,
    /// By step of a period: what is to come of which other process, and what goes to which.
    come: Vec<Vec<(u32, usize)>>,
    go: Vec<Vec<(u32, usize)>>,
}

impl<'a> Worker<'a> {
    fn new(job: &Job, world: &'a Communicator) -> Self {
        let (graph, rank, size) = (job.graph(), world.rank() as usize, world.size() as usize);
        let is_mine = |point: usize| graph.block(rank, size).contains(&point);
        // A value goes to a process once, however many of its points take it.
        let come = |step: usize| {
            let inputs =
                graph.block(rank, size).flat_map(|point| graph.inputs(step + 1, point).iter().copied());
            let mut others: Vec<usize> = inputs.filter(|input| !is_mine(*input)).collect();
            others.sort_unstable();
            others.dedup();
            others.into_iter().map(|input| (graph.owner(input, size) as u32, input)).collect()
        };
        let go = |step: usize| {
            let to = |point: usize| {
                let owners =
                    graph.outputs(step, point).iter().map(|output| graph.owner(*output, size) as u32);
                let mut owners: Vec<u32> = owners.filter(|owner| *owner as usize != rank).collect();
                owners.sort_unstable();
                owners.dedup();
                owners.into_iter().map(move |owner| (owner, point))
            };
            graph.block(rank, size).flat_map(to).collect()
        };
        let (come, go) = ((0..graph.period()).map(come).collect(), (0..graph.period()).map(go).collect());
        let width = graph.width;
        Self { world, graph, before: vec![0; width], now: vec![0; width], come, go }
    }

    /// Runs the graph once; returns the sum of the last step's values here.
    fn run(&mut self, job: &Job) -> Result<u64, MpiError> {
        let block = self.graph.block(self.world.rank() as usize, self.world.size() as usize);
        for step in 0..job.steps {
            if step > 0 {
                std::mem::swap(&mut self.before, &mut self.now);
                self.exchange(step - 1)?;
            }
            for point in block.clone() {
                let inputs = self.graph.inputs(step, point).iter().map(|input| self.before[*input]);
                let sum = inputs.fold(0, u64::wrapping_add);
                compute(job.grain);
                self.now[point] = value(step, point, sum);
            }
        }
        Ok(self.now[block].iter().copied().fold(0, u64::wrapping_add))
    }

    /// Sends the values of a step, and waits for those of others.
    fn exchange(&mut self, step: usize) -> Result<(), MpiError> {
        let turn = step % self.come.len();
        let mut requests: Vec<Request> = Vec::with_capacity(self.come[turn].len() + self.go[turn].len());
        let values = self.before.as_mut_ptr();
        for (source, point) in &self.come[turn] {
            // SAFETY: the only thread; the value's place is touched by nobody until all requests have ended, below.
            let request =
                unsafe { self.world.irecv(values.add(*point).cast(), 8, Some(*source), *point as u32) };
            requests.push(request?);
        }
        for (target, point) in &self.go[turn] {
            // SAFETY: as above; nobody writes it.
            let request = unsafe { self.world.isend(values.add(*point).cast(), 8, *target, *point as u32) };
            requests.push(request?);
        }
        for mut request in requests {
            // SAFETY: the only thread; each request is tested until it has ended.
            while unsafe { self.world.test(&mut request) }?.is_none() {}
        }
        Ok(())
    }

    /// The sum of what all processes have, at the first.
    fn add_up(&self, mine: u64) -> Result<u64, MpiError> {
        let tag = self.graph.width as u32;
        if self.world.rank() > 0 {
            // SAFETY: the only thread.
            unsafe { self.world.send(&mine.to_le_bytes(), 0, tag) }?;
            return Ok(mine);
        }
        (1..self.world.size()).try_fold(mine, |sum, rank| {
            let mut theirs = [0; 8];
            // SAFETY: the only thread.
            unsafe { self.world.recv(&mut theirs, rank, tag) }?;
            Ok(sum.wrapping_add(u64::from_le_bytes(theirs)))
        })
    }

    /// Waits until all processes are here.
    fn meet(&self) -> Result<(), MpiError> {
        self.add_up(0)?;
        let tag = self.graph.width as u32 + 1;
        let others = 1..self.world.size();
        if self.world.rank() == 0 {
            // SAFETY: the only thread.
            others.into_iter().try_for_each(|rank| unsafe { self.world.send(&[0], rank, tag) })
        } else {
            // SAFETY: the only thread.
            unsafe { self.world.recv(&mut [0], 0, tag) }
        }
    }
}
