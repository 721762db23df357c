//! The trees of the Unbalanced Tree Search benchmark: a node's children are unknown until a look at it.
//!
//! A node is twenty bytes; child `i` is their SHA-1 digest together with `i`, and the last four bytes say how many children a node
//! has. (Olivier, Huan, Liu, Prins, Dinan, Sadayappan, Tseng: UTS, an unbalanced tree search benchmark, LCPC 2006; its binomial trees.)

use serde::{Deserialize, Serialize};
use sha1::{Digest, Sha1};

/// Which tree.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) seed: u32,
    /// Children of the root.
    pub(crate) root: u32,
    /// Children of any other node that has some.
    pub(crate) children: u32,
    /// How likely it has.
    pub(crate) probability: f64,
}

/// A node of the tree.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Node {
    state: [u8; 20],
    pub(crate) depth: u32,
}

fn digest(state: [u8; 20], more: &[u8]) -> [u8; 20] {
    Sha1::new().chain_update(state).chain_update(more).finalize().into()
}

impl Node {
    pub(crate) fn root(shape: &Shape) -> Self {
        let mut state = [0; 20];
        state[16..].copy_from_slice(&shape.seed.to_be_bytes());
        Self { state: digest(state, &[]), depth: 0 }
    }

    fn count_children(&self, shape: &Shape) -> u32 {
        if self.depth == 0 {
            return shape.root;
        }
        let [.., a, b, c, d] = self.state;
        let drawn = u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff;
        let is_inner = f64::from(drawn) / f64::from(1u32 << 31) < shape.probability;
        if is_inner { shape.children } else { 0 }
    }

    pub(crate) fn children(self, shape: &Shape) -> impl Iterator<Item = Self> {
        let child = move |number: u32| Self {
            state: digest(self.state, &number.to_be_bytes()),
            depth: self.depth + 1,
        };
        (0..self.count_children(shape)).map(child)
    }
}

/// Counts of the part of a tree that was seen.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Count {
    pub(crate) nodes: u64,
    pub(crate) leaves: u64,
    pub(crate) depth: u32,
}

impl Count {
    /// Takes the last node, counts it, and leaves its children instead; returns whether there was one.
    pub(crate) fn step(&mut self, nodes: &mut Vec<Node>, shape: &Shape) -> bool {
        let Some(node) = nodes.pop() else { return false };
        let others = nodes.len();
        nodes.extend(node.children(shape));
        self.nodes += 1;
        self.leaves += u64::from(nodes.len() == others);
        self.depth = self.depth.max(node.depth);
        true
    }
}
