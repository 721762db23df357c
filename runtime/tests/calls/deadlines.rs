//! Deadlines of calls: one that is over before the call began answers in its place, one that is not is known to who runs.

use crate::every_path::on_every_path;
use chare::prelude::*;
use chare::{CallOptions, Job, NoAnswer, SendBuffer, Sent};
use std::time::{Duration, Instant};

const SHAPES: [(u32, u32); 4] = [(1, 1), (1, 2), (2, 1), (3, 2)];

const HOUR: Duration = Duration::from_secs(3600);

fn late() -> CallOptions {
    CallOptions::new().deadline(chare::now())
}

fn within_an_hour() -> CallOptions {
    CallOptions::new().deadline(chare::now() + HOUR)
}

/// Whether a deadline is the one of a call within an hour.
fn is_in_an_hour(deadline: Option<Instant>) -> bool {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(chare::now()));
    left.is_some_and(|left| (HOUR / 2..HOUR + HOUR / 60).contains(&left))
}

#[entries]
trait Looks {
    #[entry]
    fn look(&mut self) -> u32;
}

struct Desk {
    runs: u32,
}

#[chare(array)]
impl Desk {
    #[entry]
    fn new() -> Self {
        Self { runs: 0 }
    }

    #[entry]
    fn run(&mut self) -> u32 {
        self.runs += 1;
        self.runs
    }

    #[entry]
    fn sum(&mut self, #[nocopy] values: Received<u64>) -> u64 {
        self.runs += 1;
        values.iter().sum()
    }

    #[entry]
    fn note(&mut self) {
        self.runs += 1;
    }

    /// Whether the deadline is known: at once, after a wait, and in a task.
    #[entry]
    async fn knows(this: This<Self>) -> (bool, bool, bool) {
        let at_once = is_in_an_hour(chare::deadline());
        // Another call's run in between changes nothing.
        this.this_chare().run().await;
        let later = is_in_an_hour(chare::deadline());
        let (in_task, told) = chare::future();
        chare::spawn(async move { told.send(is_in_an_hour(chare::deadline())) });
        (at_once, later, in_task.await)
    }

    /// Whether a call that an entry makes has the deadline, without and with the option.
    #[entry]
    async fn passes_on(_this: This<Self>, to: DeskProxy) -> [(bool, bool, bool); 2] {
        let deadline = chare::deadline().expect("the caller has said one");
        let with = CallOptions::new().deadline(deadline);
        [to.at(1).knows().await, to.at(1).with(with).knows().await]
    }
}

#[entries]
impl Looks for Desk {
    fn look(&mut self) -> u32 {
        self.run()
    }
}

const NEVER: (bool, bool, bool) = (false, false, false);
const ALWAYS: (bool, bool, bool) = (true, true, true);

fn is_late<T: std::fmt::Debug>(answer: Result<T, NoAnswer>, entry: &str) {
    let error = answer.expect_err("it was late").to_string();
    assert!(error.contains(entry) && error.contains("its deadline was over before its turn came"), "{error}");
}

#[test]
fn a_late_call_does_not_run_and_says_so() {
    on_every_path(&SHAPES, || async {
        let desks = DeskProxy::create(u64::from(2 * chare::pes()));
        for index in [0, u64::from(2 * chare::pes()) - 1] {
            let desk = desks.at(index);
            is_late(desk.with(late()).run().checked().await, "Desk::run of");
            is_late(LooksProxy::of(&desk).with(late()).look().checked().await, "Looks::look of");
            // What was lent comes back.
            let (back, sent) = chare::future::<Sent<u64>>();
            let values = SendBuffer::from(vec![1; 100_000]).on_sent(sent);
            is_late(desk.with(late()).sum(values).checked().await, "Desk::sum of");
            assert_eq!(back.await.into_vec().len(), 100_000);
            // Nobody waits for an answer: nobody is told.
            desk.with(late()).note();
            chare::quiescence().await;
            assert_eq!(desk.run().await, 1, "none of them ran");
        }
    });
}

#[test]
fn an_entry_knows_its_deadline_also_after_it_has_waited_and_hands_it_on_if_it_wants() {
    on_every_path(&SHAPES, || async {
        let desks = DeskProxy::create(u64::from(2 * chare::pes()));
        assert_eq!(chare::deadline(), None);
        for index in [0, u64::from(2 * chare::pes()) - 1] {
            let desk = desks.at(index);
            assert_eq!(desk.knows().await, NEVER);
            assert_eq!(desk.with(within_an_hour()).knows().await, ALWAYS);
            assert_eq!(desk.knows().await, NEVER, "another call's is forgotten");
            assert_eq!(desk.with(within_an_hour()).passes_on(desks.clone()).await, [NEVER, ALWAYS]);
        }
        let far = CallOptions::new().deadline(chare::now() + Duration::from_secs(u64::from(u32::MAX)));
        assert_eq!(desks.at(0).with(far).knows().await, NEVER, "it is in more than an hour");
    });
}

#[test]
fn calls_of_many_and_creations_have_no_deadline() {
    let refused = |program: fn(DeskProxy)| {
        let end = Job::in_process(1, 2).run(move || async move {
            program(DeskProxy::create(4));
            chare::quiescence().await;
        });
        let error = end.expect_err("it is refused").to_string();
        assert!(error.contains("`CallOptions::deadline` is for a call of one chare"), "{error}");
    };
    refused(|desks| desks.with(late()).note());
    refused(|desks| desks.section([1, 2]).with(late()).note());
}
