//! Entries that are called again: loops, servers and walks go on where their elements have moved, and nobody sees where they began anew.

use super::balanced::{balanced, in_every_balance};
use super::{SHAPES, somewhere};
use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, Job, ThisMigrant};
use serde::{Deserialize, Serialize};

const ROWS: u64 = 6;
const STEPS: u32 = 12;

#[derive(Serialize, Deserialize)]
struct Row {
    step: u32,
    value: u64,
    begun: u64,
    left: Vec<u32>,
}

fn next(value: u64, halos: [u64; 2]) -> u64 {
    (value * 3 + halos[0] + halos[1]) % 1_000_003
}

#[chare(array, migrate, sync)]
impl Row {
    #[entry]
    fn new() -> Self {
        Self { step: 0, value: chare::this_index::<u64>() + 1, begun: 0, left: Vec::new() }
    }

    #[about_to_move]
    fn pack_up(&mut self) {
        self.left.push(chare::my_pe().0);
    }

    #[moved]
    fn settle(&mut self, from: PeId) {
        assert_eq!(self.left.last(), Some(&from.0));
        self.begun |= 1 << 32;
    }

    #[entry(awaited)]
    fn halo(#[reference] step: u32, value: u64);

    #[entry]
    async fn run(this: Again<Self>, padding: Vec<u64>, done: Callback<Vec<u64>>) {
        assert!(padding.iter().copied().eq(0..100));
        let moved = this.with(|row| {
            row.begun += 1;
            let moved = row.begun >> 32;
            row.begun &= (1 << 32) - 1;
            moved
        });
        assert!(moved <= 1, "`moved` runs before the entry");
        while this.with(|row| row.step) < STEPS {
            let (step, value) = this.with(|row| (row.step, row.value));
            let (rows, me) = (this.this_collection(), this.this_index());
            for neighbour in [(me + 1) % ROWS, (me + ROWS - 1) % ROWS] {
                rows.at(neighbour).halo(step, value);
            }
            let mut halos = [0; 2];
            for halo in &mut halos {
                *halo = this.when(Self::halo).reference(step).await.1;
            }
            this.with(|row| (row.step, row.value) = (step + 1, next(value, halos)));
            if step % 3 == 2 {
                this.sync().await;
            }
        }
        let (value, begun) = this.with(|row| (row.value, row.begun));
        this.contribute(sum(vec![value, begun]), done);
    }
}

#[test]
fn a_loop_computes_the_same_wherever_its_elements_move() {
    let mut values: Vec<u64> = (1..=ROWS).collect();
    for _ in 0..STEPS {
        let at = |index: usize| values[index % ROWS as usize];
        values =
            (0..ROWS as usize).map(|me| next(at(me), [at(me + 1), at(me + ROWS as usize - 1)])).collect();
    }
    let expected: u64 = values.iter().sum();
    in_every_balance(move |balance| async move {
        let (total, done) = chare::future();
        RowProxy::create(ROWS).run((0..100).collect(), done);
        let syncs = if balance.begins_anew() { u64::from(STEPS / 3) } else { 0 };
        assert_eq!(total.await, [expected, ROWS * (1 + syncs)]);
    });
}

/// Answers whoever asks, after some syncs.
#[derive(Serialize, Deserialize)]
struct Counter {
    count: u64,
    called_by: u64,
}

#[chare(array, migrate, sync)]
impl Counter {
    #[entry]
    fn new() -> Self {
        Self { count: 0, called_by: 0 }
    }

    #[entry]
    async fn count_to(this: Again<Self>, until: u64, scale: u64) -> u64 {
        while this.with(|counter| counter.count) < until {
            this.with(|counter| counter.count += 1);
            this.sync().await;
        }
        scale * this.with(|counter| counter.count) + this.this_index()
    }

    #[entry]
    async fn note(this: Again<Self>, done: Callback<u64>) {
        let first = this.with(|counter| std::mem::replace(&mut counter.called_by, 1)) == 0;
        if first {
            this.sync().await;
        }
        done.send(chare::reference());
    }

