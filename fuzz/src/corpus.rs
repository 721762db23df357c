//! Packed inputs of a target: `corpus/NAME.inputs`, what fuzzing found, one file instead of a thousand.
//!
//! Each input is its length, four bytes with the least first, and its bytes; they stand in order, each once, so that the same inputs
//! make the same file.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the inputs of a target are kept.
#[must_use]
pub fn path_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(format!("{name}.inputs"))
}

/// The inputs that are kept of a target; none where fuzzing has found nothing yet.
///
/// # Errors
/// If the file is not readable, or ends within an input.
pub fn read(name: &str) -> io::Result<Vec<Vec<u8>>> {
    match fs::read(path_of(name)) {
        Ok(packed) => unpack(&packed),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Keeps these inputs of a target, instead of those that were kept.
///
/// # Errors
/// If the file is not writable, or an input has more than 4 GiB.
pub fn write(name: &str, inputs: &BTreeSet<Vec<u8>>) -> io::Result<()> {
    fs::write(path_of(name), pack(inputs)?)
}

fn pack(inputs: &BTreeSet<Vec<u8>>) -> io::Result<Vec<u8>> {
    let mut packed = Vec::new();
    for input in inputs {
        let length = u32::try_from(input.len()).map_err(io::Error::other)?;
        packed.extend(length.to_le_bytes());
        packed.extend(input);
    }
    Ok(packed)
}

fn unpack(mut packed: &[u8]) -> io::Result<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    while !packed.is_empty() {
        let (input, rest) = first(packed).ok_or(io::ErrorKind::UnexpectedEof)?;
        inputs.push(input.to_vec());
        packed = rest;
    }
    Ok(inputs)
}

fn first(packed: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = packed.split_first_chunk()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};
    use std::collections::BTreeSet;

    #[test]
    fn what_is_packed_is_unpacked() {
        let inputs = BTreeSet::from([vec![], vec![0], vec![1; 300], b"+p 4".to_vec()]);
        let unpacked = unpack(&pack(&inputs).expect("short")).expect("whole");
        assert!(unpacked.into_iter().eq(inputs));
    }

    #[test]
    fn an_input_that_is_cut_off_is_refused() {
        let packed = pack(&BTreeSet::from([vec![1, 2, 3]])).expect("short");
        (1..packed.len()).for_each(|end| assert!(unpack(&packed[..end]).is_err(), "{end} bytes"));
    }
}
