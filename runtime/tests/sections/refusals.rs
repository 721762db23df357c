//! Refusals: members that are none, reductions of strangers, sections that are dissolved; each names the section and the element.

use super::cell::{CellProxy, row};
use chare::prelude::*;
use chare::{ArrayOptions, Job};

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
