//! Halves: a mesh is divided in two with few calls between them (C. Fiduccia and R. Mattheyses, "A linear-time heuristic for improving
//! network partitions", DAC 1982).
//!
//! 1. One half grows from what is pinned there, or from an end of the mesh, by the neighbour that gains most until it weighs enough.
//! 2. Then vertices change sides, the one that gains most first, also where that is a loss, and each once; what came after the best state is
//!    taken back. Again until nothing is gained.

use super::mesh::Mesh;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// How often vertices change sides; more passes gain little.
const PASSES: usize = 3;

/// The changes without a gain after which a pass ends.
const PATIENCE: usize = 200;

/// Divides a mesh, so that the left half weighs `work`, give or take `slack`. What is pinned to a domain below `domains_left` is on the left.
/// Returns the half of each item: 0 for the left one.
pub(super) fn halve(mesh: &Mesh, work: f64, slack: f64, domains_left: u32) -> Vec<u32> {
    let mut halves = Halves::grow(mesh, work, domains_left);
    for _ in 0..PASSES {
        if !halves.exchange(work, slack) {
            break;
        }
    }
    halves.is_left[..mesh.items.len()].iter().map(|is_left| u32::from(!is_left)).collect()
}

struct Halves<'a> {
    mesh: &'a Mesh,
    /// The side of each vertex.
    is_left: Vec<bool>,
    /// What the left half weighs.
    left: f64,
}

/// A vertex and what is gained if it changes sides.
#[derive(Clone, Copy, PartialEq)]
struct Change {
    gain: f32,
    vertex: u32,
}

impl Eq for Change {}

impl PartialOrd for Change {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Change {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.vertex.cmp(&self.vertex))
    }
}

impl<'a> Halves<'a> {
    /// Halves of which the left one has grown from what is pinned there, or from that one of two ends of the mesh from which fewer calls lead
    /// across.
    fn grow(mesh: &'a Mesh, work: f64, domains_left: u32) -> Self {
        let count = mesh.items.len();
        let pinned = mesh.graph.pinned().iter().map(|domain| *domain < domains_left);
        let is_left = std::iter::repeat_n(false, count).chain(pinned).collect();
        let bare = Self { mesh, is_left, left: 0.0 };
        if bare.is_left.contains(&true) || count == 0 {
            return bare.grown(None, work);
        }
        let end = bare.farthest(0);
        let [one, other] = [end, bare.farthest(end)].map(|end| bare.grown(Some(end), work));
        if one.cut() <= other.cut() { one } else { other }
    }

    /// The halves after vertices have joined the left one, always the one that gains most, until it weighs enough. It begins with a vertex,
    /// or with those that call what is there.
    fn grown(&self, begin: Option<u32>, work: f64) -> Self {
        let count = self.mesh.items.len();
        let mut halves = Self { mesh: self.mesh, is_left: self.is_left.clone(), left: 0.0 };
        let mut gains: Vec<f32> = (0..count as u32).map(|vertex| halves.gain(vertex)).collect();
        let mut heap = BinaryHeap::new();
        let is_beside = |vertex: &u32| {
            let mut around = self.mesh.graph.around(*vertex).iter();
            begin == Some(*vertex) || around.any(|other| self.is_left[other.vertex as usize])
        };
        heap.extend(
            (0..count as u32).filter(is_beside).map(|vertex| Change { gain: gains[vertex as usize], vertex }),
        );
        let mut next = 0;
        loop {
            let Some(Change { gain, vertex }) = heap.pop() else {
                // Another part of the mesh.
                let Some(vertex) = (next..count).find(|vertex| !halves.is_left[*vertex]) else { break };
                next = vertex + 1;
                heap.push(Change { gain: gains[vertex], vertex: vertex as u32 });
                continue;
            };
            if halves.is_left[vertex as usize] || gain != gains[vertex as usize] {
                continue;
            }
            if halves.left + self.mesh.items[vertex as usize].load / 2.0 > work {
                break;
            }
            halves.change(vertex);
            for other in self.mesh.graph.around(vertex).iter().filter(|other| (other.vertex as usize) < count)
            {
                gains[other.vertex as usize] += 2.0 * other.weight;
                if !halves.is_left[other.vertex as usize] {
                    heap.push(Change { gain: gains[other.vertex as usize], vertex: other.vertex });
                }
            }
        }
        halves
    }

