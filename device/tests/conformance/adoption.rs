//! Adoption: memory and streams of others, which go back to their makers.

#![expect(unsafe_code, reason = "adopts memory of its own blocks")]

use crate::rig::{Rig, arrived, pattern};
use chare_device::{DeviceBufferMut, DeviceError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const LEN: usize = 20_000;

/// Memory that was made elsewhere goes back to its maker when the last stream is past it.
pub(crate) fn adopted_memory_is_a_buffer_and_goes_back_to_its_maker(rig: &Rig) {
    struct Guard(Arc<AtomicBool>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }
    let (stream, is_back) = (rig.stream(), Arc::new(AtomicBool::new(false)));
    let block = rig.block(2 * LEN);
    let address = block.address() + 8;
    let guard = (block, Guard(Arc::clone(&is_back)));
    // SAFETY: the bytes lie within the block, which nobody else uses and the guard keeps.
    let adopted = unsafe { DeviceBufferMut::<u8>::from_raw_parts(&rig.device, address, LEN, guard) };
    let mut adopted = adopted.expect("it is memory of the device");
    assert_eq!(adopted.address(), address);
    adopted.write(&stream, &pattern(LEN, 3)).expect("a write");
    let mut copied = DeviceBufferMut::new(&rig.device, LEN).expect("memory");
    let (front, back) = adopted.split(LEN / 3);
    let adopted = front.join(back).expect("they are of one memory").freeze();
    assert!(adopted.arena().is_adopted() && !rig.block(1).arena().is_adopted());
    copied.copy_from(&stream, &adopted).expect("a copy");
    drop(adopted);
    let landed = copied.read(&stream).expect("a read");
    assert!(arrived(landed, &stream) == pattern(LEN, 3));
    assert!(is_back.load(Ordering::Acquire), "nobody uses it any more");
}

pub(crate) fn what_is_no_memory_of_the_device_is_not_adopted(rig: &Rig) {
    let adopt = |address, len| {
        // SAFETY: refused, or never used.
        unsafe { DeviceBufferMut::<u64>::from_raw_parts(&rig.device, address, len, ()) }.map(drop)
    };
    let refused = |answer: Result<(), DeviceError>, words: &str| {
        let error = answer.expect_err("it must not be adopted").to_string();
        assert!(
            error.starts_with("adopting memory was refused by device 0") && error.contains(words),
            "{error}"
        );
    };
    let (block, mine) = (rig.block(LEN), [0_u64; 4]);
    refused(adopt(block.address() + 4, 8), "is no multiple of 8");
    refused(adopt(mine.as_ptr() as u64, mine.len()), "");
    assert_eq!(adopt(block.address(), LEN / 8), Ok(()));
}

/// A software device has no names for its streams, and takes none.
pub(crate) fn streams_have_names_where_their_kind_has(rig: &Rig) {
    let stream = rig.stream();
    assert_eq!(stream.raw().is_null(), rig.device.info().name == "software");
    if stream.raw().is_null() {
        // SAFETY: refused.
        let refused = unsafe { rig.device.adopt_stream(stream.raw(), ()) }.map(drop);
        assert!(matches!(refused, Err(DeviceError::Refused { .. })), "{refused:?}");
        return;
    }
    let mut field = DeviceBufferMut::new(&rig.device, LEN).expect("memory");
    // SAFETY: it is a stream of the device, and stays one as long as the guard.
    let adopted = unsafe { rig.device.adopt_stream(stream.raw(), stream.clone()) }.expect("it is a stream");
    field.write(&adopted, &pattern(LEN, 1)).expect("a write");
    let landed = field.read(&stream).expect("a read");
    assert!(arrived(landed, &stream) == pattern(LEN, 1));
}
