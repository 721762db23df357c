//! Tests of values: they come back, whatever they consist of; runs of numbers have the bytes of their elements.

#![expect(clippy::disallowed_types, reason = "programs send them")]

use super::{comes_back, encode};
use chare_lrts::codec::{self, CodecError, DEPTH_MAX};
use proptest::collection::{btree_map, hash_map, vec};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) enum Shape {
    Nothing,
    Disc(f64),
    Line([f32; 2], [f32; 2]),
    Path { name: String, points: Vec<[f64; 3]>, closed: Option<bool> },
    Group(Vec<Shape>),
    Boxed(Box<Shape>),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Everything {
    shapes: Vec<Shape>,
    names: BTreeMap<String, Vec<u8>>,
    places: HashMap<i32, (u64, char)>,
    wide: Vec<i128>,
    nested: Vec<Vec<Vec<u16>>>,
    maybe: Option<Vec<usize>>,
    result: Result<(), String>,
    nothing: PhantomData<u8>,
    pairs: Vec<(u8, f32)>,
    units: Vec<()>,
    queue: VecDeque<f64>,
    boxed: Box<[isize]>,
}

pub(super) fn shape() -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![
        Just(Shape::Nothing),
        (-1e9..1e9).prop_map(Shape::Disc),
        any::<([i16; 2], [i16; 2])>()
            .prop_map(|(from, to)| Shape::Line(from.map(f32::from), to.map(f32::from))),
        (".{0,9}", vec(any::<[i32; 3]>(), 0..9), any::<Option<bool>>()).prop_map(|(name, points, closed)| {
            let points = points.into_iter().map(|point| point.map(f64::from)).collect();
            Shape::Path { name, points, closed }
        }),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Shape::Group),
            inner.prop_map(|inner| Shape::Boxed(Box::new(inner)))
        ]
    })
}

pub(super) fn everything() -> impl Strategy<Value = Everything> {
    let first = (
        vec(shape(), 0..4),
        btree_map(".{0,5}", vec(any::<u8>(), 0..40), 0..4),
        hash_map(any::<i32>(), any::<(u64, char)>(), 0..4),
        vec(any::<i128>(), 0..9),
        vec(vec(vec(any::<u16>(), 0..5), 0..4), 0..4),
        any::<Option<Vec<usize>>>(),
    );
    let second = (
        prop_oneof![Just(Ok(())), ".{0,9}".prop_map(Err)],
        vec(any::<(u8, i8)>().prop_map(|(a, b)| (a, f32::from(b))), 0..9),
        (0usize..4).prop_map(|count| vec![(); count]),
        vec(-1.0..1.0, 0..9),
        vec(any::<isize>(), 0..9),
    );
    (first, second).prop_map(|(first, second)| {
        let (shapes, names, places, wide, nested, maybe) = first;
        let (result, pairs, units, queue, boxed) = second;
        Everything {
            shapes,
            names,
            places,
            wide,
            nested,
            maybe,
            result,
            nothing: PhantomData,
            pairs,
            units,
            queue: queue.into(),
            boxed: boxed.into(),
        }
    })
}

/// The elements one by one, so that nothing recognises them.
struct OneByOne<'a, T>(&'a [T]);

impl<T: Serialize> Serialize for OneByOne<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Some).map(Option::unwrap))
    }
}

/// Bit patterns are compared, so that no number equals another by accident.
fn is_same<T: bytemuck::Pod>(back: &[T], elements: &[T]) {
    assert_eq!(bytemuck::cast_slice::<T, u8>(back), bytemuck::cast_slice::<T, u8>(elements));
}

/// A vector, which is all that depends on the number: every sequence costs the compiler a look at every type that may be a run.
fn a_vector_is_element_wise<T>(bytes: &[u8])
where
    T: bytemuck::Pod + Serialize + DeserializeOwned,
{
    let elements: Vec<T> = codec::copy_elements(bytes).expect("a little memory");
    let count = (elements.len() as u64).to_le_bytes().to_vec();
    let one_by_one: Vec<u8> = elements.iter().fold(count, |front, element| [front, encode(element)].concat());
    assert_eq!(encode(&elements), one_by_one, "{}", std::any::type_name::<T>());
    is_same(&codec::decode::<Vec<T>>(&one_by_one).expect("our own bytes"), &elements);
}

