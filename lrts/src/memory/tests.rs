//! Memory of the heap, and of devices.

use super::*;

#[test]
fn what_the_heap_cannot_give_is_none() {
    for len in [1 << 47, isize::MAX as usize, usize::MAX - 64, usize::MAX] {
        assert!(MemoryMut::try_heap_zeroed(len).is_none(), "{len} bytes");
    }
}

#[test]
fn memory_of_the_heap_is_aligned_and_zero() {
    for len in [0, 1, 63, 64, 65, 1 << 20] {
        let memory = MemoryMut::try_heap_zeroed(len).expect("there is that much");
        assert_eq!((memory.len(), memory.address() as usize % 64), (len, 0));
        assert!(memory.as_slice().iter().all(|byte| *byte == 0));
    }
}

#[test]
fn a_copy_on_the_heap_is_aligned_and_the_same() {
    for len in [0, 1, 63, 64, 65, 5000] {
        let bytes: Vec<u8> = (0..len).map(|byte| byte as u8).collect();
        let memory = MemoryMut::heap_copy_of(&bytes);
        assert_eq!(memory.address() as usize % 64, 0);
        assert_eq!(memory.as_slice(), bytes);
    }
}

#[test]
fn long_heap_memory_costs_nothing_before_it_is_touched() {
    let resident_kib = || -> usize {
        let status = std::fs::read_to_string("/proc/self/status").expect("/proc is mounted");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    };
    let before = resident_kib();
    let memory = MemoryMut::heap_zeroed(1 << 30);
    assert!(resident_kib() < before + (256 << 10), "zeros are written");
    assert!(memory.address().addr().is_multiple_of(HeapBlock::ALIGNMENT));
}

/// Memory of a device that nobody has.
fn of_device(device: DeviceMemory) -> MemoryMut {
    let address = std::ptr::without_provenance_mut(4_096);
    // SAFETY: nobody touches it; no network is told of it.
    unsafe { MemoryMut::of_device(address, 100, device, Box::new("its owner")) }
}

#[test]
fn parts_of_memory_of_a_device_lie_behind_its_start() {
    let descriptor = rustix::fs::memfd_create("chare-test", rustix::fs::MemfdFlags::CLOEXEC);
    let descriptor = Arc::new(descriptor.expect("the kernel has memory"));
    let memory = of_device(DeviceMemory::DmaBuf { descriptor, offset: 1_000 });
    assert!(memory.is_of_device() && memory.share().is_none());
    let part = memory.freeze().slice(30, 20).place();
    assert_eq!((part.address.addr(), part.len), (4_126, 20));
    assert!(matches!(part.device, Some(DeviceMemory::DmaBuf { offset: 1_030, .. })), "{part:?}");
    assert!(MemoryMut::heap_zeroed(10).place().device.is_none());
    let owner = of_device(DeviceMemory::Pages).into_owner().downcast::<&str>();
    assert_eq!(*owner.expect("it is the one"), "its owner");
}

#[test]
#[should_panic(expected = "no thread of the host touches memory of a device")]
fn memory_of_a_device_shows_no_bytes() {
    let _ = of_device(DeviceMemory::Pages).freeze().as_slice();
}
