//! Messages of other nodes about memory of devices, each handed to who knows what to do.

use super::{across, registered};
use crate::model::nocopy::DeviceFrame;
use crate::node::Node;
use crate::node::devices::Answer;
use chare_lrts::NodeId;
use std::sync::Arc;

/// Takes a message of another node.
///
/// # Errors
/// What does not fit, in words.
pub(crate) fn arrived(node: &Arc<Node>, source: NodeId, said: DeviceFrame) -> Result<(), String> {
    match said {
        DeviceFrame::Ask { token, transfer, bytes, way } => {
            across::asked(node, (source, transfer), token, bytes, way)?;
        }
        DeviceFrame::Given { transfer, given } => across::given(node, source, transfer, given)?,
        DeviceFrame::Done { token } => across::done(node, token)?,
        DeviceFrame::Get { source: registered, bytes, layout, transfer } => {
            registered::on_get(node, (source, transfer), registered, bytes, layout)?;
        }
        DeviceFrame::Put { target, layout, offered, transfer } => {
            registered::on_put(node, (source, transfer), target, layout, offered)?;
        }
        DeviceFrame::Offered { transfer, offered } => {
            registered::on_answer(node, source, transfer, Answer::Offered(offered))?;
        }
        DeviceFrame::Written { transfer } => {
            registered::on_answer(node, source, transfer, Answer::Written)?;
        }
        DeviceFrame::Refused { transfer, cause } => {
            registered::on_answer(node, source, transfer, Answer::Refused(cause))?;
        }
    }
    node.outside.processed.add_shared(1);
    Ok(())
}
