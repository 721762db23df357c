//! Members of an array, of an array in two dimensions, and of a group, which all do the same.

use crate::TILES;
use crate::exchanges::Rounds;
use crate::matrix::{How, places};
use chare::prelude::*;
use chare::{ArrayIndex, Gather, Landing, Layout, Partition};
use serde::{Deserialize, Serialize};

/// What members get of a matrix.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Shares {
    /// Each its own part.
    Dealt(Partition<u64>),
    /// All the same part, which is the last.
    Same(Partition<u64>),
}

impl Shares {
    pub(crate) fn partition(&self) -> &Partition<u64> {
        let (Self::Dealt(partition) | Self::Same(partition)) = self;
        partition
    }

    /// The matrix as it is sent.
    pub(crate) fn of(&self, matrix: Buffer<u64>) -> SendBuffer<u64> {
        let matrix = SendBuffer::from(matrix);
        match self {
            Self::Dealt(partition) => matrix.each(partition),
            Self::Same(partition) => matrix.only(&last(partition)),
        }
    }

    /// What a member gets.
    fn mine(&self, index: &impl Mine) -> Layout<u64> {
        match self {
            Self::Dealt(partition) => index.of(partition),
            Self::Same(partition) => last(partition),
        }
    }

    /// How many elements all members get, one for each part.
    pub(crate) fn elements(&self) -> usize {
        match self {
            Self::Dealt(partition) => partition.elements(),
            Self::Same(partition) => partition.len() * last(partition).len(),
        }
    }
}

fn last(partition: &Partition<u64>) -> Layout<u64> {
    partition.part(partition.len() - 1).expect("it has one")
}

/// The part of the member with an index.
trait Mine: ArrayIndex {
    fn of(&self, partition: &Partition<u64>) -> Layout<u64>;
    fn number(&self) -> u64;
}

impl Mine for u64 {
    fn of(&self, partition: &Partition<u64>) -> Layout<u64> {
        partition.part(*self as usize).expect("a part for each")
    }

    fn number(&self) -> u64 {
        *self
    }
}

impl Mine for (u32, u32) {
    fn of(&self, partition: &Partition<u64>) -> Layout<u64> {
        partition.part_at(&[self.0.into(), self.1.into()]).expect("a part for each")
    }

    fn number(&self) -> u64 {
        u64::from(self.0) * TILES[1] as u64 + u64::from(self.1)
    }
}

/// The number of elements, which must be those of the part.
#[track_caller]
fn check<'a>(part: &Layout<u64>, elements: impl Iterator<Item = &'a u64>) -> u64 {
    let elements: Vec<u64> = elements.copied().collect();
    assert!(elements.iter().copied().eq(places(part)), "{elements:?} for {part:?}");
    elements.len() as u64
}

macro_rules! members {
    ($(#[chare($($kind:tt)*)] $name:ident;)*) => {$(
        pub(crate) struct $name;

        #[chare($($kind)*)]
        impl $name {
            #[entry]
            pub(crate) fn new() -> Self {
                Self
            }

            #[entry]
            pub(crate) fn give(&mut self, gather: Gather<u64>, partition: Partition<u64>, how: How) {
                let part = how.part(&self.this_index().of(&partition), partition.elements());
                gather.put(self.this_index(), part);
            }

            #[entry]
            pub(crate) fn view(
                &mut self,
                #[nocopy] part: ReceivedView<u64>,
                shares: Shares,
                checked: Callback<u64>,
            ) {
                self.contribute(sum(check(&shares.mine(&self.this_index()), part.iter())), checked);
            }

            #[entry]
            pub(crate) fn receive(
                &mut self,
                #[nocopy] part: Received<u64>,
                shares: Shares,
                checked: Callback<u64>,
            ) {
                self.contribute(sum(check(&shares.mine(&self.this_index()), part.iter())), checked);
            }

            #[entry]
            pub(crate) fn land(
                &mut self,
                #[nocopy(post)] part: Posted<u64>,
                shares: Shares,
                how: How,
                checked: Callback<u64>,
            ) {
                let (mine, part) = (shares.mine(&self.this_index()), part.into_buffer());
                let seen = if how == How::InPlace {
                    check(&mine, places(&mine).map(|place| &part[place as usize]))
                } else {
                    check(&mine, part.iter())
                };
                self.contribute(sum(seen), checked);
            }

            /// Two transpositions and two gathers of all by all are under way at one time.
            #[entry]
            pub(crate) async fn exchange(this: This<Self>, rounds: Rounds, checked: Callback<u64>) {
                let me = this.with(|member| member.this_index().number());
                rounds.run(me).await;
                this.contribute(sum(1), checked);
            }

            #[post(land)]
            fn post_land(
                &mut self,
                part: Post<u64>,
                shares: &Shares,
                how: &How,
                _checked: &Callback<u64>,
            ) {
                let mine = shares.mine(&self.this_index());
                let landing = match how {
                    How::InPlace => Landing::at(&mine, how.target(shares.partition().elements())),
                    _ => how.target(mine.len()).into(),
                };
                part.post(landing).expect("it is as long");
            }
        }
    )*};
}

members! {
    #[chare(array)] Member;
    #[chare(array, index = (u32, u32))] Tile;
    #[chare(group)] Helper;
}
