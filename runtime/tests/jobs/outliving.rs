//! Panics that chares outlive: callers learn of them, chares go on or are made anew, and the job goes on.

use crate::every_path::{on_every_path, on_every_real_path};
use chare::prelude::*;
use chare::{Exchange, Gather, Job, NoAnswer, Partition};
use serde::{Deserialize, Serialize, Serializer};

/// Goes on with the state that a panic left.
struct Sturdy {
    calls: u32,
}

#[chare(array, on_panic = answer)]
impl Sturdy {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry]
    fn divide(&mut self, number: u32, by: u32) -> u32 {
        self.calls += 1;
        number / by
    }

    #[entry]
    async fn divide_later(this: This<Self>, number: u32, by: u32) -> u32 {
        chare::sleep(std::time::Duration::from_millis(1)).await;
        this.with(|sturdy| sturdy.divide(number, by))
    }

    #[entry]
    fn drop_all(&mut self) {
        self.calls += 1;
        panic!("nobody awaits this");
    }

    #[entry(aggregate)]
    fn note(&mut self, number: u32) {
        self.calls += 1;
        assert!(number > 0, "nothing to note");
    }

    #[entry(inline)]
    fn count_inline(&mut self) {
        self.calls += 1;
        panic!("inline");
    }

    /// Calls a neighbour like a function; what that panics in is not this entry.
    #[entry]
    fn call_inline(&mut self, other: SturdyElementProxy) -> u32 {
        other.count_inline();
        self.calls
    }

    #[entry]
    fn calls(&self, done: Callback<u32>) {
        self.contribute(sum(self.calls), done);
    }
}

async fn calls(all: &SturdyProxy) -> u32 {
    chare::quiescence().await;
    let (calls, done) = chare::future();
    all.calls(done);
    calls.await
}

#[track_caller]
fn assert_failed<T: std::fmt::Debug>(answer: Result<T, NoAnswer>, clues: &[&str]) {
    let Err(NoAnswer::Failed(cause)) = answer else { panic!("it answered {answer:?}") };
    for clue in clues.iter().chain(&["outliving.rs"]) {
        assert!(cause.contains(clue), "{clue}: {cause}");
    }
    assert!(!cause.contains("src/"), "a place in the runtime says nothing: {cause}");
}

#[test]
fn callers_learn_of_panics_and_the_job_goes_on() {
    on_every_real_path(&[(1, 2), (2, 2)], || async {
        let all = SturdyProxy::create(5);
        let last = all.at(4);
        assert_failed(last.divide(1, 0).checked().await, &["Sturdy::divide of member 4", "divide by zero"]);
        assert_failed(last.divide_later(1, 0).checked().await, &["Sturdy::divide_later of member 4"]);
        assert_eq!(last.divide(6, 2).await, 3);
        assert_eq!(last.divide_later(8, 2).checked().await, Ok(4));
        assert_eq!(calls(&all).await, 4);
        // A broadcast, and calls that travel together.
        all.drop_all();
        (0..5).for_each(|index| (0..3).for_each(|number| all.at(index).note(number)));
        assert_eq!(calls(&all).await, 4 + 5 + 15);
        // One that waits for the result panics in turn, and whoever asked for that learns of it.
        let asked = chare::job_handle().run(move || last.divide(1, 0));
        assert_failed(asked.await, &["Sturdy::divide of member 4"]);
    });
}

#[test]
fn what_an_entry_calls_like_a_function_panics_by_itself() {
    let code = Job::in_process(1, 1).run(|| async {
        let all = SturdyProxy::create(2);
        assert_eq!(all.at(0).call_inline(all.at(1)).await, 0);
        assert_failed(all.at(0).divide(1, 0).checked().await, &["Sturdy::divide of member 0"]);
        assert_eq!(calls(&all).await, 2);
    });
    assert_eq!(code.unwrap(), 0);
}

/// Is made anew.
struct Phoenix {
    born_with: u32,
    calls: u32,
}

#[chare(on_panic = renew)]
impl Phoenix {
    #[entry]
    fn new(born_with: u32) -> Self {
        Self { born_with, calls: 0 }
    }

    #[entry]
    fn call(&mut self, fails: bool) -> (u32, u32) {
        self.calls += 1;
        self.born_with += 1;
        assert!(!fails, "it burns");
        (self.born_with, self.calls)
    }

    #[entry]
    async fn wait(_this: This<Self>) {
        let (never, _callback) = chare::future::<()>();
        never.await;
    }

    #[entry]
    async fn fail_later(_this: This<Self>) -> u32 {
        chare::sleep(std::time::Duration::from_millis(1)).await;
        panic!("it burns later");
    }

    #[entry]
    async fn answer_never(_this: This<Self>) -> u32 {
        let (never, _callback) = chare::future::<u32>();
        never.await
    }

