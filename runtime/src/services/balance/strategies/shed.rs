//! Shedding: which of its items a domain with too much gives away.
//!
//! What is given is to weigh as much as is too much, and to cost little. Two choices are compared: one item that is enough by itself; and
//! those that weigh most for what they cost, as long as they are not more than enough, with one to fill what is still missing.

use super::domain::Item;

/// Chooses of `movable` what weighs `excess` together, or all if that is not enough.
pub(super) fn shed(items: &[Item], movable: Vec<u32>, excess: f64) -> Vec<u32> {
    let item = |position: u32| &items[position as usize];
    let single = movable.iter().copied().filter(|position| item(*position).load >= excess);
    let single = single.min_by(|one, other| waste(item(*one)).total_cmp(&waste(item(*other))));
    let several = several(items, movable, excess);
    let cost_of = |chosen: &[u32]| chosen.iter().map(|position| item(*position).cost()).sum::<f64>();
    match single {
        Some(single) if item(single).cost() <= cost_of(&several) => vec![single],
        _ => several,
    }
}

/// How bad it is to move an item where a lighter or a smaller one is enough.
fn waste(item: &Item) -> f64 {
    item.load * item.cost()
}

fn several(items: &[Item], mut movable: Vec<u32>, excess: f64) -> Vec<u32> {
    let item = |position: u32| &items[position as usize];
    let gain = |position: &u32| item(*position).load / item(*position).cost();
    movable.sort_unstable_by(|one, other| gain(other).total_cmp(&gain(one)).then(one.cmp(other)));
    let (mut chosen, mut left, mut missing) = (Vec::new(), Vec::new(), excess);
    for position in movable {
        let load = item(position).load;
        if missing > 0.0 && load <= missing {
            missing -= load;
            chosen.push(position);
        } else {
            left.push(position);
        }
    }
    if missing > 0.0 {
        let enough = left.into_iter().filter(|position| item(*position).load >= missing);
        chosen.extend(enough.min_by(|one, other| waste(item(*one)).total_cmp(&waste(item(*other)))));
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(of: &[(f64, u64)]) -> Vec<Item> {
        let item = |(object, (load, bytes)): (usize, &(f64, u64))| Item {
            object: object as u32,
            at: 0,
            load: *load,
            bytes: *bytes,
        };
        of.iter().enumerate().map(item).collect()
    }

    fn chosen(of: &[(f64, u64)], excess: f64) -> Vec<u32> {
        shed(&items(of), (0..of.len() as u32).collect(), excess)
    }

    #[test]
    fn one_that_is_just_enough_goes_before_many() {
        assert_eq!(chosen(&[(5.0, 0), (1.1, 0), (0.5, 0), (0.6, 0)], 1.0), [1]);
    }

    #[test]
    fn of_equal_ones_those_with_less_state_go() {
        assert_eq!(chosen(&[(1.0, 1 << 20), (1.0, 0), (1.0, 1 << 20), (1.0, 100)], 2.0), [1, 3]);
    }

    #[test]
    fn two_with_little_state_go_before_one_with_much() {
        assert_eq!(chosen(&[(2.0, 1 << 30), (1.0, 100), (1.0, 100)], 2.0), [1, 2]);
    }

    #[test]
    fn all_go_where_all_are_not_enough() {
        assert_eq!(chosen(&[(1.0, 0), (2.0, 0)], 10.0), [1, 0]);
    }
}
