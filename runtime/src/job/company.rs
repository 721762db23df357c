//! Company of a node: the nodes of its host that were given the same processors, and how many PEs that leaves to each.
//!
//! 1. Nodes of a host that were given the same processors divide them, and nodes in one group with a quota of processor time divide that.
//! 2. With `+p auto` a node's PEs are as many as its part has whole processors, and at least one. All nodes of a job have equally many: as
//!    many as the node with the least.
//! 3. Nodes whose processors overlap without being the same share them in a way that nobody planned: none of their PEs counts on one.

use crate::base::processors::Processors;
use crate::job::pes::PES_PER_NODE_MAX;
use rustc_hash::FxHashMap;

/// What a node says of the place where it runs.
#[derive(Clone, Debug)]
pub(super) struct NodeHost {
    /// Equal for nodes of one host.
    pub(super) host: String,
    pub(super) processors: Processors,
}

/// A node among those that share its host. PEs are counted over nodes in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Company {
    /// The nodes of the host.
    pub(super) host_nodes: u32,
    /// Their PEs.
    pub(super) host_pes: u32,
    /// How many of those come before this node's.
    pub(super) host_first: u32,
    /// The processors that this node was given.
    pub(super) processors: Vec<usize>,
    /// The PEs that may run on these processors.
    pub(super) pes: u32,
    /// How many of those come before this node's.
    pub(super) first: u32,
    /// Whether they may all run on the same processors, and a quota has enough of their time.
    pub(super) is_planned: bool,
    /// Whether a quota gives less than the processors: others use them, too.
    pub(super) has_quota: bool,
}

/// The PEs of each node where all take what they were given.
pub(super) fn pes_of_each(places: &[NodeHost]) -> u32 {
    let mut same_set: FxHashMap<(&str, &[u8]), u32> = FxHashMap::default();
    let mut same_quota: FxHashMap<(&str, u64), u32> = FxHashMap::default();
    for NodeHost { host, processors } in places {
        *same_set.entry((host, processors.bits())).or_default() += 1;
        if let Some(quota) = processors.quota() {
            *same_quota.entry((host, quota.group)).or_default() += 1;
        }
    }
    let part = |NodeHost { host, processors }: &NodeHost| {
        let of_set = processors.count() / same_set[&(host.as_str(), processors.bits())];
        let of_quota =
            processors.quota().map(|quota| quota.processors() / same_quota[&(host.as_str(), quota.group)]);
        of_quota.map_or(of_set, |of_quota| of_quota.min(of_set))
    };
    places.iter().map(part).min().unwrap_or(1).clamp(1, PES_PER_NODE_MAX)
}

impl Company {
    /// That of the node at position `own`, where each node has so many PEs.
    pub(super) fn of(own: usize, places: &[NodeHost], pes: u32) -> Self {
        let mine = &places[own];
        let quota = mine.processors.quota();
        let mut company = Self {
            processors: mine.processors.list(),
            is_planned: true,
            has_quota: quota.is_some(),
            ..Self::default()
        };
        let mut in_quota = 0;
        for (node, theirs) in places.iter().enumerate().filter(|(_, theirs)| theirs.host == mine.host) {
            let before = if node < own { pes } else { 0 };
            company.host_nodes += 1;
            company.host_pes += pes;
            company.host_first += before;
            if mine.processors.overlap(&theirs.processors) {
                company.pes += pes;
                company.first += before;
                company.is_planned &= mine.processors.bits() == theirs.processors.bits();
            }
            let is_in_quota =
                quota.zip(theirs.processors.quota()).is_some_and(|(q, their)| q.group == their.group);
            in_quota += if is_in_quota { pes } else { 0 };
        }
        company.is_planned &= quota.is_none_or(|quota| in_quota <= quota.processors());
        company
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::processors::Quota;

    fn place(host: &str, set: &[usize], quota: Option<Quota>) -> NodeHost {
        NodeHost { host: host.to_owned(), processors: Processors::new(set, quota) }
    }

    #[test]
    fn nodes_that_were_given_the_same_divide_it() {
        let eight: Vec<usize> = (0..8).collect();
        let whole = || place("a", &eight, None);
        assert_eq!(pes_of_each(&[whole()]), 8);
        assert_eq!(pes_of_each(&[whole(), whole()]), 4);
        assert_eq!(pes_of_each(&[whole(), whole(), whole()]), 2);
        assert_eq!(pes_of_each(&vec![whole(); 9]), 1, "at least one");
        assert_eq!(pes_of_each(&[whole(), place("b", &eight, None)]), 8, "hosts share nothing");
        assert_eq!(pes_of_each(&[whole(), place("b", &[0, 1, 2], None)]), 3, "all have what the least has");
    }

    #[test]
    fn nodes_that_were_bound_apart_divide_nothing() {
        assert_eq!(pes_of_each(&[place("a", &[0, 1], None), place("a", &[2, 3], None)]), 2);
    }

    #[test]
    fn a_quota_is_divided_among_those_in_its_group() {
        let quota = |thousandths, group| Some(Quota { thousandths, group });
        let wide: Vec<usize> = (0..16).collect();
        let place = |quota| place("a", &wide, quota);
        assert_eq!(pes_of_each(&[place(quota(4500, 1))]), 4);
        assert_eq!(pes_of_each(&[place(quota(4000, 1)), place(quota(4000, 1))]), 2);
        assert_eq!(pes_of_each(&[place(quota(4000, 1)), place(quota(4000, 2))]), 4, "two containers");
        assert_eq!(pes_of_each(&[place(quota(500, 1))]), 1);
        assert_eq!(pes_of_each(&[place(quota(16_000, 1))]), 16);
    }

    #[test]
    fn places_are_counted_among_those_who_share() {
        let places = [&[0, 1][..], &[2, 3], &[0, 1], &[2, 3]].map(|set| place("a", set, None));
        let company = Company::of(2, &places, 1);
        assert_eq!((company.host_nodes, company.host_pes, company.host_first), (4, 4, 2));
        assert_eq!((company.pes, company.first, company.is_planned), (2, 1, true));
        assert_eq!(company.processors, [0, 1]);
    }

    #[test]
    fn what_overlaps_or_exceeds_a_quota_is_not_planned() {
        let places = [&[0, 1, 2, 3][..], &[2, 3]].map(|set| place("a", set, None));
        assert!(!Company::of(0, &places, 1).is_planned && !Company::of(1, &places, 1).is_planned);
        let two = [place("a", &[0, 1, 2, 3], Some(Quota { thousandths: 2000, group: 1 }))];
        assert!(Company::of(0, &two, 2).is_planned);
        let company = Company::of(0, &two, 3);
        assert!(!company.is_planned && company.has_quota);
    }
}
