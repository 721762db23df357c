//! Chains: items in a row, cut into one stretch for each domain.
//!
//! The cut is the best there is: no other makes the longest domain shorter, up to a hundredth of a percent. Where that leaves a choice each
//! domain ends where the average asks it to.

use super::domain::{Domain, Item};

/// The looks at a longest time between one that is too short and one that is enough: each halves the distance.
const LOOKS: usize = 40;

/// How near the best is near enough.
const NEAR: f64 = 1e-4;

/// Cuts a row of items, in which each stands once by its position in `items`, and says to which domain each item goes; domains take their
/// stretches in their order.
pub(super) fn cut(row: &[u32], items: &[Item], domains: &[Domain]) -> Vec<u32> {
    let loads: Vec<f64> = row.iter().map(|position| items[*position as usize].load).collect();
    let (mut places, mut start) = (vec![0; items.len()], 0);
    for (domain, end) in ends(&loads, domains).into_iter().enumerate() {
        row[start..end].iter().for_each(|position| places[*position as usize] = domain as u32);
        start = end;
    }
    places
}

/// Where the stretch of each domain ends.
fn ends(loads: &[f64], domains: &[Domain]) -> Vec<usize> {
    let longest = longest(loads, domains);
    // From the right: where each domain has to begin at the latest, if those after it are to take what is left.
    let mut latest = vec![loads.len(); domains.len() + 1];
    for (number, domain) in domains.iter().enumerate().rev() {
        let (mut start, mut spare) = (latest[number + 1], spare(domain, longest));
        while start > 0 && loads[start - 1] <= spare {
            start -= 1;
            spare -= loads[start];
        }
        latest[number] = start;
    }
    let total: f64 = loads.iter().sum();
    let together = Domain::together(domains);
    let average = (total + together.fixed) / together.speed;
    // What the domains so far take more than the average asks, which those after them make up for.
    let (mut end, mut ahead) = (0, 0.0);
    let mut ends = Vec::with_capacity(domains.len());
    for (number, domain) in domains.iter().enumerate() {
        let (mut taken, limit) = (0.0, spare(domain, longest));
        let asked = spare(domain, average) - ahead;
        while end < loads.len()
            && (end < latest[number + 1] || taken + loads[end] / 2.0 <= asked)
            && taken + loads[end] <= limit
        {
            taken += loads[end];
            end += 1;
        }
        ahead = taken - asked;
        ends.push(end);
    }
    // What rounding has left over.
    if let Some(last) = ends.last_mut() {
        *last = loads.len();
    }
    ends
}

/// The shortest time within which every domain can be done.
fn longest(loads: &[f64], domains: &[Domain]) -> f64 {
    let together = Domain::together(domains);
    let mut low = (together.fixed + loads.iter().sum::<f64>()) / together.speed;
    let mut high = low;
    for _ in 0..LOOKS {
        if are_done(loads, domains, high) {
            break;
        }
        low = high;
        high = f64::max(2.0 * high, f64::MIN_POSITIVE);
    }
    for _ in 0..LOOKS {
        if high - low <= NEAR * high {
            break;
        }
        let middle = low + (high - low) / 2.0;
        if are_done(loads, domains, middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Whether every domain can be done within this time, if each takes as much of the row as it can.
fn are_done(loads: &[f64], domains: &[Domain], time: f64) -> bool {
    let mut next = 0;
    for domain in domains {
        let mut spare = spare(domain, time);
        while next < loads.len() && loads[next] <= spare {
            spare -= loads[next];
            next += 1;
        }
    }
    next == loads.len()
}

/// The work that a domain can take within this time.
fn spare(domain: &Domain, time: f64) -> f64 {
    time * domain.speed - domain.fixed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn domains(of: &[(f64, f64)]) -> Vec<Domain> {
        of.iter()
            .map(|(fixed, speed)| Domain { fixed: *fixed, speed: *speed, room: u64::MAX, host: 0 })
            .collect()
    }

    #[test]
    fn equal_loads_are_cut_into_equal_stretches() {
        assert_eq!(ends(&[1.0; 9], &domains(&[(0.0, 1.0); 3])), [3, 6, 9]);
        assert_eq!(ends(&[1.0; 3], &domains(&[(0.0, 1.0); 3])), [1, 2, 3]);
    }

    #[test]
    fn the_longest_stretch_is_as_short_as_can_be() {
        assert_eq!(ends(&[1.0, 2.0, 3.0, 4.0, 5.0], &domains(&[(0.0, 1.0); 2])), [3, 5]);
        assert_eq!(ends(&[9.0, 1.0, 1.0, 1.0], &domains(&[(0.0, 1.0); 2])), [1, 4]);
    }

    #[test]
    fn the_quick_take_more_and_the_busy_less() {
        assert_eq!(ends(&[1.0; 9], &domains(&[(0.0, 2.0), (0.0, 1.0)])), [6, 9]);
        assert_eq!(ends(&[1.0; 6], &domains(&[(4.0, 1.0), (0.0, 1.0)])), [1, 6]);
    }

    #[test]
    fn nothing_is_left_over_where_loads_are_none_or_all_on_the_busiest() {
        assert_eq!(ends(&[0.0; 4], &domains(&[(0.0, 1.0); 2])).last(), Some(&4));
        assert_eq!(ends(&[], &domains(&[(3.0, 1.0); 2])), [0, 0]);
        assert_eq!(ends(&[1.0], &domains(&[(30.0, 1.0), (1.0, 1.0)])), [0, 1]);
    }
}
