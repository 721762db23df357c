//! Elements of arrays: inserted, called together, and contributing.

use chare::ArrayOptions;
use chare::prelude::*;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// Elements that are called together.
const MEMBERS: u64 = 1000;

struct Member {
    state: u64,
}

#[chare(array)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { state: 0 }
    }

    #[entry]
    fn raise(&mut self) {
        self.state += 1;
    }

    #[entry]
    fn step(&mut self, done: Callback<u64>) {
        self.state += 1;
        self.contribute(sum(self.state), done);
    }

    #[entry]
    fn repeat(&mut self, times: u64, done: Callback<u64>) {
        for _ in 0..times {
            self.contribute(sum(1_u64), done);
        }
    }
}

/// One element: inserted and called.
pub(crate) fn insert(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let members = MemberProxy::create(ArrayOptions::empty().dynamic());
        for index in 0..number {
            members.at(index).insert();
            members.at(index).raise();
        }
        chare::quiescence().await;
        chare::exit(0);
    })
}

/// One element's part of a call of all, and its contribution: `number` calls of a thousand elements each.
pub(crate) fn broadcast(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let members = MemberProxy::create(MEMBERS);
        for _ in 0..number {
            let (total, done) = chare::future();
            members.step(done);
            total.await;
        }
        chare::exit(0);
    })
}

/// One contribution to a reduction of an array of one, and the answer to its callback.
pub(crate) fn contribution(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let member = MemberProxy::create(1).at(0);
        let left = std::cell::Cell::new(number);
        let done = Callback::each(move |_: u64| {
            left.set(left.get() - 1);
            if left.get() == 0 {
                chare::exit(0);
            }
        });
        member.repeat(number, done);
    })
}

/// An element that may move, and does not.
#[derive(Serialize, Deserialize)]
struct Mover {
    state: u64,
}

#[chare(array, migrate, sync)]
impl Mover {
    #[entry]
    fn new() -> Self {
        Self { state: 0 }
    }

    #[entry]
    fn step(&mut self, done: Callback<u64>) {
        self.state += 1;
        self.contribute(sum(self.state), done);
    }
}

/// The same as [`broadcast`], of elements that may move and stay.
pub(crate) fn broadcast_to_movers(number: u64) -> ExitCode {
    chare::run(move |_| async move {
        let movers = MoverProxy::create(MEMBERS);
        for _ in 0..number {
            let (total, done) = chare::future();
            movers.step(done);
            total.await;
        }
        chare::exit(0);
    })
}
