//! Tokens: numbers by which other nodes name what this node keeps for them. A token that was taken back is never valid again.

use chare_lrts::spin_lock::SpinMutex;
use chare_lrts::{Token, dice};
use slab::Slab;

/// What is out under tokens.
pub(crate) struct Tokens<T>(SpinMutex<Slab<(u32, T)>>);

impl<T> Default for Tokens<T> {
    fn default() -> Self {
        Self(SpinMutex::default())
    }
}

impl<T> Tokens<T> {
    /// Keeps a thing. Its token's upper half is drawn: nobody guesses it.
    pub(crate) fn give_out(&self, kept: T) -> Token {
        let nonce = (dice::draw() >> 32) as u32;
        let slot = self.0.lock().insert((nonce, kept));
        u64::from(nonce) << 32 | slot as u64
    }

    /// What a token names; nothing if it is not out.
    pub(crate) fn look<R>(&self, token: Token, look: impl FnOnce(&T) -> R) -> Option<R> {
        let kept = self.0.lock();
        kept.get(slot_of(token)).filter(|(nonce, _)| is_of(*nonce, token)).map(|(_, kept)| look(kept))
    }

    /// Takes back what a token names; nothing if it is not out.
    pub(crate) fn take_back(&self, token: Token) -> Option<T> {
        let mut kept = self.0.lock();
        let is_out = kept.get(slot_of(token)).is_some_and(|(nonce, _)| is_of(*nonce, token));
        is_out.then(|| kept.remove(slot_of(token)).1)
    }

    /// Takes everything back.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = T> + use<T> {
        std::mem::take(&mut *self.0.lock()).into_iter().map(|(_, (_, kept))| kept)
    }
}

fn slot_of(token: Token) -> usize {
    (token & u64::from(u32::MAX)) as usize
}

fn is_of(nonce: u32, token: Token) -> bool {
    u64::from(nonce) == token >> 32
}
