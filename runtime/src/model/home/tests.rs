//! Tests of single rules; what follows from all of them together is seen in every order, see [`super::every_order`].

use super::bond::{find as find_bond, wish};
use super::every_order::Dice;
use super::*;

type Few = Home<&'static str, ()>;

const INDEX: Index = Index::from_bits(7);
const HOME: PeId = PeId(0);
const P: PeId = PeId(1);
const Q: PeId = PeId(2);
const R: PeId = PeId(3);

/// A home whose element lives on P.
fn on_p() -> (Few, Traveller) {
    let mut home = Few::default();
    let traveller = home.leave(INDEX, P, Standing::NEW);
    assert_eq!(home.arrived(INDEX, (P, traveller.stay)), Ok(true));
    (home, traveller)
}

/// Takes the wish of an element that is bound to no other.
fn ask(home: &mut Few, from: (PeId, Stay), to: PeId) -> BondWish {
    wish(&mut [home], 0, INDEX, from, to)
}

fn granted(wish: BondWish) -> Stay {
    let BondWish::Granted(let_go) = wish else { panic!("{wish:?}") };
    let_go[0].stay
}

fn sent(seek: Seek) -> (PeId, Sought) {
    let Seek::Send { to, sought } = seek else { panic!("{seek:?}") };
    (to, sought)
}

#[test]
fn calls_are_kept_while_an_element_moves_and_follow_it_then() {
    let mut home = Few::default();
    assert_eq!(home.seek(INDEX, None), Seek::AtHomeOrNowhere);
    let mut traveller = home.leave(INDEX, P, Standing::NEW);
    assert_eq!((home.seek(INDEX, None), home.find(INDEX)), (Seek::Keep, Whereabouts::UnderWay));
    assert_eq!(
        ask(&mut home, (P, traveller.stay), Q),
        BondWish::Keep(0),
        "the wish has overtaken the arrival"
    );
    assert_eq!(home.arrived(INDEX, (P, traveller.stay)), Ok(true));
    assert_eq!((sent(home.seek(INDEX, None)).0, home.find(INDEX)), (P, Whereabouts::On(P)));
    let stay = granted(ask(&mut home, (P, traveller.stay), HOME));
    assert_eq!(home.seek(INDEX, None), Seek::Keep);
    traveller.stay = stay;
    home.come_home(INDEX, HOME, &traveller).unwrap();
    assert_eq!(home.settle(INDEX), Settled::AtHome(Standing::NEW));
    assert_eq!(home.seek(INDEX, None), Seek::AtHomeOrNowhere);
    assert!(home.entries.is_empty(), "who is at home costs nothing");
}

#[test]
fn who_is_not_free_stays_and_may_wish_again_at_once() {
    let (mut home, Traveller { stay, .. }) = on_p();
    granted(ask(&mut home, (P, stay), Q));
    assert_eq!(ask(&mut home, (P, stay), R), BondWish::Keep(0), "the wish has overtaken the refusal");
    assert_eq!(home.stayed(INDEX, (P, stay)), Ok(true));
    granted(ask(&mut home, (P, stay), R));
}

#[test]
fn a_call_that_is_sent_again_pins_the_element_until_it_has_found_it() {
    let (mut home, Traveller { stay, .. }) = on_p();
    let first = sent(home.seek(INDEX, None));
    let then = granted(ask(&mut home, (P, stay), Q));
    assert_eq!(home.seek(INDEX, Some(first.1)), Seek::Keep);
    assert_eq!(home.arrived(INDEX, (Q, then)), Ok(true));
    let again = sent(home.seek(INDEX, Some(first.1)));
    assert_eq!(again, (Q, Sought { stay: then, is_pinned: true }));
    assert_eq!(ask(&mut home, (Q, then), R), BondWish::Keep(0));
    assert_eq!(home.found(INDEX, again.1), Ok(true));
    assert!(home.found(INDEX, again.1).is_err(), "there was one pin");
    granted(ask(&mut home, (Q, then), R));
    assert_eq!(home.found(INDEX, again.1), Ok(false), "that is old by now");
}

