//! Flow of work between domains that call each other: how much is to go over each link, so that nobody has too much.
//!
//! 1. The links of a domain lead to the few others that it calls most. Parts of the job that have no link between them get one, in the form
//!    of a tree: work flows over it where it cannot go otherwise.
//! 2. Who takes longer than the limit gives what is too much; who takes less takes a part of that, as it has space. All else flows through.
//! 3. Of all flows that do so the one with the least sum of squares is that of a potential, from high to low (Y. Hu and R. Blake, "An improved
//!    diffusion algorithm for dynamic load balancing", 1999). So no work flows in a circle.

use super::cut::Affinity;
use super::domain::Item;
use super::graph::Graph;
use super::grouped::Grouped;
use super::ledger::Ledger;

/// The most links of a domain of its own choice: in three dimensions a box has six neighbours that it calls much.
const LINKS: usize = 8;

/// How well a link conducts between parts of the job that do not call each other, beside 1 for the others.
const BRIDGE: f64 = 0.1;

/// The steps of the solution at most. What is not right then is refined away.
const STEPS: usize = 300;

/// The part of what is to flow that may stay.
const REST: f64 = 1e-3;

/// Links between domains, and the potential from which work flows down.
pub(super) struct Flow {
    links: Vec<Vec<Link>>,
    potential: Vec<f64>,
}

#[derive(Clone, Copy)]
struct Link {
    to: u32,
    conducts: f64,
}

impl Flow {
    /// The flow that brings everyone below `limit`; `places` are the domains of all vertices.
    pub(super) fn new(items: &[Item], graph: &Graph, places: &[u32], ledger: &Ledger, limit: f64) -> Self {
        let domains = ledger.domains();
        let spare: Vec<f64> = (0..domains).map(|domain| ledger.spare(domain, limit)).collect();
        let excess: f64 = spare.iter().map(|spare| f64::max(-spare, 0.0)).sum();
        if excess == 0.0 {
            return Self { links: Vec::new(), potential: Vec::new() };
        }
        let space: f64 = spare.iter().map(|spare| f64::max(*spare, 0.0)).sum();
        let taken = f64::min(excess / space, 1.0);
        // Where there is less space than is too much, all give the same part of it.
        let given = f64::min(space / excess, 1.0);
        let surplus = |spare: &f64| if *spare < 0.0 { -spare * given } else { -spare * taken };
        let links = bridged(links(items, graph, places, domains));
        let potential = solve(&links, spare.iter().map(surplus).collect());
        Self { links, potential }
    }

    /// The domains from which work flows, in an order in which each comes after all from which it gets any.
    pub(super) fn givers(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.potential.len() as u32).collect();
        let potential = |domain: &u32| self.potential[*domain as usize];
        order.sort_by(|one, other| potential(other).total_cmp(&potential(one)));
        order
    }

    /// Where work flows from a domain, and how much; the most first.
    pub(super) fn from(&self, domain: u32) -> Vec<(u32, f64)> {
        let down = |link: &Link| {
            let difference = self.potential[domain as usize] - self.potential[link.to as usize];
            (link.to, link.conducts * difference)
        };
        let mut flows: Vec<(u32, f64)> =
            self.links[domain as usize].iter().map(down).filter(|(_, work)| *work > 0.0).collect();
        flows.sort_by(|one, other| other.1.total_cmp(&one.1));
        flows
    }
}

