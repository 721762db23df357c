//! Announcements that reductions have begun: whether a node's neighbours and PEs need them, and what was announced.

use crate::model::ids::BroadcastId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The most reductions of one collection that may be under way at one time.
const UNDER_WAY_MAX: u64 = 1 << 20;

/// The news that reductions have begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The first of the reductions.
    since: u64,
    /// The one after the last of them.
    before: u64,
    /// The broadcast to which they belong, as far as the sender knows.
    pub(super) within: Option<BroadcastId>,
}

impl Begun {
    /// The news of no reduction, with which a node says that it wants news.
    pub(crate) const NOTHING: Self = Self { since: 0, before: 0, within: None };

    /// The news of one reduction.
    pub(crate) fn new(number: u64, within: Option<BroadcastId>) -> Self {
        Self { since: number, before: number.saturating_add(1), within }
    }

    /// The reductions from `first` on that have begun.
    ///
    /// # Errors
    /// When they are more than can be under way, in words: other nodes may say anything.
    pub(super) fn numbers(&self, first: u64) -> Result<Range<u64>, String> {
        if self.before.saturating_sub(first) > UNDER_WAY_MAX {
            let before = self.before;
            return Err(format!(
                "reductions before {before} are said to have begun, but {first} is not over"
            ));
        }
        Ok(self.since.max(first)..self.before)
    }
}

/// The announcements that a node's first PE makes for one collection.
#[derive(Default)]
pub(crate) struct Telling {
    is_wanted: bool,
    /// The reductions of which all PEs of the node and all its neighbours in the tree were told, and the broadcasts to which these were
    /// told to belong.
    told: FxHashMap<u64, Option<BroadcastId>>,
    /// All PEs of the node and of the nodes below have closed the reductions before this one, so that nobody has to be told of them.
    closed: u64,
}

impl Telling {
    /// The state before any announcement.
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self { is_wanted, ..Self::default() }
    }

    /// Takes note of news, and that the collection wants announcements from now on, if it does. Returns the news that are to be announced
    /// to the PEs of the node and to its neighbours, if any; `waiting` gives the end of the reductions that wait on the node.
    ///
    /// # Errors
    /// When more reductions than can be under way would have begun, in words.
    pub(crate) fn note(
        &mut self,
        news: Begun,
        waiting: impl FnOnce() -> u64,
        wanted: bool,
    ) -> Result<Option<Begun>, String> {
        let is_first = wanted && !self.is_wanted;
        self.is_wanted |= wanted;
        if !self.is_wanted {
            return Ok(None);
        }
        // Nobody was told of those that wait here.
        let news =
            if is_first { Begun { since: 0, before: news.before.max(waiting()), ..news } } else { news };
        let is_news = |number: &u64| match self.told.get(number) {
            None => true,
            Some(within) => within.is_none() && news.within.is_some(),
        };
        let Range { start, end } = news.numbers(self.closed)?;
        let since = (start..end).find(is_news);
        for number in since.unwrap_or(end)..end {
            let within = self.told.entry(number).or_default();
            *within = within.or(news.within);
        }
        Ok((is_first || since.is_some()).then(|| Begun { since: since.unwrap_or(end), before: end, ..news }))
    }

    /// Takes note that all PEs of the node and of the nodes below have closed a reduction, and those before it.
    pub(crate) fn close(&mut self, number: u64) {
        self.closed = self.closed.max(number + 1);
        self.told.retain(|number, _| *number >= self.closed);
    }
}
