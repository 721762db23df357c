//! Handshakes of strangers: nobody without the key is believed.

use chare_lrts::NodeId;
use chare_lrts::fuzzing;

pub(crate) fn run(bytes: &[u8]) {
    let Some((what, bytes)) = bytes.split_first() else { return };
    match what % 3 {
        0 => assert!(!fuzzing::accept(bytes), "a stranger was accepted"),
        1 => assert!(!fuzzing::connect(bytes), "a stranger was connected to"),
        // It has the key; what it says then is still checked.
        _ => {
            let node = fuzzing::greet(bytes);
            assert!(node.is_none() || bytes.len() == 15, "a hello of {} bytes for {node:?}", bytes.len());
        }
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let hello = [&[3_u32, 1, 0].map(u32::to_le_bytes).concat()[..], &[0, 1, 0]].concat();
    assert_eq!(fuzzing::greet(&hello), Some(NodeId(1)), "the seed is a good hello");
    let message = [&48_u16.to_le_bytes()[..], &[9; 48]].concat();
    vec![[&[0], &message[..]].concat(), [&[1], &message[..]].concat(), [&[2], &hello[..]].concat()]
}
