//! Byte streams of connections: they are cut into frames, or the peer's breach is noticed.

use chare_lrts::fuzzing;

pub(crate) fn run(bytes: &[u8]) {
    let Some((piece, bytes)) = bytes.split_first() else { return };
    let (delivered, _) = fuzzing::frames(bytes, usize::from(*piece) + 1);
    assert!(delivered <= bytes.len(), "{delivered} bytes delivered out of {}", bytes.len());
}

/// A header as it stands on the wire: length, channel.
fn framed(channel: u8, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..], &[channel], body].concat()
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let frames = [framed(0, b""), framed(1, &[7; 40]), framed(0, &[1; 300]), framed(u8::MAX, b"")];
    [3, 255].map(|piece| [&[piece][..], &frames.concat()].concat()).to_vec()
}
