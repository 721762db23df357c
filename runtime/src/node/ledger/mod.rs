//! Ledger of a node: where whoever drives all nodes of a job learns which messages leave one of them and arrive at another, and what was
//! paid for them. Nodes of real jobs keep none, and without the feature `sim` nothing is left of it.

#[cfg(feature = "sim")]
mod book;

use crate::model::envelope::frame::Packed;
use crate::model::ids::NodeId;
#[cfg(feature = "sim")]
pub(crate) use book::{Book, Shared};

/// What a node notes in its ledger.
#[cfg_attr(not(feature = "sim"), expect(dead_code, reason = "nobody reads it in this build"))]
pub(crate) enum Note<'a> {
    /// A message leaves for another node, or waits to, and costs so many bytes of credit, or nothing.
    Posted { target: NodeId, packed: &'a Packed, price: Option<u32> },
    /// A message of another node has come.
    Taken { source: NodeId, bytes: &'a [u8] },
    /// Credit leaves for the node that it belongs to.
    CreditGiven { target: NodeId, bytes: u64 },
    /// Credit has come back from a node.
    CreditTaken { source: NodeId, bytes: u64 },
}

/// A node's ledger; see the file's head.
#[derive(Default)]
pub(crate) struct Ledger {
    #[cfg(feature = "sim")]
    book: Option<Shared>,
}

impl Ledger {
    /// A ledger that is written into this book.
    #[cfg(feature = "sim")]
    pub(crate) fn kept_in(book: &Shared) -> Self {
        Self { book: Some(Shared::clone(book)) }
    }

    /// Notes something of a node.
    #[inline(always)]
    pub(crate) fn note(&self, node: NodeId, note: Note<'_>) {
        #[cfg(feature = "sim")]
        if let Some(book) = &self.book {
            std::hint::cold_path();
            book.lock().note(node, note);
        }
        #[cfg(not(feature = "sim"))]
        let _ = (node, note);
    }
}
