//! Outgoing device arguments: the device buffers that a caller sends, and how they come back.

use super::leaving::OutgoingDevice;
use super::refusal::{DeviceTransferError, DeviceTransferFailed, STAYS};
use crate::model::nocopy::outgoing::{NocopyArgument, Outgoing};
use crate::model::nocopy::release::HandBack;
use crate::model::nocopy::{Completion, Element};
use chare_device::{DeviceBuffer, DeviceBufferMut, Stream};
use chare_layout::Layout;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The argument for a `#[nocopy]` parameter at the caller whose elements lie on a device: a [`DeviceBuffer`], shared, or a
/// [`DeviceBufferMut`], moved in; whole or by a layout whose packed elements are `P`. The parameter may be one of the device
/// ([`DeviceReceived`](crate::DeviceReceived), [`DevicePosted`](crate::DevicePosted)) or of the host ([`Received`](crate::Received) and
/// the others): the elements go where the receiver wants them.
///
/// Nobody waits for a stream: what streams still do with the buffer when it is sent, whoever uses it next waits for on its own stream. To a
/// parameter of the same device in the same process the buffer itself goes, at once and without a copy.
///
/// ```
/// use chare::devices::{self, DeviceChoice};
/// use chare::prelude::*;
/// use chare::{DeviceBufferMut, DeviceReceived, SendDeviceBuffer, SentDevice};
///
/// struct Neighbour;
///
/// #[chare]
/// impl Neighbour {
///     #[entry]
///     fn new() -> Self {
///         Self
///     }
///
///     #[entry]
///     async fn halo(this: This<Self>, #[nocopy] face: DeviceReceived<f32>, done: Callback<Vec<f32>>) {
///         let stream = devices::stream().expect("a software device");
///         let mut landed = face.read(&stream).expect("it has room");
///         stream.passed().expect("it goes on").await.expect("it is there");
///         done.send(landed.elements().expect("it is there").expect("it has landed").to_vec());
///     }
/// }
///
/// let code = chare::Job::in_process(1, 2).device(DeviceChoice::software(1)).run(|| async {
///     let (device, stream) = (devices::mine().expect("a device"), devices::stream().expect("a stream"));
///     let mut field = DeviceBufferMut::<f32>::new(&device, 3).expect("it has room");
///     field.write(&stream, &[1.0, 2.0, 3.0]).expect("it has room");
///     let ((face, done), (back, on_sent)) = (chare::future(), chare::future::<SentDevice<f32>>());
///     NeighbourProxy::create_on(PeId(1)).halo(SendDeviceBuffer::from(field).on_sent(on_sent), done);
///     assert_eq!(face.await, [1.0, 2.0, 3.0]);
///     let field = back.await.into_buffer().try_into_mut().expect("nobody else has it");
///     assert_eq!(field.len(), 3);
/// });
/// assert_eq!(code.unwrap(), 0);
/// ```
///
/// A call of many (of a collection or a section) takes it, too: each process has one copy or view of it for its members, as for memory of the
/// host, and what members want on the host is staged here, once. `on_sent` tells once, when all are done with it.
pub struct SendDeviceBuffer<T: Element, P: Element = T> {
    buffer: DeviceBuffer<T>,
    layout: Option<Layout<T, P>>,
    after: Option<Stream>,
    on_sent: Option<Completion<SentDevice<T>>>,
}

impl<T: Element> SendDeviceBuffer<T> {
    /// Sends only what a layout selects, in the layout's order; of several layouts the last one. The elements go from where the layout
    /// says to where the receiver wants them in one step on a device, where both ends are of one; elsewhere they are packed for the way.
    ///
    /// # Panics
    /// If the layout selects what lies outside the buffer.
    pub fn only<P: Element>(self, layout: &Layout<T, P>) -> SendDeviceBuffer<T, P> {
        let bytes = (self.buffer.len() * size_of::<T>()) as u64;
        layout.check_bounds(bytes).unwrap_or_else(|error| panic!("a layout of what is sent: {error}"));
        let Self { buffer, layout: _, after, on_sent } = self;
        SendDeviceBuffer { buffer, layout: Some(layout.clone()), after, on_sent }
    }
}

