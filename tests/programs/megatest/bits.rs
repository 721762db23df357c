//! Bit vectors as arguments. Charm++ brings a library of them; here they are those of the crate `bitvec`, and the test shows
//! that they are arguments like any other: each step of a journey around the PEs uses one operation, and a list of `bool`s
//! tells the right result.

use bitvec::prelude::{BitVec, Lsb0};
use chare::prelude::*;
use std::iter::repeat_n;

type Bits = BitVec<u32, Lsb0>;

/// More than three of the vector's words, and no multiple of them.
const LEN: usize = 107;

/// Further than one word, and less than one.
const SHIFTS: [usize; 2] = [45, 7];

/// How far they are together.
const SHIFTED: usize = SHIFTS[0] + SHIFTS[1];

fn some(step: usize) -> Vec<bool> {
    (0..LEN).map(|at| at % step == 0).collect()
}

fn bits(of: &[bool]) -> Bits {
    of.iter().copied().collect()
}

/// An operation on two bit vectors, and the same for lists.
type Operation = (fn(Bits, &Bits) -> Bits, fn(&[bool], &[bool]) -> Vec<bool>);

fn each(of: &[bool], with: &[bool], rule: fn(bool, bool) -> bool) -> Vec<bool> {
    of.iter().zip(with).map(|(one, other)| rule(*one, *other)).collect()
}

const OPERATIONS: &[Operation] = &[
    (|of, with| of | with, |of, with| each(of, with, |one, other| one | other)),
    (|of, _| !of, |of, _| of.iter().map(|one| !one).collect()),
    (|of, with| of & with, |of, with| each(of, with, |one, other| one & other)),
    (
        |mut of, _| {
            SHIFTS.iter().for_each(|by| of.shift_end(*by));
            of
        },
        |of, _| repeat_n(false, SHIFTED).chain(of[..LEN - SHIFTED].iter().copied()).collect(),
    ),
    (
        |mut of, _| {
            of.set(0, true);
            of.set(LEN - 1, true);
            of.set(64, false);
            of
        },
        |of, _| {
            let set = |(at, one): (usize, &bool)| at == 0 || at == LEN - 1 || at != 64 && *one;
            of.iter().enumerate().map(set).collect()
        },
    ),
    (
        |mut of, _| {
            SHIFTS.iter().for_each(|by| of.shift_start(*by));
            of
        },
        |of, _| of[SHIFTED..].iter().copied().chain(repeat_n(false, SHIFTED)).collect(),
    ),
    (|of, with| of & !with.clone(), |of, with| each(of, with, |one, other| one & !other)),
    // Last, since they grow: after another, and after itself.
    (
        |mut of, with| {
            of.extend_from_bitslice(with);
            of
        },
        |of, with| [of, with].concat(),
    ),
    (
        |mut of, _| {
            of.extend_from_bitslice(&of.clone());
            of
        },
        |of, _| of.repeat(2),
    ),
];

struct Traveller;

#[chare(group)]
impl Traveller {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn go_on(&mut self, step: usize, of: Bits, with: Bits, done: Callback<Bits>) {
        let Some((operation, _)) = OPERATIONS.get(step) else { return done.send(of) };
        let next = PeId((chare::my_pe().0 + 1) % chare::pes());
        self.this_collection().on(next).go_on(step + 1, operation(of, &with), with, done);
    }
}

pub(crate) async fn journey() {
    let (of, with) = (some(3), some(5));
    let (result, done) = chare::future();
    TravellerProxy::create().on(PeId(0)).go_on(0, bits(&of), bits(&with), done);
    let expected = OPERATIONS.iter().fold(of, |of, (_, rule)| rule(&of, &with));
    assert_eq!(result.await, bits(&expected));
}