    #[entry]
    async fn hear(this: Again<Self>, done: Callback<u64>) {
        if this.with(|counter| std::mem::replace(&mut counter.called_by, 1)) == 0 {
            this.sync().await;
        }
        this.contribute(sum(1), done);
    }
}

#[test]
fn who_asked_is_answered_once_by_an_entry_that_has_moved() {
    in_every_balance(|_| async {
        let counters = CounterProxy::create(5);
        let answers: Vec<_> = (0..5).map(|index| counters.at(index).count_to(4, 100)).collect();
        for (index, answer) in answers.into_iter().enumerate() {
            assert_eq!(answer.await, 400 + index as u64);
        }
    });
}

#[test]
fn an_entry_is_called_again_with_its_reference_number() {
    in_every_balance(|_| async {
        let counters = CounterProxy::create(3);
        let mut numbers = Vec::new();
        for index in 0..3 {
            let (number, done) = chare::future();
            counters.at(index).note_callback().with_reference(70 + index).send(done);
            numbers.push(number);
        }
        for (index, number) in numbers.into_iter().enumerate() {
            assert_eq!(number.await, 70 + index as u64);
        }
    });
}

#[test]
fn an_entry_is_called_again_within_its_broadcast() {
    in_every_balance(|_| async {
        let growing = CounterProxy::create(ArrayOptions::new(4).dynamic());
        let (heard, done) = chare::future();
        growing.hear(done);
        let heard = heard.await;
        growing.done_inserting();
        assert_eq!(heard, 4);
    });
}

/// Serves, and moves while it waits.
#[derive(Serialize, Deserialize)]
struct Server {
    served: u64,
    moves: u64,
}

#[chare(array, migrate)]
impl Server {
    #[entry]
    fn new() -> Self {
        Self { served: 0, moves: 0 }
    }

    #[moved]
    fn settle(&mut self, _from: PeId) {
        self.moves += 1;
    }

    #[entry]
    fn moves(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.moves), done);
    }

    #[entry(awaited)]
    fn request(number: u64) -> u64;

    #[entry]
    async fn serve(this: Again<Self>, requests: u64) -> u64 {
        while this.with(|server| server.served) < requests {
            let (number, reply) = this.at_rest(this.when(Self::request)).await;
            this.with(|server| server.served += 1);
            reply.send(2 * number);
            this.movable().await;
        }
        this.with(|server| server.served)
    }

    #[entry]
    fn go(&mut self, to: PeId) {
        self.migrate_to(to);
    }
}

async fn serve() {
    let servers = ServerProxy::create(3);
    let served: Vec<_> = (0..3).map(|index| servers.at(index).serve(20)).collect();
    for round in 0..10 {
        let mut answers = Vec::new();
        for index in 0..3 {
            servers.at(index).go(somewhere());
            answers.push((2 * round, servers.at(index).request(round)));
            answers.push((2 * round + 2, servers.at(index).request(round + 1)));
        }
        for (expected, answer) in answers {
            assert_eq!(answer.await, expected);
        }
        servers.at(round % 3).go(somewhere());
    }
    for served in served {
        assert_eq!(served.await, 20);
    }
    let (moves, done) = chare::future();
    servers.moves(done);
    assert_eq!(moves.await > 0, chare::pes() > 1);
}

#[test]
fn servers_move_while_they_wait() {
    on_every_path(&SHAPES, serve);
    in_every_balance(|_| serve());
}

/// Walks over all PEs.
#[derive(Serialize, Deserialize)]
struct Walker {
    visited: Vec<u32>,
}

#[chare(array, migrate)]
impl Walker {
    #[entry]
    fn new() -> Self {
        Self { visited: Vec::new() }
    }

    #[entry]
    async fn walk(this: Again<Self>, first: u32, hops: u32) -> Vec<u32> {
        while (this.with(|walker| walker.visited.len()) as u32) < hops {
            let to = PeId((first + this.with(|walker| walker.visited.len() as u32)) % chare::pes());
            this.migrate_to(to).await;
            this.with(|walker| walker.visited.push(chare::my_pe().0));
        }
        this.with(|walker| walker.visited.clone())
    }
}

#[test]
fn an_entry_walks_over_all_pes_and_answers_at_the_end() {
    on_every_path(&SHAPES, || async {
        let hops = 2 * chare::pes() + 1;
        let visited = WalkerProxy::create(1).at(0).walk(1, hops).await;
        assert_eq!(visited, (0..hops).map(|hop| (1 + hop) % chare::pes()).collect::<Vec<_>>());
    });
}

/// Is held by a task of its own at its first sync.
#[derive(Serialize, Deserialize)]
struct Keeper {
    step: u32,
    held: bool,
}

#[chare(array, migrate, sync)]
impl Keeper {
    #[entry]
    fn new() -> Self {
        Self { step: 0, held: true }
    }

