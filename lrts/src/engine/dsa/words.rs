//! Words of the hardware: a descriptor, by which a DSA is told what to do, and a completion record, by which it says what it did.
//!
//! After Intel's architecture specification of DSA and `linux/idxd.h`. Little-endian, as the processors are that have one.

use bytemuck::{Pod, Zeroable};
use std::sync::atomic::{AtomicU64, Ordering};

/// The address of the completion record holds, and a record is asked for in any case.
const FLAGS: u32 = 0x04 | 0x08;

/// Does nothing, and says so.
const NO_OPERATION: u32 = 0x00;

/// Copies memory.
const MOVE: u32 = 0x03;

/// All of it was done.
const SUCCESS: u8 = 0x01;

/// A page was not there, and the descriptor did not ask to wait for it: some of it was done.
const PAGE_FAULT: u8 = 0x03;

/// The status, less the bit that says whether reading or writing met a fault.
const STATUS_MASK: u8 = 0x7f;

/// What a DSA is told, as it reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(super) struct Descriptor {
    /// Whose address space, and whether a kernel's: both filled in by the processor or the kernel.
    whose: u32,
    /// Flags in the low 24 bits, the operation above. The flag that waits for pages ("block on fault") is off: a page that is not there
    /// ends the operation, and a processor does the rest.
    flags_and_operation: u32,
    completion_address: u64,
    source_address: u64,
    target_address: u64,
    len: u32,
    /// No interrupt.
    interrupt: u16,
    reserved: u16,
    of_operation: [u8; 24],
}

const _: () = assert!(size_of::<Descriptor>() == 64 && align_of::<Descriptor>() == 64);

impl Descriptor {
    /// Copies `len` bytes.
    pub(super) fn copy(source: *const u8, target: *mut u8, len: u32, record: &CompletionRecord) -> Self {
        // Exposed: the device reaches them by the numbers alone.
        let (source_address, target_address) =
            (source.expose_provenance() as u64, target.expose_provenance() as u64);
        Self { source_address, target_address, len, ..Self::of(MOVE, record) }
    }

    /// Does nothing, but fills the record.
    pub(super) fn nothing(record: &CompletionRecord) -> Self {
        Self::of(NO_OPERATION, record)
    }

    fn of(operation: u32, record: &CompletionRecord) -> Self {
        Self {
            flags_and_operation: operation << 24 | FLAGS,
            completion_address: record.address(),
            ..Self::zeroed()
        }
    }
}

/// What a DSA says of an operation. Written by the device alone while the operation is under way, by this process before that; a status
/// that is not 0 comes last, or together with the rest, so it is read with acquire.
#[derive(Debug, Default)]
#[repr(C, align(32))]
pub(super) struct CompletionRecord {
    /// Status (byte 0), result (1), kind of fault (2), nothing (3), and bytes completed (4 to 7).
    head: AtomicU64,
    fault_address: AtomicU64,
    of_operation: [AtomicU64; 2],
}

const _: () = assert!(size_of::<CompletionRecord>() == 32 && align_of::<CompletionRecord>() == 32);

impl CompletionRecord {
    /// Where the device writes it.
    pub(super) fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// Makes it empty, before the operation is handed over.
    pub(super) fn clear(&self) {
        self.head.store(0, Ordering::Relaxed);
    }

    /// What became of an operation of `len` bytes; `None` while it is under way.
    pub(super) fn read(&self, len: usize) -> Option<Outcome> {
        let [status, result, _, _, completed @ ..] = self.head.load(Ordering::Acquire).to_le_bytes();
        let moved = match (status & STATUS_MASK, result) {
            (0, _) => return None,
            (SUCCESS, _) => len,
            // Result 1 says that it began at the end, as it does where the two ends overlap: nothing at the front is done then.
            (PAGE_FAULT, 0) => (u32::from_le_bytes(completed) as usize).min(len),
            _ => 0,
        };
        Some(Outcome { status, moved })
    }

    /// Fills it as a device would.
    #[cfg(test)]
    pub(super) fn fill(&self, status: u8, result: u8, completed: u32) {
        let [a, b, c, d] = completed.to_le_bytes();
        self.head.store(u64::from_le_bytes([status, result, 0, 0, a, b, c, d]), Ordering::Release);
    }
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    /// As the device said it.
    pub(super) status: u8,
    /// Bytes that were copied, from the first on.
    pub(super) moved: usize,
}

impl Outcome {
    /// Whether all was done.
    pub(super) fn is_success(self) -> bool {
        self.status & STATUS_MASK == SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_encoded_byte_by_byte() {
        let record = CompletionRecord::default();
        let source = std::ptr::without_provenance::<u8>(0x1122_3344_5566_7788);
        let target = std::ptr::without_provenance_mut::<u8>(0x0102_0304_0506_0708);
        let descriptor = Descriptor::copy(source, target, 0x0001_0203, &record);
        let mut expected = [0; 64];
        // Opcode 3 in the highest byte of the second word; flags 0x04 and 0x08 below it.
        expected[4..8].copy_from_slice(&[0x0c, 0, 0, 3]);
        expected[8..16].copy_from_slice(&record.address().to_le_bytes());
        expected[16..24].copy_from_slice(&[0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11]);
        expected[24..32].copy_from_slice(&[8, 7, 6, 5, 4, 3, 2, 1]);
        expected[32..36].copy_from_slice(&[3, 2, 1, 0]);
        assert_eq!(bytemuck::bytes_of(&descriptor), expected);
        assert!(record.address().is_multiple_of(32));
    }

    #[test]
    fn doing_nothing_is_encoded_byte_by_byte() {
        let record = CompletionRecord::default();
        let mut expected = [0; 64];
        expected[4] = 0x0c;
        expected[8..16].copy_from_slice(&record.address().to_le_bytes());
        assert_eq!(bytemuck::bytes_of(&Descriptor::nothing(&record)), expected);
    }

    #[test]
    fn a_record_says_how_much_was_copied() {
        let record = CompletionRecord::default();
        assert_eq!(record.read(100), None);
        let of = |status, result, completed| {
            record.fill(status, result, completed);
            let outcome = record.read(100).expect("it is over");
            (outcome.is_success(), outcome.moved)
        };
        assert_eq!(of(0x01, 0, 0), (true, 100));
        // A fault in reading, one in writing, one of a copy that began at the end, one that claims more than there was.
        assert_eq!(of(0x03, 0, 37), (false, 37));
        assert_eq!(of(0x83, 0, 64), (false, 64));
        assert_eq!(of(0x03, 1, 37), (false, 0));
        assert_eq!(of(0x03, 0, 101), (false, 100));
        // An error of the hardware, and a descriptor that it does not take.
        assert_eq!(of(0x1a, 0, 50), (false, 0));
        assert_eq!(of(0x11, 0, 50), (false, 0));
        record.clear();
        assert_eq!(record.read(100), None);
    }
}