macro_rules! vectors_are_element_wise {
    ($bytes:expr; $($number:ident)*) => {$(
        a_vector_is_element_wise::<$number>($bytes);
        a_vector_is_element_wise::<[$number; 2]>($bytes);
        a_vector_is_element_wise::<[$number; 3]>($bytes);
        a_vector_is_element_wise::<[$number; 4]>($bytes);
    )*};
}

/// Whatever else holds a run, and iterators that nothing recognises.
fn every_container_is_element_wise<T>(bytes: &[u8])
where
    T: bytemuck::Pod + Serialize + DeserializeOwned,
{
    a_vector_is_element_wise::<T>(bytes);
    let elements: Vec<T> = codec::copy_elements(bytes).expect("a little memory");
    let encoded = encode(&elements);
    assert_eq!(encoded, encode(&OneByOne(&elements)), "{}", std::any::type_name::<T>());
    assert_eq!(encoded, encode(elements.as_slice()));
    assert_eq!(encoded, encode(&Arc::<[T]>::from(elements.as_slice())));
    is_same(&codec::decode::<Box<[T]>>(&encoded).expect("our own bytes"), &elements);
    is_same(&codec::decode::<Arc<[T]>>(&encoded).expect("our own bytes"), &elements);
    is_same(codec::decode::<VecDeque<T>>(&encoded).expect("our own bytes").make_contiguous(), &elements);
    let (front, back) = codec::decode::<(Vec<T>, Vec<T>)>(&encoded.repeat(2)).expect("our own bytes");
    is_same(&front, &elements);
    is_same(&back, &elements);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn everything_comes_back(value in everything()) {
        comes_back(&value);
    }

    #[test]
    fn runs_of_numbers_have_the_bytes_of_their_elements(bytes in vec(any::<u8>(), 0..500)) {
        vectors_are_element_wise!(&bytes; u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize f32 f64);
    }

    #[test]
    fn runs_have_the_same_bytes_in_every_container(bytes in vec(any::<u8>(), 0..500)) {
        every_container_is_element_wise::<u8>(&bytes);
        every_container_is_element_wise::<[f64; 3]>(&bytes);
        // No runs, for all that they lie in memory as one.
        every_container_is_element_wise::<[u32; 1]>(&bytes);
        every_container_is_element_wise::<[[i16; 2]; 2]>(&bytes);
    }

    #[test]
    fn the_size_is_known_before_there_is_room(value in everything(), room in 0usize..2000) {
        let bytes = encode(&value);
        let mut room = vec![0; room];
        prop_assert_eq!(codec::encode_to_slice(&value, &mut room).unwrap(), bytes.len());
        if room.len() >= bytes.len() {
            prop_assert_eq!(&room[..bytes.len()], &bytes);
        }
        let mut after = b"before".to_vec();
        codec::encode_into(&value, &mut after).unwrap();
        prop_assert_eq!(after, [b"before", bytes.as_slice()].concat());
    }
}

