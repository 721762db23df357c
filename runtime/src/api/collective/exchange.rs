//! Exchanges: every member fills a buffer with what all members have for it, in place.
//!
//! 1. Each member has a seat, a chare on the member's own PE where both are placed alike. The seat has the member's buffer while it is
//!    filled.
//! 2. A member that begins a round gives its seat the buffer, and calls the seat of each member with the elements for that one, its right
//!    neighbour's first, so that not all call the same one at a time.
//! 3. Rounds are counted by each member for itself, and a call says its round. A seat whose member has not begun that round keeps the
//!    call's post until it does: so a member may be rounds ahead, and several rounds may be under way.

use super::filling::{Bytes, Filling, in_bytes};
use crate::api::array_options::ArrayOptions;
use crate::model::nocopy::{Completion, Element, NocopyArgument};
use crate::prelude::*;
use chare_layout::{Partition, RawPartition};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// Exchanges of buffers among so many members, which are numbered from 0 on: everybody has elements for everybody, or everybody gets
/// everybody's.
///
/// Each member keeps a handle of its own, and all begin the same rounds in the same order; no member waits for another to begin one, and
/// several rounds may be under way. An array of as many elements or a group are such members; so is whatever has numbers.
///
/// ```
/// use chare::prelude::*;
/// use chare::{Exchange, Partition};
///
/// struct Worker {
///     exchange: Exchange<u64>,
/// }
///
/// #[chare(array)]
/// impl Worker {
///     #[entry]
///     fn new(exchange: Exchange<u64>) -> Self {
///         Self { exchange }
///     }
///
///     #[entry]
///     fn transpose(&mut self, done: Callback<Vec<Vec<u64>>>) {
///         let me = self.this_index();
///         let row = Buffer::from(vec![10 * me, 10 * me + 1, 10 * me + 2]);
///         let one_each = Partition::blocks([3], [3]).expect("three elements");
///         let column = self.this_collection().at(me).show_callback();
///         self.exchange.all_to_all(me, (row, &one_each), (vec![0; 3], &one_each), column.carrying(done));
///     }
///
///     #[entry]
///     fn show(&mut self, column: BufferMut<u64>, done: Callback<Vec<Vec<u64>>>) {
///         self.contribute(set(column.to_vec()), done);
///     }
/// }
///
/// let code = chare::Job::in_process(1, 2).run(|| async {
///     let workers = WorkerProxy::create(3, Exchange::create(3));
///     let (all, done) = chare::future();
///     workers.transpose(done);
///     let mut columns: Vec<Vec<u64>> = all.await;
///     columns.sort();
///     assert_eq!(columns, [[0, 10, 20], [1, 11, 21], [2, 12, 22]]);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Exchange<T> {
    seats: SeatProxy,
    /// The round that this handle begins next.
    round: u64,
    elements: PhantomData<fn() -> T>,
}

impl<T: Element> Exchange<T> {
    /// Makes a place for the exchanges of so many members, which costs what an array of as many elements does and lasts as long as the job.
    /// Members that are placed as
    /// the elements of such an array have their place on their own PE: those of an array that is created with the same options, and those
    /// of a group.
    pub fn create(members: impl Into<ArrayOptions<u64>>) -> Self {
        Self { seats: SeatProxy::create(members), round: 0, elements: PhantomData }
    }

    /// Begins a round in which everybody has elements for everybody: `from` is what member `me` has, dealt out to all members, and `into`
    /// is filled with what all members have for it, each member its part. `done` receives that buffer when all parts have landed.
    ///
    /// The two partitions may deal out differently: what has to fit is the number of elements, and their order is that of both parts. So
    /// a matrix is transposed on its way: columns that leave one after the other land as rows.
    ///
    /// Costs a message to each member, and a copy of each part from where it lies to where it belongs. The buffer of `from` is free when
    /// nobody reads it any more, for who kept a clone of it.
    ///
    /// Parts that do not fit end the job with an error that says so.
    ///
    /// # Panics
    /// If the buffers' lengths are not their partitions', or the two have parts for different numbers of members.
    pub fn all_to_all(
        &mut self,
        me: u64,
        (from, dealt): (impl Into<Buffer<T>>, &Partition<T>),
        into: (impl Into<BufferMut<T>>, &Partition<T>),
        done: impl Into<Completion<BufferMut<T>>>,
    ) {
        let (from, members) = (from.into(), dealt.len());
        let (have, need) = (from.len(), dealt.elements());
        assert!(have == need, "a buffer of {have} elements to be dealt out as {need}: send one as long");
        let others = into.1.len();
        assert!(
            members == others,
            "an exchange of {members} parts for {others}: deal both out to all members"
        );
        let round = self.begin(me, into, done.into());
        for step in 1..=members as u64 {
            let other = (me + step) % members as u64;
            let part = dealt.part(other as usize).expect("a part for each");
            let part = SendBuffer::from(from.clone()).only(&part);
            self.seats.at(other).land(round, me, Bytes::of(part));
        }
    }