    #[entry]
    async fn run(this: Again<Self>, done: Callback<u64>) {
        let here = chare::my_pe();
        if this.with(|keeper| keeper.step) == 0 {
            this.with(|keeper| keeper.step = 1);
            let (released, release) = chare::future::<()>();
            let held = This::clone(&this);
            chare::spawn(async move {
                released.await;
                held.with(|keeper| keeper.held = false);
            });
            let mine = vec![1, 2, 3];
            this.sync().await;
            assert_eq!((chare::my_pe(), mine), (here, vec![1, 2, 3]), "it goes on where it is held");
            release.send(());
            while this.with(|keeper| keeper.held) {
                chare::yield_now().await;
            }
        }
        if this.with(|keeper| std::mem::replace(&mut keeper.step, 2)) == 1 {
            this.sync().await;
            assert_eq!(chare::pes(), 1, "an element that moves begins anew");
        }
        this.contribute(sum(1), done);
    }
}

#[test]
fn an_element_that_is_held_goes_on_where_it_is() {
    balanced("rotate", || async {
        let (ended, done) = chare::future();
        KeeperProxy::create(4).run(done);
        assert_eq!(ended.await, 4);
    });
}

/// Forgets an answer over a sync.
#[derive(Serialize, Deserialize)]
struct Forgetful;

#[chare(array, migrate, sync)]
impl Forgetful {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn run(this: Again<Self>) {
        let (answer, callback) = chare::future::<u32>();
        this.sync().await;
        callback.send(1);
        answer.await;
    }
}

#[test]
fn an_answer_that_is_lost_with_a_task_ends_the_job() {
    let job = Job::in_process(1, 2).again().run(|| async {
        ForgetfulProxy::create(1).run();
        std::future::pending::<()>().await;
    });
    let error = job.unwrap_err().to_string();
    assert!(error.contains("Forgetful::run") && error.contains("await them before a sync"), "{error}");
}

/// Gives its wait for a sync up again and again: for calls, and for a time.
#[derive(Serialize, Deserialize)]
struct Waverer {
    step: u32,
}

#[chare(array, migrate, sync)]
impl Waverer {
    #[entry]
    fn new() -> Self {
        Self { step: 0 }
    }

    #[entry(awaited)]
    fn disturb(step: u32);

    #[entry]
    async fn run(this: Again<Self>, elements: u64, is_balanced: bool, done: Callback<u64>) {
        while this.with(|waverer| waverer.step) < 5 {
            let step = this.with(|waverer| {
                waverer.step += 1;
                waverer.step
            });
            for _ in 0..3 {
                this.this_collection().at(chare::dice().below(elements)).disturb(step);
            }
            loop {
                chare::select! {
                    _ = this.sync() => break,
                    other = this.when(Self::disturb) => {
                        // Whoever has come to the next sync knows that this one is over, which the disturbed one may not have heard of.
                        assert!(!is_balanced || other <= step + 1, "one has come to step {other}, and another one is at {step}");
                    }
                }
            }
        }
        this.contribute(sum(1), done);
    }

    #[entry]
    async fn rest(this: Again<Self>) {
        chare::select! {
            _ = this.sync() => {}
            _ = this.at_rest(this.when(Self::disturb)) => {}
        }
    }
}

#[test]
fn a_sync_that_loses_a_race_is_waited_for_again() {
    in_every_balance(|balance| async move {
        let (ended, done) = chare::future();
        WavererProxy::create(5).run(5, balance.balancer.is_some(), done);
        assert_eq!(ended.await, 5);
        chare::exit(0);
    });
}

#[test]
fn a_sync_beside_another_rest_is_refused() {
    let job = Job::in_process(1, 2).balancer("rotate").run(|| async {
        WavererProxy::create(2).at(0).rest();
        std::future::pending::<()>().await;
    });
    let error = job.unwrap_err().to_string();
    assert!(error.contains("Waverer::rest") && error.contains("leave `at_rest` out"), "{error}");
}

/// Knows its deadline also when it begins anew.
#[derive(Serialize, Deserialize)]
struct Hurried {
    began: u32,
}

#[chare(array, migrate, sync)]
impl Hurried {
    #[entry]
    fn new() -> Self {
        Self { began: 0 }
    }

    #[entry]
    async fn hurry(this: Again<Self>) -> bool {
        if this.with(|hurried| std::mem::replace(&mut hurried.began, 1)) == 0 {
            this.sync().await;
        }
        chare::deadline().is_some_and(|deadline| {
            let hour = std::time::Duration::from_secs(3600);
            (chare::now()..=chare::now() + hour).contains(&deadline)
        })
    }
}

#[test]
fn an_entry_is_called_again_with_its_deadline() {
    in_every_balance(|_| async {
        let hurried = HurriedProxy::create(3);
        let hour = chare::CallOptions::new().deadline(chare::now() + std::time::Duration::from_secs(3600));
        let answers: Vec<_> = (0..3).map(|index| hurried.at(index).with(hour.clone()).hurry()).collect();
        for answer in answers {
            assert!(answer.await);
        }
    });
}
