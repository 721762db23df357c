//! Readonly values of one node: set by `main` or told by another node, encoded for the others, decoded when they are first read.
//!
//! A value's serialization is code of the user, which may read other readonly values: it never runs under the lock of the table.

use super::vectors::{self, Shared};
use crate::model::arguments::Message;
use crate::model::nocopy::{CarriedDescriptor, Leaving, Local, NocopyKind};
use crate::transfer::many::{Carried, Wanted};
use chare_lrts::Memory;
use chare_lrts::codec::{self, CodecError};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::any::type_name;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The size from which on a vector or buffer is lent instead of copied. Measured from the first `set_readonly` until all of four
/// processes have read a value, over shm and tcp: 4 KiB no difference, 16 KiB 0.5-1.0 ms either way, 64 KiB 0.7-1.1 ms lent against
/// 1.2-1.9 ms, 4 MiB 2-13 ms against 39-50 ms.
const LENDING_THRESHOLD_BYTES: usize = 16 << 10;

/// The values of one node, by the name of their type.
#[derive(Default)]
pub(crate) struct ReadonlyValues {
    values: Mutex<BTreeMap<String, Value>>,
    /// The memory that this node was lent for the values, kept until the job is over.
    held: Mutex<Vec<Leaving>>,
    /// Whether another node has begun to tell the values.
    told: AtomicBool,
}

enum Value {
    /// Set by `main`, on this node.
    Set { shared: Shared, encode: fn(&Shared) -> Result<Encoded, CodecError> },
    /// From another node: bytes, and the memory that came beside them.
    Encoded { bytes: Arc<[u8]>, lent: Vec<Memory> },
    /// Complete, from another node.
    Known(Shared),
}

/// A value as it travels.
enum Encoded {
    Vector(Memory),
    Value { bytes: Vec<u8>, lent: Vec<Memory> },
}

/// A value in the message to the other nodes.
#[derive(Serialize, Deserialize)]
enum ValueFrame {
    /// A vector of numbers, which is lent as a whole.
    Vector,
    /// Its bytes, and the number of its descriptors.
    Value { bytes: Vec<u8>, lent: usize },
}

/// Values from another node whose memory is on its way.
pub(crate) struct Arriving(BTreeMap<String, ValueFrame>);

fn encode<T: Message + Sync>(shared: &Shared) -> Result<Encoded, CodecError> {
    let vector = vectors::named(type_name::<T>()).and_then(|vector| (vector.lend)(shared));
    if let Some(memory) = vector.filter(|memory| memory.len() >= LENDING_THRESHOLD_BYTES) {
        return Ok(Encoded::Vector(memory));
    }
    let value = shared.downcast_ref::<T>().expect("a value is encoded as what it was set as");
    codec::encode_lending(value, LENDING_THRESHOLD_BYTES).map(|(bytes, lent)| Encoded::Value { bytes, lent })
}

impl ReadonlyValues {
    /// # Panics
    /// If the type has a value already.
    pub(crate) fn set<T: Message + Sync>(&self, value: T) {
        let name = type_name::<T>();
        let value = Value::Set { shared: Arc::new(value), encode: encode::<T> };
        let before = self.values.lock().insert(name.to_owned(), value);
        assert!(
            before.is_none(),
            "the readonly value `{name}` is set twice; wrap the second in a type of its own"
        );
    }

    /// # Panics
    /// If the value's deserialization reads the value itself.
    pub(crate) fn read<T: Message + Sync>(&self) -> Option<Result<Arc<T>, CodecError>> {
        let (bytes, lent) = match self.values.lock().get(type_name::<T>())? {
            Value::Set { shared, .. } | Value::Known(shared) => return known(shared).map(Ok),
            Value::Encoded { bytes, lent } => (Arc::clone(bytes), lent.clone()),
        };
        let decoded = match decode_once::<T>(&bytes, lent) {
            Ok(decoded) => decoded,
            Err(error) => return Some(Err(error)),
        };
        let mut values = self.values.lock();
        let value = values.get_mut(type_name::<T>())?;
        let encoded = match value {
            Value::Encoded { .. } => std::mem::replace(value, Value::Known(Arc::clone(&decoded) as Shared)),
            // Another thread was sooner; all are to read the same value.
            Value::Set { shared, .. } | Value::Known(shared) => return known(shared).map(Ok),
        };
        // What is dropped may be the user's, too.
        drop(values);
        drop(encoded);
        Some(Ok(decoded))
    }

    /// All values, for the other nodes: the message, and the memory that is lent beside it.
    ///
    /// # Errors
    /// When a value's serialization refuses.
    pub(crate) fn encode(&self) -> Result<(Vec<u8>, Vec<Carried>), CodecError> {
        let mut told = BTreeMap::new();
        let mut memories = Vec::new();
        let of_this_node = |(name, value): (&String, &Value)| match value {
            Value::Set { shared, encode } => (name.clone(), Arc::clone(shared), *encode),
            _ => unreachable!("values are told by the node that set them"),
        };
        let set: Vec<_> = self.values.lock().iter().map(of_this_node).collect();
        for (name, shared, encode) in set {
            let value = match encode(&shared)? {
                Encoded::Vector(memory) => {
                    memories.push(memory);
                    ValueFrame::Vector
                }
                Encoded::Value { bytes, lent } => {
                    let count = lent.len();
                    memories.extend(lent);
                    ValueFrame::Value { bytes, lent: count }
                }
            };
            told.insert(name, value);
        }
        let mut bytes = Vec::new();
        codec::encode_into(&told, &mut bytes)?;
        let leaving = memories.into_iter().map(|memory| Leaving::plain(memory, None));
        let carried = leaving.map(|one| Carried::sent(NocopyKind::Received, one));
        Ok((bytes, carried.collect()))
    }