    #[entry]
    fn end(&mut self) {
        chare::destroy();
    }
}

#[test]
fn a_chare_is_made_anew_in_its_place() {
    on_every_path(&[(1, 1), (2, 2)], || async {
        let phoenix = PhoenixProxy::create_on(PeId(chare::pes() - 1), 40);
        assert_eq!(phoenix.call(false).await, (41, 1));
        phoenix.wait();
        let never = phoenix.answer_never();
        for _ in 0..3 {
            assert_failed(phoenix.call(true).checked().await, &["Phoenix::call", "it burns"]);
            assert_eq!(phoenix.call(false).await, (41, 1), "the state is new");
        }
        // Calls have no order: one that runs later waits for the next time.
        while !never.is_ready() {
            assert_failed(phoenix.call(true).checked().await, &["it burns"]);
            assert_eq!(phoenix.call(false).await, (41, 1));
        }
        let Err(NoAnswer::Failed(cause)) = never.checked().await else { panic!("it answered") };
        assert!(cause.contains("made anew"), "{cause}");
        assert_eq!(phoenix.call(false).await, (42, 2));
        assert_failed(phoenix.fail_later().checked().await, &["Phoenix::fail_later", "it burns later"]);
        assert_eq!(phoenix.call(false).await, (41, 1));
        phoenix.end();
    });
}

/// Its second constructor panics.
struct Once;

static MADE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

#[chare(on_panic = renew)]
impl Once {
    #[entry]
    fn new() -> Self {
        assert!(!MADE.swap(true, std::sync::atomic::Ordering::Relaxed), "there is one");
        Self
    }

    #[entry]
    fn fail(&mut self) {
        panic!("it fails");
    }
}

#[test]
fn a_constructor_that_panics_ends_the_job() {
    let failed = Job::in_process(1, 1).run(|| async { OnceProxy::create().fail() });
    let error = failed.unwrap_err().to_string();
    assert!(error.contains("Once::constructor") && error.contains("there is one"), "{error}");
}

/// What cannot be written into a message.
#[derive(Clone, Debug, Deserialize)]
struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, _serializer: S) -> Result<S::Ok, S::Error> {
        panic!("it is not to be written")
    }
}

/// Ways to send what cannot be written.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Beside {
    Nothing,
    Short,
    Long,
    AndTwo,
    Callback,
}

/// Answers with what cannot be written.
struct Clumsy;

#[chare(group, on_panic = answer)]
impl Clumsy {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn hear(
        &mut self,
        beside: Beside,
        asker: ClumsyProxy,
        #[nocopy] lent: Received<u32>,
        done: Callback<Unwritable>,
    ) {
        // Its owner is told by the next message to it.
        drop(lent);
        let asker = asker.on(PeId(0));
        match beside {
            Beside::Nothing => asker.take(Unwritable),
            Beside::Short => asker.take_data(vec![1; 3], Unwritable),
            Beside::Long => asker.take_data(vec![1; 100_000], Unwritable),
            Beside::AndTwo => asker.take_two(vec![1; 3], vec![1; 100_000], Unwritable),
            Beside::Callback => done.send(Unwritable),
        }
    }

    #[entry]
    fn take(&mut self, _value: Unwritable) {}

    #[entry]
    fn take_data(&mut self, #[nocopy] _data: Received<u32>, _value: Unwritable) {}

    #[entry]
    fn take_two(&mut self, #[nocopy] _one: Received<u32>, #[nocopy] _two: Received<u32>, _value: Unwritable) {
    }
}

/// Such a panic is outlived by nobody: the message was counted, and what it lends and releases is on its way.
#[test]
fn arguments_that_panic_while_they_are_written_end_the_job() {
    for (beside, what) in [
        (Beside::Nothing, "Clumsy::take"),
        (Beside::Short, "Clumsy::take_data"),
        (Beside::Long, "Clumsy::take_data"),
        (Beside::AndTwo, "Clumsy::take_two"),
        (Beside::Callback, "resolving a future"),
    ] {
        let failed = Job::in_process(2, 1).run(move || async move {
            let all = ClumsyProxy::create();
            let (_never, done) = chare::future();
            all.on(PeId(1)).hear(beside, all.clone(), BufferMut::zeroed(5000), done);
            chare::quiescence().await;
        });
        let error = failed.expect_err("nobody can go on").to_string();
        for clue in [what, "it is not to be written", "outliving.rs"] {
            assert!(error.contains(clue), "{clue}: {error}");
        }
    }
}

/// Takes part in collectives of buffers, as one of two on a PE.
struct Participant {
    exchange: Exchange<u32>,
}

#[chare(array, on_panic = answer)]
impl Participant {
    #[entry]
    fn new(exchange: Exchange<u32>) -> Self {
        Self { exchange }
    }

