//! The oracle: type maps as the MPI standard defines them, written without a look at the crate: the place of each byte, in order,
//! and two bounds.

use chare_layout::{Distributed, Distribution, LayoutError, Order, Raw};
use proptest::prelude::*;

/// Type maps of more bytes are not worth their time.
const BYTES_MAX: usize = 6_000;

#[derive(Debug, Clone)]
pub(crate) struct Map {
    pub(crate) bytes: Vec<i64>,
    pub(crate) lower: i64,
    pub(crate) upper: i64,
}

impl Map {
    const VOID: Self = Self { bytes: Vec::new(), lower: 0, upper: 0 };

    fn is_void(&self) -> bool {
        self.bytes.is_empty() && self.lower == 0 && self.upper == 0
    }

    fn extent(&self) -> i64 {
        self.upper - self.lower
    }

    /// Copies of maps at places, one after the other.
    fn copies<'a>(copies: impl IntoIterator<Item = (i64, &'a Self)>) -> Option<Self> {
        let mut bounds: Option<(i64, i64)> = None;
        let mut bytes = Vec::new();
        for (at, map) in copies {
            if map.is_void() {
                continue;
            }
            bytes.extend(map.bytes.iter().map(|byte| byte + at));
            let (low, high) = bounds.unwrap_or((i64::MAX, i64::MIN));
            bounds = Some((low.min(map.lower + at), high.max(map.upper + at)));
            if bytes.len() > BYTES_MAX {
                return None;
            }
        }
        Some(bounds.map_or(Self::VOID, |(lower, upper)| Self { bytes, lower, upper }))
    }

    fn blocks(&self, blocks: impl IntoIterator<Item = (u64, i64)>) -> Option<Self> {
        let extent = self.extent();
        let places =
            blocks.into_iter().flat_map(|(len, at)| (0..len as i64).map(move |one| at + one * extent));
        Self::copies(places.map(|at| (at, self)))
    }

    /// Maximal pieces.
    pub(crate) fn runs(&self) -> Vec<(i64, u64)> {
        let mut runs: Vec<(i64, u64)> = Vec::new();
        for byte in &self.bytes {
            match runs.last_mut() {
                Some((at, len)) if *at + *len as i64 == *byte => *len += 1,
                _ => runs.push((*byte, 1)),
            }
        }
        runs
    }

    pub(crate) fn is_injective(&self) -> bool {
        let mut bytes = self.bytes.clone();
        bytes.sort_unstable();
        bytes.windows(2).all(|pair| pair[0] != pair[1])
    }
}

/// A type written down.
#[derive(Debug, Clone)]
pub(crate) enum Type {
    Bytes(u64),
    Contiguous(u64, Box<Type>),
    Vector(u64, u64, i64, Box<Type>),
    Hvector(u64, u64, i64, Box<Type>),
    Indexed(Vec<(u64, i64)>, Box<Type>),
    Hindexed(Vec<(u64, i64)>, Box<Type>),
    IndexedBlock(u64, Vec<i64>, Box<Type>),
    HindexedBlock(u64, Vec<i64>, Box<Type>),
    Structure(Vec<(u64, i64, Type)>),
    /// For each dimension: before the block, the block, behind it.
    Subarray(Vec<(u64, u64, u64)>, Order, Box<Type>),
    Darray(Vec<Distributed>, Order, Box<Type>),
    Resized(i64, i64, Box<Type>),
    Then(Box<Type>, Box<Type>),
    Shifted(i64, Box<Type>),
    /// Elements of so many bytes at these places, each as the inner type.
    Of(u64, Vec<(u64, i64)>, Box<Type>),
}

