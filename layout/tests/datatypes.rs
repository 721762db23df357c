//! Random datatypes against the bounds that MPI defines: the lowest and highest of all copies, or of those that were said alone, and an
//! extent that is a multiple of the greatest alignment of the basic types where none was said.

use chare_layout::{Datatype, LayoutError, Order, Raw};
use proptest::prelude::*;

/// What MPI keeps of a datatype.
#[derive(Debug, Clone, Default)]
struct Map {
    /// The place of each byte, in order.
    bytes: Vec<i64>,
    /// Bounds, and whether they are markers; none of nothing.
    bounds: Option<(i64, i64, bool)>,
    /// Of each basic type in it.
    alignments: Vec<i64>,
}

impl Map {
    fn extent(&self) -> i64 {
        self.bounds.map_or(0, |(low, high, _)| high - low)
    }

    fn copies<'a>(copies: impl IntoIterator<Item = (i64, &'a Self)>) -> Self {
        let copies: Vec<_> = copies.into_iter().collect();
        let bytes = copies.iter().flat_map(|(at, map)| map.bytes.iter().map(move |byte| byte + at)).collect();
        let alignments = copies.iter().flat_map(|(_, map)| map.alignments.clone()).collect::<Vec<_>>();
        let all: Vec<_> = copies
            .iter()
            .filter_map(|(at, map)| map.bounds.map(|(low, high, is_said)| (low + at, high + at, is_said)))
            .collect();
        let is_said = all.iter().any(|bounds| bounds.2);
        let counted = || all.iter().filter(|bounds| bounds.2 == is_said);
        let bounds = counted().map(|bounds| bounds.0).min().map(|low| {
            let mut high = counted().map(|bounds| bounds.1).max().expect("there is one");
            let epsilon = alignments.iter().copied().max().filter(|_| !is_said).unwrap_or(1);
            while (high - low) % epsilon != 0 {
                high += 1;
            }
            (low, high, is_said)
        });
        Self { bytes, bounds, alignments }
    }

    fn said(self, low: i64, extent: i64) -> Self {
        let is_nothing = self.bytes.is_empty() && (low, extent) == (0, 0);
        Self { bounds: (!is_nothing).then_some((low, low + extent, true)), ..self }
    }
}

/// A datatype written down.
#[derive(Debug, Clone)]
enum Type {
    Basic(usize),
    Contiguous(u64, Box<Type>),
    Vector(u64, u64, i64, Box<Type>),
    Hvector(u64, u64, i64, Box<Type>),
    Indexed(Vec<(u64, i64)>, Box<Type>),
    Hindexed(Vec<(u64, i64)>, Box<Type>),
    IndexedBlock(u64, Vec<i64>, Box<Type>),
    HindexedBlock(u64, Vec<i64>, Box<Type>),
    Structure(Vec<(u64, i64, Type)>),
    Subarray(u64, u64, u64, Box<Type>),
    Resized(i64, i64, Box<Type>),
}

const BASIC: [(i64, i64); 6] = [(1, 1), (2, 2), (4, 4), (8, 8), (12, 4), (24, 8)];

impl Type {
    fn datatype(&self) -> Result<Datatype, LayoutError> {
        let split = |blocks: &[(u64, i64)]| -> (Vec<u64>, Vec<i64>) { blocks.iter().copied().unzip() };
        match self {
            Self::Basic(0) => Ok(Datatype::basic::<u8>()),
            Self::Basic(1) => Ok(Datatype::basic::<i16>()),
            Self::Basic(2) => Ok(Datatype::basic::<f32>()),
            Self::Basic(3) => Ok(Datatype::basic::<f64>()),
            Self::Basic(4) => Ok(Datatype::basic::<[u32; 3]>()),
            Self::Basic(_) => Ok(Datatype::basic::<(u64, f64, u64)>()),
            Self::Contiguous(count, inner) => inner.datatype()?.contiguous(*count),
            Self::Vector(count, len, stride, inner) => inner.datatype()?.vector(*count, *len, *stride),
            Self::Hvector(count, len, stride, inner) => inner.datatype()?.hvector(*count, *len, *stride),
            Self::Indexed(blocks, inner) => inner.datatype()?.indexed(&split(blocks).0, &split(blocks).1),
            Self::Hindexed(blocks, inner) => inner.datatype()?.hindexed(&split(blocks).0, &split(blocks).1),
            Self::IndexedBlock(len, places, inner) => inner.datatype()?.indexed_block(*len, places),
            Self::HindexedBlock(len, places, inner) => inner.datatype()?.hindexed_block(*len, places),
            Self::Structure(fields) => {
                let types = fields.iter().map(|field| field.2.datatype()).collect::<Result<Vec<_>, _>>()?;
                let fields = fields.iter().zip(&types).map(|(field, of)| (field.0, field.1, of));
                Datatype::structure(&fields.collect::<Vec<_>>())
            }
            Self::Subarray(before, len, behind, inner) => {
                inner.datatype()?.subarray(&[before + len + behind], &[*len], &[*before], Order::C)
            }
            Self::Resized(low, extent, inner) => inner.datatype()?.resized(*low, *extent),
        }
    }

