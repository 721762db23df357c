//! Sections: of arrays and groups, across arrays, of sections; called, reduced, dissolved, over every path.

mod every_path;

use chare::prelude::*;
use chare::{ArrayOptions, Job};
use every_path::on_every_path;
use std::sync::Arc;

/// One process of one, two and four PEs; two, four and six of one; two of two.
const SHAPES: [(u32, u32); 7] = [(1, 1), (1, 2), (1, 4), (2, 1), (4, 1), (6, 1), (2, 2)];

#[derive(Default)]
struct Cell {
    heard: u64,
    kept: Vec<Received<u32>>,
}

#[chare(array, index = (u32, u32))]
impl Cell {
    #[entry]
    fn new() -> Self {
        Self::default()
    }

    #[entry]
    fn hear(&mut self, amount: u64) {
        self.heard += amount;
    }

    /// Each member contributes its index and the calls that it has heard.
    #[entry]
    fn report(&mut self, done: Callback<Vec<((u32, u32), u64)>>) {
        self.contribute(concat([(self.this_index(), self.heard)]), done);
    }

    #[entry]
    fn add_up(&mut self, section: CellSectionProxy, times: u64, done: Callback<u64>) {
        for time in 0..times {
            self.contribute_to(&section, sum(u64::from(self.this_index().1) + time), done);
        }
    }

    #[entry]
    fn gather(&mut self, section: CellSectionProxy, done: Callback<Vec<(u32, u32)>>) {
        self.contribute_to(&section, set(self.this_index()), done);
    }

    /// The result comes back to all of the section, who say so.
    #[entry]
    fn start_all_reduce(&mut self, section: CellSectionProxy) {
        self.contribute_to(&section, sum(1), section.hear_callback());
    }

    #[entry]
    async fn start_waiting(this: This<Self>, section: CellSectionProxy, done: Callback<u64>) {
        let (quiet, on_quiet) = chare::future();
        on_quiet.send(());
        let () = quiet.await;
        this.contribute_to(&section, sum(1), done);
    }

    #[entry]
    fn take(
        &mut self,
        section: CellSectionProxy,
        seed: u32,
        #[nocopy] data: Received<u32>,
        done: Callback<Vec<(u32, u64)>>,
    ) {
        check(seed, &data);
        let place = (chare::my_node().0, data.as_ptr() as u64);
        // Kept, so that no address is used twice.
        self.kept.push(data);
        self.contribute_to(&section, set(place), done);
    }

    #[entry]
    fn let_go(&mut self) {
        self.kept.clear();
    }

    #[entry]
    fn land(
        &mut self,
        section: CellSectionProxy,
        seed: u32,
        #[nocopy(post)] data: Posted<u32>,
        done: Callback<u64>,
    ) {
        check(seed, &data);
        self.contribute_to(&section, sum(data.transferred() as u64), done);
    }

    #[post(land)]
    fn post_land(
        &mut self,
        _section: &CellSectionProxy,
        _seed: &u32,
        data: Post<u32>,
        _done: &Callback<u64>,
    ) {
        let len = data.len();
        data.post(vec![0; len]).expect("it is as long");
    }

    /// Each member contributes the address of the one argument that all share.
    #[entry]
    fn share(&mut self, section: CellSectionProxy, data: Arc<Vec<u32>>, done: Callback<Vec<(u32, u64)>>) {
        check(5, &data);
        let place = (chare::my_node().0, data.as_ptr() as u64);
        self.contribute_to(&section, set(place), done);
    }

    /// Contributes to several reductions, and goes if that is wished.
    #[entry]
    fn contribute_each(&mut self, section: CellSectionProxy, done: Vec<Callback<u64>>, leave: bool) {
        for done in done {
            self.contribute_to(&section, sum(u64::from(self.this_index().1)), done);
        }
        if leave {
            chare::destroy();
        }
    }