impl Type {
    pub(crate) fn raw(&self) -> Result<Raw, LayoutError> {
        let split = |blocks: &[(u64, i64)]| -> (Vec<u64>, Vec<i64>) { blocks.iter().copied().unzip() };
        match self {
            Self::Bytes(len) => Raw::bytes_of(*len),
            Self::Contiguous(count, inner) => inner.raw()?.contiguous(*count),
            Self::Vector(count, len, stride, inner) => inner.raw()?.vector(*count, *len, *stride),
            Self::Hvector(count, len, stride, inner) => inner.raw()?.hvector(*count, *len, *stride),
            Self::Indexed(blocks, inner) => inner.raw()?.indexed(&split(blocks).0, &split(blocks).1),
            Self::Hindexed(blocks, inner) => inner.raw()?.hindexed(&split(blocks).0, &split(blocks).1),
            Self::IndexedBlock(len, places, inner) => inner.raw()?.indexed_block(*len, places),
            Self::HindexedBlock(len, places, inner) => inner.raw()?.hindexed_block(*len, places),
            Self::Structure(fields) => {
                let types = fields.iter().map(|field| field.2.raw()).collect::<Result<Vec<_>, _>>()?;
                let fields: Vec<_> =
                    fields.iter().zip(&types).map(|(field, raw)| (field.0, field.1, raw)).collect();
                Raw::structure(&fields)
            }
            Self::Subarray(dims, order, inner) => {
                let sizes: Vec<u64> = dims.iter().map(|dim| dim.0 + dim.1 + dim.2).collect();
                let lens: Vec<u64> = dims.iter().map(|dim| dim.1).collect();
                let starts: Vec<u64> = dims.iter().map(|dim| dim.0).collect();
                inner.raw()?.subarray(&sizes, &lens, &starts, *order)
            }
            Self::Darray(dims, order, inner) => inner.raw()?.darray(dims, *order),
            Self::Resized(lower, extent, inner) => inner.raw()?.resized(*lower, *extent),
            Self::Then(first, second) => first.raw()?.then(&second.raw()?),
            Self::Shifted(by, inner) => inner.raw()?.shifted(*by),
            Self::Of(element, blocks, inner) => {
                let (lens, places) = split(blocks);
                Raw::bytes_of(*element)?.indexed(&lens, &places)?.of(*element, &inner.raw()?)
            }
        }
    }

    /// None if it is too long.
    pub(crate) fn map(&self) -> Option<Map> {
        let scaled = |blocks: &[(u64, i64)], by: i64| -> Vec<(u64, i64)> {
            blocks.iter().map(|(len, at)| (*len, at * by)).collect()
        };
        match self {
            Self::Bytes(len) => Some(Map { bytes: (0..*len as i64).collect(), lower: 0, upper: *len as i64 }),
            Self::Contiguous(count, inner) => inner.map()?.blocks([(*count, 0)]),
            Self::Vector(count, len, stride, inner) => {
                let inner = inner.map()?;
                let extent = inner.extent();
                inner.blocks((0..*count as i64).map(|block| (*len, block * stride * extent)))
            }
            Self::Hvector(count, len, stride, inner) => {
                inner.map()?.blocks((0..*count as i64).map(|block| (*len, block * stride)))
            }
            Self::Indexed(blocks, inner) => {
                let inner = inner.map()?;
                inner.blocks(scaled(blocks, inner.extent()))
            }
            Self::Hindexed(blocks, inner) => inner.map()?.blocks(blocks.iter().copied()),
            Self::IndexedBlock(len, places, inner) => {
                let inner = inner.map()?;
                inner.blocks(places.iter().map(|at| (*len, at * inner.extent())))
            }
            Self::HindexedBlock(len, places, inner) => {
                inner.map()?.blocks(places.iter().map(|at| (*len, *at)))
            }
            Self::Structure(fields) => {
                let maps = fields.iter().map(|field| field.2.map()).collect::<Option<Vec<_>>>()?;
                let places = fields.iter().zip(&maps).flat_map(|((count, at, _), map)| {
                    (0..*count as i64).map(move |one| (at + one * map.extent(), map))
                });
                Map::copies(places)
            }
            Self::Subarray(dims, order, inner) => {
                let dims: Vec<_> = dims
                    .iter()
                    .map(|(before, len, behind)| {
                        (before + len + behind, (*before..before + len).collect::<Vec<_>>())
                    })
                    .collect();
                array(&dims, *order, &inner.map()?)
            }
            Self::Darray(dims, order, inner) => {
                let owned = |dim: &Distributed| -> Vec<u64> {
                    let block = match dim.distribution {
                        Distribution::Block => dim.size.div_ceil(dim.processes).max(1),
                        Distribution::Cyclic(block) => block,
                        Distribution::None => dim.size.max(1),
                    };
                    (0..dim.size).filter(|index| (index / block) % dim.processes == dim.process).collect()
                };
                let dims: Vec<_> = dims.iter().map(|dim| (dim.size, owned(dim))).collect();
                array(&dims, *order, &inner.map()?)
            }
            Self::Resized(lower, extent, inner) => {
                Some(Map { lower: *lower, upper: lower + extent, ..inner.map()? })
            }
            Self::Then(first, second) => Map::copies([(0, &first.map()?), (0, &second.map()?)]),
            Self::Shifted(by, inner) => Map::copies([(*by, &inner.map()?)]),
            Self::Of(element, blocks, inner) => {
                let len = *element as i64;
                let whole = Map { bytes: (0..len).collect(), lower: 0, upper: len };
                let outer = whole.blocks(scaled(blocks, len))?;
                let inner = inner.map()?;
                let starts = outer.bytes.iter().step_by(*element as usize);
                let filled = Map::copies(starts.map(|at| (*at, &inner)))?;
                Some(Map { bytes: filled.bytes, ..outer })
            }
        }
    }
}

