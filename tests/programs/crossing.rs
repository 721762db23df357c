//! The program whose collectives are counted: one member on each PE, each with 96 KiB, and as many rounds as it is told.
//!
//! ```text
//! cargo run -p chare-tests --bin crossing -- all-to-all --rounds 3 +n 4
//! ```

use chare::prelude::*;
use chare::{Exchange, Gathered, Partition};
use chare_examples::start;
use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// What each member has: 96 KiB, dealt out evenly to 2, 3, 4, 6 or 8 of them.
const LEN: usize = 12 << 10;

/// Counts what crosses.
#[derive(Parser, Clone, Debug)]
#[command(name = "crossing", no_binary_name = true)]
struct Options {
    #[arg(value_enum)]
    what: What,
    #[arg(long, default_value_t = 1)]
    rounds: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
enum What {
    /// Each member has elements for each
    AllToAll,
    /// All have them for all
    AllGather,
    /// All show them to all
    Show,
    /// Member 0 deals out what all have together, side by side
    ScatterRows,
    /// The same, in turn
    ScatterColumns,
}

struct Member {
    exchange: Exchange<u64>,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new(exchange: Exchange<u64>) -> Self {
        Self { exchange }
    }

    #[entry]
    async fn run(this: This<Self>, what: What, rounds: u32, done: Callback<u64>) {
        let (me, mut exchange) = this.with(|member| (member.this_index(), member.exchange.clone()));
        let members = chare::pes() as usize;
        let mine: Buffer<u64> = BufferMut::from_fn(LEN, |_| me).into();
        let of_all = Partition::rows([members, LEN], members).expect("a row for each");
        let each = Partition::blocks([LEN], [members]).expect("a block for each");
        let from_each = |len: usize| (0..members as u64).flat_map(move |from| std::iter::repeat_n(from, len));
        let is_right = |seen: &[u64]| seen.iter().copied().eq(from_each(seen.len() / members));
        for _ in 0..rounds {
            let (filled, full) = chare::future::<BufferMut<u64>>();
            let room = |len| BufferMut::zeroed(len);
            match what {
                What::AllToAll => exchange.all_to_all(me, (mine.clone(), &each), (room(LEN), &each), full),
                What::AllGather => {
                    exchange.all_gather(me, mine.clone(), (room(of_all.elements()), &of_all), full);
                }
                What::Show => {
                    let (shown, all_shown) = chare::future::<Gathered<u64>>();
                    exchange.show_all(me, mine.clone(), all_shown);
                    let seen: Vec<u64> = shown.await.iter().flat_map(|view| view.iter().copied()).collect();
                    assert!(is_right(&seen), "member {me} sees the others");
                    continue;
                }
                What::ScatterRows | What::ScatterColumns => unreachable!("member 0 alone deals out"),
            }
            assert!(is_right(&filled.await), "member {me} has what the others gave");
        }
        this.contribute(sum(u64::from(rounds)), done);
    }

    #[entry]
    fn take(&mut self, #[nocopy] part: Received<u64>, done: Callback<u64>) {
        assert!(part.iter().all(|element| *element == self.this_index()), "a part of another member");
        self.contribute(sum(part.len() as u64), done);
    }
}

async fn run(Options { what, rounds }: Options) {
    let members = chare::pes() as usize;
    let group = MemberProxy::create(Exchange::create(members as u64));
    if !matches!(what, What::ScatterRows | What::ScatterColumns) {
        let (ran, done) = chare::future::<u64>();
        group.run(what, rounds, done);
        assert_eq!(ran.await, u64::from(rounds) * members as u64);
        return;
    }
    let partition = match what {
        What::ScatterRows => Partition::rows([members, LEN], members),
        _ => Partition::columns([LEN, members], members),
    };
    let partition = partition.expect("a part for each");
    let mut owners = vec![0; partition.elements()];
    for member in 0..members {
        let part = partition.part(member).expect("a part for each");
        part.runs().for_each(|(at, len)| {
            owners[at as usize / 8..(at as usize + len as usize) / 8].fill(member as u64);
        });
    }
    let owners: Buffer<u64> = owners.into();
    for _ in 0..rounds {
        let (taken, done) = chare::future::<u64>();
        group.take(SendBuffer::from(owners.clone()).each(&partition), done);
        assert_eq!(taken.await, owners.len() as u64);
    }
}

fn main() -> ExitCode {
    start::run(run)
}
