//! Shapes of a network: how many links there are between two of its nodes, in closed form. Nodes take the places in their order.

use std::fmt;
use std::str::FromStr;

/// The shape of a network.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// All nodes are as far from each other.
    #[default]
    Flat,
    /// A torus of three dimensions with so many nodes along each, `torus:XxYxZ`. Neighbours share a link.
    Torus([u32; 3]),
    /// A fat tree of three layers of switches with so many ports each, `fat-tree:PORTS`: half of the ports of a lowest switch lead to nodes,
    /// and half as many such switches as there are ports are a pod.
    FatTree(u32),
    /// A dragonfly, `dragonfly:PxRxG`: P nodes at each router, R routers in each group, G groups. The routers of a group are all connected;
    /// of any two groups each has one router with a link to the other, which are dealt to its routers in turn.
    Dragonfly([u32; 3]),
}

impl Shape {
    /// The nodes that there are places for, if that has a bound.
    pub fn nodes(&self) -> Option<u64> {
        let product = |sizes: &[u32; 3]| sizes.iter().map(|size| u64::from(*size)).product();
        match self {
            Self::Flat => None,
            Self::Torus(sizes) | Self::Dragonfly(sizes) => Some(product(sizes)),
            Self::FatTree(ports) => Some(u64::from(*ports).pow(3) / 4),
        }
    }

    /// How many links there are between the nodes that are farthest from each other beyond those between the nearest ones, where no place is empty.
    pub fn most_further_links(&self) -> u32 {
        match self {
            Self::Flat => 0,
            Self::Torus(sizes) => sizes.iter().map(|size| size / 2).sum::<u32>().saturating_sub(1),
            Self::FatTree(_) => 4,
            Self::Dragonfly(_) => 3,
        }
    }

