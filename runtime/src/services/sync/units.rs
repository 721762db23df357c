//! Units of loads: seconds that were measured, and what programs say in units of their own, brought together.
//!
//! 1. Where no element says its load, loads are seconds.
//! 2. Where some do, what is measured is brought into their unit, by the seconds that those who say it have taken for so much.
//! 3. Where all that may move do, the program has said what counts: what cannot move is left out, and a plan follows from what is said
//!    alone, the same in every run.

use super::message::{MeasuredElement, MeasuredHere};

/// The largest load of [`Measured`](crate::Measured).
const LOAD_MAX: f64 = 1e15;

/// The one unit of all loads of a balancing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Unit {
    /// So much is one measured second.
    second: f64,
    /// Whether what cannot move counts.
    counts_fixed: bool,
}

impl Unit {
    /// The unit in which all that PEs have can be compared.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a MeasuredHere>) -> Self {
        let (mut said, mut seconds, mut all_say) = (0.0, 0.0, true);
        for element in all.flat_map(|here| &here.elements) {
            match element.said {
                Some(load) => {
                    said += load;
                    seconds += element.time;
                }
                // One that is not free says nothing now.
                None => all_say &= !element.may_move,
            }
        }
        let second = if said == 0.0 || seconds == 0.0 { 1.0 } else { said / seconds };
        Self { second, counts_fixed: said == 0.0 || !all_say }
    }

    /// The load of an element.
    pub(super) fn load(self, element: &MeasuredElement) -> f64 {
        element.said.unwrap_or_else(|| (element.time * self.second).min(LOAD_MAX))
    }

    /// The load of what cannot move on a PE, where this is so many seconds.
    pub(super) fn fixed(self, seconds: f64) -> f64 {
        if self.counts_fixed { (seconds * self.second).min(LOAD_MAX) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::{CollectionId, Index, PeId};

    fn element(time: f64, said: Option<f64>) -> MeasuredElement {
        let member = (CollectionId { creator: PeId(0), serial: 0 }, Index::from(0_u64));
        MeasuredElement { member, time, said, bytes: 0, may_move: true, position: None, bond: None }
    }

    fn unit(elements: &[MeasuredElement]) -> Unit {
        Unit::of([MeasuredHere { fixed: 0.5, elements: elements.to_vec(), ..MeasuredHere::default() }].iter())
    }

    #[test]
    fn seconds_are_compared_with_seconds() {
        let measured = [element(0.25, None), element(0.5, None)];
        let unit = unit(&measured);
        assert_eq!((unit.load(&measured[0]), unit.fixed(0.5)), (0.25, 0.5));
    }

    #[test]
    fn where_all_say_their_loads_nothing_that_is_measured_counts() {
        let said = [element(0.3, Some(2000.0)), element(0.1, Some(7.0))];
        let unit = unit(&said);
        assert_eq!((unit.load(&said[0]), unit.load(&said[1]), unit.fixed(0.5)), (2000.0, 7.0, 0.0));
        let busy = MeasuredElement { may_move: false, ..element(0.2, None) };
        let unit = Unit::of(
            [MeasuredHere {
                fixed: 0.0,
                elements: vec![element(0.1, Some(1.0)), busy.clone()],
                ..MeasuredHere::default()
            }]
            .iter(),
        );
        assert_eq!(
            (unit.load(&busy), unit.fixed(0.5)),
            (2.0, 0.0),
            "who cannot say it now has taken twice as long"
        );
    }

    #[test]
    fn where_some_say_their_loads_what_is_measured_is_brought_into_their_unit() {
        let mixed = [element(0.5, Some(1000.0)), element(0.25, None), element(0.0, Some(500.0))];
        let unit = unit(&mixed);
        assert_eq!((unit.load(&mixed[0]), unit.load(&mixed[1]), unit.fixed(1.0)), (1000.0, 750.0, 3000.0));
    }

    #[test]
    fn what_took_no_time_or_is_said_to_be_nothing_gives_no_unit() {
        assert_eq!(
            unit(&[element(0.0, Some(5.0)), element(0.25, None)]),
            Unit { second: 1.0, counts_fixed: true }
        );
        assert_eq!(unit(&[element(0.5, Some(0.0))]), Unit { second: 1.0, counts_fixed: true });
        assert_eq!(unit(&[element(0.0, Some(5.0))]), Unit { second: 1.0, counts_fixed: false });
        assert_eq!(unit(&[]), Unit { second: 1.0, counts_fixed: true });
        let huge = [element(1e-9, Some(1e15)), element(1.0, None)];
        assert_eq!(unit(&huge).load(&huge[1]), LOAD_MAX);
    }
}