/// The links of each domain to those that it calls most, or that call it most.
fn links(items: &[Item], graph: &Graph, places: &[u32], domains: u32) -> Vec<Vec<Link>> {
    let grouped = Grouped::new(&places[..items.len()], domains);
    let (mut affinity, mut pairs) = (Affinity::new(domains), Vec::new());
    for domain in 0..domains {
        affinity.clear();
        grouped.of(domain).iter().for_each(|item| affinity.add(graph.around(*item), places));
        let mut called: Vec<(u32, f32)> = affinity.iter().filter(|(other, _)| *other != domain).collect();
        called.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        called.truncate(LINKS);
        let called = called.into_iter().map(|(other, _)| other);
        pairs.extend(called.map(|other| (domain.min(other), domain.max(other))));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut links = vec![Vec::new(); domains as usize];
    for (one, other) in pairs {
        join(&mut links, one, other, 1.0);
    }
    links
}

/// Adds bridges between parts that have no link.
fn bridged(mut links: Vec<Vec<Link>>) -> Vec<Vec<Link>> {
    let mut is_seen = vec![false; links.len()];
    let mut heads: Vec<u32> = Vec::new();
    for head in 0..links.len() as u32 {
        if is_seen[head as usize] {
            continue;
        }
        is_seen[head as usize] = true;
        let mut stack = vec![head];
        while let Some(domain) = stack.pop() {
            for link in &links[domain as usize] {
                if !std::mem::replace(&mut is_seen[link.to as usize], true) {
                    stack.push(link.to);
                }
            }
        }
        heads.push(head);
    }
    for (number, head) in heads.iter().enumerate().skip(1) {
        join(&mut links, heads[(number - 1) / 2], *head, BRIDGE);
    }
    links
}

fn join(links: &mut [Vec<Link>], one: u32, other: u32, conducts: f64) {
    links[one as usize].push(Link { to: other, conducts });
    links[other as usize].push(Link { to: one, conducts });
}

/// The potential whose flows carry away each domain's surplus, by conjugate gradients; where that is below zero, it is what comes.
fn solve(links: &[Vec<Link>], mut surplus: Vec<f64>) -> Vec<f64> {
    let mean = surplus.iter().sum::<f64>() / surplus.len() as f64;
    surplus.iter_mut().for_each(|one| *one -= mean);
    let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>();
    let out = |of: &[f64]| -> Vec<f64> {
        let flows = |(links, mine): (&Vec<Link>, &f64)| {
            links.iter().map(|link| link.conducts * (mine - of[link.to as usize])).sum()
        };
        links.iter().zip(of).map(flows).collect()
    };
    let (mut potential, mut direction) = (vec![0.0; surplus.len()], surplus.clone());
    let mut norm = dot(&surplus, &surplus);
    let enough = norm * REST * REST;
    for _ in 0..STEPS {
        let carried = out(&direction);
        let along = dot(&direction, &carried);
        if norm <= enough || along <= 0.0 {
            break;
        }
        let step = norm / along;
        potential.iter_mut().zip(&direction).for_each(|(one, by)| *one += step * by);
        surplus.iter_mut().zip(&carried).for_each(|(one, by)| *one -= step * by);
        let before = std::mem::replace(&mut norm, dot(&surplus, &surplus));
        let turn = norm / before;
        direction.iter_mut().zip(&surplus).for_each(|(one, rest)| *one = rest + turn * *one);
    }
    potential
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What leaves each domain over its links, of a potential.
    fn leaves(links: &[Vec<Link>], potential: &[f64]) -> Vec<f64> {
        let flow = Flow { links: links.to_vec(), potential: potential.to_vec() };
        let mut leaves = vec![0.0; links.len()];
        for domain in flow.givers() {
            for (to, work) in flow.from(domain) {
                leaves[domain as usize] += work;
                leaves[to as usize] -= work;
            }
        }
        leaves
    }

    #[test]
    fn a_row_passes_work_on_from_one_end_to_the_other() {
        let mut links = vec![Vec::new(); 5];
        (0..4).for_each(|one| join(&mut links, one, one + 1, 1.0));
        let wanted = [4.0, 0.0, -1.0, -1.0, -2.0];
        for (leaves, wanted) in leaves(&links, &solve(&links, wanted.to_vec())).iter().zip(wanted) {
            assert!((leaves - wanted).abs() < 0.02, "{leaves} instead of {wanted}");
        }
    }

    #[test]
    fn parts_without_links_are_bridged_by_a_tree() {
        let links = bridged(vec![Vec::new(); 7]);
        assert_eq!(links.iter().map(Vec::len).sum::<usize>(), 2 * 6);
        assert!(links.iter().all(|links| links.len() <= 3));
    }
}
