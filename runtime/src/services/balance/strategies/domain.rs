//! Domains and items: what is spread, and over what.

/// Where an item is that comes from another node.
pub(super) const ELSEWHERE: u32 = u32::MAX;

/// What items are spread over: a node, or a PE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Domain {
    /// The work on it that does not move.
    pub(super) fixed: f64,
    pub(super) speed: f64,
    /// The bytes that may come.
    pub(super) room: u64,
    pub(super) host: u32,
}

impl Domain {
    /// Some domains as if they were one, without a bound on room.
    pub(super) fn together(domains: &[Self]) -> Self {
        let sum = |of: fn(&Self) -> f64| domains.iter().map(of).sum();
        let host = domains.first().map_or(0, |domain| domain.host);
        Self { fixed: sum(|domain| domain.fixed), speed: sum(|domain| domain.speed), room: u64::MAX, host }
    }
}

/// What is spread: an object that may move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) object: u32,
    /// The domain on which it is; [`ELSEWHERE`] if that is none of this level.
    pub(super) at: u32,
    pub(super) load: f64,
    /// The bytes that a move carries: none between PEs of a node.
    pub(super) bytes: u64,
}

/// What a move costs beside the bytes of the state, in bytes: messages that ask, grant and tell; some microseconds, in which some KiB are
/// copied.
const MOVE_BYTES: f64 = 4096.0;

impl Item {
    /// What it costs to move it, in bytes.
    pub(super) fn cost(&self) -> f64 {
        self.bytes as f64 + MOVE_BYTES
    }
}

/// The work that goes to the left of two groups of domains, so that both take the same time.
pub(super) fn share(work: f64, left: &[Domain], right: &[Domain]) -> f64 {
    let [left, right] = [left, right].map(Domain::together);
    let time = (work + left.fixed + right.fixed) / (left.speed + right.speed);
    (time * left.speed - left.fixed).clamp(0.0, work)
}

/// Where domains, in an order in which those of a host follow each other, are divided in two: between hosts where there are several.
pub(super) fn middle(domains: &[Domain]) -> usize {
    let middle = domains.len() / 2;
    let is_between_hosts = |at: &usize| domains[at - 1].host != domains[*at].host;
    (1..domains.len()).filter(is_between_hosts).min_by_key(|at| at.abs_diff(middle)).unwrap_or(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_makes_both_sides_take_the_same_time() {
        let domain = |fixed, speed| Domain { fixed, speed, room: 0, host: 0 };
        assert_eq!(share(6.0, &[domain(0.0, 1.0)], &[domain(0.0, 2.0)]), 2.0);
        assert_eq!(share(6.0, &[domain(2.0, 1.0)], &[domain(0.0, 1.0)]), 2.0);
        assert_eq!(share(1.0, &[domain(9.0, 1.0)], &[domain(0.0, 1.0)]), 0.0);
    }

    #[test]
    fn domains_are_divided_between_hosts_as_near_to_the_middle_as_can_be() {
        let domains = |hosts: &[u32]| -> Vec<Domain> {
            hosts.iter().map(|host| Domain { fixed: 0.0, speed: 1.0, room: 0, host: *host }).collect()
        };
        assert_eq!(middle(&domains(&[0; 5])), 2);
        assert_eq!(middle(&domains(&[0, 1, 1, 1, 1])), 1);
        assert_eq!(middle(&domains(&[0, 0, 0, 1, 1, 1, 2, 2])), 3);
        assert_eq!(middle(&domains(&[4])), 0);
    }
}
