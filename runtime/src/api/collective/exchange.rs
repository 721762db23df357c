//! Exchanges: every member fills a buffer with what all members have for it, in place.
//!
//! 1. Each member has a seat ([`seat`](super::seat)), a chare on the member's own PE where both are placed alike. The seat has the member's
//!    buffer while it is filled.
//! 2. A member that begins a round calls the seat of each other member with the elements for that one, its right neighbour's first, so
//!    that not all call the same one at a time. Then it gives its own seat the buffer, without a message where the seat is on its PE, and
//!    copies what it has for itself, unless that is long: the others are at work meanwhile.
//! 3. In a job of several hosts a member gives its elements to its seat instead, and the seats of a host send those of another what they have
//!    for them in one message.
//! 4. Rounds are counted by each member for itself, and a call says its round. A seat whose member has not begun that round keeps the
//!    call's post until it does: so a member may be rounds ahead, and several rounds may be under way. It says what the member does, too:
//!    see [`agreement`](super::agreement).

use super::agreement::{Deed, Word};
use super::bundle::Share;
use super::filling::{Bytes, Filling, in_bytes};
use super::gathered::{Gathered, of_bytes};
use super::seat::SeatProxy;
use crate::api::array_options::ArrayOptions;
use crate::model::nocopy::{Completion, Element, NocopyArgument};
use crate::pe::Pe;
use crate::prelude::*;
use chare_layout::Partition;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// Exchanges of buffers among so many members, which are numbered from 0 on: everybody has elements for everybody, or everybody gets
/// everybody's.
///
/// Each member keeps a handle of its own, and all begin the same rounds in the same order; no member waits for another to begin one, and
/// several rounds may be under way. Members that do not agree on what a round is, or on who its root is, end the job with an error that
/// names both; a round that a member never begins waits. An array of as many elements or a group are such members; so is whatever has numbers.
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
    members: u64,
    /// The round that this handle begins next.
    round: u64,
    elements: PhantomData<fn() -> T>,
}

impl<T: Element> Exchange<T> {
    /// Makes a place for the exchanges of so many members, from 0 on, which costs what an array of as many elements does and lasts as long as the job.
    /// Members that are placed as
    /// the elements of such an array have their place on their own PE: those of an array that is created with the same options, and those
    /// of a group.
    pub fn create(members: impl Into<ArrayOptions<u64>>) -> Self {
        let options = members.into();
        let members = options.len();
        Self { seats: SeatProxy::create(options), members, round: 0, elements: PhantomData }
    }

    /// Begins a round in which everybody has elements for everybody: `from` is what member `me` has, dealt out to all members, and `into`
    /// is filled with what all members have for it, each member its part. `done` receives that buffer when all parts have landed.
    ///
    /// The two partitions may deal out differently: what has to fit is the number of elements, and their order is that of both parts. So
    /// a matrix is transposed on its way: columns that leave one after the other land as rows.
    ///
    /// Costs a message to each other member of the host, one from host to host for all their members, and a copy of each part from where it lies
    /// to where it belongs; parts for another host are put together before. The buffer of `from` is free when
    /// nobody reads it any more, for who kept a clone of it.
    ///
    /// Parts that do not fit end the job with an error that says so.
    ///
    /// # Panics
    /// If there is no member `me`, the buffers' lengths are not their partitions', or a partition has not as many parts as there are members.
    pub fn all_to_all(
        &mut self,
        me: u64,
        (from, dealt): (impl Into<Buffer<T>>, &Partition<T>),
        into: (impl Into<BufferMut<T>>, &Partition<T>),
        done: impl Into<Completion<BufferMut<T>>>,
    ) {
        let from = from.into();
        let (have, need) = (from.len(), dealt.elements());
        assert!(have == need, "a buffer of {have} elements to be dealt out as {need}: send one as long");
        self.check_parts(dealt);
        let into = self.check_target(me, into);
        let round = self.next_round();
        let word = (me, Deed::AllToAll);
        if is_over_hosts() {
            self.begin(round, word, into, done.into(), None);
            let share = Share::Each(dealt.raw().clone());
            self.seats.at(me).offer(round, share, Bytes::of(from));
            return;
        }
        let part_for = |member: u64| {
            let part = dealt.part(member as usize).expect("a part for each");
            Bytes::of(SendBuffer::from(from.clone()).only(&part))
        };
        for step in 1..self.members {
            let other = (me + step) % self.members;
            self.seats.at(other).land(round, word, part_for(other));
        }
        self.begin(round, word, into, done.into(), Some(part_for(me)));
    }

    /// Begins a round in which everybody gets everybody's elements: `mine` is whatever a nocopy parameter takes, and goes to all members
    /// as the argument of one call of all; `into` is filled as by [`all_to_all`](Self::all_to_all).
    ///
    /// Who only reads what the others have needs no buffer of its own: see [`show_all`](Self::show_all).
    ///
    /// # Panics
    /// If there is no member `me`, the buffer's length is not the partition's, or the partition has not as many parts as there are members.
    pub fn all_gather(
        &mut self,
        me: u64,
        mine: impl NocopyArgument<T>,
        into: (impl Into<BufferMut<T>>, &Partition<T>),
        done: impl Into<Completion<BufferMut<T>>>,
    ) {
        let into = self.check_target(me, into);
        let round = self.next_round();
        let word = (me, Deed::AllGather);
        if is_over_hosts() {
            self.seats.at(me).offer(round, Share::All, Bytes::of(mine));
        } else {
            self.seats.land(round, word, Bytes::of(mine));
        }
        self.begin(round, word, into, done.into(), None);
    }

