//! Readonly values: set once while the job starts, then readable everywhere without a message.
//!
//! `main` sets them before its first `.await`; they reach every node before any entry runs there.

use crate::codec::{self, CodecError};
use crate::message::{Arguments, Message};
use crate::zerocopy::BufferMut;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The values of one node, by the name of their type.
#[derive(Default)]
pub(crate) struct ReadonlyValues(Mutex<BTreeMap<String, Value>>);

enum Value {
    /// From another node; decoded when first read, because only the reader knows the type.
    Encoded(Vec<u8>),
    Typed {
        shared: Arc<dyn Any + Send + Sync>,
        original: Arguments,
    },
}

impl ReadonlyValues {
    /// # Panics
    /// If the type has a value already.
    pub(crate) fn set<T: Message + Sync>(&self, value: T) {
        let name = std::any::type_name::<T>();
        let typed = Value::Typed { shared: Arc::new(value.clone()), original: Arguments::new(value) };
        let before = self.0.lock().insert(name.to_owned(), typed);
        assert!(
            before.is_none(),
            "the readonly value `{name}` is set twice; wrap the second in a type of its own"
        );
    }

    pub(crate) fn read<T: Message + Sync>(&self) -> Option<Result<Arc<T>, CodecError>> {
        let mut values = self.0.lock();
        let value = values.get_mut(std::any::type_name::<T>())?;
        if let Value::Encoded(bytes) = value {
            match codec::decode::<T>(bytes) {
                Ok(decoded) => {
                    *value =
                        Value::Typed { shared: Arc::new(decoded.clone()), original: Arguments::new(decoded) };
                }
                Err(error) => return Some(Err(error)),
            }
        }
        let Value::Typed { shared, .. } = value else { unreachable!("decoded above") };
        Arc::clone(shared).downcast::<T>().ok().map(Ok)
    }

    /// All values, for the other nodes.
    ///
    /// # Errors
    /// When a value's serialization refuses.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, CodecError> {
        let mut encoded = BTreeMap::new();
        for (name, value) in &*self.0.lock() {
            let mut bytes = Vec::new();
            match value {
                Value::Encoded(encoded) => bytes.clone_from(encoded),
                Value::Typed { original, .. } => original.encode_into(&mut bytes)?,
            }
            // As a buffer, because serde takes a `Vec<u8>` byte by byte.
            encoded.insert(name.clone(), BufferMut::from(bytes));
        }
        let mut bytes = Vec::new();
        codec::encode_into(&encoded, &mut bytes)?;
        Ok(bytes)
    }

    /// Takes what another node encoded.
    ///
    /// # Errors
    /// When the bytes are no such values.
    pub(crate) fn accept(&self, bytes: &[u8]) -> Result<(), CodecError> {
        let encoded: BTreeMap<String, BufferMut<u8>> = codec::decode(bytes)?;
        self.0
            .lock()
            .extend(encoded.into_iter().map(|(name, bytes)| (name, Value::Encoded(bytes.into_vec()))));
        Ok(())
    }
}
