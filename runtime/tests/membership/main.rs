//! Arrays whose elements come and go: whoever calls, inserts or destroys, from wherever, over every path.

mod every_path;

use chare::prelude::*;
use chare::{ArrayOptions, Job};
use every_path::on_every_path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Nodes and PEs per node.
const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 3), (2, 1), (2, 2)];

struct Account {
    balance: i64,
}

#[chare(array, index = (u32, u32))]
impl Account {
    #[entry]
    fn new(balance: i64) -> Self {
        Self { balance }
    }

    #[entry]
    fn add(&mut self, amount: i64) {
        self.balance += amount;
    }

    #[entry]
    fn report(&mut self, to: Callback<(i64, PeId)>) {
        to.send((self.balance, chare::my_pe()));
    }

    #[entry]
    fn total(&mut self, done: Callback<i64>) {
        self.contribute(sum(self.balance), done);
    }

    #[entry]
    fn total_twice(&mut self, first: Callback<i64>, second: Callback<i64>) {
        self.total(first);
        self.total(second);
    }

    #[entry]
    fn close(&mut self, done: Callback<()>) {
        done.send(());
        chare::destroy();
    }
}

/// One on each PE: does something from there.
struct Clerk {
    accounts: AccountProxy,
}

#[chare(group)]
impl Clerk {
    #[entry]
    fn new(accounts: AccountProxy) -> Self {
        Self { accounts }
    }

    #[entry]
    fn insert(&mut self, index: (u32, u32), balance: i64) {
        self.accounts.at(index).insert(balance);
    }

    #[entry]
    fn insert_on(&mut self, index: (u32, u32), pe: PeId, balance: i64) {
        self.accounts.at(index).insert_on(pe, balance);
    }

    #[entry]
    fn add(&mut self, index: (u32, u32), amount: i64, done: Callback<()>) {
        self.accounts.at(index).add(amount);
        self.contribute(barrier(), done);
    }

    #[entry]
    fn is_local(&mut self, index: (u32, u32), done: Callback<Vec<Option<i64>>>) {
        let balance = self.accounts.at(index).local(|account| account.balance);
        self.contribute(concat([balance]), done);
    }
}

fn pes() -> impl Iterator<Item = PeId> {
    (0..chare::pes()).map(PeId)
}

async fn report(accounts: &AccountProxy, index: (u32, u32)) -> (i64, PeId) {
    let (balance, to) = chare::future();
    accounts.at(index).report(to);
    balance.await
}

async fn total(accounts: &AccountProxy) -> i64 {
    let (total, done) = chare::future();
    accounts.total(done);
    total.await
}

#[test]
fn calls_wait_for_elements_and_find_them_on_any_pe() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let clerks = ClerkProxy::create(accounts.clone());
        for (number, pe) in (0..).zip(pes().chain(pes()).chain(pes())) {
            let index = (number, number * number);
            let (added, done) = chare::future();
            clerks.add(index, 1, done);
            added.await;
            let on = PeId((pe.0 + number) % chare::pes());
            clerks.on(pe).insert_on(index, on, 100);
            let everyone = i64::from(chare::pes());
            assert_eq!(report(&accounts, index).await.1, on);
            chare::quiescence().await;
            // By now some remember where it lives, and all have to find it there.
            clerks.add(index, 10, Callback::ignore());
            chare::quiescence().await;
            assert_eq!(report(&accounts, index).await, (100 + 11 * everyone, on));
            let (local, done) = chare::future();
            clerks.is_local(index, done);
            let expected: Vec<Option<i64>> =
                pes().map(|pe| (pe == on).then_some(100 + 11 * everyone)).collect();
            assert_eq!(local.await, expected);
        }
    });
}

#[test]
fn an_index_is_used_again_and_again_wherever_its_elements_live() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let clerks = ClerkProxy::create(accounts.clone());
        let index = (3, 1);
        for round in 0..12u32 {
            let on = PeId(round * 7 % chare::pes());
            match round % 3 {
                0 => accounts.at(index).insert(i64::from(round)),
                1 => accounts.at(index).insert_on(on, i64::from(round)),
                _ => clerks.on(on).insert(index, i64::from(round)),
            }
            let (balance, at) = report(&accounts, index).await;
            assert_eq!(balance, i64::from(round));
            if round % 3 == 1 {
                assert_eq!(at, on);
            }
            clerks.add(index, 1, Callback::ignore());
            chare::quiescence().await;
            assert_eq!(report(&accounts, index).await.0, i64::from(round + chare::pes()));
            if round % 2 == 0 {
                accounts.at(index).destroy();
                chare::quiescence().await;
            } else {
                let (closed, done) = chare::future();
                accounts.at(index).close(done);
                closed.await;
                // The news of its end may still be on the way to its home.
                let (answer, to) = chare::future();
                accounts.at(index).report(to);
                accounts.at(index).insert_on(on, -1);
                assert_eq!(answer.await, (-1, on));
                accounts.at(index).destroy();
                chare::quiescence().await;
            }
        }
    });
}

