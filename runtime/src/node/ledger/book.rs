//! Book of the messages between all nodes of a driven job: each is posted once and taken once, and what is paid for it and given back on
//! its way is known at any moment.
//!
//! A message is known by its way and its bytes. A long one is two: its own bytes, which its receiver takes when it has fetched them, and the
//! frame that announces it.

use super::note::Note;
use crate::model::envelope::PlainCall;
use crate::model::envelope::frame::{self, Header, Packed};
use crate::model::ids::NodeId;
use crate::model::registry::find_entry;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;
use std::sync::Arc;

/// Bytes that are kept of a message, to say what it is.
const FRONT_BYTES: usize = 128;

/// The book that the ledgers of all nodes are written into.
pub(crate) type Shared = Arc<Mutex<Book>>;

/// From one node to another.
type Way = (NodeId, NodeId);

/// Messages of one way with the same bytes.
struct Alike {
    /// The price of each.
    prices: Vec<u64>,
    is_counted: bool,
    front: Box<[u8]>,
}

/// What is on a way.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct OnWay {
    /// Prices of the messages that were posted and have not been taken.
    pub(crate) price: u64,
    /// Credit that goes back to whom it belongs to, at the way's end.
    pub(crate) credit: u64,
}

/// See the file's head.
#[derive(Default)]
pub(crate) struct Book {
    under_way: FxHashMap<(Way, u64), Alike>,
    ways: FxHashMap<Way, OnWay>,
    /// Messages under way that are known to be counted.
    counted: u64,
    fault: Option<String>,
}

impl Book {
    pub(super) fn note(&mut self, node: NodeId, note: Note<'_>) {
        match note {
            Note::Posted { target, packed, price } => {
                let bytes = match packed {
                    Packed::Frame(bytes) => bytes,
                    Packed::Large(memory) => memory.as_slice(),
                };
                self.post((node, target), bytes, price.unwrap_or(0).into());
            }
            Note::Taken { source, bytes } => self.take((source, node), bytes),
            Note::CreditGiven { target, bytes } => self.way((node, target)).credit += bytes,
            Note::CreditTaken { source, bytes } => {
                let way = self.way((source, node));
                way.credit = way.credit.wrapping_sub(bytes);
            }
        }
    }

    fn way(&mut self, way: Way) -> &mut OnWay {
        self.ways.entry(way).or_default()
    }

    fn post(&mut self, way: Way, bytes: &[u8], price: u64) {
        let alike = self.under_way.entry((way, hash(bytes))).or_insert_with(|| Alike {
            prices: Vec::new(),
            is_counted: is_counted(bytes),
            front: bytes[..bytes.len().min(FRONT_BYTES)].into(),
        });
        alike.prices.push(price);
        self.counted += u64::from(alike.is_counted);
        self.way(way).price += price;
    }

    fn take(&mut self, way: Way, bytes: &[u8]) {
        let key = (way, hash(bytes));
        let Some(alike) = self.under_way.get_mut(&key) else {
            let (source, target) = way;
            let what = describe(bytes);
            self.fault.get_or_insert_with(|| {
                format!(
                    "{target} has got {what} from {source}, {} bytes long, which that has not sent, or once more",
                    bytes.len()
                )
            });
            return;
        };
        let price = alike.prices.pop().expect("one without is taken out");
        self.counted -= u64::from(alike.is_counted);
        if alike.prices.is_empty() {
            self.under_way.remove(&key);
        }
        self.way(way).price -= price;
    }

    /// What is on the way from one node to another.
    pub(crate) fn on_way(&self, source: NodeId, target: NodeId) -> OnWay {
        self.ways.get(&(source, target)).copied().unwrap_or_default()
    }

    /// How many messages under way are counted, at the least.
    pub(crate) fn counted(&self) -> u64 {
        self.counted
    }

    /// What came that nobody had sent, in words, if anything did.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// The messages that were posted and have not been taken, in words.
    pub(crate) fn untaken(&self) -> Vec<String> {
        let tell = |(((source, target), _), alike): (&(Way, u64), &Alike)| {
            format!("{target} has not got {} from {source}", describe(&alike.front))
        };
        let mut untaken: Vec<_> = self.under_way.iter().map(tell).collect();
        untaken.sort_unstable();
        untaken
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_usize(bytes.len());
    hasher.write(bytes);
    hasher.finish()
}

/// Whether quiescence detection counts the message. Not known of those of services, which nobody but them reads.
fn is_counted(bytes: &[u8]) -> bool {
    PlainCall::split(bytes).is_some()
        || matches!(
            frame::decode(bytes),
            Ok((
                Header::Call { .. } | Header::Create { .. } | Header::Resolve { .. } | Header::Broken { .. },
                _
            ))
        )
}

/// The message that begins with these bytes, in words.
fn describe(front: &[u8]) -> String {
    if let Some((call, _)) = PlainCall::split(front) {
        let call = find_entry(call.entry()).map(|entry| format!("a call of {}::{}", entry.chare, entry.name));
        return call.unwrap_or_else(|unknown| unknown);
    }
    frame::decode(front).map_or_else(|_| "a message".to_owned(), |(header, _)| header.describe())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: NodeId = NodeId(0);
    const THERE: NodeId = NodeId(1);

    fn book(notes: Vec<(NodeId, Note<'_>)>) -> Book {
        let mut book = Book::default();
        notes.into_iter().for_each(|(node, note)| book.note(node, note));
        book
    }

    #[test]
    fn what_is_posted_is_taken_once_at_its_price() {
        let packed = Packed::Frame(vec![7; 40]);
        let posted = || (HERE, Note::Posted { target: THERE, packed: &packed, price: Some(168) });
        let bytes = [7; 40];
        let taken = || (THERE, Note::Taken { source: HERE, bytes: &bytes });
        let once = book(vec![posted()]);
        assert_eq!((once.on_way(HERE, THERE).price, once.fault(), once.untaken().len()), (168, None, 1));
        let twice_each = book(vec![posted(), posted(), taken(), taken()]);
        assert_eq!((twice_each.on_way(HERE, THERE), twice_each.fault()), (OnWay::default(), None));
        assert!(twice_each.untaken().is_empty());
        let again = book(vec![posted(), taken(), taken()]);
        assert!(again.fault().is_some_and(|fault| fault.contains("node 1 has got")), "{:?}", again.fault());
        let elsewhere = book(vec![posted(), (HERE, Note::Taken { source: THERE, bytes: &bytes })]);
        assert!(elsewhere.fault().is_some(), "it is on its way to the other one");
    }

    #[test]
    fn credit_is_on_its_way_until_it_is_taken() {
        let given = (THERE, Note::CreditGiven { target: HERE, bytes: 500 });
        let taken = (HERE, Note::CreditTaken { source: THERE, bytes: 300 });
        assert_eq!(book(vec![given, taken]).on_way(THERE, HERE).credit, 200);
    }
}
