//! Known layouts: long ones, which travel once to each peer and from then on by their digest.
//!
//! 1. Whoever lends memory by a long layout tells the layout the third time: to tell one takes as long as to pack it several times, and a
//!    program that makes its lists anew seldom uses one again. Which ones have come before, a table of fixed size says
//!    ([`told_layouts`](super::told_layouts)). A receiver that has room for it keeps it, and says so ([`KnownLayouts::admit`]). From then on
//!    the digest is enough ([`KnownLayouts::tell`]).
//! 2. Before, until the answer is there, and for ever if there is none, what the layout selects is packed for the way, which needs no layout:
//!    so nobody waits for an answer.
//! 3. Both sides have room for so many. The sender of messages lets go of the layout that it has not used for the longest time, and says in how
//!    many messages its digest stands. Frames need no order: the receiver frees the layout when each time that it was kept has been
//!    let go of, and all those messages have come.
//! 4. A receiver without room says so, and asks for those back that it has not used for the longest time. Whoever told a layout that is not
//!    wanted lets go of it as in 3, and tells it again when it has come three times more.
//!
//! So a digest of an honest peer is always known where it comes, and one that is not known is refused in words. A peer that lets go of nothing
//! holds the room that it has; nobody waits for it, and the layouts of the others are packed.
//!
//! FALCON-X remembers lists of pieces in this way, per pair of processes and buffers, and sends one again when its receiver has dropped it; here
//! the content is the name, and a receiver drops nothing that may still be named.

use super::kept_layouts::{INDICES_MAX, KeptLayouts};
use super::told_layouts::{AllNews, Coming, Digest, News, Saying, ToldLayouts};
use crate::model::envelope::frame::LayoutNews;
use crate::model::ids::NodeId;
use crate::model::nocopy::{LentLayout, ToldLayout};
use chare_layout::Raw;
use parking_lot::Mutex;
use std::sync::Arc;

/// The layouts that peers keep for a node, and those that the node keeps for them.
#[derive(Default)]
pub(crate) struct KnownLayouts {
    told: Mutex<ToldLayouts>,
    kept: Mutex<KeptLayouts>,
}

impl KnownLayouts {
    /// A long layout as a peer is told it, or its digest; and news of another that makes room for it. `None` if it comes for the first or the
    /// second time; the peer has been told the layout, and has not said yet that it keeps it; or nobody has room for it.
    pub(crate) fn tell(&self, peer: NodeId, layout: &Arc<Raw>) -> (Option<LentLayout>, Option<News>) {
        let coming = Coming::of(peer, layout);
        // Before its digest is taken, which costs more than to pack what it selects.
        if layout.index_count() > INDICES_MAX || !self.told.lock().is_due(coming) {
            return (None, None);
        }
        let digest = layout.digest();
        let (saying, news) = self.told.lock().say(peer, digest, coming);
        let layout = match saying {
            Saying::Nothing => None,
            Saying::Layout => Some(LentLayout::Told(ToldLayout(Arc::clone(layout)))),
            Saying::Digest => Some(LentLayout::Known { digest, bytes: layout.bytes() }),
        };
        (layout, news)
    }

    /// Takes back what [`tell`](Self::tell) said, because the message does not lend the memory. A layout that went in between stays with the
    /// peer while that has room for it.
    pub(crate) fn take_back(&self, peer: NodeId, layout: &LentLayout) {
        let digest = match layout {
            LentLayout::Told(ToldLayout(layout)) => layout.digest(),
            LentLayout::Known { digest, .. } => *digest,
        };
        self.told.lock().take_back(peer, digest);
    }