    /// Contributes to the sections of its row and to the whole, in turn.
    #[entry]
    fn take_turns(&mut self, sections: Vec<CellSectionProxy>, done: Vec<[Callback<u64>; 2]>) {
        let section = &sections[self.this_index().0 as usize];
        for [part, whole] in done {
            self.contribute_to(section, sum(1), part);
            self.contribute(sum(1), whole);
        }
    }

    #[entry]
    fn form_and_call(&mut self, all: CellProxy, done: Callback<u64>) {
        let row = self.this_index().0;
        let section = all.section((0..5).map(|column| (row, column)));
        section.add_up(section.clone(), 1, done);
    }
}

fn pattern(seed: u32, len: usize) -> Vec<u32> {
    (0..len as u32).map(|position| position.wrapping_mul(2_654_435_761).wrapping_add(seed)).collect()
}

#[track_caller]
fn check(seed: u32, data: &[u32]) {
    assert!(data == pattern(seed, data.len()), "wrong data, seed {seed}, {} elements", data.len());
}

fn row(number: u32) -> impl Iterator<Item = (u32, u32)> + Clone {
    (0..5).map(move |column| (number, column))
}

async fn heard(cells: &CellProxy) -> Vec<((u32, u32), u64)> {
    let (heard, done) = chare::future();
    cells.report(done);
    heard.await.into_iter().filter(|(_, amount)| *amount > 0).collect()
}

async fn add_up(section: &CellSectionProxy) -> u64 {
    let (total, done) = chare::future();
    section.add_up(section.clone(), 1, done);
    total.await
}

#[test]
fn every_member_hears_each_call_once_and_nobody_else() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let third = cells.section(row(3).chain(row(3)));
        let nobody = cells.section([]);
        let everybody = cells.section((0..4).flat_map(row));
        third.hear(1);
        third.with(chare::CallOptions::new().expedited()).hear(10);
        nobody.hear(1000);
        everybody.hear(100);
        third.hear_callback().send(10_000);
        chare::quiescence().await;
        let expected: Vec<_> =
            (0..4).flat_map(row).map(|index| (index, if index.0 == 3 { 10_111 } else { 100 })).collect();
        assert_eq!(heard(&cells).await, expected);
    });
}

#[test]
fn reductions_over_sections_and_the_whole_go_on_side_by_side() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let sections: Vec<_> = (0..4).map(|number| cells.section(row(number))).collect();
        let second = sections[2].clone();
        let (mut results, mut callbacks) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let ((part, to_part), (whole, to_whole)) = (chare::future(), chare::future());
            results.push((part, whole));
            callbacks.push([to_part, to_whole]);
        }
        // Each row names the same callbacks: only the first row's futures count, so the others' values are dropped.
        cells.take_turns(sections, callbacks);
        for (part, whole) in results {
            assert_eq!((part.await, whole.await), (5, 20));
        }
        let (members, done) = chare::future();
        second.gather(second.clone(), done);
        assert_eq!(members.await, row(2).collect::<Vec<_>>());
        // Several over one section, which nobody waits for.
        let total = chare::Callback::each({
            let mut results = Vec::new();
            move |total: u64| {
                results.push(total);
                if results.len() == 6 {
                    results.sort_unstable();
                    assert_eq!(results, [10, 15, 20, 25, 30, 35]);
                    chare::exit(0);
                }
            }
        });
        second.add_up(second.clone(), 6, total);
        chare::future::<()>().0.await;
    });
}

#[test]
fn a_result_comes_back_to_the_section() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let section = cells.section(row(1));
        section.start_all_reduce(section.clone());
        chare::quiescence().await;
        assert_eq!(heard(&cells).await, row(1).map(|index| (index, 5)).collect::<Vec<_>>());
        let (total, done) = chare::future();
        section.start_waiting(section.clone(), done);
        assert_eq!(total.await, 5);
    });
}

