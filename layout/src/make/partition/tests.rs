//! Partitions: that parts cover what they should, once, and what is refused.

use super::*;
use crate::{Distributed, Order, Raw};
use proptest::prelude::*;

/// How often each element is selected by the parts.
fn coverage(partition: &Partition<u16>) -> Vec<u32> {
    let mut seen = vec![0; partition.elements()];
    for number in 0..partition.len() {
        let part = partition.part(number).expect("there are so many");
        for (at, len) in part.runs() {
            seen[at as usize / 2..][..len as usize / 2].iter_mut().for_each(|times| *times += 1);
        }
    }
    seen
}

#[test]
fn the_parts_of_arrays_are_all_of_it_and_share_nothing() {
    for pieces in [1, 2, 3, 7, 12] {
        let all = [
            Partition::rows([9, 5], pieces),
            Partition::columns([5, 9], pieces),
            Partition::blocks([4, 3, 5], [2, pieces, 3]),
            Partition::cyclic([9, 10], [2, 3], [pieces, 2]),
            Partition::blocks([0, 4], [pieces, 1]),
        ];
        for partition in all {
            let partition = partition.expect("a partition");
            assert!(coverage(&partition).iter().all(|times| *times == 1), "{partition:?}");
            assert_eq!(partition.part(partition.len()), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn parts_are_what_dealing_element_by_element_gives(
        rows in (0_usize..9, 1_usize..4, 1_usize..4),
        columns in (0_usize..9, 1_usize..4, 1_usize..4),
        in_turn in any::<bool>(),
    ) {
        let (sizes, pieces) = ([rows.0, columns.0], [rows.2, columns.2]);
        let at_a_time = if in_turn { [rows.1, columns.1] } else { [0, 1].map(|at| sizes[at].div_ceil(pieces[at])) };
        let partition = if in_turn {
            Partition::<u32>::cyclic(sizes, at_a_time, pieces)
        } else {
            Partition::blocks(sizes, pieces)
        };
        let partition = partition.expect("a partition");
        let mut parts = vec![Vec::new(); pieces[0] * pieces[1]];
        for (row, column) in (0..sizes[0]).flat_map(|row| (0..sizes[1]).map(move |column| (row, column))) {
            let owner = |index: usize, at: usize| index / at_a_time[at] % pieces[at];
            parts[owner(row, 0) * pieces[1] + owner(column, 1)].push(row * sizes[1] + column);
        }
        for (number, part) in parts.iter().enumerate() {
            let runs: Vec<(i64, u64)> = partition.part(number).expect("there are so many").runs().collect();
            let elements = runs.iter().flat_map(|(at, len)| (at / 4) as usize..(*at as usize + *len as usize) / 4);
            prop_assert!(elements.eq(part.iter().copied()), "{:?} of {:?}: {:?}", number, partition, runs);
        }
    }
}

/// Sizes and numbers that are small, or next to what 64 bits hold.
fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![3 => 1_u64..6, 1 => (0_u32..63, 0_u64..3).prop_map(|(power, more)| (1 << power) + more - 1)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn of_a_partition_that_is_accepted_every_part_can_be_made(
        dimensions in proptest::collection::vec((numbers(), numbers(), numbers(), any::<bool>()), 1..16),
        parts in proptest::collection::vec(any::<u64>(), 8),
    ) {
        let dealt = |(size, block, pieces, in_turn): (u64, u64, u64, bool)| {
            let distribution = if in_turn { Distribution::Cyclic(block) } else { Distribution::Block };
            Dealt { size, distribution, pieces }
        };
        let rule = Rule::Array(dimensions.into_iter().map(dealt).collect());
        if let Ok(partition) = RawPartition::try_from(Told { element_bytes: 8, rule }) {
            for number in parts.into_iter().chain([0, partition.len() - 1]) {
                let part = partition.part(number % partition.len()).expect("there are so many");
                prop_assert!(part.check_bounds(partition.bytes()).is_ok());
            }
        }
    }
}

#[test]
fn the_first_part_of_one_that_reaches_far_is_made_like_the_last() {
    let far =
        Partition::<u64>::cyclic([1 << 20], [1 << 20], [1 << 40]).expect("all of it is the first part's");
    assert_eq!(far.part(0).map(|part| part.len()), Some(1 << 20));
    assert_eq!(far.part((1 << 40) - 1).map(|part| part.len()), Some(0));
}

#[test]
fn parts_that_would_take_too_many_operations_are_refused_from_anybody() {
    let dealt = Partition::<u8>::cyclic([5; 13], [2; 13], [2; 13]);
    assert!(matches!(dealt, Err(LayoutError::TooMany { what: "operations", .. })), "{dealt:?}");
    let one = || Dealt { size: 5, distribution: Distribution::Cyclic(2), pieces: 2 };
    let told = Told { element_bytes: 1, rule: Rule::Array((0..13).map(|_| one()).collect()) };
    assert!(RawPartition::try_from(told).is_err());
    assert!(Partition::<u8>::cyclic([5; 8], [2; 8], [2; 8]).is_ok());
}

#[test]
fn blocks_of_rows_are_what_any_array_dealt_out_so_is() {
    for (height, width, pieces) in [(9, 5, 4), (8, 1, 8), (3, 4, 7), (0, 3, 2), (4, 0, 2), (5, 2, 1)] {
        let rows = Partition::<u16>::rows([height, width], pieces).expect("rows");
        for process in 0..pieces {
            let dealt = |size: usize, (processes, process): (usize, usize)| Distributed {
                size: size as u64,
                distribution: Distribution::Block,
                processes: processes as u64,
                process: process as u64,
            };
            let array = [dealt(height, (pieces, process)), dealt(width, (1, 0))];
            let expected = Raw::bytes_of(2).and_then(|element| element.darray(&array, Order::C));
            let part = rows.part(process).expect("there are so many");
            assert_eq!(Ok(&**part.raw()), expected.as_ref(), "{height} x {width} in {pieces}");
            assert_eq!(part.raw().run_count(), expected.expect("it fits").run_count());
        }
    }
}

#[test]
fn places_count_the_last_coordinate_fastest() {
    let blocks = Partition::<u8>::blocks([4, 6, 2], [2, 3, 2]).expect("a partition");
    let places = (0..2).flat_map(|x| (0..3).flat_map(move |y| (0..2).map(move |z| [x, y, z])));
    for (number, place) in places.enumerate() {
        assert_eq!(blocks.part(number), blocks.part_at(&place));
    }
    for beyond in [&[2, 0, 0][..], &[0, 3, 0], &[0, 0], &[12], &[0, 0, 0, 0], &[]] {
        assert_eq!(blocks.part_at(beyond), None, "{beyond:?}");
    }
}

#[test]
fn a_table_is_checked_once_as_a_whole() {
    let part =
        |at: i64, len| Layout::<u32>::contiguous(len).and_then(|part| part.shifted(at)).expect("it fits");
    let table = |parts: &[Layout<u32>]| Partition::table(10, parts);
    let fits = table(&[part(8, 2), part(0, 3), part(3, 0)]).expect("they share nothing");
    assert_eq!(fits.part(1), Some(part(0, 3)));
    assert!(matches!(table(&[part(0, 3), part(2, 2)]), Err(LayoutError::Overlaps { .. })));
    assert!(matches!(table(&[part(9, 2)]), Err(LayoutError::OutOfBounds { .. })));
    let byte = Raw::bytes_of(4).and_then(|four| four.shifted(2)).expect("it fits");
    let torn = Layout::from_raw(byte).expect("as long as an element");
    assert!(matches!(table(&[torn]), Err(LayoutError::NotWhole { .. })));
    assert!(table(&[]).expect("nobody has anything").is_empty());
}

#[test]
fn what_cannot_be_dealt_out_is_refused_in_words() {
    let refused =
        |partition: Result<Partition<u64>, LayoutError>| partition.expect_err("it is refused").to_string();
    assert!(refused(Partition::rows([4, 4], 0)).contains("give it 1 or more"));
    assert!(refused(Partition::cyclic([4], [0], [2])).contains("1 or more at a time"));
    assert!(refused(Partition::blocks([usize::MAX, 2], [1, 1])).contains("64 bits"));
    assert!(refused(Partition::blocks([1, 1], [usize::MAX, 2])).contains("64 bits"));
    assert!(Partition::<()>::rows([1, 1], 1).is_err());
}