#[test]
fn a_call_that_comes_back_from_where_nobody_left_proves_the_end() {
    let (mut home, Traveller { stay, .. }) = on_p();
    let (_, sought) = sent(home.seek(INDEX, None));
    assert_eq!(home.seek(INDEX, Some(sought)), Seek::Keep);
    assert_eq!((home.seek(INDEX, None), home.admit(INDEX, None)), (Seek::Keep, Admission::Keep));
    assert_eq!(ask(&mut home, (P, stay), Q), BondWish::Obsolete);
    home.gone(INDEX, (P, stay), 0, ()).unwrap();
    assert_eq!(home.settle(INDEX), Settled::Over(Standing::NEW, ()));
    assert_eq!(home.admit(INDEX, None), Admission::AtHomeOrNowhere);
    let successor = home.send_newborn(INDEX, Q, Standing::NEW);
    assert_eq!(home.arrived(INDEX, (Q, successor.stay)), Ok(true));
    assert_eq!(sent(home.seek(INDEX, Some(sought))).0, Q);
}

#[test]
fn an_insertion_asks_where_the_element_lives() {
    let (mut home, Traveller { stay, .. }) = on_p();
    let Admission::Ask { to: P, sought } = home.admit(INDEX, None) else { panic!("it may have ended") };
    let then = granted(ask(&mut home, (P, stay), Q));
    assert_eq!(home.admit(INDEX, Some(sought)), Admission::Keep);
    assert_eq!(home.arrived(INDEX, (Q, then)), Ok(true));
    assert_eq!(home.admit(INDEX, Some(sought)), Admission::Exists);
    let Admission::Ask { to: Q, sought } = home.admit(INDEX, None) else { panic!("it may have ended") };
    assert_eq!(home.admit(INDEX, Some(sought)), Admission::Keep, "it has");
}

#[test]
fn news_of_an_end_stand_for_those_that_they_overtake() {
    let mut home = Few::default();
    let Traveller { stay, .. } = home.send_newborn(INDEX, P, Standing::NEW);
    home.gone(INDEX, (P, stay), 0, ()).unwrap();
    assert_eq!(home.settle(INDEX), Settled::Over(Standing::NEW, ()));
    assert_eq!(home.arrived(INDEX, (P, stay)), Ok(false));
    let (mut home, mut traveller) = on_p();
    let stay = traveller.stay;
    granted(ask(&mut home, (P, stay), Q));
    assert_eq!(traveller.contribute(), 0);
    home.gone(INDEX, (P, stay), traveller.contributed(), ()).unwrap();
    assert_eq!((home.settle(INDEX), home.seek(INDEX, None)), (Settled::Nothing, Seek::Keep));
    assert_eq!(home.stayed(INDEX, (P, stay)), Ok(false));
    home.contribute(INDEX, 0, "late").unwrap();
    assert_eq!(home.next_contribution(INDEX).unwrap().0, "late");
    assert_eq!(home.settle(INDEX), Settled::Over(Standing::NEW, ()));
}

#[test]
fn a_copy_is_for_the_element_of_one_journey() {
    let (mut home, mut traveller) = on_p();
    assert_eq!(home.call_elsewhere(), [(INDEX, traveller.journey)]);
    let SeekCopy::Send { to: P, .. } = home.seek_copy(INDEX, traveller.journey, None) else { panic!("P") };
    let journey = traveller.journey;
    traveller.stay = granted(ask(&mut home, (P, traveller.stay), HOME));
    home.come_home(INDEX, HOME, &traveller).unwrap();
    assert_eq!(home.settle(INDEX), Settled::Nothing, "the copy is out");
    assert!(home.call_elsewhere().is_empty(), "it is a member at home");
    let mut traveller = home.leave(INDEX, Q, Standing::NEW);
    assert_eq!(traveller.journey, journey, "the journey goes on");
    assert_eq!(home.seek_copy(INDEX, journey, None), SeekCopy::Keep);
    assert_eq!(home.arrived(INDEX, (Q, traveller.stay)), Ok(true));
    assert!(traveller.hear(journey));
    traveller.stay = granted(ask(&mut home, (Q, traveller.stay), HOME));
    home.come_home(INDEX, HOME, &traveller).unwrap();
    assert_eq!(home.settle(INDEX), Settled::AtHome(Standing::NEW));
    assert_eq!(home.seek_copy(INDEX, journey, None), SeekCopy::Drop);
    let mut other = home.leave(INDEX, P, Standing::NEW);
    assert!(!other.hear(journey));
    assert_eq!(home.seek_copy(INDEX, journey, None), SeekCopy::Drop);
}