#[test]
fn reductions_count_who_is_there() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let clerks = ClerkProxy::create(accounts.clone());
        let mut expected = 0;
        for number in 0..12u32 {
            let from = PeId(number * 5 % chare::pes());
            let on = PeId(number * 3 % chare::pes());
            clerks.on(from).insert_on((number, 7), on, i64::from(number));
            expected += i64::from(number);
            chare::quiescence().await;
            assert_eq!(total(&accounts).await, expected);
            if number % 3 == 2 {
                accounts.at((number - 1, 7)).destroy();
                expected -= i64::from(number - 1);
                chare::quiescence().await;
                let ((first, to_first), (second, to_second)) = (chare::future(), chare::future());
                accounts.total_twice(to_first, to_second);
                assert_eq!((first.await, second.await), (expected, expected));
            }
        }
        accounts.done_inserting();
        chare::quiescence().await;
        assert_eq!(total(&accounts).await, expected);
        accounts.destroy();
        chare::quiescence().await;
    });
}

#[test]
fn a_fixed_array_goes_on_when_a_pe_loses_its_last_element() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create((chare::pes(), 2), 0);
        let mut left = i64::from(chare::pes()) * 2;
        assert_eq!(total(&accounts).await, 0);
        accounts.add(1);
        chare::quiescence().await;
        assert_eq!(total(&accounts).await, left);
        for row in (1..chare::pes()).rev() {
            for column in 0..2 {
                accounts.at((row, column)).destroy();
            }
            left -= 2;
            chare::quiescence().await;
            let ((first, to_first), (second, to_second)) = (chare::future(), chare::future());
            accounts.total_twice(to_first, to_second);
            assert_eq!((first.await, second.await), (left, left));
        }
    });
}

struct Worker {
    rounds: u32,
    results: Callback<Vec<u64>>,
}

#[chare(array)]
impl Worker {
    #[entry]
    fn new(rounds: u32, results: Callback<Vec<u64>>) -> Self {
        Self { rounds, results }
    }

    /// Contributes, and at some rounds has a successor or goes.
    #[entry]
    fn work(&mut self) {
        let index = self.this_index();
        self.contribute(sum(vec![1, index]), self.results);
        self.rounds -= 1;
        match self.rounds {
            0 => chare::destroy(),
            left => {
                if left.is_multiple_of(4) && index < 1000 {
                    let pe = PeId((index as u32 * 31 + left) % chare::pes());
                    let child = self.this_collection().at(index * 7 + 1000 + u64::from(left));
                    child.insert_on(pe, 9, self.results);
                    child.work();
                }
                self.this_chare().work();
            }
        }
    }
}

struct Tally {
    contributions: u64,
    indices: u64,
}

#[chare]
impl Tally {
    #[entry]
    fn new() -> Self {
        Self { contributions: 0, indices: 0 }
    }

    #[entry]
    fn add(&mut self, result: Vec<u64>) {
        self.contributions += result[0];
        self.indices += result[1];
    }

    #[entry]
    fn report(&mut self, to: Callback<(u64, u64)>) {
        to.send((self.contributions, self.indices));
    }
}

#[test]
fn every_contribution_counts_once_while_elements_come_and_go() {
    on_every_path(&SHAPES, || async {
        let tally = TallyProxy::create();
        let workers = WorkerProxy::create_empty(ArrayOptions::empty());
        let (mut contributions, mut indices) = (0, 0);
        for parent in 1..9u64 {
            let rounds = 8 + parent as u32;
            workers.at(parent).insert(rounds, tally.add_callback());
            workers.at(parent).work();
            contributions += u64::from(rounds);
            indices += u64::from(rounds) * parent;
            for left in (1..rounds).filter(|left| left.is_multiple_of(4)) {
                contributions += 9;
                indices += 9 * (parent * 7 + 1000 + u64::from(left));
            }
        }
        chare::quiescence().await;
        let (seen, to) = chare::future();
        tally.report(to);
        assert_eq!(seen.await, (contributions, indices));
    });
}

struct OnDemand {
    calls: u64,
}