impl<T: Element, P: Element> SendDeviceBuffer<T, P> {
    /// How many elements are sent, packed ones where a layout selects them.
    pub fn len(&self) -> usize {
        self.layout.as_ref().map_or(self.buffer.len(), Layout::len)
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sends what is there when a stream has done all that it was given before the call: for kernels of the user that no buffer knows of.
    /// What buffers were used for by their own methods, or between their `before` and `after`, they know.
    pub fn after(mut self, stream: &Stream) -> Self {
        self.after = Some(stream.clone());
        self
    }

    /// Hands the buffer to a callback when the transfer is over, once, with the length that was transferred: when each receiver has dropped
    /// it and the streams that read it are past that. Then it may be written again, if the caller kept no clone.
    ///
    /// The callback must be one of this node: a device's memory stays where it is.
    pub fn on_sent(mut self, completion: impl Into<Completion<SentDevice<T>>>) -> Self {
        self.on_sent = Some(completion.into());
        self
    }
}

impl<T: Element> From<DeviceBuffer<T>> for SendDeviceBuffer<T> {
    fn from(buffer: DeviceBuffer<T>) -> Self {
        Self { buffer, layout: None, after: None, on_sent: None }
    }
}

impl<T: Element> From<DeviceBufferMut<T>> for SendDeviceBuffer<T> {
    fn from(buffer: DeviceBufferMut<T>) -> Self {
        buffer.freeze().into()
    }
}

impl<T: Element, P: Element> SendDeviceBuffer<T, P> {
    /// It, its element type forgotten.
    pub(crate) fn outgoing(self) -> OutgoingDevice {
        let Self { buffer, layout, after, on_sent } = self;
        let bytes = buffer.clone().into_bytes();
        let hand_back = on_sent.map(|completion| {
            let hand_back: HandBack = Box::new(move |bytes, fire| {
                let transferred = bytes as usize / size_of::<P>();
                let (callback, sent) = completion.finish(SentDevice { buffer, transferred });
                fire(callback, sent);
            });
            hand_back
        });
        let layout = layout.map(|layout| Arc::clone(layout.raw()));
        OutgoingDevice { buffer: bytes, layout, after, hand_back }
    }

    /// It, its element type forgotten, for a transfer that may fail: then `failed` is written before `done` is told.
    ///
    /// # Panics
    /// If it has an `on_sent` of its own.
    pub(crate) fn outgoing_tried(
        self,
        done: Completion<DeviceTransferred<T>>,
        failed: Arc<OnceLock<DeviceTransferError>>,
    ) -> OutgoingDevice {
        assert!(self.on_sent.is_none(), "`done` is told in the place of `on_sent`: leave that out");
        let buffer = self.buffer.clone();
        let hand_back: HandBack = Box::new(move |bytes, fire| {
            let outcome = match failed.get() {
                None => Ok(SentDevice { buffer, transferred: bytes as usize / size_of::<P>() }),
                Some(cause) => Err(DeviceTransferFailed { buffer: Some(buffer), cause: cause.clone() }),
            };
            let (callback, outcome) = done.finish(outcome);
            fire(callback, outcome);
        });
        OutgoingDevice { hand_back: Some(hand_back), ..self.outgoing() }
    }
}

impl<T: Element, P: Element> NocopyArgument<P> for SendDeviceBuffer<T, P> {
    fn erase(self) -> Outgoing {
        Outgoing::Device(self.outgoing())
    }
}

impl<T: Element, P: Element> fmt::Debug for SendDeviceBuffer<T, P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SendDeviceBuffer({:?})", self.buffer)
    }
}

/// A device buffer that comes back when its transfer is over: an argument that was sent, or what [`rget_device`](crate::rget_device) has
/// filled.
///
/// As an argument of a callback it stays on its node: to send it to another one ends the job.
#[derive(Clone, Debug)]
pub struct SentDevice<T: Element> {
    buffer: DeviceBuffer<T>,
    transferred: usize,
}

impl<T: Element> SentDevice<T> {
    pub(crate) fn new(buffer: DeviceBuffer<T>, transferred: usize) -> Self {
        Self { buffer, transferred }
    }

    /// How many elements were transferred, packed ones where a layout selected them. A receiver may have posted a shorter buffer than was
    /// offered.
    pub fn transferred(&self) -> usize {
        self.transferred
    }

    /// The buffer as it was given: exclusive again by [`DeviceBuffer::try_into_mut`], if the caller kept no clone.
    pub fn into_buffer(self) -> DeviceBuffer<T> {
        self.buffer
    }
}

/// The result of a transfer of registered device memory, with its buffer either way.
pub type DeviceTransferred<T> = Result<SentDevice<T>, DeviceTransferFailed<T>>;

/// Refused in words.
impl<T: Element> Serialize for SentDevice<T> {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom(STAYS))
    }
}

/// Refused in words.
impl<'de, T: Element> Deserialize<'de> for SentDevice<T> {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom(STAYS))
    }
}
