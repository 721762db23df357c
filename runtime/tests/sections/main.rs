//! Sections: of arrays and groups, across arrays, of sections; called, reduced, dissolved, over every path.

mod arguments;
mod cell;
mod clients;
mod collections;
#[path = "../every_path/mod.rs"]
mod every_path;
mod forming;
mod refusals;

use cell::{CellProxy, CellSectionProxy, add_up, heard, row};
use every_path::on_every_path;

/// One process of one, two and four PEs; two, four and six of one; two of two.
const SHAPES: [(u32, u32); 7] = [(1, 1), (1, 2), (1, 4), (2, 1), (4, 1), (6, 1), (2, 2)];

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