/// The selected indices of an array of such elements, in its order; its bounds are the array's.
fn array(dims: &[(u64, Vec<u64>)], order: Order, inner: &Map) -> Option<Map> {
    let mut slow_first: Vec<_> = dims.iter().collect();
    if order == Order::Fortran {
        slow_first.reverse();
    }
    let mut places = vec![0_i64];
    let mut whole = 1;
    for (size, selected) in slow_first {
        let all =
            places.iter().flat_map(|place| selected.iter().map(move |at| place * *size as i64 + *at as i64));
        places = all.collect();
        whole *= *size as i64;
        if places.len() > BYTES_MAX {
            return None;
        }
    }
    let extent = inner.extent();
    let map = Map::copies(places.iter().map(|place| (place * extent, inner)))?;
    Some(Map { bytes: map.bytes, lower: 0, upper: whole * extent })
}

/// Seldom none: all around it would vanish.
fn few() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 20 => 1_u64..5]
}

fn order() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::C), Just(Order::Fortran)]
}

fn blocks() -> impl Strategy<Value = Vec<(u64, i64)>> {
    prop::collection::vec((few(), -6_i64..20), 0..5)
}

fn distributed() -> impl Strategy<Value = Distributed> {
    let distribution = prop_oneof![
        Just(Distribution::Block),
        (1_u64..4).prop_map(Distribution::Cyclic),
        Just(Distribution::None)
    ];
    (0_u64..9, distribution, 1_u64..4, 0_u64..3).prop_map(|(size, distribution, processes, process)| {
        let processes = if distribution == Distribution::None { 1 } else { processes };
        Distributed { size, distribution, processes, process: process % processes }
    })
}

/// Types of up to five constructors within each other.
pub(crate) fn types() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        1 => Just(Type::Bytes(0)),
        8 => prop::sample::select(vec![1_u64, 2, 3, 4, 8, 12, 16, 24]).prop_map(Type::Bytes),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let places = || prop::collection::vec(-40_i64..80, 0..6);
        prop_oneof![
            (few(), boxed()).prop_map(|(count, inner)| Type::Contiguous(count, inner)),
            (few(), few(), -4_i64..7, boxed())
                .prop_map(|(count, len, stride, inner)| Type::Vector(count, len, stride, inner)),
            (few(), few(), -60_i64..90, boxed())
                .prop_map(|(count, len, stride, inner)| Type::Hvector(count, len, stride, inner)),
            (blocks(), boxed()).prop_map(|(blocks, inner)| Type::Indexed(blocks, inner)),
            (blocks(), boxed()).prop_map(|(blocks, inner)| Type::Hindexed(blocks, inner)),
            (few(), places(), boxed())
                .prop_map(|(len, places, inner)| Type::IndexedBlock(len, places, inner)),
            (few(), places(), boxed())
                .prop_map(|(len, places, inner)| Type::HindexedBlock(len, places, inner)),
            prop::collection::vec((few(), -20_i64..60, inner.clone()), 0..4).prop_map(Type::Structure),
            (prop::collection::vec((0_u64..3, few(), 0_u64..3), 1..4), order(), boxed())
                .prop_map(|(dims, order, inner)| Type::Subarray(dims, order, inner)),
            (prop::collection::vec(distributed(), 1..4), order(), boxed())
                .prop_map(|(dims, order, inner)| Type::Darray(dims, order, inner)),
            (-20_i64..20, -10_i64..80, boxed())
                .prop_map(|(lower, extent, inner)| Type::Resized(lower, extent, inner)),
            (boxed(), boxed()).prop_map(|(first, second)| Type::Then(first, second)),
            (-30_i64..30, boxed()).prop_map(|(by, inner)| Type::Shifted(by, inner)),
            (1_u64..9, blocks(), boxed())
                .prop_map(|(element, blocks, inner)| Type::Of(element, blocks, inner)),
        ]
    })
}
