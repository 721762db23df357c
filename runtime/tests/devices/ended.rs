//! Calls that wait for buffers of a device at an element which is destroyed: they end with it, and their sender has its buffer back.

use crate::job::{counted, filled, room};
use chare::devices::{DeviceChoice, Faults, Software};
use chare::prelude::*;
use chare::{ArrayOptions, DevicePosted, Job, SendDeviceBuffer, SentDevice};
use std::time::Duration;

struct Field {
    kept: Option<Post<u32>>,
}

#[chare(array)]
impl Field {
    #[entry]
    fn new() -> Self {
        Self { kept: None }
    }

    #[entry]
    fn land(&mut self, keeps: bool, begun: Callback<()>, #[nocopy(post)] data: DevicePosted<u32>) {
        let _ = (keeps, begun, data);
    }

    #[post(land)]
    fn post_land(&mut self, keeps: &bool, begun: &Callback<()>, data: Post<u32>) {
        if *keeps {
            self.kept = Some(data);
        } else {
            let len = data.len();
            data.post_device(room(len).into()).expect("it is as long");
        }
        begun.send(());
    }
}

#[test]
fn a_call_that_waits_for_a_device_as_its_element_is_destroyed_ends_with_it() {
    for nodes in [1, 2] {
        let faults = Faults { delay: Duration::from_millis(2), seed: 7, ..Faults::default() };
        let devices = (0..nodes).map(|_| Software { faults: faults.clone(), ..Software::default() });
        let job = Job::in_process(nodes, 2 / nodes).device(DeviceChoice::Software(devices.collect()));
        let code = job.run(|| async {
            let fields = FieldProxy::create(ArrayOptions::listed(0..8).dynamic());
            for (index, len) in
                [(0, 4), (1, 4), (2, 4), (3, 4), (4, 50_000), (5, 50_000), (6, 50_000), (7, 50_000)]
            {
                let ((begun, on_begun), (sent, on_sent)) =
                    (chare::future(), chare::future::<SentDevice<u32>>());
                let data = SendDeviceBuffer::from(filled(&counted(len))).on_sent(on_sent);
                fields.at(index).land(index % 4 < 2, on_begun, data);
                begun.await;
                fields.at(index).destroy();
                assert_eq!(sent.await.into_buffer().len(), len as usize);
            }
            chare::quiescence().await;
        });
        assert_eq!(code.expect("the job runs"), 0, "{nodes} nodes");
    }
}
