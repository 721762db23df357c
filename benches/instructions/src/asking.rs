//! Asks: calls whose answers are awaited, and waits of `async` entries.

use chare::prelude::*;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};

/// Waits once, for nothing.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Answers, at once or after a wait.
struct Oracle {
    told: u64,
}

#[chare]
impl Oracle {
    #[entry]
    fn new() -> Self {
        Self { told: 0 }
    }

    #[entry]
    fn tell(&mut self, number: u64) {
        self.told += number;
    }

    #[entry]
    fn answer(&mut self) -> u64 {
        self.told
    }

    #[entry]
    async fn answer_later(this: This<Self>) -> u64 {
        Pause(false).await;
        this.with(|oracle| oracle.told)
    }

    #[entry]
    async fn pause(_this: This<Self>, times: u64) {
        for _ in 0..times {
            Pause(false).await;
        }
        chare::exit(0);
    }
}

/// One call, one call with an answer, and the wait for it.
pub(crate) fn ask(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let oracle = OracleProxy::create();
        for number in 0..number {
            oracle.tell(number);
            oracle.answer().await;
        }
        chare::exit(0);
    })
}

/// One call of an entry that suspends before it answers, and the wait for the answer.
pub(crate) fn ask_suspending(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let oracle = OracleProxy::create();
        for _ in 0..number {
            oracle.answer_later().await;
        }
        chare::exit(0);
    })
}

/// One suspension of an entry, and its resumption.
pub(crate) fn resume(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        OracleProxy::create().pause(number);
    })
}
