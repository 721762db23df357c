//! Claims: the right to touch a region's bytes, of many readers or one writer at a time.
//!
//! One [`ClaimWord`] per region, in memory that every process of the host maps. Rules:
//!
//! 1. A region is live while `generation` holds its key's non-zero number. Only its owner writes it.
//! 2. A claimant first claims (many readers or one writer), then compares the
//!    generation, and leaves again at once when it differs.
//! 3. The owner ends a region by storing generation 0, then looks at the claims. While any is held, the
//!    memory stays; the owner asks for news (rule 5), and looks again when they come. Nobody ever stands still.
//! 4. The owner rewrites a slot only after it saw generation 0 and no claim, in that order.
//! 5. Whoever a claim is in the way of may ask for news: it notes itself in `askers`, then marks the claims, by one atomic step that
//!    finds a claim in its way still held. The last holder takes the mark away together with its claim, and only then takes the askers
//!    out and tells them. A mark without a claim does not exist.
//! 6. News says no more than that it is time to try again: another claimant may have been faster. Whoever takes the askers out may take
//!    one that has asked about later claims, and tells it too early. So an asker counts its news before it asks, and tries again when the
//!    count has changed.
//!
//! Rules 2 and 3 are a store-load handshake (Dekker): each side writes its own word, passes a sequentially
//! consistent fence, and reads the other's. So either the claimant sees generation 0 or the owner sees the claim.
//! Acquire and release then order the accesses: a claim that is granted happens after the `publish` it saw and after
//! the `release` before it; a drained region happens after the last `release`. `model::claim` checks all of it.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

const WRITER: u32 = 1 << 31;

/// Somebody asked for news of the end of these claims.
const ASKED: u32 = 1 << 30;

/// Those who wait for news: a bit for each 64th node of the job.
pub type Askers = u64;

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
    /// The region is over. To be told that it is time to try again: those whom the attempt was in the way of.
    Stale(Askers),
}

/// Liveness and claims of one region. Lives in shared memory: all-zero bytes are a free slot.
#[derive(Debug)]
#[repr(C)]
pub struct ClaimWord {
    /// Written by the region's owner only: 0 = free. Pairs with `claims` as described above.
    generation: AtomicU64,
    /// Written by any claimant: readers, or `WRITER`; and `ASKED`.
    claims: AtomicU32,
    /// Written by who asks for news, before it marks `claims` (release), and taken out by who has taken the mark away (acquire).
    askers: AtomicU64,
}

impl ClaimWord {
    /// A free slot.
    pub fn new() -> Self {
        Self { generation: AtomicU64::new(0), claims: AtomicU32::new(0), askers: AtomicU64::new(0) }
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
            if is_in_the_way(seen, mode) {
                let is_live = self.is_live(generation);
                return Err(if is_live { ClaimDenied::Busy } else { ClaimDenied::Stale(0) });
            }
            let wanted = seen.wrapping_add(share_of(mode));
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
        Err(ClaimDenied::Stale(self.release(mode)))
    }

    /// Gives a granted claim back. What the claimant did happens before what the next one does. Returns who is to be told that it is time
    /// to try again: nobody, unless somebody asked.
    #[must_use = "those who asked wait for it"]
    pub fn release(&self, mode: ClaimMode) -> Askers {
        let mut seen = self.claims.load(Ordering::Relaxed);
        loop {
            let left = seen.wrapping_sub(share_of(mode));
            let is_last = left & !ASKED == 0;
            let wanted = if is_last { 0 } else { left };
            match self.claims.compare_exchange_weak(seen, wanted, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) if is_last && left == ASKED => return self.askers.swap(0, Ordering::AcqRel),
                Ok(_) => return 0,
                Err(now) => seen = now,
            }
        }
    }

    /// Asks for news of the end of the claims that are in the way of a claim with this mode, or of any claim (`None`). Returns whether
    /// there are such claims: news will come then, to all of `askers`. If not, it is time to try again.
    pub fn ask(&self, mode: Option<ClaimMode>, askers: Askers) -> bool {
        // Its own order: the mark releases it.
        self.askers.fetch_or(askers, Ordering::Relaxed);
        let mut seen = self.claims.load(Ordering::Relaxed);
        loop {
            if !mode.map_or(seen != 0, |mode| is_in_the_way(seen, mode)) {
                return false;
            }
            // Also where the mark is there: this step is what the last holder's follows.
            match self.claims.compare_exchange_weak(seen, seen | ASKED, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }
}

/// What a claim adds to the word.
fn share_of(mode: ClaimMode) -> u32 {
    match mode {
        ClaimMode::Read => 1,
        ClaimMode::Write => WRITER,
    }
}

/// Whether the claims that a word stands for are in the way of another.
fn is_in_the_way(claims: u32, mode: ClaimMode) -> bool {
    match mode {
        ClaimMode::Read => claims & WRITER != 0 || claims & !ASKED == ASKED - 1,
        ClaimMode::Write => claims != 0,
    }
}

impl Default for ClaimWord {
    fn default() -> Self {
        Self::new()
    }
}
