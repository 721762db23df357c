//! Fused launches: the launches of many plans as one for each length of words, so that all halos of a turn take as long to launch as one.
//!
//! Long copies in no loop stay copies of the driver. Plans whose words are long do not wait for those whose words are short.

use crate::cuda::launch::{BLOCK_BYTES_MAX, Job, Launch, Nest, Piece, Shape, launch, launches};
use chare_layout::Plan;

/// Lengths of words.
const WORDS: usize = 5;

/// What carries out plans between buffers at these addresses, source and target, in any order.
pub(crate) fn fused<'a>(steps: impl IntoIterator<Item = (&'a Plan, u64, u64)>) -> Vec<Launch> {
    let mut all = Vec::new();
    let (mut nests, mut pieces) = ([const { Vec::new() }; WORDS], [const { Vec::new() }; WORDS]);
    for (plan, source, target) in steps {
        for given in launches(plan, source, target) {
            let given = match given {
                Launch::Copy(piece) if piece.bytes <= BLOCK_BYTES_MAX => launch(piece, &[]),
                other => other,
            };
            match given {
                Launch::Nest(nest, shape) => nests[shape.word_bits as usize].push(nest),
                Launch::Pieces(some, shape) => pieces[shape.word_bits as usize].extend(some),
                other => all.push(other),
            }
        }
    }
    all.extend((0_u32..).zip(nests).filter_map(|(word_bits, nests)| of_nests(word_bits, nests)));
    all.extend((0_u32..).zip(pieces).filter_map(|(word_bits, pieces)| of_pieces(word_bits, pieces)));
    all
}

fn of_nests(word_bits: u32, nests: Vec<Nest>) -> Option<Launch> {
    let longest = nests.iter().map(|nest| nest.block).max()?;
    let mut blocks = 0;
    let in_table = |nest: Nest| {
        let first = blocks;
        blocks += nest.blocks;
        Job { first, nest }
    };
    let jobs: Vec<Job> = nests.into_iter().map(in_table).collect();
    let shape = Shape::of(1 << word_bits, longest, blocks);
    Some(match jobs[..] {
        [Job { nest, .. }] => Launch::Nest(nest, shape),
        _ => Launch::Nests(jobs, blocks, shape),
    })
}

fn of_pieces(word_bits: u32, pieces: Vec<Piece>) -> Option<Launch> {
    let longest = pieces.iter().map(|piece| piece.bytes).max()?;
    let shape = Shape::of(1 << word_bits, longest, pieces.len() as u64);
    Some(Launch::Pieces(pieces, shape))
}