#[test]
fn small_types_have_the_bytes_the_format_says() {
    assert_eq!(comes_back(&0x0102_u16), [2, 1]);
    assert_eq!(comes_back(&-2i128).len(), 16);
    assert_eq!(comes_back(&usize::MAX), [255; 8]);
    assert_eq!(comes_back(&true), [1]);
    assert_eq!(comes_back(&'a'), [97, 0, 0, 0]);
    assert_eq!(comes_back(&Some(7u8)), [1, 7]);
    assert_eq!(comes_back(&None::<u8>), [0]);
    assert_eq!(comes_back(&"ab".to_owned()), [2, 0, 0, 0, 0, 0, 0, 0, b'a', b'b']);
    assert_eq!(comes_back(&vec![1u16]), [1, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(comes_back(&[1u16, 2]), [1, 0, 2, 0]);
    assert_eq!(comes_back(&(1u8, false)), [1, 0]);
    assert_eq!(comes_back(&Shape::Disc(0.0)), [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(comes_back(&()), [0]);
    assert_eq!(comes_back(&[0u8; 0]), [0]);
    comes_back(&vec![vec![true, false], vec![]]);
    comes_back(&vec!['ä', '→']);
    comes_back(&BTreeSet::from([1, 2]));
    comes_back(&Rc::new(vec![1.5f64]));
}

/// A vector with a meaning of its own on each side of the wire.
#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct Sorted(#[serde(deserialize_with = "sorted", serialize_with = "descending")] Vec<u32>);

fn descending<S: Serializer>(values: &[u32], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().rev())
}

fn sorted<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    struct InOrder;
    impl<'de> serde::de::Visitor<'de> for InOrder {
        type Value = Vec<u32>;

        fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("numbers")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<u32>, A::Error> {
            let mut values = Vec::new();
            while let Some(value) = elements.next_element()? {
                values.push(value);
            }
            values.sort_unstable();
            Ok(values)
        }
    }
    deserializer.deserialize_seq(InOrder)
}

#[test]
fn visitors_and_iterators_of_others_see_every_element() {
    assert_eq!(codec::decode::<Vec<u32>>(&comes_back(&Sorted(vec![1, 2, 3]))).unwrap(), [3, 2, 1]);
}

/// Does not know how many elements it will give.
struct Odd<'a>(&'a [u32]);

impl Serialize for Odd<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().filter(|value| *value % 2 == 1))
    }
}

#[test]
fn sequences_of_unknown_length_are_counted_while_they_are_written() {
    assert_eq!(codec::decode::<Vec<u32>>(&encode(&Odd(&[1, 2, 3, 4, 5]))).unwrap(), [1, 3, 5]);
}

#[derive(PartialEq, Debug, Serialize, Deserialize)]
struct Link(Option<Box<Link>>);

fn chain(levels: u32) -> Link {
    (0..levels).fold(Link(None), |inner, _| Link(Some(Box::new(inner))))
}

#[test]
fn values_nest_so_deep_and_no_deeper() {
    // A newtype and an option each count.
    let fits = DEPTH_MAX / 2 - 1;
    comes_back(&chain(fits));
    let error = codec::encode_into(&chain(fits + 1), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("deep"), "{error}");
    let error = codec::decode::<Link>(&vec![1; 1 << 20]).unwrap_err();
    assert!(error.to_string().contains("deep"), "{error}");
}

#[test]
fn whatever_encodes_decodes_at_any_depth() {
    #[derive(PartialEq, Debug, Serialize, Deserialize)]
    enum Tree {
        Leaf,
        One(Box<Tree>),
        Run(Vec<u8>),
        Fields { inner: Box<Tree>, run: VecDeque<u8> },
    }
    let ends = || {
        [Tree::Leaf, Tree::Run(vec![1]), Tree::Fields { inner: Box::new(Tree::Leaf), run: VecDeque::new() }]
    };
    for levels in DEPTH_MAX - 4..=DEPTH_MAX {
        for end in ends() {
            let tree = (0..levels).fold(end, |inner, _| Tree::One(Box::new(inner)));
            let mut bytes = Vec::new();
            match codec::encode_into(&tree, &mut bytes) {
                Ok(()) => assert_eq!(codec::decode::<Tree>(&bytes).expect("our own bytes"), tree),
                Err(error) => assert!(matches!(error, CodecError::Encode { .. })),
            }
        }
    }
}

#[test]
fn a_type_that_needs_names_is_refused_in_words() {
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u32),
    }
    let error = codec::decode::<Either>(&encode(&Either::Number(1))).unwrap_err();
    assert!(error.to_string().contains("untagged"), "{error}");
}

#[test]
fn a_value_that_changes_while_it_is_encoded_is_refused() {
    struct Growing(std::cell::Cell<usize>);
    impl Serialize for Growing {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.set(self.0.get() + 1);
            serializer.serialize_bytes(&vec![0; self.0.get()])
        }
    }
    let mut bytes = vec![5];
    let error = codec::encode_into(&Growing(999.into()), &mut bytes).unwrap_err();
    assert!(error.to_string().contains("1008"), "{error}");
    assert_eq!(bytes, [5]);
}