    /// The item that is reached last from an item, by neighbours of neighbours.
    fn farthest(&self, from: u32) -> u32 {
        let count = self.mesh.items.len();
        let mut is_seen = vec![false; count];
        is_seen[from as usize] = true;
        let mut reached = vec![from];
        let mut at = 0;
        while at < reached.len() {
            for other in
                self.mesh.graph.around(reached[at]).iter().filter(|other| (other.vertex as usize) < count)
            {
                if !std::mem::replace(&mut is_seen[other.vertex as usize], true) {
                    reached.push(other.vertex);
                }
            }
            at += 1;
        }
        reached[at - 1]
    }

    /// The calls from the left half to the other one.
    fn cut(&self) -> f64 {
        let crossing = |vertex: u32| {
            let around = self.mesh.graph.around(vertex).iter();
            around
                .filter(|other| !self.is_left[other.vertex as usize])
                .map(|other| f64::from(other.weight))
                .sum::<f64>()
        };
        (0..self.is_left.len() as u32).filter(|vertex| self.is_left[*vertex as usize]).map(crossing).sum()
    }

    /// What is gained if a vertex changes sides.
    fn gain(&self, vertex: u32) -> f32 {
        let side = self.is_left[vertex as usize];
        let toward = |is_same: bool, weight: f32| if is_same { -weight } else { weight };
        let around = self.mesh.graph.around(vertex).iter();
        around.map(|other| toward(self.is_left[other.vertex as usize] == side, other.weight)).sum()
    }

    /// One pass. Returns whether the halves are better for it.
    fn exchange(&mut self, work: f64, slack: f64) -> bool {
        let count = self.mesh.items.len();
        let mut gains: Vec<f32> = (0..count as u32).map(|vertex| self.gain(vertex)).collect();
        let is_at_border = |vertex: &u32| {
            let side = self.is_left[*vertex as usize];
            self.mesh.graph.around(*vertex).iter().any(|other| self.is_left[other.vertex as usize] != side)
        };
        // By side: those on the right, those on the left.
        let mut heaps = [BinaryHeap::new(), BinaryHeap::new()];
        for vertex in (0..count as u32).filter(is_at_border) {
            heaps[usize::from(self.is_left[vertex as usize])]
                .push(Change { gain: gains[vertex as usize], vertex });
        }
        let mut is_fixed = vec![false; count];
        let (mut changed, mut kept) = (Vec::new(), 0);
        let (mut gained, mut best) = (0.0_f64, (distance(self.left, work, slack), 0.0_f64));
        let before = best;
        while changed.len() - kept < PATIENCE {
            let Some(vertex) = self.next(&mut heaps, &gains, &is_fixed, work, slack) else { break };
            let side = self.is_left[vertex as usize];
            gained += f64::from(gains[vertex as usize]);
            is_fixed[vertex as usize] = true;
            self.change(vertex);
            changed.push(vertex);
            for other in self.mesh.graph.around(vertex).iter().filter(|other| (other.vertex as usize) < count)
            {
                let number = other.vertex as usize;
                let step = 2.0 * other.weight;
                gains[number] += if self.is_left[number] == side { step } else { -step };
                if !is_fixed[number] {
                    let change = Change { gain: gains[number], vertex: other.vertex };
                    heaps[usize::from(self.is_left[number])].push(change);
                }
            }
            let now = (distance(self.left, work, slack), gained);
            if now.0 < best.0 || now.0 == best.0 && now.1 > best.1 {
                (best, kept) = (now, changed.len());
            }
        }
        changed.drain(kept..).rev().for_each(|vertex| self.change(vertex));
        best.0 < before.0 || best.1 > before.1
    }

    fn change(&mut self, vertex: u32) {
        let is_left = &mut self.is_left[vertex as usize];
        *is_left = !*is_left;
        let load = self.mesh.items[vertex as usize].load;
        self.left += if *is_left { load } else { -load };
    }