#[test]
fn sections_span_arrays_and_consist_of_sections() {
    on_every_path(&SHAPES, || async {
        let (one, other) = (CellProxy::create((4, 5)), CellProxy::create((2, 5)));
        let members: Vec<_> =
            row(3).map(|index| one.at(index)).chain(row(1).map(|index| other.at(index))).collect();
        let both = CellSectionProxy::of(&members);
        assert_eq!(add_up(&both).await, 20);
        let part = both.section(&members[3..7]);
        assert_eq!(add_up(&part).await, 3 + 4 + 1);
        part.hear(1);
        chare::quiescence().await;
        assert_eq!(heard(&one).await, [((3, 3), 1), ((3, 4), 1)]);
        assert_eq!(heard(&other).await, [((1, 0), 1), ((1, 1), 1)]);
        both.dissolve();
        assert_eq!(add_up(&part).await, 8, "a part does not need the whole");
    });
}

#[test]
fn whoever_has_the_proxy_calls_and_every_element_may_form_its_own() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let (totals, callbacks): (Vec<_>, Vec<_>) = (0..4).map(|_| chare::future()).unzip();
        for (number, done) in (0..).zip(callbacks) {
            cells.at((number, 2)).form_and_call(cells.clone(), done);
        }
        assert_eq!(chare::wait_all(totals).await, [10; 4]);
    });
}

#[test]
fn large_arguments_come_once_into_each_process() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let section = cells.section((0..4).map(|number| (number, 1)).chain(row(2)));
        let members = 8;
        for (seed, len) in (0..).zip([0, 1, 513, 50_000]) {
            for shareable in [false, true] {
                let data = pattern(seed, len);
                let data: Buffer<u32> = if shareable {
                    BufferMut::from_fn(len, |place| data[place]).freeze()
                } else {
                    data.into()
                };
                let ((seen, done), (back, sent)) = (chare::future(), chare::future::<Sent<u32>>());
                section.take(section.clone(), seed, SendBuffer::from(data).on_sent(sent), done);
                let seen: Vec<(u32, u64)> = seen.await;
                assert_eq!(seen.len(), members);
                for node in 0..chare::nodes() {
                    let mut places = seen.iter().filter(|(at, _)| *at == node).map(|(_, place)| place);
                    let first = places.next();
                    assert!(
                        len == 0 || places.all(|place| Some(place) == first),
                        "one memory on node {node}"
                    );
                }
                section.let_go();
                let back = back.await.into_buffer();
                check(seed, &back);
                assert!(back.try_into_mut().is_ok(), "nobody else holds it");
                let (total, done) = chare::future();
                section.land(section.clone(), seed, pattern(seed, len), done);
                assert_eq!(total.await, (members * len) as u64);
            }
        }
    });
}

#[test]
fn a_counted_argument_is_one_in_each_process() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        let section = cells.section((0..4).flat_map(row));
        let (seen, done) = chare::future();
        section.share(section.clone(), Arc::new(pattern(5, 1000)), done);
        let mut seen = seen.await;
        assert_eq!(seen.len(), 20);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len() as u32, chare::nodes().min(20), "one in each process");
    });
}

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

#[test]
fn what_was_called_before_the_end_is_heard() {
    on_every_path(&SHAPES, || async {
        let cells = CellProxy::create((4, 5));
        for round in 1..20 {
            let section = cells.section((0..4).flat_map(row));
            section.hear(1);
            section.hear(1);
            section.dissolve();
            chare::quiescence().await;
            let heard = heard(&cells).await;
            assert!(heard.len() == 20 && heard.iter().all(|(_, amount)| *amount == 2 * round), "{heard:?}");
        }
    });
}

struct Member {
    heard: u64,
}

#[chare(group)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { heard: 0 }
    }

    #[entry]
    fn hear(&mut self, section: MemberSectionProxy, done: Callback<u64>) {
        self.heard += 1;
        self.contribute_to(&section, sum(u64::from(chare::my_pe().0)), done);
    }

    #[entry]
    fn report(&mut self, done: Callback<Vec<u64>>) {
        self.contribute(set(self.heard), done);
    }
}

struct Local;

#[chare(nodegroup)]
impl Local {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn hear(&mut self, section: LocalSectionProxy, done: Callback<u64>) {
        self.contribute_to(&section, sum(1), done);
    }
}