    /// Makes a layout of what came with lent memory; one that `is_long` is kept, if `teller` has told it and there is room. Returns what peers
    /// are to hear of that.
    ///
    /// # Errors
    /// A digest that is not known, or of a layout that selects more or less than is said, in words.
    pub(crate) fn admit(
        &self,
        teller: Option<NodeId>,
        layout: &mut LentLayout,
        is_long: impl FnOnce(&Raw) -> bool,
    ) -> Result<AllNews, String> {
        match (layout, teller) {
            (LentLayout::Told(ToldLayout(layout)), Some(teller)) if is_long(layout) => {
                // Before the lock is taken.
                layout.digest();
                Ok(self.kept.lock().keep(teller, layout))
            }
            (LentLayout::Told(_), _) => Ok(AllNews::new()),
            (layout @ LentLayout::Known { .. }, teller) => {
                let LentLayout::Known { digest, bytes } = *layout else { unreachable!("it is a digest") };
                let known = teller.and_then(|teller| self.kept.lock().use_by(teller, digest));
                let known = known.ok_or("a layout by its digest, which nobody told")?;
                if known.bytes() != bytes {
                    return Err(format!("{bytes} bytes by a layout that selects {}", known.bytes()));
                }
                *layout = LentLayout::Told(ToldLayout(known));
                Ok(AllNews::new())
            }
        }
    }

