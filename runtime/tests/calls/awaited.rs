//! Awaited calls of `async` entries: by reference number, by condition, in any order, together and against each other.

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{ArrayOptions, Job};

/// One process with one, two and four PEs, and several processes.
const SHAPES: [(u32, u32); 5] = [(1, 1), (1, 2), (1, 4), (2, 2), (3, 1)];

/// Awaits in every way.
struct Waiter;

#[chare(array)]
impl Waiter {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn number(#[reference] of: (u32, u32), value: u64);

    #[entry(awaited)]
    fn word(word: String);

    #[entry(awaited)]
    fn row(#[reference] row: u32, #[nocopy] values: Received<f64>);

    #[entry(awaited)]
    fn landed(#[nocopy(post)] values: Posted<u32>, len: usize);

    #[post(landed)]
    fn post_landed(&mut self, values: Post<u32>, len: &usize) {
        values.post(vec![0; *len]).expect("it is as long as it says");
    }

    /// Answered by the entry that awaits it.
    #[entry(awaited)]
    fn ask(question: u64) -> u64;

    #[entry(awaited)]
    fn stop();

    #[entry]
    async fn take_one(this: This<Self>, wanted: u32) -> u64 {
        this.when(Self::number).matching(|((_, number), _)| *number == wanted).await.1
    }

    /// In the order of their reference numbers, backwards.
    #[entry]
    async fn collect(this: This<Self>, from: u32, count: u32) -> Vec<u64> {
        let mut values = Vec::new();
        for number in (0..count).rev() {
            let (of, value) = this.when(Self::number).reference((from, number)).await;
            assert_eq!(of, (from, number));
            values.push(value);
        }
        values
    }

    /// The first word that is long enough, then the shorter ones.
    #[entry]
    async fn choose(this: This<Self>, count: usize) -> Vec<String> {
        let mut words = vec![this.when(Self::word).matching(|word| word.len() > 3).await];
        while words.len() < count {
            words.push(this.when(Self::word).await);
        }
        words
    }

    /// A row and a word and a number, all or none.
    #[entry]
    async fn combine(this: This<Self>) -> (f64, String, u64) {
        let row = this.when(Self::row).reference(7);
        let ((row, word), (_, number)) =
            row.and(this.when(Self::word)).and(this.when(Self::number).reference((1, 1))).await;
        (row.1.iter().sum(), word, number)
    }

    #[entry]
    async fn land(this: This<Self>) -> Vec<u32> {
        let (values, len) = this.when(Self::landed).await;
        assert_eq!(values.transferred(), len);
        values.into_vec()
    }

    /// Answers until it is stopped; returns how often.
    #[entry]
    async fn serve(this: This<Self>) -> u64 {
        for answered in 0.. {
            chare::select! {
                (question, answer) = this.when(Self::ask) => answer.send(question * 2),
                () = this.when(Self::stop) => return answered,
            }
        }
        unreachable!("it is stopped")
    }

    /// Both at once, whichever ends first.
    #[entry]
    async fn overlap(this: This<Self>) -> (u64, String) {
        let numbers = async {
            let mut total = 0;
            for iteration in 0..3 {
                total += this.when(Self::number).reference((iteration, 0)).await.1;
            }
            total
        };
        let words = async { this.when(Self::word).await + &this.when(Self::word).await };
        chare::join!(numbers, words)
    }
}

/// Where an element of `count` lives when they are spread over all PEs.
fn waiters() -> WaiterProxy {
    WaiterProxy::create(u64::from(chare::pes()))
}

/// The element that is farthest from `main`.
fn last(waiters: &WaiterProxy) -> WaiterElementProxy {
    waiters.at(u64::from(chare::pes()) - 1)
}

#[test]
fn calls_are_found_by_their_reference_number_in_any_order() {
    on_every_path(&SHAPES, || async {
        let waiter = last(&waiters());
        let send = |from: u32, number: u32| waiter.number((from, number), u64::from(from * 100 + number));
        // Half of them are there before anybody asks.
        (0..10).for_each(|number| send(1, number));
        chare::quiescence().await;
        let collected = [1, 2].map(|from| waiter.collect(from, 20));
        (10..20).chain(0..20).enumerate().for_each(|(at, number)| send(if at < 10 { 1 } else { 2 }, number));
        let expected = |from: u64| (0..20).rev().map(|number| from * 100 + number).collect::<Vec<u64>>();
        assert_eq!(chare::wait_all(collected).await, [expected(1), expected(2)]);
    });
}

#[test]
fn a_hundred_thousand_calls_wait_without_being_searched() {
    let code = Job::in_process(1, 1).run(|| async {
        let waiter = last(&waiters());
        (0..100_000).for_each(|number| waiter.number((3, number), u64::from(number)));
        chare::quiescence().await;
        let values = waiter.collect(3, 100_000).await;
        assert!(values.iter().rev().copied().eq(0..100_000));
    });
    assert_eq!(code.unwrap(), 0);
}

/// Each wait has a condition of its own; half of the calls come before, half after.
#[test]
fn a_hundred_thousand_conditions_wait_side_by_side() {
    const WAITS: u32 = 100_000;
    let code = Job::in_process(1, 1).run(|| async {
        let waiter = last(&waiters());
        let call = |number| waiter.number((3, number), u64::from(number));
        (0..WAITS / 2).for_each(call);
        let taken: Vec<_> = (0..WAITS).map(|number| waiter.take_one(number)).collect();
        chare::quiescence().await;
        (WAITS / 2..WAITS).for_each(call);
        assert!(chare::wait_all(taken).await.into_iter().eq((0..WAITS).map(u64::from)));
    });
    assert_eq!(code.unwrap(), 0);
}

#[test]
fn a_condition_passes_over_calls_that_others_take() {
    on_every_path(&SHAPES, || async {
        let waiter = last(&waiters());
        let words = waiter.choose(4);
        for word in ["a", "ab", "abc", "abcd"] {
            waiter.word(word.to_owned());
            chare::quiescence().await;
        }
        assert_eq!(words.await, ["abcd", "a", "ab", "abc"]);
    });
}

#[test]
fn combined_waits_take_all_or_nothing() {
    on_every_path(&SHAPES, || async {
        let waiter = last(&waiters());
        let combined = waiter.combine();
        waiter.number((1, 1), 5);
        waiter.word("first".to_owned());
        chare::quiescence().await;
        assert!(!combined.is_ready());
        // The word still lies there for another.
        assert_eq!(waiter.choose(1).await, ["first"]);
        waiter.row(6, vec![100.0]);
        waiter.row(7, vec![0.5; 3000]);
        chare::quiescence().await;
        assert!(!combined.is_ready());
        waiter.word("second".to_owned());
        assert_eq!(combined.await, (1500.0, "second".to_owned(), 5));
    });
}

#[test]
fn buffers_are_awaited_like_other_arguments() {
    on_every_path(&SHAPES, || async {
        let waiter = last(&waiters());
        let landed = waiter.land();
        waiter.landed((0..5000).collect::<Vec<u32>>(), 5000);
        assert!(landed.await.into_iter().eq(0..5000));
    });
}

#[test]
fn the_first_of_several_is_taken_and_the_others_stay() {
    on_every_path(&SHAPES, || async {
        let waiter = last(&waiters());
        let served = waiter.serve();
        for question in 0..20 {
            assert_eq!(waiter.ask(question).await, question * 2);
        }
        waiter.stop();
        assert_eq!(served.await, 20);
        // Nobody awaits it until the next one serves.
        let answer = waiter.ask(4);
        chare::quiescence().await;
        assert!(!answer.is_ready());
        let served = waiter.serve();
        assert_eq!(answer.await, 8);
        waiter.stop();
        assert_eq!(served.await, 1);
    });
}

#[test]
fn activities_of_one_entry_overlap() {
    on_every_path(&SHAPES, || async {
        let waiter = last(&waiters());
        let both = waiter.overlap();
        waiter.number((2, 0), 4);
        waiter.word("same".to_owned());
        waiter.number((1, 0), 2);
        chare::quiescence().await;
        waiter.number((0, 0), 1);
        waiter.word("same".to_owned());
        assert_eq!(both.await, (7, "samesame".to_owned()));
    });
}

/// The values that callbacks bring, told apart by their contents.
struct Judge;

#[chare(group)]
impl Judge {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn total(total: u64);

    /// Two reductions in flight, awaited in the wrong order.
    #[entry]
    async fn run(this: This<Self>, done: Callback<u64>) {
        let total = this.this_collection().total_callback();
        this.contribute(sum(1), total.with_reference(1));
        this.contribute(sum(10), total.with_reference(2));
        let second = this.when(Self::total).reference(2).await;
        let first = this.when(Self::total).reference(1).await;
        this.contribute(sum(first * 1000 + second), done);
    }
}

#[test]
fn results_of_reductions_are_told_apart_by_their_callbacks() {
    on_every_path(&SHAPES, || async {
        let (total, done) = chare::future();
        JudgeProxy::create().run(done);
        let pes = u64::from(chare::pes());
        assert_eq!(total.await, pes * (pes * 1000 + pes * 10));
    });
}

/// Tells when it is dropped.
struct Guard(Callback<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.send(());
    }
}

struct Mortal;

#[chare(array)]
impl Mortal {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(awaited)]
    fn never();

    #[entry(awaited)]
    fn now();

    #[entry]
    async fn wait(this: This<Self>, dropped: Callback<()>) {
        let _guard = Guard(dropped);
        this.when(Self::never).await;
        unreachable!("nobody calls it");
    }

    /// Goes in the middle: what it awaits then does not come any more.
    #[entry]
    async fn go(this: This<Self>, dropped: Callback<()>) {
        let guard = Guard(dropped);
        this.when(Self::now).await;
        chare::destroy();
        this.when(Self::never).await;
        drop(guard);
        unreachable!("nobody calls it");
    }
}

#[test]
fn what_waits_in_a_chare_goes_with_it() {
    on_every_path(&SHAPES, || async {
        let mortals = MortalProxy::create_empty(ArrayOptions::empty());
        for round in 0..3u64 {
            let mortal = mortals.at(round * 5);
            mortal.insert_on(PeId(round as u32 % chare::pes()));
            let (dropped, callbacks): (Vec<_>, Vec<_>) = (0..5).map(|_| chare::future()).unzip();
            callbacks[..4].iter().for_each(|callback| mortal.wait(*callback));
            mortal.go(callbacks[4]);
            // Called for, though nobody will ever await it.
            let waits = dropped.iter().filter(|dropped| dropped.is_ready()).count();
            assert_eq!(waits, 0);
            chare::quiescence().await;
            mortal.now();
            chare::wait_all(dropped).await;
        }
        chare::quiescence().await;
    });
}

#[test]
fn entries_of_a_chare_end_in_any_order() {
    on_every_path(&[(1, 2), (2, 1)], || async {
        let waiter = last(&waiters());
        let collected: Vec<_> = (0..30).map(|from| waiter.collect(from, 1)).collect();
        chare::quiescence().await;
        for from in (0..30).map(|at| at * 7 % 30) {
            waiter.number((from, 0), u64::from(from));
        }
        let expected: Vec<_> = (0..30).map(|from| vec![from]).collect();
        assert_eq!(chare::wait_all(collected).await, expected);
    });
}

#[test]
fn calls_for_nobody_do_not_hold_a_job_up() {
    on_every_path(&SHAPES, || async {
        let waiters = waiters();
        waiters.word("unheard".to_owned());
        waiters.number((0, 0), 1);
        chare::quiescence().await;
    });
}

#[test]
fn branches_of_a_selection_have_patterns_conditions_and_a_last_resort() {
    let code = chare::Job::in_process(1, 1).run(|| async {
        let (mut taken, mut rounds) = ([0_u32; 2], 0);
        loop {
            rounds += 1;
            chare::select! {
                () = async {}, if rounds > 200 => break,
                (mut first, second) = std::future::ready((1, 2)) => { first += second; taken[0] += first / 3; }
                _ = std::future::ready(()) => taken[1] += 1,
                () = std::future::pending() => unreachable!("it never comes"),
            }
        }
        assert!(taken.iter().all(|times| *times > 0), "each has its turn: {taken:?}");
        let first = chare::select! { biased; x = async { 1 } => x, x = async { 2 } => x };
        let none = chare::select! { x = async { 1 }, if rounds == 0 => x, else => 9 };
        assert_eq!((first, none), (1, 9));
    });
    assert_eq!(code.unwrap(), 0);
}