    /// The vertex that changes sides next: of the side that is too heavy, or of both the one that gains more.
    fn next(
        &self,
        heaps: &mut [BinaryHeap<Change>; 2],
        gains: &[f32],
        is_fixed: &[bool],
        work: f64,
        slack: f64,
    ) -> Option<u32> {
        loop {
            for (heap, side) in heaps.iter_mut().zip([false, true]) {
                let is_stale = |change: &Change| {
                    let vertex = change.vertex as usize;
                    is_fixed[vertex] || self.is_left[vertex] != side || change.gain != gains[vertex]
                };
                while heap.peek().is_some_and(is_stale) {
                    heap.pop();
                }
            }
            let tops = [heaps[0].peek(), heaps[1].peek()];
            let side = match tops {
                _ if self.left > work + slack => 1,
                _ if self.left < work - slack => 0,
                [Some(right), Some(left)] => usize::from(left.gain > right.gain),
                [None, Some(_)] => 1,
                _ => 0,
            };
            let change = heaps[side].pop()?;
            let load = self.mesh.items[change.vertex as usize].load;
            let after = self.left + if side == 1 { -load } else { load };
            // One that makes the halves worse than they may be does not change, now or later in this pass.
            if distance(after, work, slack) <= distance(self.left, work, slack) {
                return Some(change.vertex);
            }
        }
    }
}

/// By how much a weight is off, beyond the slack.
fn distance(left: f64, work: f64, slack: f64) -> f64 {
    f64::max((left - work).abs() - slack, 0.0)
}

#[cfg(test)]
mod tests {
    use super::super::domain::{ELSEWHERE, Item};
    use super::super::graph::Graph;
    use super::*;

    fn mesh(loads: &[f64], edges: &[(u32, u32, f32)]) -> Mesh {
        let item = |load: &f64| Item { object: 0, at: ELSEWHERE, load: *load, bytes: 0 };
        Mesh {
            items: loads.iter().map(item).collect(),
            graph: Graph::new(loads.len(), edges.iter().copied()),
        }
    }

    fn cut(mesh: &Mesh, halves: &[u32]) -> f32 {
        let crossing = |vertex: usize| {
            let around = mesh.graph.around(vertex as u32).iter();
            let across = around.filter(move |other| halves[vertex] < halves[other.vertex as usize]);
            across.map(|other| other.weight).sum::<f32>()
        };
        (0..halves.len()).map(crossing).sum()
    }

    #[test]
    fn a_row_is_cut_once() {
        let edges: Vec<(u32, u32, f32)> = (0..31).map(|one| (one, one + 1, 1.0)).collect();
        let mesh = mesh(&[1.0; 32], &edges);
        let halves = halve(&mesh, 16.0, 0.5, 1);
        assert_eq!(halves.iter().filter(|half| **half == 0).count(), 16);
        assert_eq!(cut(&mesh, &halves), 1.0);
    }

    #[test]
    fn two_knots_are_told_apart_wherever_the_growth_begins() {
        // Two cliques of six, joined by one edge; their members take turns.
        let mut edges = vec![(0, 1, 1.0)];
        for one in 0..12 {
            edges.extend((one + 1..12).filter(|other| (one + other) % 2 == 0).map(|other| (one, other, 1.0)));
        }
        let mesh = mesh(&[1.0; 12], &edges);
        assert_eq!(cut(&mesh, &halve(&mesh, 6.0, 0.5, 1)), 1.0);
    }

    #[test]
    fn parts_that_do_not_call_each_other_are_divided_by_weight() {
        let mesh = mesh(&[1.0; 10], &[]);
        assert_eq!(halve(&mesh, 4.0, 0.5, 1).iter().filter(|half| **half == 0).count(), 4);
    }

    #[test]
    fn a_grid_is_cut_about_straight() {
        let edge = 20_u32;
        let at = |x: u32, y: u32| x + edge * y;
        let mut edges = Vec::new();
        for (x, y) in (0..edge).flat_map(|x| (0..edge).map(move |y| (x, y))) {
            if x + 1 < edge {
                edges.push((at(x, y), at(x + 1, y), 1.0));
            }
            if y + 1 < edge {
                edges.push((at(x, y), at(x, y + 1), 1.0));
            }
        }
        let mesh = mesh(&vec![1.0; (edge * edge) as usize], &edges);
        let halves = halve(&mesh, 200.0, 2.0, 1);
        assert!(cut(&mesh, &halves) <= 28.0, "{}", cut(&mesh, &halves));
    }
}