#[chare(array)]
impl OnDemand {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry(create_here)]
    fn call_here(&mut self) {
        self.calls += 1;
    }

    #[entry(create_home)]
    fn call_home(&mut self) {
        self.calls += 1;
    }

    #[entry]
    fn report(&mut self, to: Callback<(u64, PeId)>) {
        to.send((self.calls, chare::my_pe()));
    }

    #[entry]
    fn total(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(sum(vec![1, self.calls]), done);
    }
}

struct Caller {
    array: OnDemandProxy,
}

#[chare(group)]
impl Caller {
    #[entry]
    fn new(array: OnDemandProxy) -> Self {
        Self { array }
    }

    #[entry]
    fn call_here(&mut self, index: u64) {
        self.array.at(index).call_here();
    }

    #[entry]
    fn call_home(&mut self, first: u64, end: u64) {
        (first..end).for_each(|index| self.array.at(index).call_home());
    }
}

#[test]
fn a_call_creates_the_element_that_it_needs_once() {
    on_every_path(&SHAPES, || async {
        let array = OnDemandProxy::create(ArrayOptions::listed([]));
        let callers = CallerProxy::create(array.clone());
        for pe in pes() {
            callers.on(pe).call_here(u64::from(pe.0));
        }
        chare::quiescence().await;
        for pe in pes() {
            let (report, to) = chare::future();
            array.at(u64::from(pe.0)).report(to);
            assert_eq!(report.await, (1, pe));
        }
        // All at once: one element each.
        callers.call_home(0, 50);
        callers.call_here(60);
        chare::quiescence().await;
        let (total, done) = chare::future();
        array.total(done);
        let pes = u64::from(chare::pes());
        assert_eq!(total.await, [51, pes + 51 * pes]);
    });
}

struct Named;

#[chare(array, index = String)]
impl Named {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry(create_here)]
    fn call_here(&mut self, to: Callback<(String, PeId)>) {
        to.send((self.this_index(), chare::my_pe()));
    }

    #[entry(create_home)]
    fn call_home(&mut self, to: Callback<(String, PeId)>) {
        to.send((self.this_index(), chare::my_pe()));
    }
}

#[test]
fn an_index_of_any_length_is_created_on_demand() {
    on_every_path(&SHAPES, || async {
        let array = NamedProxy::create(ArrayOptions::listed([]));
        let name =
            |number: u32| format!("an index that is longer than what stands in a message, number {number}");
        for number in 0..20 {
            let ((here, to_here), (again, to_again)) = (chare::future(), chare::future());
            array.at(name(number)).call_here(to_here);
            array.at(name(number)).call_home(to_again);
            assert_eq!(here.await.0, name(number));
            assert_eq!(again.await.0, name(number));
            let (home, to_home) = chare::future();
            array.at(name(100 + number)).call_home(to_home);
            assert_eq!(home.await.0, name(100 + number));
            let (short, to_short) = chare::future();
            array.at(number.to_string()).call_here(to_short);
            assert_eq!(short.await, (number.to_string(), PeId(0)));
        }
    });
}

struct Shadow {
    follows: AccountProxy,
}

#[chare(array, index = (u32, u32))]
impl Shadow {
    #[entry]
    fn new(follows: AccountProxy) -> Self {
        Self { follows }
    }

    /// The account beside it, which is on the same PE.
    #[entry]
    fn look(&mut self, done: Callback<i64>) {
        let balance = self.follows.at(self.this_index()).local(|account| {
            account.balance += 1;
            account.balance
        });
        self.contribute(sum(balance.expect("a bound element lives with the one it is bound to")), done);
    }
}

#[test]
fn bound_elements_live_together() {
    on_every_path(&SHAPES, || async {
        let accounts = AccountProxy::create((4, 3), 0);
        let shadows = ShadowProxy::create(ArrayOptions::new((4, 3)).bind_to(&accounts), accounts.clone());
        let (sum, done) = chare::future();
        shadows.look(done);
        assert_eq!(sum.await, 12);

        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let shadows = ShadowProxy::create_empty(ArrayOptions::empty().bind_to(&accounts));
        for number in 0..9 {
            let on = PeId(number % chare::pes());
            accounts.at((number, number)).insert_on(on, i64::from(number));
        }
        chare::quiescence().await;
        for number in 0..9 {
            shadows.at((number, number)).insert(accounts.clone());
        }
        chare::quiescence().await;
        let (sum, done) = chare::future();
        shadows.look(done);
        assert_eq!(sum.await, 36 + 9);
    });
}

#[test]
fn creation_calls_back_when_every_element_exists() {
    on_every_path(&SHAPES, || async {
        for len in [0, 1, 100] {
            let (created, done) = chare::future();
            let accounts = AccountProxy::create(ArrayOptions::new((len, 1)).created(done), 5);
            created.await;
            if len > 0 {
                assert_eq!(total(&accounts).await, 5 * i64::from(len));
            }
        }
    });
}

