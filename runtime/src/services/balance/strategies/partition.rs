//! Partitions: a mesh in as many parts as there are domains, with few calls between them (G. Karypis and V. Kumar, "Multilevel k-way
//! partitioning scheme for irregular graphs", 1998).
//!
//! 1. Where there are very many domains, the mesh is divided among groups of them first, and then each part among the domains of its group.
//! 2. The mesh is made coarser until there are some [`COARSE`] items for each domain.
//! 3. The coarsest is halved, and the halves, until there is a part for each domain.
//! 4. On the way back to the finest each mesh has the parts of the coarser one, and moves what is better off elsewhere.

use super::cut::refine_cut;
use super::domain::{Domain, middle, share};
use super::halves::halve;
use super::ledger::Ledger;
use super::level::Level;
use super::mesh::Mesh;

/// The domains among which a mesh is divided at once: more have groups.
const AT_ONCE: usize = 512;

/// The items for each domain of the coarsest mesh: enough to fill a domain from, few enough to look at again and again.
const COARSE: usize = 20;

/// What a coarse item may weigh, in parts of what a domain has to do.
const COARSE_LOAD: f64 = 0.1;

/// The part of each item: the number of a domain. No domain takes longer than `limit`, as far as that can be, and room is not looked at.
pub(super) fn partition(level: &Level, limit: f64) -> Vec<u32> {
    let order = level.by_host();
    let mut numbers = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(domain, number)| numbers[*domain as usize] = number);
    let with_room = |domain: &u32| Domain { room: u64::MAX, ..level.domains[*domain as usize] };
    let domains: Vec<Domain> = order.iter().map(with_room).collect();
    let graph = level.graph.pinned_anew(|domain| numbers[domain as usize]);
    let parts = among_all(Mesh { items: level.items.clone(), graph }, &domains, limit);
    parts.iter().map(|number| order[*number as usize]).collect()
}

/// The part of each item of a mesh, in two steps if there are very many domains.
fn among_all(mesh: Mesh, domains: &[Domain], limit: f64) -> Vec<u32> {
    if domains.len() <= AT_ONCE {
        return at_once(mesh, domains, limit);
    }
    let groups: Vec<&[Domain]> = domains.chunks(domains.len().isqrt() + 1).collect();
    let together = groups.iter().map(|group| Domain::together(group)).collect::<Vec<_>>();
    // Half of what may be exceeded is left to the second step.
    let mut parts = at_once(mesh.clone(), &together, f64::midpoint(limit, average(&mesh, domains)));
    let mut first = 0;
    let range = |group: &&[Domain]| {
        first += group.len() as u32;
        first - group.len() as u32..first
    };
    let ranges: Vec<_> = groups.iter().map(range).collect();
    let apart = mesh.apart(&parts, &ranges);
    for (((mesh, items), group), range) in apart.into_iter().zip(groups).zip(ranges) {
        let own = among_all(mesh, group, limit);
        items.iter().zip(own).for_each(|(item, part)| parts[*item as usize] = range.start + part);
    }
    parts
}

/// The time that each domain would take if all took the same.
fn average(mesh: &Mesh, domains: &[Domain]) -> f64 {
    let together = Domain::together(domains);
    (together.fixed + mesh.items.iter().map(|item| item.load).sum::<f64>()) / together.speed
}

/// The part of each item of a mesh.
fn at_once(mesh: Mesh, domains: &[Domain], limit: f64) -> Vec<u32> {
    let average = average(&mesh, domains);
    let load_max = COARSE_LOAD * average * Domain::together(domains).speed / domains.len() as f64;
    let (mut meshes, mut coarse_of) = (vec![mesh], Vec::new());
    while let Some(finer) = meshes.last()
        && finer.items.len() > COARSE * domains.len()
    {
        let (coarser, of) = finer.coarser(load_max);
        if coarser.items.len() * 10 > finer.items.len() * 9 {
            break;
        }
        meshes.push(coarser);
        coarse_of.push(of);
    }
    let mut parts: Vec<u32> = Vec::new();
    while let Some(mesh) = meshes.pop() {
        if let Some(coarse_of) = coarse_of.get(meshes.len()) {
            parts = coarse_of.iter().map(|coarse| parts[*coarse as usize]).collect();
        } else {
            parts = vec![0; mesh.items.len()];
            let all = (0..mesh.items.len() as u32).collect();
            // Each halving adds to what the ones before were off.
            let spare = (limit / average - 1.0).max(0.0) / f64::from(domains.len().ilog2() + 1);
            divide(mesh.clone(), all, domains, 0, spare, &mut parts);
        }
        let mut places = mesh.graph.with_pinned(&parts);
        let mut ledger = Ledger::with(domains, &mesh.items, &parts);
        refine_cut(&mesh.items, &mesh.graph, &mut places, &mut ledger, limit);
        places.truncate(mesh.items.len());
        parts = places;
    }
    parts
}

/// Divides a mesh over domains, the first of which has the number `first`; `items` are the numbers of its items among those of `parts`.
/// A half may weigh more than its share by `spare` of it.
fn divide(mesh: Mesh, items: Vec<u32>, domains: &[Domain], first: u32, spare: f64, parts: &mut [u32]) {
    if items.is_empty() || domains.len() == 1 {
        items.iter().for_each(|item| parts[*item as usize] = first);
        return;
    }
    let (left, right) = domains.split_at(middle(domains));
    let total: f64 = mesh.items.iter().map(|item| item.load).sum();
    let work = share(total, left, right);
    // Where an item weighs more than may be spared, some item still has to move.
    let slack = f64::max(spare * work.min(total - work), total / items.len() as f64 / 2.0);
    let half_of = halve(&mesh, work, slack, left.len() as u32);
    let halves = mesh.apart(&half_of, &[0..left.len() as u32, left.len() as u32..domains.len() as u32]);
    drop(mesh);
    for ((mesh, own), (domains, first)) in
        halves.into_iter().zip([(left, first), (right, first + left.len() as u32)])
    {
        let own = own.into_iter().map(|item| items[item as usize]).collect();
        divide(mesh, own, domains, first, spare, parts);
    }
}
