//! Forming of sections: members that come late, are destroyed before, meanwhile or after, and the news that a section is formed.

use super::SHAPES;
use super::cell::{CellProxy, add_up, check, heard, pattern, row};
use super::every_path::{on_every_path, on_every_real_path};
use chare::ArrayOptions;
use chare::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn members_come_late_and_live_anywhere() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create_empty(ArrayOptions::empty());
        let section = cells.section(row(7));
        let (total, done) = chare::future();
        section.add_up(section.clone(), 1, done);
        section.hear(1);
        for (number, index) in (0..).zip(row(7)) {
            cells.at(index).insert_on(PeId(number % chare::pes()));
        }
        assert_eq!(total.await, 10);
        for _ in 0..3 {
            section.hear(1);
            assert_eq!(add_up(&section).await, 10);
        }
        chare::quiescence().await;
        assert_eq!(heard(&cells).await, row(7).map(|index| (index, 4)).collect::<Vec<_>>());
        for seed in 0..2 {
            for len in [10, 50_000] {
                let ((seen, done), (back, sent)) = (chare::future(), chare::future::<Sent<u32>>());
                let data = SendBuffer::from(pattern(seed, len)).on_sent(sent);
                section.take(section.clone(), seed, data, done);
                assert_eq!(seen.await.len(), 5);
                section.let_go();
                check(seed, &back.await);
            }
        }
        section.dissolve();
        chare::quiescence().await;
    });
}

#[test]
fn who_is_destroyed_belongs_to_the_section_no_more() {
    on_every_path(&SHAPES, || async {
        for dynamic in [false, true] {
            let options = ArrayOptions::new((4, 5));
            let cells = CellProxy::create(if dynamic { options.dynamic() } else { options });
            if dynamic {
                // Some live elsewhere than at home.
                for index in row(9) {
                    cells.at(index).insert_on(PeId(index.1 % chare::pes()));
                }
            }
            let members: Vec<_> = row(2).chain(row(if dynamic { 9 } else { 1 })).collect();
            let section = cells.section(members.clone());
            assert_eq!(add_up(&section).await, 20);
            let (totals, callbacks): (Vec<_>, Vec<_>) = (0..3).map(|_| chare::future::<u64>()).unzip();
            let [first, second, third] = totals.try_into().ok().unwrap();
            // Three reductions; each is closed by fewer.
            for (place, index) in members.iter().enumerate() {
                let contributions = callbacks[..place % 4].to_vec();
                cells.at(*index).contribute_each(section.clone(), contributions, place % 4 < 3);
            }
            let column = |place: usize| u64::from(members[place].1);
            let expected = |least: usize| (0..10).filter(|place| place % 4 >= least).map(column).sum::<u64>();
            assert_eq!((first.await, second.await, third.await), (expected(1), expected(2), expected(3)));
            chare::quiescence().await;
            section.hear(1);
            let left: Vec<_> = (0..10).filter(|place| place % 4 == 3).map(|place| members[place]).collect();
            if dynamic {
                // Another element with an index of old: it belongs to no section.
                cells.at(members[0]).insert();
            }
            chare::quiescence().await;
            section.hear(1);
            chare::quiescence().await;
            let mut expected: Vec<_> = left.iter().map(|index| (*index, 2)).collect();
            expected.sort_unstable();
            assert_eq!(heard(&cells).await, expected);
            assert_eq!(add_up(&section).await, left.iter().map(|index| u64::from(index.1)).sum::<u64>());
            for index in left {
                cells.at(index).destroy();
            }
            chare::quiescence().await;
            section.hear(1);
            section.dissolve();
            chare::quiescence().await;
        }
    });
}