struct Counted {
    calls: u32,
}

#[chare(array)]
impl Counted {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry]
    fn hear(&mut self) {
        self.calls += 1;
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<(u64, u32)>>) {
        self.contribute(concat([(self.this_index(), self.calls)]), done);
    }
}

#[test]
fn broadcasts_reach_once_who_was_there_all_the_time() {
    on_every_path(&SHAPES, || async {
        let array = CountedProxy::create(ArrayOptions::new(10).dynamic());
        for number in 0..30 {
            array.hear();
            array.at(100 + number).insert();
            if number % 2 == 0 {
                array.at(100 + number).destroy();
            }
        }
        chare::quiescence().await;
        array.hear();
        chare::quiescence().await;
        let (report, done) = chare::future();
        array.report(done);
        let report = report.await;
        assert_eq!(report.len(), 10 + 15);
        for (index, calls) in report {
            match index {
                0..10 => assert_eq!(calls, 31),
                _ => assert!((1..=31).contains(&calls), "{index} heard {calls}"),
            }
        }
    });
}

/// Whether homes answer: while they do not, only who knows better is reached.
static HOME_IS_BUSY: AtomicBool = AtomicBool::new(false);

/// How long a home may be busy before the test has failed.
const PATIENCE: Duration = Duration::from_secs(30);

struct Busy;

#[chare(group)]
impl Busy {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Keeps this PE from everything else.
    #[entry]
    fn be_busy(&mut self, begun: Callback<()>) {
        HOME_IS_BUSY.store(true, Ordering::SeqCst);
        begun.send(());
        let since = Instant::now();
        while HOME_IS_BUSY.load(Ordering::SeqCst) {
            assert!(since.elapsed() < PATIENCE, "a call that should not need this PE waits for it");
            std::thread::yield_now();
        }
    }
}

#[test]
fn who_has_called_an_element_finds_it_without_its_home_also_when_it_lives_elsewhere_by_now() {
    // PE 0 calls, PE 1 is home, PEs 2 and 3 are where the element lives in turn.
    for (nodes, pes) in [(1, 4), (4, 1), (2, 2)] {
        let result = Job::in_process(nodes, pes).run(|| async {
            let home = |_| PeId(1);
            let accounts = AccountProxy::create(ArrayOptions::new((1, 1)).place_by(home).dynamic(), 0);
            let busy = BusyProxy::create();
            accounts.at((0, 0)).destroy();
            chare::quiescence().await;
            for round in 0..6u32 {
                let on = PeId(2 + round % 2);
                accounts.at((0, 0)).insert_on(on, i64::from(round));
                // What is known is where it lived before, or nothing: its home puts that right.
                assert_eq!(report(&accounts, (0, 0)).await, (i64::from(round), on));
                chare::quiescence().await;
                let (begun, to) = chare::future();
                busy.on(PeId(1)).be_busy(to);
                begun.await;
                assert_eq!(report(&accounts, (0, 0)).await, (i64::from(round), on));
                HOME_IS_BUSY.store(false, Ordering::SeqCst);
                accounts.at((0, 0)).destroy();
                chare::quiescence().await;
            }
        });
        assert_eq!(result.unwrap(), 0, "{nodes}x{pes}");
    }
}

struct Base {
    value: u64,
}

#[chare(group)]
impl Base {
    #[entry]
    fn new(below: Option<BaseProxy>) -> Self {
        let value = below.map_or(0, |below| {
            let value = below.local().local(|below| below.value);
            value.expect("what was created before is here before") + 1
        });
        Self { value }
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(set(self.value), done);
    }

    /// Creates another group, after a group that this PE has not created.
    #[entry]
    fn create_another(&mut self, below: BaseProxy, done: Callback<Vec<u64>>) {
        BaseProxy::create_after(&below, Some(below.clone())).report(done);
    }
}

#[test]
fn constructors_reach_what_was_created_before() {
    on_every_path(&SHAPES, || async {
        let mut groups = vec![BaseProxy::create(None)];
        for _ in 0..20 {
            groups.push(BaseProxy::create(groups.last().cloned()));
        }
        for (value, group) in (0..).zip(&groups) {
            let (values, done) = chare::future();
            group.report(done);
            assert_eq!(values.await, vec![value; chare::pes() as usize]);
        }
        let late = BaseProxy::create(groups.last().cloned());
        let (values, done) = chare::future();
        groups[0].on(PeId(chare::pes() - 1)).create_another(late, done);
        assert_eq!(values.await, vec![22; chare::pes() as usize]);
        let accounts = AccountProxy::create(ArrayOptions::new((2, 2)).after(&groups[3]), 5);
        assert_eq!(total(&accounts).await, 20);
    });
}