    /// How many links there are between two nodes beyond those between the nearest ones.
    pub fn further_links(&self, source: u32, target: u32) -> u32 {
        if source == target {
            return 0;
        }
        match *self {
            Self::Flat => 0,
            Self::Torus(sizes) => {
                let (mut one, mut other, mut links) = (source, target, 0);
                for size in sizes {
                    let apart = (one % size).abs_diff(other % size);
                    links += apart.min(size - apart);
                    (one, other) = (one / size, other / size);
                }
                links.saturating_sub(1)
            }
            Self::FatTree(ports) => {
                let (of_switch, of_pod) = (ports / 2, ports / 2 * (ports / 2));
                match () {
                    () if source / of_switch == target / of_switch => 0,
                    () if source / of_pod == target / of_pod => 2,
                    () => 4,
                }
            }
            Self::Dragonfly([nodes, routers, _]) => {
                let (one, other) = (source / nodes, target / nodes);
                let (from, to) = (one / routers, other / routers);
                if from == to {
                    return u32::from(one != other);
                }
                // The links of a group are numbered by the other groups, less itself.
                let door = |group: u32, peer: u32| (peer - u32::from(peer > group)) % routers;
                1 + u32::from(one % routers != door(from, to)) + u32::from(other % routers != door(to, from))
            }
        }
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, sizes) = text.split_once(':').unwrap_or((text, ""));
        let read = || -> Option<[u32; 3]> {
            let sizes: Option<Vec<u32>> =
                sizes.split('x').map(|size| size.parse().ok().filter(|size| *size > 0)).collect();
            <[u32; 3]>::try_from(sizes?).ok()
        };
        let shape = match name {
            "flat" if sizes.is_empty() => Some(Self::Flat),
            "torus" => read().map(Self::Torus),
            "dragonfly" => read().map(Self::Dragonfly),
            "fat-tree" => {
                let ports = sizes.parse::<u32>().ok();
                ports
                    .filter(|ports| *ports >= 2 && ports.is_multiple_of(2) && *ports <= 512)
                    .map(Self::FatTree)
            }
            _ => None,
        };
        shape.ok_or_else(|| {
            format!(
                "{text} is no shape of a network: write flat, torus:8x8x8, fat-tree:16 (an even number of ports) or dragonfly:4x8x16"
            )
        })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => out.write_str("flat"),
            Self::Torus([x, y, z]) => write!(out, "torus:{x}x{y}x{z}"),
            Self::FatTree(ports) => write!(out, "fat-tree:{ports}"),
            Self::Dragonfly([nodes, routers, groups]) => write!(out, "dragonfly:{nodes}x{routers}x{groups}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// The links between a node and all others, by walking a graph whose first vertices are the nodes.
    fn distances(links: &[(u32, u32)], vertices: u32, from: u32) -> Vec<u32> {
        let mut neighbours = vec![Vec::new(); vertices as usize];
        for (one, other) in links {
            neighbours[*one as usize].push(*other);
            neighbours[*other as usize].push(*one);
        }
        let (mut distances, mut queue) = (vec![u32::MAX; vertices as usize], VecDeque::from([from]));
        distances[from as usize] = 0;
        while let Some(at) = queue.pop_front() {
            for next in &neighbours[at as usize] {
                if distances[*next as usize] == u32::MAX {
                    distances[*next as usize] = distances[at as usize] + 1;
                    queue.push_back(*next);
                }
            }
        }
        distances
    }

    #[track_caller]
    fn agrees(shape: &str, nodes: u32, vertices: u32, links: &[(u32, u32)], least: u32) {
        let shape: Shape = shape.parse().expect("it is a shape");
        assert_eq!(shape.nodes(), Some(nodes.into()));
        let mut most = 0;
        for from in 0..nodes {
            for (to, links) in (0..nodes).zip(distances(links, vertices, from)) {
                let further = links.saturating_sub(least);
                assert_eq!(shape.further_links(from, to), further, "{shape}: {from} to {to}");
                most = most.max(further);
            }
        }
        assert_eq!(shape.most_further_links(), most, "{shape}");
    }

    #[test]
    fn links_of_a_torus_are_those_of_its_graph() {
        let at = |x: u32, y: u32, z: u32| x % 4 + 4 * (y % 3 + 3 * (z % 5));
        let mut links = Vec::new();
        for (x, y, z) in (0..60).map(|node| (node % 4, node / 4 % 3, node / 12)) {
            links.extend(
                [(1, 0, 0), (0, 1, 0), (0, 0, 1)].map(|(a, b, c)| (at(x, y, z), at(x + a, y + b, z + c))),
            );
        }
        agrees("torus:4x3x5", 60, 60, &links, 1);
    }

    #[test]
    fn links_of_a_fat_tree_are_those_of_its_graph() {
        // 4 ports: 16 nodes, 8 lowest switches, 8 in the middle, 4 on top.
        let mut links = Vec::new();
        links.extend((0..16).map(|node| (node, 16 + node / 2)));
        for pod in 0..4 {
            for (low, middle) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                links.push((16 + pod * 2 + low, 24 + pod * 2 + middle));
            }
            links.extend((0..4).map(|top| (24 + pod * 2 + top / 2, 32 + top)));
        }
        agrees("fat-tree:4", 16, 36, &links, 2);
    }

    #[test]
    fn links_of_a_dragonfly_are_those_of_its_graph_by_one_global_link() {
        // As many routers as other groups: one link each, so that a way over a third group is never shorter.
        let (nodes, routers, groups) = (2, 4, 5);
        let router = |group: u32, number: u32| nodes * routers * groups + group * routers + number;
        let mut links = Vec::new();
        for group in 0..groups {
            for number in 0..routers {
                let first = (group * routers + number) * nodes;
                links.extend((first..first + nodes).map(|node| (node, router(group, number))));
                links.extend((0..number).map(|other| (router(group, number), router(group, other))));
            }
            for other in 0..group {
                links.push((router(group, other % routers), router(other, (group - 1) % routers)));
            }
        }
        agrees("dragonfly:2x4x5", 40, 60, &links, 2);
    }

    #[test]
    fn what_is_no_shape_is_refused_in_words() {
        for text in
            ["ring", "torus:4x4", "torus:0x1x1", "fat-tree:5", "fat-tree:", "dragonfly:1x2xa", "flat:2"]
        {
            let error = text.parse::<Shape>().expect_err("it is none");
            assert!(error.contains(text) && error.contains("torus:8x8x8"), "{error}");
        }
        for text in ["flat", "torus:1x2x3", "fat-tree:16", "dragonfly:4x8x16"] {
            assert_eq!(text.parse::<Shape>().expect("it is one").to_string(), text);
        }
    }
}