    fn map(&self) -> Map {
        let blocks = |inner: &Type, blocks: Vec<(u64, i64)>, by: Option<i64>| {
            let inner = inner.map();
            let (extent, by) = (inner.extent(), by.unwrap_or(inner.extent()));
            let places =
                blocks.iter().flat_map(|(len, at)| (0..*len as i64).map(move |n| at * by + n * extent));
            Map::copies(places.collect::<Vec<_>>().into_iter().map(|at| (at, &inner)))
        };
        let rows = |count: u64, len: u64, stride: i64| (0..count as i64).map(|n| (len, n * stride)).collect();
        match self {
            Self::Basic(number) => {
                let (size, alignment) = BASIC[*number];
                Map {
                    bytes: (0..size).collect(),
                    bounds: Some((0, size, false)),
                    alignments: vec![alignment],
                }
            }
            Self::Contiguous(count, inner) => blocks(inner, vec![(*count, 0)], None),
            Self::Vector(count, len, stride, inner) => blocks(inner, rows(*count, *len, *stride), None),
            Self::Hvector(count, len, stride, inner) => blocks(inner, rows(*count, *len, *stride), Some(1)),
            Self::Indexed(list, inner) => blocks(inner, list.clone(), None),
            Self::Hindexed(list, inner) => blocks(inner, list.clone(), Some(1)),
            Self::IndexedBlock(len, places, inner) => {
                blocks(inner, places.iter().map(|at| (*len, *at)).collect(), None)
            }
            Self::HindexedBlock(len, places, inner) => {
                blocks(inner, places.iter().map(|at| (*len, *at)).collect(), Some(1))
            }
            Self::Structure(fields) => {
                let maps: Vec<Map> = fields.iter().map(|field| field.2.map()).collect();
                Map::copies(fields.iter().zip(&maps).flat_map(|((count, at, _), map)| {
                    (0..*count as i64).map(move |one| (at + one * map.extent(), map))
                }))
            }
            Self::Subarray(before, len, behind, inner) => {
                let extent = inner.map().extent();
                let whole = (before + len + behind) as i64 * extent;
                blocks(inner, vec![(*len, *before as i64)], None).said(0, whole)
            }
            Self::Resized(low, extent, inner) => inner.map().said(*low, *extent),
        }
    }
}

