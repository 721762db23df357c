//! Exchanges among members that share a matrix by rows: it is transposed, and it comes together at each of them.

use crate::matrix::{How, is_whole, places};
use chare::prelude::*;
use chare::{Exchange, Gathered, Layout, Partition};
use serde::{Deserialize, Serialize};

/// What members exchange.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rounds {
    pub(crate) exchange: Exchange<u64>,
    /// How many members there are.
    pub(crate) count: u64,
    pub(crate) sizes: [usize; 2],
    pub(crate) how: How,
}

impl Rounds {
    /// Runs two rounds of each kind as the member with this number.
    pub(crate) async fn run(mut self, me: u64) {
        let [height, width] = self.sizes;
        let count = self.count as usize;
        let share = |size: usize, member: usize| {
            let one = size.div_ceil(count);
            (member * one).min(size)..((member + 1) * one).min(size)
        };
        let (rows, columns) = (share(height, me as usize), share(width, me as usize));
        let of_all = Partition::rows(self.sizes, count).expect("a partition");
        let mine: Vec<u64> = places(&of_all.part(me as usize).expect("a part for each")).collect();
        let dealt: Vec<Layout<u64>> = (0..count)
            .map(|other| {
                let theirs = share(width, other);
                let shape = [theirs.len(), rows.len()];
                let columns = Layout::strided(&shape, &[1, width as isize]).expect("it fits");
                columns.shifted(theirs.start as i64).expect("it fits")
            })
            .collect();
        let dealt = Partition::table(mine.len(), &dealt).expect("columns share nothing");
        let landing = Partition::columns([columns.len(), height], count).expect("a partition");
        for _ in 0..2 {
            let ((transposed, done), (whole, all_done)) = (chare::future(), chare::future());
            let (into, all_into) = (self.how.target(landing.elements()), self.how.target(of_all.elements()));
            let from = self.how.owned(mine.clone());
            self.exchange.all_to_all(me, (from.clone(), &dealt), (into, &landing), done);
            self.exchange.all_gather(me, from.clone(), (all_into, &of_all), all_done);
            let (shown, show_done) = chare::future();
            self.exchange.show_all(me, from, show_done);
            let transposed: BufferMut<u64> = transposed.await;
            let expected =
                columns.clone().flat_map(|column| (0..height).map(move |row| (row * width + column) as u64));
            assert!(transposed.iter().copied().eq(expected), "member {me} of {self:?}");
            let whole: BufferMut<u64> = whole.await;
            assert!(is_whole(&whole), "member {me} of {self:?}");
            let shown: Gathered<u64> = shown.await;
            assert_eq!(shown.len(), count);
            let seen: Vec<u64> = shown.iter().flat_map(|part| part.iter().copied()).collect();
            assert!(seen.len() == height * width && is_whole(&seen), "member {me} of {self:?}");
        }
    }
}