#[test]
fn a_copy_that_comes_while_its_element_is_at_home_is_heard_there_once() {
    let (mut home, mut traveller) = on_p();
    home.call_elsewhere();
    traveller.stay = granted(ask(&mut home, (P, traveller.stay), HOME));
    home.come_home(INDEX, HOME, &traveller).unwrap();
    assert_eq!(home.contribute_at_home(INDEX, "first"), Ok(()));
    assert_eq!(home.next_contribution(INDEX).unwrap().0, "first");
    assert_eq!(home.settle(INDEX), Settled::Nothing);
    assert_eq!(home.seek_copy(INDEX, traveller.journey, None), SeekCopy::Hear);
    assert_eq!(home.settle(INDEX), Settled::AtHome(Standing::NEW));
}

#[test]
fn contributions_are_taken_in_order_also_of_who_is_back_or_has_ended_at_home() {
    let (mut home, mut traveller) = on_p();
    let numbers: Vec<u64> = (0..3).map(|_| traveller.contribute()).collect();
    home.contribute(INDEX, numbers[2], "third").unwrap();
    assert!(home.next_contribution(INDEX).is_none());
    traveller.stay = granted(ask(&mut home, (P, traveller.stay), HOME));
    home.come_home(INDEX, HOME, &traveller).unwrap();
    assert_eq!(home.contribute_at_home(INDEX, "fourth"), Ok(()));
    home.contribute(INDEX, numbers[1], "second").unwrap();
    assert_eq!(home.end_at_home(INDEX, ()), Ok(()));
    assert_eq!(home.settle(INDEX), Settled::Nothing);
    home.contribute(INDEX, numbers[0], "first").unwrap();
    let mut taken = Vec::new();
    while let Some((contribution, standing)) = home.next_contribution(INDEX) {
        taken.push(contribution);
        *standing = Standing::before(taken.len() as u64);
    }
    assert_eq!(taken, ["first", "second", "third", "fourth"]);
    assert_eq!(home.settle(INDEX), Settled::Over(Standing::before(4), ()));
    assert_eq!(home.contribute_at_home(INDEX, "fifth"), Err("fifth"));
    assert_eq!(home.end_at_home(INDEX, ()), Err(()));
}

#[test]
fn what_nobody_says_who_keeps_the_rules_is_refused_in_words() {
    let (mut home, traveller) = on_p();
    let stay = traveller.stay;
    let beyond = stay.next();
    assert!(home.arrived(INDEX, (P, beyond)).is_err() && home.arrived(INDEX, (P, stay)).is_err());
    assert!(home.stayed(INDEX, (P, stay)).is_err());
    assert!(home.gone(INDEX, (Q, stay), 0, ()).is_err());
    assert!(home.gone(Index::from(8), (Q, stay), 0, ()).is_err());
    assert!(home.come_home(INDEX, HOME, &traveller).is_err());
    assert!(home.found(INDEX, Sought { stay, is_pinned: true }).is_err());
    home.contribute(INDEX, 1, "second").unwrap();
    assert!(home.contribute(INDEX, 1, "second").is_err() && home.contribute(INDEX, u64::MAX, "").is_err());
    assert!(home.contribute(Index::from(8), 0, "nobody's").is_err());
    assert!(
        home.gone(INDEX, (P, stay), 1, ()).is_err() && home.gone(INDEX, (P, stay), u64::MAX, ()).is_err()
    );
    let then = granted(ask(&mut home, (P, stay), HOME));
    assert!(home.arrived(INDEX, (Q, then)).is_err());
    for wrong in [
        Traveller { stay: then, heard: 1, contributed: 2, ..traveller.clone() },
        Traveller { stay: then, contributed: 1, ..traveller.clone() },
        Traveller { stay: then, contributed: 2, journey: Journey::begin(then), heard: 0 },
    ] {
        assert!(home.come_home(INDEX, HOME, &wrong).is_err(), "{wrong:?}");
    }
    let right = Traveller { stay: then, contributed: 2, ..traveller };
    assert!(home.come_home(INDEX, Q, &right).is_err(), "that is no home");
    home.come_home(INDEX, HOME, &right).unwrap();
    assert!(home.contribute(INDEX, 2, "third").is_err(), "it has made two");
}

