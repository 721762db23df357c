//! Ledger of a node: where whoever drives all nodes of a job learns which messages leave one of them and arrive at another, and what was
//! paid for them. Nodes of real jobs keep none, and without the feature `sim` nothing is left of it.

#[cfg(feature = "sim")]
mod book;
mod note;

use crate::model::ids::NodeId;
#[cfg(feature = "sim")]
pub(crate) use book::{Book, Shared};
pub(crate) use note::Note;

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