fn types() -> impl Strategy<Value = Type> {
    (0..BASIC.len()).prop_map(Type::Basic).prop_recursive(4, 24, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let few = || prop_oneof![1 => Just(0), 20 => 1_u64..4];
        let blocks = || prop::collection::vec((few(), -6_i64..20), 0..4);
        let places = || prop::collection::vec(-20_i64..40, 0..4);
        prop_oneof![
            1 => (few(), boxed()).prop_map(|(count, inner)| Type::Contiguous(count, inner)),
            1 => (few(), few(), -4_i64..7, boxed())
                .prop_map(|(count, len, stride, inner)| Type::Vector(count, len, stride, inner)),
            1 => (few(), few(), -60_i64..90, boxed())
                .prop_map(|(count, len, stride, inner)| Type::Hvector(count, len, stride, inner)),
            1 => (blocks(), boxed()).prop_map(|(blocks, inner)| Type::Indexed(blocks, inner)),
            1 => (blocks(), boxed()).prop_map(|(blocks, inner)| Type::Hindexed(blocks, inner)),
            1 => (few(), places(), boxed())
                .prop_map(|(len, places, inner)| Type::IndexedBlock(len, places, inner)),
            1 => (few(), places(), boxed())
                .prop_map(|(len, places, inner)| Type::HindexedBlock(len, places, inner)),
            4 => prop::collection::vec((few(), -20_i64..60, inner.clone()), 0..4).prop_map(Type::Structure),
            1 => (0_u64..3, few(), 0_u64..3, boxed())
                .prop_map(|(before, len, behind, inner)| Type::Subarray(before, len, behind, inner)),
            1 => (-20_i64..20, -10_i64..80, boxed())
                .prop_map(|(low, extent, inner)| Type::Resized(low, extent, inner)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn bounds_are_padded_and_marked_as_mpi_defines(of in types()) {
        let map = of.map();
        let datatype = of.datatype().expect("small types fit");
        let places: Vec<i64> =
            datatype.runs().flat_map(|(at, len)| at..at + len as i64).collect();
        prop_assert_eq!(places, map.bytes.clone());
        let (low, high, is_said) = map.bounds.unwrap_or((0, 0, true));
        prop_assert_eq!((datatype.lower_bound(), datatype.extent()), (low, high - low));
        let alignment = map.alignments.iter().copied().max().unwrap_or(1);
        prop_assert!(is_said || datatype.extent() % alignment == 0);
    }
}

/// What compilers of C do with the same fields, they do in the same way.
#[test]
fn structs_are_as_long_as_a_compiler_makes_them() -> Result<(), LayoutError> {
    #[repr(C)]
    struct Entry {
        key: u8,
        value: f64,
        short: u16,
        flag: u8,
    }
    let (byte, double, short) = (Datatype::basic::<u8>(), Datatype::basic::<f64>(), Datatype::basic::<u16>());
    let at = |place: usize| place as i64;
    let entry = Datatype::structure(&[
        (1, at(std::mem::offset_of!(Entry, key)), &byte),
        (1, at(std::mem::offset_of!(Entry, value)), &double),
        (1, at(std::mem::offset_of!(Entry, short)), &short),
        (1, at(std::mem::offset_of!(Entry, flag)), &byte),
    ])?;
    assert_eq!((entry.extent(), entry.alignment()), (size_of::<Entry>() as i64, align_of::<Entry>() as u64));
    assert_eq!(entry.bytes(), 12, "the padding is not selected");
    let tail = Datatype::structure(&[(1, 0, &double), (1, 8, &byte)])?;
    assert_eq!((tail.extent(), tail.contiguous(3)?.extent()), (16, 48));
    assert_eq!(Raw::structure(&[(1, 0, &double), (1, 8, &byte)])?.extent(), 9, "bytes have no alignment");
    Ok(())
}

#[test]
fn bounds_that_were_said_are_not_padded_and_count_alone() -> Result<(), LayoutError> {
    let (byte, double) = (Datatype::basic::<u8>(), Datatype::basic::<f64>());
    let odd = double.resized(-1, 11)?;
    assert_eq!((odd.contiguous(2)?.lower_bound(), odd.contiguous(2)?.extent()), (-1, 22));
    let mixed = Datatype::structure(&[(1, 100, &double), (1, 8, &odd), (1, 300, &byte)])?;
    assert_eq!((mixed.lower_bound(), mixed.extent()), (7, 11));
    let array = byte.subarray(&[7], &[2], &[3], Order::C)?;
    let around = Datatype::structure(&[(1, 0, &double), (1, 0, &array)])?;
    assert_eq!((around.lower_bound(), around.extent(), around.span()), (0, 7, 8));
    Ok(())
}

#[test]
fn alignment_that_reaches_beyond_64_bits_is_refused_in_words() -> Result<(), LayoutError> {
    let double = Datatype::basic::<f64>();
    let far = double.hindexed(&[1], &[i64::MAX - 8])?;
    assert!(far.extent() == 8 && Datatype::basic::<u8>().hindexed(&[1, 1], &[0, i64::MAX - 1]).is_ok());
    let byte = Datatype::basic::<u8>();
    let refused = Datatype::structure(&[(1, 0, &double), (1, i64::MAX - 1, &byte)]);
    assert!(refused.expect_err("padded, it does not fit").to_string().contains("64 bits"));
    Ok(())
}
