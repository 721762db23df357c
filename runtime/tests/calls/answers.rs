//! Results of entries: entries that return something, futures, and callbacks to every kind of target.

use crate::every_path::{on_every_path, paths};
use chare::prelude::*;
use chare::{FutureSet, Job};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Wake, Waker};

/// One process with one, two and four PEs, and several processes.
const SHAPES: [(u32, u32); 5] = [(1, 1), (1, 2), (1, 4), (2, 2), (3, 1)];

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct DivisionByZero;

struct Calculator {
    memory: u64,
}

#[chare]
impl Calculator {
    #[entry]
    fn new() -> Self {
        Self { memory: 0 }
    }

    #[entry]
    fn divide(&mut self, number: u64, by: u64) -> Result<u64, DivisionByZero> {
        self.memory = number.checked_div(by).ok_or(DivisionByZero)?;
        Ok(self.memory)
    }

    #[entry]
    fn recall(&self) -> u64 {
        self.memory
    }

    #[entry]
    fn add_up(&mut self, #[nocopy] values: Received<u64>, start: u64) -> (u64, usize) {
        (values.iter().sum::<u64>() + start, values.len())
    }

    /// Asks others, who ask others.
    #[entry]
    async fn fib(_this: This<Self>, n: u64) -> u64 {
        if n < 2 {
            return n;
        }
        let below = [n - 1, n - 2].map(|n| CalculatorProxy::create().fib(n));
        chare::wait_all(below).await.iter().sum()
    }
}

#[test]
fn an_entry_returns_to_whoever_called_it() {
    on_every_path(&SHAPES, || async {
        let calculator = CalculatorProxy::create_on(PeId(chare::pes() - 1));
        assert_eq!(calculator.divide(42, 5).await, Ok(8));
        assert_eq!(calculator.divide(1, 0).await, Err(DivisionByZero));
        assert_eq!(calculator.recall().await, 8);
        assert_eq!(calculator.add_up(vec![1; 1000], 5).await, (1005, 1000));
        assert_eq!(calculator.fib(10).await, 55);
        // The result may also go elsewhere.
        let (seven, done) = chare::future();
        calculator.divide_callback().send((14, 2, done.into()));
        assert_eq!(seven.await, Ok(7));
    });
}

#[test]
fn values_are_taken_as_they_come() {
    on_every_path(&[(1, 1), (2, 2)], || async {
        let calculators: Vec<_> = (0..chare::pes()).map(|pe| CalculatorProxy::create_on(PeId(pe))).collect();
        let mut quotients: FutureSet<_> =
            (1..=8).map(|by| calculators[by as usize % calculators.len()].divide(840, by)).collect();
        let (never, _callback) = chare::future();
        assert!(!never.is_ready());
        assert_eq!(quotients.insert(never), 8);
        let mut seen = Vec::new();
        while quotients.len() > 5 {
            let (position, value) = chare::wait_any(&mut quotients).await;
            assert_eq!(value, Ok(840 / (position as u64 + 1)));
            seen.push(value.unwrap());
        }
        while quotients.len() > 1 {
            let some = chare::wait_some(&mut quotients).await;
            assert!(!some.is_empty());
            seen.extend(some.into_iter().map(|(_, value)| value.unwrap()));
        }
        seen.sort();
        assert_eq!(seen, [105, 120, 140, 168, 210, 280, 420, 840]);
    });
}

/// Counts how often it is woken; who holds it can be counted, too.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_wait_for_one_of_many_looks_at_none_that_has_no_value() {
    const MANY: usize = 1000;
    let code = Job::in_process(1, 1).run(|| async {
        let (futures, callbacks): (Vec<_>, Vec<_>) = (0..MANY).map(|_| chare::future::<usize>()).unzip();
        let mut waiting = FutureSet::from_iter(futures);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        for (turn, number) in (0..MANY).rev().enumerate() {
            let mut wait = pin!(chare::wait_any(&mut waiting));
            assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            // The test's, the waker's, and one for all futures.
            assert_eq!(Arc::strong_count(&woken), 3);
            callbacks[number].send(number);
            chare::yield_now().await;
            assert_eq!((woken.0.load(Ordering::Relaxed), Arc::strong_count(&woken)), (turn as u32 + 1, 2));
            assert_eq!(wait.await, (number, number));
        }
        assert!(waiting.is_empty());
        // What has come is taken at once, in that order, also where it came before its future was put in.
        let (futures, callbacks): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future::<usize>()).unzip();
        callbacks[2].send(2);
        chare::yield_now().await;
        waiting.extend(futures);
        (0..2).rev().for_each(|number| callbacks[number].send(number));
        chare::yield_now().await;
        let came: Vec<_> = chare::wait_some(&mut waiting).await.into_iter().map(|(_, value)| value).collect();
        assert_eq!(came, [2, 1, 0]);
    });
    assert_eq!(code.unwrap(), 0);
}