    /// Takes in the values that another node told. Returns the memory that the nodes below are lent.
    ///
    /// # Errors
    /// When the memory of a vector is no such vector, in words.
    pub(crate) fn accept(
        &self,
        arriving: Arriving,
        carried: impl IntoIterator<Item = Carried>,
    ) -> Result<Vec<Carried>, String> {
        let mut carried = carried.into_iter();
        let mut lendable = Vec::new();
        for (name, told) in arriving.0 {
            let value = match told {
                ValueFrame::Vector => {
                    let (shared, one) = carried
                        .next()
                        .and_then(|one| share_vector(&name, one))
                        .ok_or_else(|| format!("the readonly value `{name}` arrived as no such vector"))?;
                    lendable.push(one);
                    Value::Known(shared)
                }
                ValueFrame::Value { bytes, lent } => {
                    let own: Vec<Carried> = carried.by_ref().take(lent).collect();
                    let members = own.iter().map(|one| match one.for_member() {
                        Local::Host(leaving) => leaving,
                        Local::Device(_) => unreachable!("readonly values are told in memory of the host"),
                    });
                    let held: Vec<Leaving> = members.collect();
                    let lent = held.iter().map(|one| one.memory.clone()).collect();
                    self.held.lock().extend(held);
                    lendable.extend(own);
                    Value::Encoded { bytes: bytes.into(), lent }
                }
            };
            self.values.lock().insert(name, value);
        }
        Ok(lendable)
    }

    /// Takes note that another node tells the values; returns whether it is the first time.
    pub(crate) fn begin(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }

    /// Drops all values, when the job is over: the memory that is held speaks to its lender through the node.
    pub(crate) fn clear(&self) {
        let (values, held) =
            (std::mem::take(&mut *self.values.lock()), std::mem::take(&mut *self.held.lock()));
        drop((values, held));
    }
}

/// A value that is known, as what it is.
fn known<T: Message + Sync>(shared: &Shared) -> Option<Arc<T>> {
    Arc::clone(shared).downcast::<T>().ok()
}

thread_local! {
    /// The types of the readonly values that this thread is decoding, one inside the other.
    static DECODING: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Decodes a value, which may read other readonly values.
///
/// # Panics
/// If the value is being decoded already: it would read itself without end.
fn decode_once<T: Message + Sync>(bytes: &[u8], lent: Vec<Memory>) -> Result<Arc<T>, CodecError> {
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            DECODING.with_borrow_mut(|decoding| decoding.pop());
        }
    }
    let name = type_name::<T>();
    let is_inside = DECODING.with_borrow(|decoding| decoding.contains(&name));
    assert!(!is_inside, "the deserialization of the readonly value `{name}` reads that value");
    DECODING.with_borrow_mut(|decoding| decoding.push(name));
    let _done = Done;
    codec::decode_lent::<T>(bytes, lent).map(Arc::new)
}

/// The vector that was filled, and its elements to be lent on.
fn share_vector(name: &str, one: Carried) -> Option<(Shared, Carried)> {
    let vector = vectors::named(name)?;
    let mut shared = None;
    let one = one.map(|memory| {
        let filled = (vector.share)(memory.thaw().ok()?)?;
        (vector.lend)(shared.insert(filled))
    })?;
    Some((shared?, one))
}

impl Arriving {
    /// The values that another node told, and the memory that has to be brought in for them.
    ///
    /// # Errors
    /// When the bytes are no such values or the descriptors are not theirs, in words.
    pub(crate) fn announced(
        bytes: &[u8],
        descriptors: Vec<CarriedDescriptor>,
    ) -> Result<(Self, Vec<Wanted>), String> {
        let told: BTreeMap<String, ValueFrame> = codec::decode(bytes).map_err(|error| error.to_string())?;
        let mut descriptors = descriptors.into_iter();
        let mut wanted = Vec::new();
        for (name, value) in &told {
            let missing = || format!("the readonly value `{name}` came without its memory");
            match value {
                ValueFrame::Vector => {
                    let descriptor = descriptors.next().ok_or_else(missing)?;
                    let bytes = descriptor.descriptor.bytes();
                    let into = vectors::named(name).and_then(|vector| (vector.allocate)(bytes));
                    let none = || format!("{bytes} bytes are no `{name}`, or there is no memory for them");
                    let into = Some(into.ok_or_else(none)?);
                    wanted.push(Wanted { descriptor, kind: NocopyKind::Received, into });
                }
                ValueFrame::Value { lent, .. } => {
                    for _ in 0..*lent {
                        let descriptor = descriptors.next().ok_or_else(missing)?;
                        wanted.push(Wanted { descriptor, kind: NocopyKind::Received, into: None });
                    }
                }
            }
        }
        Ok((Self(told), wanted))
    }
}
