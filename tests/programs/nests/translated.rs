//! Nests in MPI's words: the same constructors, called in an MPI, and each part compared as soon as it is made: MPI's packed stream and ours must
//! be equal, and so must be what either unpacks.

use crate::faults;
use crate::oracle::Type;
use crate::parts::{Stop, parts, raw};
use chare_layout::{Raw, pack, unpack};
use chare_mpi_sys::{Abi, Bounds, Datatype, Dimension, Distribution, MpiError, Order};
use std::ffi::c_int;

/// The same nest as MPI makes it, of bytes.
pub(crate) fn translate(abi: Abi, byte: &Datatype, of: &Type) -> Result<Datatype, Stop> {
    if let Some(why) = faults::crash(abi, of) {
        return Err(Stop::Excused(why));
    }
    let parts: Result<Vec<Datatype>, Stop> =
        parts(of).into_iter().map(|part| translate(abi, byte, part)).collect();
    let parts = parts?;
    let made = construct(byte, of, &parts).and_then(|datatype| Ok((differences(of, &datatype)?, datatype)));
    let how = match made {
        Ok((None, datatype)) => return Ok(datatype),
        Ok((Some(how), _)) => how,
        Err(cause) => cause.to_string(),
    };
    Err(Stop::at(faults::difference(abi, of), format!("{how}, of {of:?}")))
}

/// What MPI says otherwise about a datatype, if anything.
fn differences(of: &Type, datatype: &Datatype) -> Result<Option<String>, MpiError> {
    let raw = raw(of);
    let theirs = (datatype.size()?, datatype.bounds()?, datatype.true_bounds()?);
    let bounds = |lower: i64, extent: i64| Bounds { lower: lower as isize, extent: extent as isize };
    let ours =
        (int(raw.bytes()), bounds(raw.lower_bound(), raw.extent()), bounds(raw.origin(), raw.span() as i64));
    let how = || format!("size, bounds and true bounds are to MPI {theirs:?}, to chare-layout {ours:?}");
    Ok((theirs != ours).then(how))
}

fn construct(byte: &Datatype, of: &Type, parts: &[Datatype]) -> Result<Datatype, MpiError> {
    match of {
        Type::Bytes(len) => byte.contiguous(int(*len)),
        Type::Contiguous(count, _) => parts[0].contiguous(int(*count)),
        Type::Vector(count, len, stride, _) => parts[0].vector(int(*count), int(*len), int(*stride)),
        Type::Hvector(count, len, stride, _) => parts[0].hvector(int(*count), int(*len), *stride as isize),
        Type::Indexed(list, _) => parts[0].indexed(&blocks(list)),
        Type::Hindexed(list, _) => {
            let list: Vec<_> = list.iter().map(|(len, at)| (int(*len), *at as isize)).collect();
            parts[0].hindexed(&list)
        }
        Type::IndexedBlock(len, places, _) => {
            let places: Vec<_> = places.iter().map(|at| int(*at)).collect();
            parts[0].indexed_block(int(*len), &places)
        }
        Type::HindexedBlock(len, places, _) => {
            let places: Vec<_> = places.iter().map(|at| *at as isize).collect();
            parts[0].hindexed_block(int(*len), &places)
        }
        // MPI's values cannot be of no MPI, as a struct without fields would be.
        Type::Structure(fields) if fields.is_empty() => byte.contiguous(0),
        Type::Structure(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .zip(parts)
                .map(|(field, part)| (int(field.0), field.1 as isize, part))
                .collect();
            Datatype::structure(&fields)
        }
        Type::Subarray(dims, order, _) => {
            let dims: Vec<_> = dims
                .iter()
                .map(|(before, len, behind)| (int(before + len + behind), int(*len), int(*before)))
                .collect();
            parts[0].subarray(&dims, order_of(*order))
        }
        Type::Darray(dims, order, _) => {
            let dims: Vec<_> = dims.iter().map(dimension).collect();
            parts[0].darray(&dims, order_of(*order))
        }
        Type::Resized(lower, extent, _) => {
            parts[0].resized(Bounds { lower: *lower as isize, extent: *extent as isize })
        }
        Type::Then(..) => Datatype::structure(&[(1, 0, &parts[0]), (1, 0, &parts[1])]),
        Type::Shifted(by, _) => parts[0].hindexed(&[(1, *by as isize)]),
        // Elements keep the distance that they have as bytes, and the whole the bounds that it has as bytes.
        Type::Of(element, list, _) => {
            let element = int(*element);
            let bounds = byte.contiguous(element)?.indexed(&blocks(list))?.bounds()?;
            let element = Bounds { lower: 0, extent: element as isize };
            parts[0].resized(element)?.indexed(&blocks(list))?.resized(bounds)
        }
    }
}

fn blocks(blocks: &[(u64, i64)]) -> Vec<(c_int, c_int)> {
    blocks.iter().map(|(len, at)| (int(*len), int(*at))).collect()
}

fn dimension(of: &chare_layout::Distributed) -> Dimension {
    let distribution = match of.distribution {
        chare_layout::Distribution::Block => Distribution::Block,
        chare_layout::Distribution::Cyclic(len) => Distribution::Cyclic(int(len)),
        chare_layout::Distribution::None => Distribution::None,
    };
    Dimension { size: int(of.size), distribution, processes: int(of.processes), process: int(of.process) }
}

fn order_of(order: chare_layout::Order) -> Order {
    match order {
        chare_layout::Order::C => Order::C,
        chare_layout::Order::Fortran => Order::Fortran,
    }
}

fn int(number: impl TryInto<c_int>) -> c_int {
    number.try_into().ok().expect("types of tests are small")
}

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
