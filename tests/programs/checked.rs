//! The program of the kill campaign: traffic of every kind whose result is known, and a fault at a chosen message.
//!
//! Every round, each PE passes tokens around a ring, contributes to a reduction, sends a nocopy buffer and a posted one to
//! the next PE, reads it with `rget` and writes it with `rput`; PE 0 broadcasts. Everything that arrives is compared with
//! what it must be. The program prints `right` and ends with 0, or prints what is wrong and ends with 3.
//!
//! The node that `--victims` names first counts the entries it runs; at number `--at` it writes its process and the time into
//! the file `--mark`, then raises the fault.

use chare::prelude::*;
use chare::{Program, RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use chare_tests::chaos::fault::{Mark, Raise};
use clap::Parser;
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

/// Too long to travel with a message on any path.
const BULK: usize = 50_000;

/// Traffic that every PE checks and one node breaks.
#[derive(Parser, Clone, Serialize, Deserialize)]
#[command(no_binary_name = true)]
struct Options {
    /// Rounds of traffic
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// What to raise
    #[arg(long, value_enum)]
    raise: Option<Raise>,
    /// At which entry of the first victim
    #[arg(long, default_value_t = 1)]
    at: u64,
    /// The nodes that it hits
    #[arg(long, value_delimiter = ',')]
    victims: Vec<u32>,
    /// Where to tell of it
    #[arg(long)]
    mark: PathBuf,
}

/// Entries that ran on this node.
static ENTRIES: AtomicU64 = AtomicU64::new(0);

fn signal(process: u32, signal: Signal) {
    let process = Pid::from_raw(process as i32).expect("a process has a number");
    kill_process(process, signal).expect("it is of this job");
}

impl Options {
    /// Raises the fault if it is time.
    fn count(&self, processes: &[u32]) {
        let Some(raise) = self.raise else { return };
        let is_due = ENTRIES.fetch_add(1, Ordering::Relaxed) + 1 == self.at;
        if !is_due || self.victims.first() != Some(&chare::my_node().0) {
            return;
        }
        let own = std::process::id();
        Mark::now(own).write(&self.mark).expect("the mark can be written");
        let others = self.victims[1..].iter().map(|node| processes[*node as usize]);
        match raise {
            Raise::Kill => others.chain([own]).for_each(|process| signal(process, Signal::KILL)),
            Raise::Stop => signal(own, Signal::STOP),
            Raise::KillLauncher => {
                let launcher = rustix::process::getppid().expect("it has a launcher");
                kill_process(launcher, Signal::KILL).expect("it is ours");
            }
        }
    }
}

struct Worker {
    options: Options,
    /// One process per node, once they are known.
    processes: Vec<u32>,
    target: Option<RegisteredTarget<u64>>,
    source: Option<RegisteredSource<u64>>,
}

/// The numbers that PE `pe` sends in a round.
fn word(pe: u32, round: u64) -> u64 {
    (u64::from(pe) + 1) * 1_000_003 + round
}

fn next() -> PeId {
    PeId((chare::my_pe().0 + 1) % chare::pes())
}

fn previous() -> PeId {
    PeId((chare::my_pe().0 + chare::pes() - 1) % chare::pes())
}

#[track_caller]
fn check(got: &[u64], expected: u64) {
    if let Some(wrong) = got.iter().find(|value| **value != expected) {
        println!("wrong: {wrong} for {expected} on {}, {}", chare::my_pe(), std::panic::Location::caller());
        chare::exit(3);
    }
}

#[chare(group)]
impl Worker {
    #[entry]
    fn new(options: Options) -> Self {
        Self { options, processes: Vec::new(), target: None, source: None }
    }

    #[entry]
    fn introduce(&mut self, to: Callback<Vec<(u32, u32)>>) {
        self.contribute(set((chare::my_node().0, std::process::id())), to);
    }

    #[entry]
    fn learn(&mut self, processes: Vec<u32>, done: Callback<()>) {
        self.processes = processes;
        self.contribute(barrier(), done);
    }

    #[entry]
    fn pass(&mut self, hops_left: u32, total: u64, arrived: Callback<u64>) {
        self.options.count(&self.processes);
        let total = total + word(chare::my_pe().0, 0);
        match hops_left {
            0 => arrived.send(total),
            _ => self.this_collection().on(next()).pass(hops_left - 1, total, arrived),
        }
    }

    #[entry]
    fn reduce(&mut self, round: u64, total: Callback<u64>) {
        self.options.count(&self.processes);
        self.contribute(sum(word(chare::my_pe().0, round)), total);
    }

    #[entry]
    fn spread(&mut self, values: Vec<u64>, round: u64, total: Callback<u64>) {
        self.options.count(&self.processes);
        check(&values, word(0, round));
        self.contribute(sum(values.len() as u64), total);
    }

    #[entry]
    fn borrow(&mut self, #[nocopy] values: Received<u64>, round: u64, done: Callback<u64>) {
        self.options.count(&self.processes);
        check(&values, word(previous().0, round));
        done.send(values.len() as u64);
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] values: Posted<u64>, round: u64, done: Callback<u64>) {
        self.options.count(&self.processes);
        check(&values, word(previous().0, round));
        done.send(values.len() as u64);
    }

    #[post(land)]
    fn post_land(&mut self, values: Post<u64>, _round: &u64, _done: &Callback<u64>) {
        let len = values.len();
        values.post(vec![0; len]).expect("it is as long");
    }

    #[entry]
    fn register(&mut self, round: u64, to: Callback<(SourceHandle<u64>, TargetHandle<u64>)>) {
        self.options.count(&self.processes);
        let source = RegisteredSource::register(vec![word(chare::my_pe().0, round); BULK]);
        let target = RegisteredTarget::register(BufferMut::zeroed(BULK));
        to.send((source.handle(), target.handle()));
        (self.source, self.target) = (Some(source), Some(target));
    }

    #[entry]
    fn written(&mut self, round: u64, done: Callback<()>) {
        self.options.count(&self.processes);
        let target = self.target.take().expect("registered in this round");
        target.read(|values| check(values, word(previous().0, round))).expect("the put is over");
        done.send(());
    }

    #[entry]
    async fn exchange(this: This<Self>, round: u64, over: Callback<()>) {
        let (me, peer) = (chare::my_pe().0, this.this_collection().on(next()));
        let ((borrowed, on_borrowed), (landed, on_landed)) = (chare::future(), chare::future());
        peer.borrow(BufferMut::from_fn(BULK, |_| word(me, round)), round, on_borrowed);
        peer.land(vec![word(me, round); BULK], round, on_landed);
        let (handles, on_handles) = chare::future();
        peer.register(round, on_handles);
        let (source, target) = handles.await;
        let ((read, on_read), (put, on_put)) = (chare::future(), chare::future());
        rget(&source, BufferMut::zeroed(BULK), on_read).expect("it is as long");
        rput(vec![word(me, round); BULK], &target, on_put).expect("it is as long");
        check(&read.await, word(next().0, round));
        let _: Buffer<u64> = put.await;
        let (written, on_written) = chare::future();
        peer.written(round, on_written);
        written.await;
        check(&[borrowed.await, landed.await], BULK as u64);
        this.contribute(barrier(), over);
    }
}