#[test]
fn groups_and_nodegroups_have_sections_too() {
    on_every_path(&SHAPES, || async {
        let group = MemberProxy::create();
        // At once: a PE that hears of the section may not have heard of the group.
        let odd = group.section((0..chare::pes()).filter(|pe| pe % 2 == 1).map(PeId));
        let all = group.section((0..chare::pes()).map(PeId));
        let odd_sum = (0..u64::from(chare::pes())).filter(|pe| pe % 2 == 1).sum::<u64>();
        for _ in 0..4 {
            let ((one, to_one), (other, to_other)) = (chare::future(), chare::future());
            if chare::pes() > 1 {
                odd.hear(odd.clone(), to_one);
                assert_eq!(one.await, odd_sum);
            }
            all.hear(all.clone(), to_other);
            assert_eq!(other.await, (0..u64::from(chare::pes())).sum::<u64>());
        }
        let (counts, done) = chare::future();
        group.report(done);
        let expected = (0..chare::pes()).map(|pe| if pe % 2 == 1 { 8 } else { 4 }).collect::<Vec<_>>();
        assert_eq!(counts.await, expected);
        let locals = LocalProxy::create();
        let section = locals.section((0..chare::nodes()).map(chare::NodeId));
        let (nodes, done) = chare::future();
        section.hear(section.clone(), done);
        assert_eq!(nodes.await, u64::from(chare::nodes()));
    });
}

/// The error of a job that ends because of `main`, in one process of two PEs and in two of one.
fn expect<Fut>(parts: &[&str], main: impl Fn() -> Fut + Send + Clone + 'static)
where
    Fut: Future<Output = ()> + 'static,
{
    for (nodes, pes) in [(1, 2), (2, 1)] {
        let main = main.clone();
        let result = Job::in_process(nodes, pes).run(move || async move {
            main().await;
            chare::future::<()>().0.await;
        });
        let text = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| text.contains(part)), "{parts:?} in: {text}");
    }
}

#[test]
fn what_cannot_be_names_the_element() {
    expect(&["section 0.", "there is no member (4, 0)"], || async {
        CellProxy::create((4, 5)).section([(1, 1), (4, 0)]);
    });
    expect(&["a reduction over section 0.", "member (3, 4) of", "no member of it"], || async {
        let cells = CellProxy::create((4, 5));
        let section = cells.section((0..4).flat_map(row).filter(|index| *index != (3, 4)));
        cells.at((3, 4)).add_up(section.clone(), 1, Callback::ignore());
    });
    expect(&["a contribution to section 0.", "no member"], || async {
        let cells =
            CellProxy::create(ArrayOptions::new((4, 5)).place_by(|(row, _)| PeId(u32::from(row == 3))));
        cells.at((3, 4)).add_up(cells.section(row(1)), 1, Callback::ignore());
    });
    expect(&["a section of members of section 0.", "member (2, 2) of"], || async {
        let cells = CellProxy::create((4, 5));
        cells
            .section((0..4).flat_map(row).filter(|index| *index != (2, 2)))
            .section([cells.at((1, 1)), cells.at((2, 2))]);
    });
}

#[test]
fn a_section_that_is_dissolved_is_called_no_more() {
    expect(&["Cell::hear of section 0.", "dissolved before"], || async {
        let section = CellProxy::create((4, 5)).section(row(1));
        section.dissolve();
        chare::quiescence().await;
        section.hear(1);
    });
    expect(&["dissolving section 0.", "dissolved before"], || async {
        let section = CellProxy::create((4, 5)).section(row(1));
        section.dissolve();
        section.dissolve();
    });
    expect(&["a contribution to section 0.", "dissolved before"], || async {
        let cells = CellProxy::create((4, 5));
        let section = cells.section(row(3));
        section.dissolve();
        chare::quiescence().await;
        cells.at((3, 4)).add_up(section, 1, Callback::ignore());
    });
}