#[test]
fn a_callback_runs_a_closure_where_it_was_made() {
    on_every_path(&SHAPES, || async {
        let total = Rc::new(Cell::new(0));
        let counted = Rc::clone(&total);
        let each = Callback::each(move |number: u64| counted.set(counted.get() + number));
        let spots = SpotProxy::create();
        (0..chare::pes()).for_each(|pe| spots.on(PeId(pe)).tell(each, u64::from(pe) + 1));
        chare::quiescence().await;
        let pes = u64::from(chare::pes());
        assert_eq!(total.get(), pes * (pes + 1) / 2);

        let first = Rc::new(RefCell::new(Vec::new()));
        let noted = Rc::clone(&first);
        let once = Callback::once(move |number: u64| noted.borrow_mut().push((chare::my_pe(), number)));
        spots.tell_all(once, 5);
        chare::quiescence().await;
        assert_eq!(*first.borrow(), [(PeId(0), 5)], "once, here");
    });
}

struct Spot {
    heard: u64,
}

#[chare(group)]
impl Spot {
    #[entry]
    fn new() -> Self {
        Self { heard: 0 }
    }

    #[entry]
    fn tell(&mut self, to: Callback<u64>, number: u64) {
        to.send(number);
    }

    #[entry]
    fn tell_all(&mut self, to: Callback<u64>, number: u64) {
        to.send(number);
    }

    #[entry]
    fn hear(&mut self, number: u64) {
        self.heard += number * (chare::reference() + 1);
    }

    #[entry]
    fn hear_alone(&mut self, callback: Callback<u64>) {
        self.narrow(callback).send(1);
        // A callback that leads elsewhere stays what it is.
        let me = self.this_chare().hear_callback();
        assert_eq!(self.narrow(me), me);
    }

    #[entry]
    fn report(&mut self, total: Callback<Vec<u64>>) {
        self.contribute(set(self.heard), total);
    }
}

#[test]
fn callbacks_to_members_and_to_all_of_them_carry_their_reference() {
    on_every_path(&SHAPES, || async {
        let spots = SpotProxy::create();
        let last = PeId(chare::pes() - 1);
        spots.hear_callback().with_reference(9).send(1);
        spots.on(last).hear_callback().send_with(chare::CallOptions::new().expedited(), 100);
        // Everyone tells itself alone, although the callback would reach all.
        spots.hear_alone(spots.hear_callback());
        chare::quiescence().await;
        let (heard, done) = chare::future();
        spots.report(done);
        let mut expected = vec![11; chare::pes() as usize];
        expected[last.0 as usize] += 100;
        assert_eq!(heard.await, expected);
        Callback::ignore().send(3);
        Callback::exit().send(());
    });
}

/// Owes an answer that it never gives.
struct Debtor;

#[chare(array)]
impl Debtor {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    async fn borrow(_this: This<Self>) -> u64 {
        let (never, _callback) = chare::future();
        never.await
    }

    #[entry]
    fn hear(&mut self, _number: u64) {}

    /// Goes in its own entry, before that returns.
    #[entry]
    async fn abscond(_this: This<Self>) -> u64 {
        chare::destroy();
        let (never, _callback) = chare::future();
        never.await
    }
}

/// The end of the job, in every shape and over every path.
fn ends_with<Fut>(main: impl Fn() -> Fut + Send + Clone + 'static) -> Vec<Result<i32, String>>
where
    Fut: Future<Output = ()> + 'static,
{
    let run = |(nodes, pes): (u32, u32)| {
        let main = main.clone();
        paths().into_iter().map(move |(_, network)| {
            let job = chare::Job::in_process(nodes, pes).network(network);
            job.run(main.clone()).map_err(|error| error.to_string())
        })
    };
    SHAPES.into_iter().flat_map(run).collect()
}

/// Debtors on every PE, of which the last goes after it was asked, and its answer.
async fn ask_in_vain() -> chare::Future<u64> {
    let last = u64::from(chare::pes()) - 1;
    let options = chare::ArrayOptions::new(u64::from(chare::pes())).placement(chare::Placement::RoundRobin);
    let debtors = DebtorProxy::create(options);
    let answer = debtors.at(last).borrow();
    chare::quiescence().await;
    debtors.at(last).destroy();
    answer
}

#[test]
fn who_awaits_a_chare_that_is_destroyed_is_told() {
    let told = ends_with(|| async {
        ask_in_vain().await.await;
    });
    let told_by_itself = ends_with(|| async {
        DebtorProxy::create(1).at(0).abscond().await;
    });
    for (end, entry) in
        told.iter().map(|end| (end, "borrow")).chain(told_by_itself.iter().map(|end| (end, "abscond")))
    {
        let Err(cause) = end else { panic!("the job went well") };
        let why = format!("Debtor::{entry} of member ");
        assert!(cause.contains(&why) && cause.contains("the chare was destroyed before"), "{cause}");
    }
}

#[test]
fn who_has_stopped_waiting_for_a_chare_that_is_destroyed_goes_on() {
    for end in ends_with(|| async {
        drop(ask_in_vain().await);
        chare::quiescence().await;
    }) {
        assert_eq!(end, Ok(0));
    }
}

#[test]
fn an_entry_that_is_to_hear_an_answer_which_never_comes_ends_the_job() {
    for end in ends_with(|| async {
        let debtors = DebtorProxy::create(2);
        debtors.at(0).borrow_callback().send(debtors.at(1).hear_callback().into());
        chare::quiescence().await;
        debtors.at(0).destroy();
        chare::quiescence().await;
    }) {
        let Err(cause) = end else { panic!("the job went well") };
        assert!(cause.contains("Debtor::borrow of member 0") && cause.contains("a callback"), "{cause}");
    }
}