#[test]
fn those_of_a_bond_go_together_and_wait_for_each_other() {
    let ((mut one, first), (mut other, second)) = (on_p(), on_p());
    let third = Few::default();
    let find = |homes: [&Few; 2]| find_bond(homes.into_iter(), INDEX);
    assert_eq!((find([&third, &one]), find([&third, &third])), (Lives::On(P), Lives::AtHomeOrNowhere));
    let to_q = wish(&mut [&mut one, &mut other], 1, INDEX, (P, second.stay), Q);
    let BondWish::Granted(let_go) = to_q else { panic!("{to_q:?}") };
    assert_eq!(
        let_go.iter().map(|it| (it.number, it.left)).collect::<Vec<_>>(),
        [(0, first.stay), (1, second.stay)]
    );
    assert_eq!(find([&third, &one]), Lives::UnderWay(1));
    let [first, second] = [let_go[0].stay, let_go[1].stay];
    assert_eq!(one.arrived(INDEX, (Q, first)), Ok(true));
    let early = wish(&mut [&mut one, &mut other], 0, INDEX, (Q, first), R);
    assert_eq!(early, BondWish::Keep(1), "nobody has said that the other one has arrived");
    other.gone(INDEX, (P, Stay::NONE.next()), 0, ()).expect("it had ended before it was let go");
    assert!(second > Stay::NONE.next() && matches!(other.settle(INDEX), Settled::Over(..)));
    let newborn = other.send_newborn(INDEX, Q, Standing::NEW);
    assert_eq!(wish(&mut [&mut one, &mut other], 0, INDEX, (Q, first), R), BondWish::Keep(1));
    assert_eq!(other.arrived(INDEX, (Q, newborn.stay)), Ok(true));
    let alone = wish(&mut [&mut one, &mut Few::default()], 0, INDEX, (Q, first), R);
    assert!(matches!(alone, BondWish::Granted(let_go) if let_go.len() == 1));
}

/// One thing that somebody says of an element, or that its home does; returns whether it is taken.
fn say_anything(home: &mut Few, dice: &mut Dice) -> bool {
    let index = Index::from(dice.roll(2) as u64);
    let (at, to) = (PeId(dice.roll(3) as u32), PeId(dice.roll(3) as u32));
    let mut stay = || (0..dice.roll(6)).fold(Stay::NONE, |stay, _| stay.next());
    let (stay, journey) = (stay(), Journey::begin(stay()));
    let number = [0, 0, 1, 2, u64::MAX][dice.roll(5)];
    let is_pinned = dice.roll(2) == 0;
    let sought = (dice.roll(3) > 0).then_some(Sought { stay, is_pinned });
    let is_at_home = home.find(index) == Whereabouts::AtHomeOrNowhere;
    match dice.roll(13) {
        0 | 1 if is_at_home => home.leave(index, to, Standing::NEW).stay == home.granted,
        2 => wish(&mut [home], 0, index, (at, stay), to) != BondWish::Obsolete,
        3 => home.stayed(index, (at, stay)).is_ok(),
        4 => home.arrived(index, (at, stay)).is_ok(),
        5 => {
            let heard = dice.roll(2) as u64;
            home.come_home(index, HOME, &Traveller { journey, stay, contributed: number, heard }).is_ok()
        }
        6 => home.gone(index, (at, stay), number, ()).is_ok(),
        7 => home.seek(index, sought) != Seek::Keep,
        8 => home.seek_copy(index, journey, sought) != SeekCopy::Drop,
        9 => home.admit(index, sought) != Admission::Exists,
        10 => home.found(index, Sought { stay, is_pinned }).is_ok(),
        11 => home.contribute(index, number, "said").is_ok(),
        12 if is_at_home => home.contribute_at_home(index, "own").is_ok(),
        _ => !home.call_elsewhere().is_empty(),
    }
}

#[test]
fn nothing_that_others_say_makes_a_home_panic() {
    let (mut dice, mut taken) = (Dice(1), [0, 0]);
    for _ in 0..2000 {
        let mut home = Few::default();
        for _ in 0..60 {
            taken[usize::from(say_anything(&mut home, &mut dice))] += 1;
            for index in [0, 1].map(Index::from) {
                while home.next_contribution(index).is_some() {}
                home.settle(index);
            }
        }
    }
    assert!(taken.iter().all(|times| *times > 10_000), "{taken:?}");
}