    /// Puts the part of member 0, whoever it is.
    #[entry]
    fn put(&mut self, gather: Gather<u32>) {
        gather.put(0_u64, vec![1; 4]);
    }

    #[entry]
    fn show(&mut self) {
        self.exchange.show_all(self.this_index(), vec![1; 4], Callback::ignore());
    }

    #[entry]
    fn give(&mut self) {
        self.exchange.all_gather(self.this_index(), vec![1; 4], (vec![0; 8], &halves()), Callback::ignore());
    }
}

fn halves() -> Partition<u32> {
    Partition::rows([2, 4], 2).expect("a row for each")
}

/// What a member does wrong.
type Mistake = fn(&ParticipantProxy);

/// The others would wait for what never comes.
#[test]
fn members_of_a_collective_that_do_not_agree_end_the_job_whatever_their_panics_do() {
    let mistakes: [(Mistake, &str); 2] = [
        (|all| all.put(Gather::into(vec![0; 8], &halves(), Callback::ignore())), "which was put before"),
        (|all| all.at(1).give(), "member 1 calls `all_gather`"),
    ];
    for (err, words) in mistakes {
        let failed = Job::in_process(1, 1).run(move || async move {
            let all = ParticipantProxy::create(2, Exchange::create(2));
            all.at(0).show();
            chare::quiescence().await;
            err(&all);
            std::future::pending::<()>().await;
        });
        let error = failed.expect_err("they do not agree").to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// Has others run what it began, and panics there.
struct Beginner {
    calls: u32,
}

#[chare(on_panic = renew)]
impl Beginner {
    #[entry]
    fn new() -> Self {
        Self { calls: 0 }
    }

    #[entry]
    fn spawn(&mut self) -> u32 {
        self.calls += 1;
        chare::spawn(async {
            chare::yield_now().await;
            panic!("a task of its own");
        });
        self.calls
    }

    #[entry]
    fn close(&mut self, each: bool) -> u32 {
        self.calls += 1;
        let fail = |number: u32| assert!(number == 0, "a closure of its own");
        let told = if each { Callback::each(fail) } else { Callback::once(fail) };
        told.send(1);
        self.calls
    }
}

#[test]
fn what_an_entry_leaves_for_later_is_outlived_as_the_entry_is() {
    on_every_path(&[(1, 1), (2, 1)], || async {
        let beginner = BeginnerProxy::create_on(PeId(chare::pes() - 1));
        for _ in 0..2 {
            assert_eq!(beginner.spawn().await, 1, "the state is new");
            chare::quiescence().await;
            for each in [false, true] {
                assert_eq!(beginner.close(each).await, 1, "the state is new");
                chare::quiescence().await;
            }
        }
    });
}

/// Panics when it is dropped, or when it is read from a message.
#[derive(Clone, Debug, Serialize)]
struct Fragile {
    breaks: bool,
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert!(!self.breaks, "it breaks");
    }
}

impl<'de> Deserialize<'de> for Fragile {
    fn deserialize<D: serde::Deserializer<'de>>(_deserializer: D) -> Result<Self, D::Error> {
        panic!("it is not to be read")
    }
}

/// Holds what breaks.
struct Holder {
    _held: Option<Fragile>,
}

#[chare(on_panic = answer)]
impl Holder {
    #[entry]
    fn new() -> Self {
        Self { _held: None }
    }

    #[entry]
    fn hold_and_leave(&mut self) {
        self._held = Some(Fragile { breaks: true });
        chare::destroy();
    }

    #[entry]
    fn read(&mut self, _fragile: Fragile) {}

    #[entry]
    fn land(&mut self, #[nocopy(post)] _data: Posted<u32>) {}

    #[post(land)]
    fn post_land(&mut self, _data: Post<u32>) {
        panic!("no buffer for it");
    }
}

/// What somebody does to a holder.
type Deed = fn(&HolderProxy);

/// The book lists them.
#[test]
fn what_no_chare_outlives_ends_the_job_and_is_named() {
    let mistakes: [(Deed, [&str; 2]); 3] = [
        (|holder| holder.hold_and_leave(), ["Holder::drop of chare", "it breaks"]),
        (|holder| holder.read(Fragile { breaks: false }), ["Holder::read", "it is not to be read"]),
        (|holder| holder.land(vec![1, 2, 3]), ["Holder::land", "no buffer for it"]),
    ];
    for (err, clues) in mistakes {
        let failed = Job::in_process(2, 1).run(move || async move {
            err(&HolderProxy::create_on(PeId(1)));
            chare::quiescence().await;
        });
        let error = failed.expect_err("nobody goes on").to_string();
        for clue in clues {
            assert!(error.contains(clue), "{clue}: {error}");
        }
    }
}