async fn run(options: Options) {
    let workers = WorkerProxy::create(options.clone());
    let (introduced, to_introduced) = chare::future();
    workers.introduce(to_introduced);
    let mut processes = vec![0; chare::nodes() as usize];
    introduced.await.into_iter().for_each(|(node, process)| processes[node as usize] = process);
    let (learnt, done) = chare::future();
    workers.learn(processes, done);
    learnt.await;
    let all = |value: fn(u32, u64) -> u64, round| (0..chare::pes()).map(|pe| value(pe, round)).sum::<u64>();
    for round in 0..options.rounds {
        let ((ring, on_ring), (total, on_total), (spread, on_spread)) =
            (chare::future(), chare::future(), chare::future());
        let (over, on_over) = chare::future();
        workers.on(PeId(0)).pass(3 * chare::pes() - 1, 0, on_ring);
        workers.reduce(round, on_total);
        workers.spread(vec![word(0, round); 1_000], round, on_spread);
        workers.exchange(round, on_over);
        check(&[ring.await], 3 * all(word, 0));
        check(&[total.await], all(word, round));
        check(&[spread.await], 1_000 * u64::from(chare::pes()));
        over.await;
    }
    println!("right");
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = Options::parse_from(program.arguments());
    program.run(|_arguments| run(options))
}
