//! Memory of devices: networks that register it move it by themselves, and every other path says that it does not reach it.

#![expect(unsafe_code, reason = "stands in for a device, whose memory no thread touches but its own")]

use crate::backends::{named, open_reach};
use crate::group::{Backend, Group, assert_pattern, fill};
use crate::runner::{Check, Outcome, family};
use chare_lrts::reach::ReachOptions;
use chare_lrts::{DeviceMemory, Get, Held, Lrts, MemoryMut, NodeId, Posted, Put, TransferError};

/// Bytes of a device, which are pages that networks can register.
fn of_device(len: usize, seed: u8) -> MemoryMut {
    let mut bytes = vec![0; len];
    fill(&mut bytes, seed);
    let address = bytes.as_mut_ptr();
    // SAFETY: the vector moves into the owner untouched, its bytes stay where they are, and nobody touches them before it is taken out.
    unsafe { MemoryMut::of_device(address, len, DeviceMemory::Pages, Box::new(bytes)) }
}

/// What the device has.
fn bytes_of(memory: MemoryMut) -> Vec<u8> {
    *memory.into_owner().downcast().expect("it stands for a device")
}

/// Lengths around those at which paths change, and longer than a piece of the network's.
const LENGTHS: [usize; 5] = [1, 4_096, 32_768, 100_001, (4 << 20) + 5];

pub(crate) fn memory_of_devices_goes_by_networks_alone(backend: &dyn Backend) -> Outcome {
    let mut group = match backend.open(2) {
        Ok(group) => group,
        Err(why) => return Outcome::Skipped(why),
    };
    let capabilities = group.nodes[0].lrts.capabilities();
    if !capabilities.get {
        return Outcome::Skipped("it has no get of its own".to_owned());
    }
    for len in LENGTHS {
        if capabilities.device {
            moves(&mut group, len, capabilities.put);
        } else {
            refuses(&mut group, len);
        }
    }
    group.close();
    Outcome::Passed
}

/// Gets and puts from device to device.
fn moves(group: &mut Group, len: usize, puts: bool) {
    let regions = &group.nodes[1].regions;
    let source = regions.register(Held::Source(of_device(len, 3).freeze())).expect("the board has room");
    let target = regions.register(Held::Target(of_device(len + 2, 4))).expect("the board has room");
    let completion = group.get(0, Get { key: source, offset: 0, into: of_device(len + 1, 5), len, token: 9 });
    assert_eq!((completion.token, completion.result), (9, Ok(len)));
    let got = bytes_of(completion.memory.expect("a get's memory comes back"));
    assert_pattern(&got[..len], 0, 3);
    assert_pattern(&got[len..], len, 5);
    let rest =
        group.get(0, Get { key: source, offset: 1, into: of_device(len - 1, 5), len: len - 1, token: 9 });
    assert_eq!(rest.result, Ok(len - 1));
    assert_pattern(&bytes_of(rest.memory.expect("a get's memory comes back")), 1, 3);
    let beyond = group.get(0, Get { key: source, offset: 1, into: of_device(len, 5), len, token: 9 });
    assert!(matches!(beyond.result, Err(TransferError::OutOfRange { .. })), "{beyond:?}");
    if puts {
        let from = of_device(len, 6).freeze();
        assert_eq!(group.put(0, Put { key: target, offset: 1, from, token: 9 }).result, Ok(len));
    }
    group.nodes[1].end(&source);
    let Held::Target(memory) = group.nodes[1].end(&target) else { panic!("it was a target") };
    let bytes = bytes_of(memory);
    if puts {
        assert_pattern(&bytes[..1], 0, 4);
        assert_pattern(&bytes[1..=len], 0, 6);
        assert_pattern(&bytes[len + 1..], len + 1, 4);
    }
}

/// Regions of a device are told of as such, and stay as they are.
fn refuses(group: &mut Group, len: usize) {
    let regions = &group.nodes[1].regions;
    let target = regions.register(Held::Target(of_device(len, 4))).expect("the board has room");
    let out_of_reach = TransferError::DeviceMemory(NodeId(1));
    assert_eq!(group.get_bytes(0, target, 0, len).expect_err("it is out of reach"), out_of_reach);
    if group.nodes[0].lrts.capabilities().put {
        let from = group.nodes[0].memory(len, 3).freeze();
        assert_eq!(group.put_bytes(0, target, 0, from), Err(out_of_reach));
    }
    let Held::Target(memory) = group.nodes[1].end(&target) else { panic!("it was a target") };
    assert_pattern(&bytes_of(memory), 0, 4);
}

/// Where no network registers it, memory of a device at this end is given back.
fn no_path_takes_what_no_network_does() -> Outcome {
    for options in [ReachOptions::default(), named("emulated"), named("tcp")] {
        let reaches = open_reach(2, &options).expect("the options fit this host");
        assert!(!reaches[0].capabilities().device && !reaches[0].reaches_devices(NodeId(1)));
        for peer in [NodeId(0), NodeId(1)] {
            let held = Held::Source(of_device(100, 3).freeze());
            let key = reaches[peer.index()].regions().register(held).expect("the board has room");
            let posted = reaches[0].get(Get { key, offset: 0, into: of_device(100, 5), len: 100, token: 9 });
            let Ok(Posted::Done(completion)) = posted else { panic!("it is over at once: {posted:?}") };
            assert_eq!(completion.result, Err(TransferError::DeviceMemory(peer)));
            assert_pattern(&bytes_of(completion.memory.expect("it comes back")), 0, 5);
        }
    }
    Outcome::Passed
}

pub(crate) fn checks() -> Vec<Check> {
    family("direct", &[("no_path_takes_what_no_network_does", no_path_takes_what_no_network_does)])
}
