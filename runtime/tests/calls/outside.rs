//! Jobs beside other programs: threads, executors and tokio outside the PEs give a job work, await answers and its end.

#![expect(clippy::disallowed_methods, reason = "a thread outside the job is what is tested")]

use chare::prelude::*;
use chare::{Job, JobError, JobHandle, NoAnswer};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Account {
    total: u64,
}

#[chare(array)]
impl Account {
    #[entry]
    fn new() -> Self {
        Self { total: 0 }
    }

    #[entry]
    fn add(&mut self, amount: u64) -> u64 {
        self.total += amount;
        self.total
    }

    #[entry]
    fn sum_up(&mut self, done: Callback<u64>) {
        self.contribute(sum(self.total), done);
    }

    #[entry]
    async fn never(_this: This<Self>) -> u64 {
        let (never, _callback) = chare::future::<u64>();
        never.await
    }
}

const ACCOUNTS: u64 = 7;

async fn total(accounts: AccountProxy) -> u64 {
    chare::quiescence().await;
    let (total, done) = chare::future();
    accounts.sum_up(done);
    total.await
}

fn start(nodes: u32, pes: u32) -> (JobHandle, AccountProxy) {
    let job = Job::in_process(nodes, pes).start().expect("it starts");
    let accounts = job.run(async || AccountProxy::create(ACCOUNTS)).wait().expect("it is created");
    (job, accounts)
}

#[test]
fn threads_and_tasks_of_tokio_ask_and_nothing_is_lost() {
    for (nodes, pes) in [(1, 1), (1, 3), (2, 2)] {
        let (job, accounts) = start(nodes, pes);
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let (job, accounts) = (job.clone(), accounts.clone());
                std::thread::spawn(move || {
                    for call in 0..50 {
                        let account = accounts.at((thread + call) % ACCOUNTS);
                        assert!(job.run(move || account.add(1)).wait().expect("it answers") > 0);
                    }
                })
            })
            .collect();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(async {
            let tasks: Vec<_> = (0..50)
                .map(|task| {
                    let (job, account) = (job.clone(), accounts.at(task % ACCOUNTS));
                    tokio::spawn(async move { job.run(move || account.add(1)).await })
                })
                .collect();
            for task in tasks {
                assert!(task.await.unwrap().expect("it answers") > 0);
            }
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        // Nobody awaits these; quiescence does.
        for call in 0..500 {
            let account = accounts.at(call % ACCOUNTS);
            drop(job.run(async move || account.add(1).await));
        }
        assert_eq!(job.run(move || total(accounts)).wait(), Ok(4 * 50 + 50 + 500));
        job.shut_down(5);
        assert_eq!(job.join().unwrap(), 5);
        assert_eq!(job.join().unwrap(), 5, "as often as one likes");
    }
}

#[test]
fn work_of_a_limited_handle_waits_outside() {
    const MOST: usize = 3;
    let (job, _accounts) = start(1, 2);
    let limited = job.limited(MOST);
    let (under_way, highest) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..40)
            .map(|_| {
                let (limited, under_way, highest) =
                    (limited.clone(), Arc::clone(&under_way), Arc::clone(&highest));
                let work = async move || {
                    highest.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    chare::sleep(std::time::Duration::from_millis(1)).await;
                    under_way.fetch_sub(1, Ordering::SeqCst);
                };
                tokio::spawn(async move { limited.run(work).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().expect("it runs");
        }
    });
    assert_eq!(highest.load(Ordering::SeqCst), MOST);
    assert_eq!(limited.room(), MOST);
    job.shut_down(0);
    job.join().unwrap();
}

#[test]
fn work_that_panics_answers_so_and_the_job_goes_on() {
    let (job, accounts) = start(1, 2);
    let failed = job.run(async || panic!("no such account")).wait();
    let Err(NoAnswer::Failed(cause)) = failed else { panic!("it answered {failed:?}") };
    assert!(cause.contains("no such account (at ") && cause.contains("outside.rs"), "{cause}");
    let account = accounts.at(1);
    assert_eq!(job.run(move || account.add(3)).wait(), Ok(3));
    job.shut_down(0);
    assert_eq!(job.join().unwrap(), 0);
}

#[test]
fn the_end_of_a_job_answers_whoever_waits() {
    let (job, accounts) = start(2, 1);
    let account = accounts.at(0);
    let never = job.run(move || account.never());
    let ended = job.ended();
    job.shut_down(3);
    assert_eq!(never.wait(), Err(NoAnswer::JobEnded));
    let waiting = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(waiting.block_on(ended).unwrap(), 3);
    assert_eq!(job.run(async || 1).wait(), Err(NoAnswer::JobEnded), "nothing runs any more");
    job.shut_down(4);
    assert_eq!(job.join().unwrap(), 3);
}

#[test]
fn a_failure_reaches_the_handles() {
    let (job, accounts) = start(1, 1);
    drop(job.run(async move || {
        chare::spawn(async { panic!("all is lost") });
        accounts.at(0).add(1).await
    }));
    let JobError::Panic { cause, .. } = job.join().unwrap_err() else { panic!("another error") };
    assert!(cause.contains("all is lost"), "{cause}");
}

#[test]
fn a_proxy_outside_a_job_says_what_to_do() {
    let (job, accounts) = start(1, 1);
    let outcome = std::thread::spawn(move || drop(accounts.at(0).add(1))).join();
    let message = *outcome.map(|_| ()).unwrap_err().downcast::<String>().expect("a message");
    for clue in ["chare::job_handle()", "Job::start()", "job.run("] {
        assert!(message.contains(clue), "{message}");
    }
    job.shut_down(0);
    job.join().unwrap();
}

/// A program's `main` gives the handle to others and waits for them.
#[test]
fn a_running_job_makes_a_handle_of_itself() {
    let code = Job::in_process(2, 2).run(|| async {
        let (job, accounts) = (chare::job_handle(), AccountProxy::create(ACCOUNTS));
        let (told, tell) = chare::future();
        let account = accounts.at(2);
        let thread = std::thread::spawn(move || {
            let seven = job.run(move || account.add(7)).wait().expect("it answers");
            job.run(async move || tell.send(seven)).wait().expect("it is told");
        });
        assert_eq!(told.await, 7);
        thread.join().unwrap();
        let here = chare::job_handle().run_on(PeId(1), async || chare::my_pe());
        assert_eq!(here.await, Ok(PeId(1)));
    });
    assert_eq!(code.unwrap(), 0);
}