#[test]
fn who_was_destroyed_before_the_section_was_formed_is_absent() {
    on_every_path(&SHAPES, || async {
        for dynamic in [false, true] {
            let options = ArrayOptions::new((4, 5));
            let cells = CellProxy::create(if dynamic { options.dynamic() } else { options });
            let mut goes: Vec<_> = row(1).collect();
            if dynamic {
                for index in row(9) {
                    cells.at(index).insert_on(PeId(index.1 % chare::pes()));
                }
                goes.extend(row(9));
                chare::quiescence().await;
            }
            goes.iter().for_each(|index| cells.at(*index).destroy());
            chare::quiescence().await;
            let section = cells.section(row(0).chain(goes.clone()));
            section.hear(1);
            assert_eq!(add_up(&section).await, 10);
            chare::quiescence().await;
            let part = section.section([cells.at((0, 1)), cells.at((1, 1))]);
            assert_eq!(add_up(&part).await, 1);
            let nobody = cells.section(goes);
            nobody.hear(1);
            chare::quiescence().await;
            for section in [section, part, nobody] {
                section.dissolve();
            }
            chare::quiescence().await;
        }
    });
}

#[test]
fn a_section_says_when_it_is_formed() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create(ArrayOptions::new((4, 5)).dynamic());
        let absent = cells.at((1, 0));
        absent.destroy();
        chare::quiescence().await;
        // All are there; one is gone; one is still to come; nobody is left; there never was anybody.
        let some = [
            row(0).collect(),
            row(1).collect(),
            row(9).take(1).chain(row(2)).collect(),
            vec![(1, 0)],
            vec![],
        ];
        for members in some {
            let section = cells.section(members);
            for _ in 0..2 {
                let (formed, done) = chare::future();
                section.formed(done);
                formed.await;
            }
            section.dissolve();
        }
        let (formed, done) = chare::future();
        let row = cells.section(row(0));
        let part = row.section([cells.at((0, 1))]);
        part.formed(done);
        formed.await;
        assert_eq!(add_up(&part).await, 1);
        part.dissolve();
        row.dissolve();
    });
}

#[test]
fn who_is_destroyed_while_the_section_is_formed_is_not_waited_for() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create(ArrayOptions::new((4, 5)).dynamic());
        for index in row(9) {
            cells.at(index).insert_on(PeId(index.1 % chare::pes()));
        }
        chare::quiescence().await;
        for goes in [row(1), row(9)] {
            let goes: Vec<_> = goes.collect();
            goes.iter().for_each(|index| cells.at(*index).destroy());
            let section = cells.section(row(0).chain(goes));
            section.hear(1);
            let total = add_up(&section).await;
            assert!((10..=20).contains(&total), "{total}");
            chare::quiescence().await;
        }
    });
}

/// Whether the element that follows another one is born.
static HEIR_IS_BORN: AtomicBool = AtomicBool::new(false);

struct Heir {
    is_first: bool,
}

#[chare(array)]
impl Heir {
    #[entry]
    fn new(is_first: bool) -> Self {
        if !is_first {
            HEIR_IS_BORN.store(true, Ordering::Release);
        }
        Self { is_first }
    }

    #[entry]
    fn hand_over(&mut self, section: HeirSectionProxy, done: Callback<u64>) {
        self.add(section, done);
        self.this_chare().insert(false);
        chare::destroy();
    }

    #[entry]
    fn add(&mut self, section: HeirSectionProxy, done: Callback<u64>) {
        self.contribute_to(&section, sum(if self.is_first { 1 } else { 100 }), done);
    }
}

#[test]
fn who_has_the_index_of_a_member_that_went_before_the_news_of_the_section_is_another() {
    on_every_real_path(&[(1, 2), (2, 1)], || async {
        let heirs = HeirProxy::create(ArrayOptions::new(2).dynamic(), true);
        chare::quiescence().await;
        HEIR_IS_BORN.store(false, Ordering::Relaxed);
        let section = heirs.section([0, 1]);
        let (total, done) = chare::future();
        heirs.at(1).hand_over(section.clone(), done);
        // The news of the section leaves when `main` waits, not before.
        while !HEIR_IS_BORN.load(Ordering::Acquire) {
            std::hint::spin_loop();
        }
        heirs.at(0).add(section.clone(), done);
        assert_eq!(total.await, 2);
        let (total, done) = chare::future();
        section.add(section.clone(), done);
        assert_eq!(total.await, 1);
        section.dissolve();
        chare::quiescence().await;
    });
}
