//! Models: what was measured is chosen from.

use crate::rig::Rig;
use chare_device::{Facts, Method, Model, Way};

pub(crate) fn a_measured_model_chooses_what_takes_the_least_time(rig: &Rig) {
    let model = Model::measure(&rig.device).expect("there is memory enough");
    assert!(model.is_measured());
    for way in [Way::Out, Way::In] {
        for bytes in [1_u64, 4 << 10, 1 << 20, 100 << 20] {
            for blocks in [1, bytes.div_ceil(1000), bytes.div_ceil(4)] {
                let facts = Facts { bytes, blocks, are_rows: blocks > 1 };
                let choice = model.choose(facts, way, &[]);
                assert!((64 << 10..=4 << 20).contains(&choice.chunk_bytes), "{choice}");
                assert!(choice.expected.is_some_and(|time| !time.is_zero()), "{choice}");
                // So many copies are not tried.
                assert!(choice.method != Method::Blocks || blocks == 1 || bytes / blocks > 4, "{choice}");
                let scattered = model.choose(Facts { are_rows: false, ..facts }, way, &[]);
                assert_ne!(scattered.method, Method::Rows, "{scattered}");
            }
        }
    }
    // All that was taken for it has come back.
    assert!(rig.device.pinned(16 << 20).is_ok() && rig.device.allocate(32 << 20).is_ok());
}