    /// Begins a round in which everybody sees what everybody shows: `mine` is whatever a nocopy parameter takes, and `done` receives views
    /// of what all members show, its own among them.
    ///
    /// Costs no copy within a process, nor on a host whose memory can be mapped; what other hosts show comes once for all members of this
    /// one, in one message from each. The buffer of `mine` is free when nobody holds a view of it any more.
    ///
    /// ```
    /// use chare::prelude::*;
    /// use chare::{Exchange, Gathered};
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
    ///     fn compare(&mut self, done: Callback<u64>) {
    ///         let me = self.this_index();
    ///         let look = self.this_collection().at(me).look_callback();
    ///         self.exchange.show_all(me, vec![me; 1000], look.carrying(done));
    ///     }
    ///
    ///     #[entry]
    ///     fn look(&mut self, all: Gathered<u64>, done: Callback<u64>) {
    ///         assert_eq!(all[2].iter().max(), Some(&2));
    ///         self.contribute(sum(all.len() as u64), done);
    ///     }
    /// }
    ///
    /// let code = chare::Job::in_process(1, 2).run(|| async {
    ///     let workers = WorkerProxy::create(3, Exchange::create(3));
    ///     let (seen, done) = chare::future();
    ///     workers.compare(done);
    ///     assert_eq!(seen.await, 9);
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    ///
    /// # Panics
    /// If there is no member `me`.
    pub fn show_all(
        &mut self,
        me: u64,
        mine: impl NocopyArgument<T>,
        done: impl Into<Completion<Gathered<T>>>,
    ) {
        self.check_member(me);
        let round = self.next_round();
        let (seat, done) = (self.seats.at(me), of_bytes(done.into()));
        if seat.local(|seat| seat.watch(round, done)).is_none() {
            seat.watch(round, done);
        }
        if is_over_hosts() {
            self.seats.at(me).offer(round, Share::See, Bytes::of(mine));
        } else {
            self.seats.show(round, me, Bytes::of(mine));
        }
    }

    #[track_caller]
    fn check_member(&self, member: u64) {
        let members = self.members;
        assert!(
            member < members,
            "an exchange of {members} members has no member {member}: they count from 0"
        );
    }

    fn check_parts(&self, partition: &Partition<T>) {
        let (members, parts) = (self.members, partition.len());
        assert!(
            parts as u64 == members,
            "an exchange of {members} members by a partition of {parts} parts: deal out to all members"
        );
    }

    fn next_round(&mut self) -> u64 {
        self.round += 1;
        self.round - 1
    }

    /// The buffer that a member gives, and how it is filled, if both fit each other and the exchange.
    fn check_target<'a>(
        &self,
        me: u64,
        (into, partition): (impl Into<BufferMut<T>>, &'a Partition<T>),
    ) -> (BufferMut<T>, &'a Partition<T>) {
        let into = into.into();
        let (have, need) = (into.len(), partition.elements());
        assert!(have == need, "an exchange of {need} elements into a buffer of {have}: give one as long");
        self.check_parts(partition);
        self.check_member(me);
        (into, partition)
    }

    /// Gives the member's seat the buffer of a round, and what the member has for itself, if that is known here. Both at once where the
    /// seat is on this PE; but what is long is called with, so that it goes on in pieces.
    fn begin(
        &self,
        round: u64,
        word: Word,
        (into, partition): (BufferMut<T>, &Partition<T>),
        done: Completion<BufferMut<T>>,
        own: Option<Bytes>,
    ) {
        let ((me, deed), partition) = (word, partition.raw().clone());
        let seat = self.seats.at(me);
        let (into, done) = in_bytes(into, done);
        let at_once = own.as_ref().and_then(Bytes::at_once);
        let mut told = Some((into, partition, done));
        seat.local(|seat| {
            if let Some((into, partition, done)) = told.take() {
                let filling = Filling::new(into, partition, done);
                seat.start(round, deed, filling.unwrap_or_else(|cause| panic!("{cause}")), at_once);
            }
        });
        let is_copied = told.is_none() && at_once.is_some();
        if let Some((into, partition, done)) = told {
            seat.begin(round, deed, into, partition, Callback::once(done));
        }
        if let Some(own) = own.filter(|_| !is_copied) {
            seat.land(round, word, own);
        }
    }
}

/// Whether the members may be on several hosts.
fn is_over_hosts() -> bool {
    Pe::current(|pe| pe.node.topology.hosts() > 1)
}

impl<T> Clone for Exchange<T> {
    fn clone(&self) -> Self {
        Self { seats: self.seats.clone(), members: self.members, round: self.round, elements: PhantomData }
    }
}

impl<T> fmt::Debug for Exchange<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Exchange({} rounds begun)", self.round)
    }
}
