//! The program of the tests of collectives of buffers: deals matrices out to members of every kind of collection, collects them again, and
//! checks each element.
//!
//! ```text
//! cargo run -p chare-tests --bin collected -- +n 2 +p 2
//! ```
//! With the name of a mistake it makes that mistake, which must end the job.

mod exchanges;
mod matrix;
mod members;
mod mistakes;

use chare::prelude::*;
use chare::{Exchange, Gather, Partition};
use chare_examples::start;
use clap::Parser;
use exchanges::Rounds;
use matrix::{How, SIZES, is_whole, numbered, partitions};
use members::{HelperProxy, MemberProxy, MemberSectionProxy, Shares, TileProxy};
use mistakes::Mistake;
use std::process::ExitCode;

/// Deals buffers out and collects them.
#[derive(Parser, Clone, Debug)]
#[command(name = "collected", no_binary_name = true)]
struct Options {
    /// Make this mistake instead
    #[arg(value_enum)]
    mistake: Option<Mistake>,
}

/// Elements of the arrays.
const MEMBERS: usize = 5;

/// Elements of the array in two dimensions.
const TILES: [usize; 2] = [2, 3];

/// Calls all of some members, whatever they belong to.
macro_rules! try_all {
    ($members:expr, $partition:expr) => {{
        let (members, partition): (_, Partition<u64>) = ($members, $partition);
        for how in How::ALL {
            // Two gathers of the same members are under way at one time.
            let (fills, dones): (Vec<_>, Vec<_>) = (0..2).map(|_| chare::future::<BufferMut<u64>>()).unzip();
            for done in dones {
                let target = how.target(partition.elements());
                members.give(Gather::into(target, &partition, done), partition.clone(), how);
            }
            for filled in chare::wait_all(fills).await {
                assert!(is_whole(&filled), "{partition:?} gathered, {how:?}");
            }
            for shares in [Shares::Dealt(partition.clone()), Shares::Same(partition.clone())] {
                let matrix: Buffer<u64> = how.owned(numbered(partition.elements())).into();
                let (checked, done) = chare::future();
                members.view(shares.of(matrix.clone()), shares.clone(), done);
                let mut seen: u64 = checked.await;
                let (checked, done) = chare::future();
                members.receive(shares.of(matrix.clone()), shares.clone(), done);
                seen += checked.await;
                let ((checked, done), (sent, on_sent)) = (chare::future(), chare::future::<Sent<u64>>());
                members.land(shares.of(matrix).on_sent(on_sent), shares.clone(), how, done);
                seen += checked.await;
                assert_eq!(seen as usize, 3 * shares.elements(), "{shares:?}, {how:?}");
                assert!(sent.await.into_buffer().try_into_mut().is_ok(), "nobody reads it any more");
            }
        }
    }};
}

/// Lets some members, which are so many, exchange what they have.
macro_rules! exchange_among {
    ($members:expr, $count:expr, $sizes:expr) => {
        for how in How::ALL {
            let count: u64 = $count;
            let (all, checked) = chare::future();
            $members
                .exchange(Rounds { exchange: Exchange::create(count), count, sizes: $sizes, how }, checked);
            assert_eq!(all.await, count);
        }
    };
}

async fn run() {
    let members = MemberProxy::create(MEMBERS as u64);
    let section: MemberSectionProxy = members.section((0..MEMBERS as u64).rev());
    let tiles = TileProxy::create((TILES[0] as u32, TILES[1] as u32));
    let helpers = HelperProxy::create();
    for sizes in SIZES {
        for partition in partitions(sizes, MEMBERS) {
            try_all!(&members, partition);
        }
        let columns = || Partition::columns(sizes, MEMBERS).expect("a partition");
        try_all!(&section, columns());
        try_all!(&tiles, Partition::blocks(sizes, TILES).expect("a partition"));
        try_all!(&helpers, Partition::rows(sizes, chare::pes() as usize).expect("a partition"));
        exchange_among!(members, MEMBERS as u64, sizes);
        exchange_among!(tiles, (TILES[0] * TILES[1]) as u64, sizes);
        exchange_among!(helpers, chare::pes().into(), sizes);
    }
    println!("All buffers were dealt out and collected");
}

fn main() -> ExitCode {
    start::run(|options: Options| async move {
        match options.mistake {
            Some(mistake) => mistake.make().await,
            None => run().await,
        }
    })
}
