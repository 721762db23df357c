//! Claims: the right to touch a region's bytes, of many readers or one writer at a time.
//!
//! One [`ClaimWord`] per region, in memory that every process of the host maps. Rules:
//!
//! 1. A region is live while `generation` holds its key's non-zero number. Only its owner writes it.
//! 2. A claimant first claims (many readers or one writer), then compares the
//!    generation, and leaves again at once when it differs.
//! 3. The owner ends a region by storing generation 0, then looks at the claims. While any is held, the
//!    memory stays; it is looked at again later. Nobody ever waits.
//! 4. The owner rewrites a slot only after it saw generation 0 and no claim, in that order.
//!
//! Rules 2 and 3 are a store-load handshake (Dekker): each side writes its own word, passes a sequentially
//! consistent fence, and reads the other's. So either the claimant sees generation 0 or the owner sees the claim.
//! Acquire and release then order the accesses: a claim that is granted happens after the `publish` it saw and after
//! the `release` before it; a drained region happens after the last `release`. `model::claim` checks all of it.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

const WRITER: u32 = 1 << 31;

/// How a claimant wants to touch the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimMode {
    /// Together with other readers.
    Read,
    /// Alone.
    Write,
}

/// Why a claim was not granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimDenied {
    /// Another claim is in the way; try again later.
    Busy,
    /// The region is over.
    Stale,
}

/// Liveness and claims of one region. Lives in shared memory: all-zero bytes are a free slot.
#[derive(Debug)]
#[repr(C)]
pub struct ClaimWord {
    /// Written by the region's owner only: 0 = free. Pairs with `claims` as described above.
    generation: AtomicU64,
    /// Written by any claimant: readers, or `WRITER`.
    claims: AtomicU32,
}

impl ClaimWord {
    /// A free slot.
    pub fn new() -> Self {
        Self { generation: AtomicU64::new(0), claims: AtomicU32::new(0) }
    }

    /// Starts a region. Owner only, on a slot that is free and drained.
    ///
    /// # Panics
    /// If `generation` is 0.
    pub fn publish(&self, generation: u64) {
        assert_ne!(generation, 0, "generation 0 means free");
        self.generation.store(generation, Ordering::Release);
    }

    /// Ends the region: no claim is granted from here on. Owner only.
    pub fn retire(&self) {
        self.generation.store(0, Ordering::Relaxed);
        // Orders the store before every later `is_drained`; pairs with the fence in `claim`.
        fence(Ordering::SeqCst);
    }

    /// Whether the memory may be given back: the region is over and nobody touches it.
    pub fn is_drained(&self) -> bool {
        self.generation.load(Ordering::Relaxed) == 0 && !self.is_claimed()
    }

    /// Whether anybody holds a claim.
    pub fn is_claimed(&self) -> bool {
        self.claims.load(Ordering::Acquire) != 0
    }

    /// Whether the region is live under this generation. Grants nothing.
    pub fn is_live(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Acquire) == generation
    }

    /// Claims the region with this generation.
    ///
    /// # Errors
    /// [`ClaimDenied`]; nothing is held then.
    pub fn claim(&self, generation: u64, mode: ClaimMode) -> Result<(), ClaimDenied> {
        let mut seen = self.claims.load(Ordering::Relaxed);
        loop {
            let wanted = match mode {
                ClaimMode::Read if seen & WRITER == 0 && seen < WRITER - 1 => seen + 1,
                ClaimMode::Write if seen == 0 => WRITER,
                _ if self.is_live(generation) => return Err(ClaimDenied::Busy),
                _ => return Err(ClaimDenied::Stale),
            };
            match self.claims.compare_exchange_weak(seen, wanted, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(now) => seen = now,
            }
        }
        // Pairs with the fence in `retire`.
        fence(Ordering::SeqCst);
        if self.is_live(generation) {
            return Ok(());
        }
        self.release(mode);
        Err(ClaimDenied::Stale)
    }

    /// Gives a granted claim back. What the claimant did happens before what the next one does.
    pub fn release(&self, mode: ClaimMode) {
        match mode {
            ClaimMode::Read => self.claims.fetch_sub(1, Ordering::Release),
            ClaimMode::Write => self.claims.fetch_sub(WRITER, Ordering::Release),
        };
    }
}

impl Default for ClaimWord {
    fn default() -> Self {
        Self::new()
    }
}