/// What a job says that ends because of `main`, in one process of two PEs and in two of one.
fn failures<Fut>(main: impl Fn() -> Fut + Send + Clone + 'static) -> Vec<String>
where
    Fut: Future<Output = ()> + 'static,
{
    let fail = |(nodes, pes)| {
        let main = main.clone();
        let result = Job::in_process(nodes, pes).run(move || async move {
            main().await;
            chare::future::<()>().0.await;
        });
        result.unwrap_err().to_string()
    };
    [(1, 2), (2, 1)].map(fail).into()
}

fn expect(failures: Vec<String>, parts: &[&str]) {
    for text in failures {
        assert!(parts.iter().all(|part| text.contains(part)), "{parts:?} in: {text}");
    }
}

#[test]
fn what_cannot_be_names_the_element() {
    let twice = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.at((1, 2)).insert(0);
        accounts.at((1, 2)).insert_on(PeId(1), 0);
    });
    expect(twice, &["member (1, 2) of", "Account", "already"]);
    let twice_elsewhere = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.at((1, 2)).insert_on(PeId(0), 0);
        chare::quiescence().await;
        accounts.at((1, 2)).insert_on(PeId(1), 0);
    });
    expect(twice_elsewhere, &["member (1, 2) of", "already"]);
    let never = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.at((1, 2)).add(5);
        accounts.at((1, 1)).insert(0);
        accounts.done_inserting();
    });
    expect(never, &["Account::add", "(1, 2)", "inserted"]);
    let late = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        accounts.done_inserting();
        accounts.at((1, 2)).insert(0);
    });
    expect(late, &["member (1, 2) of", "done_inserting"]);
    let fixed = failures(|| async { AccountProxy::create((2, 2), 0).at((2, 2)).insert(0) });
    expect(fixed, &["member (2, 2) of", "not dynamic"]);
    let destroyed = failures(|| async {
        let accounts = AccountProxy::create((2, 2), 0);
        accounts.at((1, 1)).destroy();
        chare::quiescence().await;
        accounts.at((1, 1)).add(1);
    });
    expect(destroyed, &["Account::add", "member (1, 1)", "destroyed"]);
    let out_of_order = failures(|| async {
        let accounts = AccountProxy::create((1, 2), 0);
        for column in 0..2 {
            accounts.at((0, column)).total(chare::future().1);
        }
    });
    expect(out_of_order, &["a reduction over", "Account", "different callbacks"]);
    let apart = failures(|| async {
        let accounts = AccountProxy::create_empty(ArrayOptions::empty());
        let shadows = ShadowProxy::create_empty(ArrayOptions::empty().bind_to(&accounts));
        accounts.at((1, 1)).insert_on(PeId(0), 0);
        chare::quiescence().await;
        shadows.at((1, 1)).insert_on(PeId(1), accounts.clone());
    });
    expect(apart, &["member (1, 1) of", "bound", "PE 0"]);
}

struct Nested;

#[chare(array)]
impl Nested {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn enter(&mut self, other: u64) {
        let all = self.this_collection();
        let seen = all.at(other).local(|_| all.at(other).local(|_| ()).is_some());
        assert_eq!(seen, None);
    }

    /// Contributes in the name of another element, and has it go.
    #[entry]
    fn act_for(&mut self, other: u64, done: Callback<Vec<u64>>) {
        let all = self.this_collection();
        let acted = all.at(other).local(|nested| {
            assert_eq!(nested.this_index(), other);
            nested.contribute(concat([other]), done);
            chare::destroy();
        });
        assert_eq!(acted, Some(()));
        assert_eq!(all.at(other).local(|_| ()), None, "it is gone");
        self.contribute(concat([self.this_index()]), done);
    }
}

#[test]
fn an_element_is_reached_without_a_message_by_one_at_a_time() {
    for other in [0, 1] {
        let itself = Job::in_process(1, 1).run(move || async move {
            NestedProxy::create(2).at(0).enter(other);
            chare::future::<()>().0.await;
        });
        let text = itself.unwrap_err().to_string();
        assert!(text.contains("Nested::local of member") && text.contains("borrowed already"), "{text}");
    }
    let code = Job::in_process(1, 1).run(|| async {
        let nested = NestedProxy::create(2);
        let (indices, done) = chare::future();
        nested.at(0).act_for(1, done);
        assert_eq!(indices.await, [0, 1]);
    });
    assert_eq!(code.unwrap(), 0);
}