    /// Hears news of a layout from a peer. Returns what the peer is to hear.
    ///
    /// # Errors
    /// A layout that the peer did not tell, or did not use as often as it says, in words.
    pub(crate) fn hear(
        &self,
        peer: NodeId,
        digest: Digest,
        news: LayoutNews,
    ) -> Result<Option<News>, String> {
        match news {
            LayoutNews::Kept => Ok(self.told.lock().is_kept(peer, digest)),
            LayoutNews::Unwanted => Ok(self.told.lock().forget(peer, digest)),
            LayoutNews::Forgotten { uses } => {
                self.kept.lock().let_go(peer, digest, uses)?;
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::told_layouts::{TOLD_AT, layouts_max};
    use super::*;

    fn list(len: u32) -> Arc<Raw> {
        let places: Vec<i64> = (0..i64::from(len)).map(|place| place * place).collect();
        Arc::new(Raw::bytes_of(8).and_then(|double| double.indexed_block(1, &places)).expect("it fits"))
    }

    fn admit(known: &KnownLayouts, from: NodeId, layout: &mut LentLayout) -> Result<AllNews, String> {
        known.admit(Some(from), layout, |layout| layout.index_count() > 32)
    }

    /// What a peer is told of a layout that has come twice before.
    fn tell(known: &KnownLayouts, peer: NodeId, layout: &Arc<Raw>) -> Option<LentLayout> {
        for _ in 1..TOLD_AT {
            known.tell(peer, layout);
        }
        known.tell(peer, layout).0
    }

    const HERE: NodeId = NodeId(0);
    const THERE: NodeId = NodeId(1);

    /// Two nodes of which the first tells; what the second one holds and what is on the way comes when it is asked to.
    #[derive(Default)]
    struct Pair {
        here: KnownLayouts,
        there: KnownLayouts,
        on_the_way: Vec<LentLayout>,
        told: usize,
        known: usize,
    }

    impl Pair {
        fn to_here(&self, all: AllNews) {
            for (_, digest, news) in all {
                self.to_there(self.here.hear(THERE, digest, news).expect("it was told"));
            }
        }

        fn to_there(&self, news: Option<News>) {
            if let Some((_, digest, news)) = news {
                assert_eq!(self.there.hear(HERE, digest, news), Ok(None));
            }
        }

        /// Sends a message, which goes on the way, and the news, which overtake it.
        fn send(&mut self, layout: &Arc<Raw>) {
            let (layout, news) = self.here.tell(THERE, layout);
            self.to_there(news);
            match layout {
                Some(told @ LentLayout::Told(_)) => {
                    self.told += 1;
                    self.come(told);
                }
                Some(known) => self.on_the_way.push(known),
                None => {}
            }
        }

        fn come(&mut self, mut layout: LentLayout) {
            self.known += usize::from(matches!(layout, LentLayout::Known { .. }));
            let news = admit(&self.there, HERE, &mut layout).expect("it is known");
            self.to_here(news);
        }

        fn all_come(&mut self) {
            while let Some(layout) = self.on_the_way.pop() {
                self.come(layout);
            }
        }

        /// Layouts and indices that are kept, and the times of their uses.
        fn kept(&self) -> (usize, u64, usize) {
            let kept = self.there.kept.lock();
            (kept.layouts.len(), kept.indices, kept.last_uses.oldest_first().count())
        }
    }

    #[test]
    fn a_layout_is_told_when_it_comes_the_third_time() {
        let here = KnownLayouts::default();
        assert!(here.tell(THERE, &list(100)).0.is_none());
        assert!(here.tell(NodeId(2), &list(100)).0.is_none(), "another peer");
        assert!(here.tell(THERE, &list(100)).0.is_none());
        assert!(matches!(here.tell(THERE, &list(100)).0, Some(LentLayout::Told(_))), "whoever made it");
        assert!(here.tell(NodeId(2), &list(100)).0.is_none());
    }

    #[test]
    fn lists_that_change_leave_nothing_behind() {
        let here = KnownLayouts::default();
        let told = (40..5_040).filter(|len| here.tell(THERE, &list(*len)).0.is_some()).count();
        assert_eq!((told, here.told.lock().len()), (0, [256, 0, 0, 0]));
        assert!(tell(&here, THERE, &list(39)).is_some(), "one that stays is told still");
    }

    #[test]
    fn layouts_that_come_in_turn_are_all_told() {
        let here = KnownLayouts::default();
        let turn = || (40..92).filter(|len| here.tell(THERE, &list(*len)).0.is_some()).count();
        assert_eq!([turn(), turn(), turn()], [0, 0, 52]);
    }

    #[test]
    fn a_layout_is_told_once_and_known_when_the_peer_keeps_it() {
        let (here, there) = (KnownLayouts::default(), KnownLayouts::default());
        let layout = list(100);
        let mut first = tell(&here, THERE, &layout).expect("it is told");
        assert!(matches!(first, LentLayout::Told(_)));
        assert!(here.tell(THERE, &layout).0.is_none(), "the peer has not answered");
        assert!(matches!(tell(&here, NodeId(2), &layout), Some(LentLayout::Told(_))), "another peer");
        let news = admit(&there, HERE, &mut first).expect("a layout");
        assert_eq!(news[..], [(HERE, layout.digest(), LayoutNews::Kept)]);
        assert_eq!(here.hear(THERE, layout.digest(), LayoutNews::Kept), Ok(None));
        let mut second = here.tell(THERE, &list(100)).0.expect("an equal one is known");
        assert!(matches!(second, LentLayout::Known { bytes: 800, .. }));
        assert!(admit(&there, HERE, &mut second).expect("it is known").is_empty());
        let LentLayout::Told(ToldLayout(admitted)) = second else { panic!("it is a layout now") };
        assert_eq!(admitted, layout);
    }

    #[test]
    fn layouts_that_are_not_long_or_of_another_teller_are_kept_by_nobody() {
        let there = KnownLayouts::default();
        for (teller, len) in [(Some(HERE), 30), (None, 100)] {
            let mut told = LentLayout::Told(ToldLayout(list(len)));
            let news = there.admit(teller, &mut told, |layout| layout.index_count() > 32);
            assert!(news.expect("a layout").is_empty());
        }
        assert!(there.kept.lock().layouts.is_empty());
    }

    #[test]
    fn a_hundred_thousand_layouts_leave_the_tables_as_long_as_they_were() {
        const LAYOUTS: i64 = 100_000;
        let double = Raw::bytes_of(8).expect("bytes");
        let mut pair = Pair::default();
        for number in 0..LAYOUTS {
            let mut places: Vec<i64> = (0..33).map(|place| place * place).collect();
            places.push(2_000 + number);
            let layout = Arc::new(double.indexed_block(1, &places).expect("it fits"));
            (0..5).for_each(|_| pair.send(&layout));
            if number % 1_000 == 999 {
                pair.all_come();
                let len = (number + 1).min(layouts_max() as i64) as usize;
                assert_eq!(pair.here.told.lock().len(), [256, len, len, len]);
                assert_eq!(pair.kept(), (len, 34 * len as u64, len));
            }
        }
        let rest = LAYOUTS as usize - pair.told;
        assert!(
            rest <= 1_000,
            "the peer may have been waiting for messages, so that there was no room: {rest}"
        );
        assert!(pair.known >= 2 * (pair.told - 1_000));
    }

    #[test]
    fn a_layout_goes_when_all_messages_that_say_it_have_come() {
        let mut pair = Pair::default();
        let first = list(100);
        (0..5).for_each(|_| pair.send(&first));
        for len in 0..layouts_max() as u32 {
            (0..3).for_each(|_| pair.send(&list(200 + len)));
        }
        assert_eq!(pair.on_the_way.len(), 2, "they have been overtaken");
        assert!(pair.here.tell(THERE, &first).0.is_none(), "it is as one that is new");
        let digest = first.digest();
        assert!(pair.there.kept.lock().layouts.contains_key(&digest));
        let last = pair.on_the_way.pop().expect("two are on the way");
        pair.come(last);
        assert!(pair.there.kept.lock().layouts.contains_key(&digest));
        pair.all_come();
        assert!(!pair.there.kept.lock().layouts.contains_key(&digest));
    }

    #[test]
    fn a_receiver_without_room_asks_for_what_it_has_not_used_for_the_longest_time() {
        let mut pair = Pair::default();
        let long: Vec<_> = (0..8).map(|extra| list((1 << 20) + extra)).collect();
        for layout in &long[..7] {
            (0..3).for_each(|_| pair.send(layout));
        }
        pair.send(&long[0]);
        pair.all_come();
        (0..3).for_each(|_| pair.send(&long[7]));
        let is_kept =
            |pair: &Pair, which: usize| pair.there.kept.lock().layouts.contains_key(&long[which].digest());
        assert_eq!([0, 1, 7].map(|which| is_kept(&pair, which)), [true, false, false]);
        (0..3).for_each(|_| pair.send(&long[7]));
        assert_eq!(([0, 7].map(|which| is_kept(&pair, which)), pair.kept().0), ([true, true], 7));
    }

    #[test]
    fn what_is_not_sent_after_all_is_not_counted() {
        let mut pair = Pair::default();
        let layout = list(100);
        let told = tell(&pair.here, THERE, &layout).expect("it is told");
        pair.here.take_back(THERE, &told);
        assert_eq!(pair.here.told.lock().len()[1..], [0, 0, 0]);
        (0..3).for_each(|_| pair.send(&layout));
        let known = pair.here.tell(THERE, &layout).0.expect("it is known");
        pair.here.take_back(THERE, &known);
        pair.to_there(pair.here.hear(THERE, layout.digest(), LayoutNews::Unwanted).expect("news"));
        assert_eq!(pair.kept(), (0, 0, 0));
    }

    #[test]
    fn lies_of_peers_are_refused_in_words() {
        let (known, nobody) = (KnownLayouts::default(), [7; 16]);
        let forgotten = |uses| LayoutNews::Forgotten { uses };
        let answer = known.hear(THERE, nobody, LayoutNews::Kept);
        assert_eq!(answer, Ok(Some((THERE, nobody, forgotten(0)))), "it may have been told long ago");
        assert_eq!(known.hear(THERE, nobody, LayoutNews::Unwanted), Ok(None));
        assert!(known.hear(THERE, nobody, forgotten(0)).expect_err("a lie").contains("has not told"));
        let mut unknown = LentLayout::Known { digest: nobody, bytes: 800 };
        assert!(admit(&known, THERE, &mut unknown).expect_err("a lie").contains("nobody told"));
        let layout = list(100);
        let digest = layout.digest();
        admit(&known, THERE, &mut LentLayout::Told(ToldLayout(layout))).expect("there is room");
        let of_other = admit(&known, NodeId(2), &mut LentLayout::Known { digest, bytes: 800 });
        assert!(of_other.expect_err("a lie").contains("nobody told"));
        let longer = admit(&known, THERE, &mut LentLayout::Known { digest, bytes: 801 });
        assert!(longer.expect_err("it selects 800").contains("801 bytes"));
        assert!(known.hear(THERE, digest, forgotten(u64::MAX)).is_err());
        assert!(known.hear(THERE, digest, forgotten(0)).expect_err("a lie").contains("1 times more"));
    }
}
