//! Devices from the view of an example that cannot go on without one: what is refused ends the program in words.

use chare::bytemuck::Pod;
use chare::devices::Stream;
use chare::{DeviceBuffer, DeviceBufferMut};

/// Waits until a stream is past all that it was given.
///
/// # Panics
/// If the device is lost.
pub async fn passed(stream: &Stream) {
    stream.passed().expect("the device is there").await.expect("the device is not lost");
}

/// What a buffer holds, when `stream` has come to it.
///
/// # Panics
/// If there is no room for it on the host, or the device is lost.
pub async fn read<T: Pod>(buffer: &DeviceBuffer<T>, stream: &Stream) -> Vec<T> {
    let mut landed = buffer.read(stream).expect("there is room for staging");
    passed(stream).await;
    landed.elements().expect("the device is not lost").expect("the stream is past it").to_vec()
}

/// The buffer, into which `stream` writes these elements.
///
/// # Panics
/// If there is no room for them on the host.
pub fn written<T: Pod>(
    mut buffer: DeviceBufferMut<T>,
    stream: &Stream,
    elements: &[T],
) -> DeviceBufferMut<T> {
    buffer.write(stream, elements).expect("there is room for staging");
    buffer
}