    /// Begins a round in which everybody gets everybody's elements: `mine` is whatever a nocopy parameter takes, and goes to all members
    /// as the argument of one call of all; `into` is filled as by [`all_to_all`](Self::all_to_all).
    ///
    /// Who only reads what the others have needs no buffer of its own: a call of all members with a
    /// [`ReceivedView`] shows it where it lies.
    ///
    /// # Panics
    /// If the buffer's length is not the partition's.
    pub fn all_gather(
        &mut self,
        me: u64,
        mine: impl NocopyArgument<T>,
        into: (impl Into<BufferMut<T>>, &Partition<T>),
        done: impl Into<Completion<BufferMut<T>>>,
    ) {
        let round = self.begin(me, into, done.into());
        self.seats.land(round, me, Bytes::of(mine));
    }

    /// Gives the member's seat the buffer of the next round.
    fn begin(
        &mut self,
        me: u64,
        (into, partition): (impl Into<BufferMut<T>>, &Partition<T>),
        done: Completion<BufferMut<T>>,
    ) -> u64 {
        let into = into.into();
        let (have, need) = (into.len(), partition.elements());
        assert!(have == need, "an exchange of {need} elements into a buffer of {have}: give one as long");
        let round = self.round;
        self.round += 1;
        let (into, done) = in_bytes(into, done);
        self.seats.at(me).begin(round, into, partition.raw().clone(), done);
        round
    }
}

impl<T> Clone for Exchange<T> {
    fn clone(&self) -> Self {
        Self { seats: self.seats.clone(), round: self.round, elements: PhantomData }
    }
}

impl<T> fmt::Debug for Exchange<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Exchange({} rounds begun)", self.round)
    }
}

/// A round at the seat of one member.
enum Round {
    /// The member has not begun it; calls of these members wait.
    Early(Vec<(u64, Post<u8>)>),
    Begun(Filling),
}

/// The place where a member's buffers are filled.
struct Seat {
    rounds: FxHashMap<u64, Round>,
}

#[chare(array)]
impl Seat {
    #[entry]
    fn new() -> Self {
        Self { rounds: FxHashMap::default() }
    }

    #[entry]
    fn begin(
        &mut self,
        round: u64,
        into: BufferMut<u8>,
        partition: RawPartition,
        done: Callback<BufferMut<u8>>,
    ) {
        let begun = Round::Begun(Filling::new(into, partition, done));
        let before = self.rounds.insert(round, begun);
        match before {
            None => {}
            Some(Round::Early(early)) => {
                for (from, part) in early {
                    self.give(round, from, part);
                }
            }
            Some(Round::Begun(_)) => {
                panic!("a member begins a round of an exchange twice: each member has a handle of its own")
            }
        }
    }

    #[entry]
    fn land(&mut self, round: u64, _from: u64, #[nocopy(post)] part: Posted<u8>) {
        if let Some(Round::Begun(filling)) = self.rounds.get_mut(&round)
            && filling.land(part)
        {
            self.rounds.remove(&round);
        }
    }

    #[post(land)]
    fn post_land(&mut self, round: &u64, from: &u64, part: Post<u8>) {
        match self.rounds.entry(*round).or_insert_with(|| Round::Early(Vec::new())) {
            Round::Early(early) => early.push((*from, part)),
            Round::Begun(_) => self.give(*round, *from, part),
        }
    }

    fn give(&mut self, round: u64, from: u64, part: Post<u8>) {
        if let Some(Round::Begun(filling)) = self.rounds.get_mut(&round) {
            let posted = filling.post(&[from], part);
            posted.unwrap_or_else(|cause| panic!("member {from} has {cause} of an exchange"));
        }
    }
}
