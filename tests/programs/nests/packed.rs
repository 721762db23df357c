//! Packed streams: MPI's and ours must be equal, and so must be what either unpacks.

use chare_layout::{Raw, pack, unpack};
use chare_mpi_sys::Datatype;

/// Bytes of the buffer in front of what is selected, and behind it.
const MARGIN: i64 = 5;

/// Compares the streams, and what both make of a stream if the layout may be a target; says what differs.
pub(crate) fn compare(datatype: Datatype, raw: &Raw, is_target: bool) -> Result<(), String> {
    let datatype = datatype.commit().map_err(|cause| cause.to_string())?;
    // MPI counts from the start of a datatype, which may lie behind its first byte.
    let at = (MARGIN - raw.origin()).max(0);
    let end = (at + raw.origin() + raw.span() as i64).max(at) + MARGIN;
    let (at, len) = (at as usize, end as usize);
    let raw = raw.shifted(at as i64).map_err(|cause| cause.to_string())?;

    let buffer = filled(len);
    let mut ours = vec![0; raw.bytes() as usize];
    pack(&raw, &buffer, &mut ours).map_err(|cause| cause.to_string())?;
    let theirs = datatype.pack(&buffer, at).map_err(|cause| cause.to_string())?;
    if ours != theirs {
        return Err(format!("MPI packs {theirs:?}, chare-layout {ours:?}, of {buffer:?} from {at} on"));
    }
    if is_target {
        let (mut our_buffer, mut their_buffer) = (vec![0; len], vec![0; len]);
        unpack(&raw, &ours, &mut our_buffer).map_err(|cause| cause.to_string())?;
        datatype.unpack(&ours, &mut their_buffer, at).map_err(|cause| cause.to_string())?;
        if our_buffer != their_buffer {
            return Err(format!("MPI unpacks {their_buffer:?}, chare-layout {our_buffer:?}, of {ours:?}"));
        }
    }
    Ok(())
}

/// Bytes that differ from their neighbours, near and far, and from zero.
fn filled(len: usize) -> Vec<u8> {
    (0..len).map(|place| (place * 167 + place / 255 * 13) as u8 | 1).collect()
}
