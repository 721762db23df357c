//! Metrics: the figures of a job in Prometheus's text format.

use super::gathering::{OfPe, Snapshot};
use crate::services::survey::EntryTime;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, prometheus_text};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fmt;

pub(super) use prometheus_text::CONTENT_TYPE;

/// The metrics of a snapshot, as text.
pub(super) fn encode(snapshot: &Snapshot) -> String {
    let mut registry = Registry::with_prefix("chare");
    registry.register_collector(Box::new(snapshot.clone()));
    let mut text = String::new();
    prometheus_text::encode(&mut text, &registry).expect("writing to a string does not fail");
    text
}

type Labels = Vec<(&'static str, String)>;

/// Seconds of so many nanoseconds.
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut family = |name: &str, help: &str, values: Vec<(Labels, Value)>| {
            let Some((_, first)) = values.first() else { return Ok(()) };
            let mut metric = match first {
                Value::Count(value) => encoder.encode_descriptor(name, help, None, value.metric_type())?,
                Value::Level(value) => encoder.encode_descriptor(name, help, None, value.metric_type())?,
            };
            for (labels, value) in &values {
                match value {
                    Value::Count(value) => value.encode(metric.encode_family(labels)?)?,
                    Value::Level(value) => value.encode(metric.encode_family(labels)?)?,
                }
            }
            Ok(())
        };
        let of_pes = |value: fn(&OfPe) -> Value| -> Vec<(Labels, Value)> {
            let labels = |of: &OfPe| vec![("pe", of.pe.to_string()), ("node", of.figures.node.to_string())];
            self.figures.iter().map(|of| (labels(of), value(of))).collect()
        };
        family("pe_idle_seconds", "Time without work", of_pes(|of| count(seconds(of.figures.idle_ns))))?;
        family(
            "pe_uptime_seconds",
            "Time since the node of the PE started",
            of_pes(|of| count(seconds(of.figures.uptime_ns))),
        )?;
        family("pe_messages_sent", "Messages sent", of_pes(|of| count(of.figures.sent as f64)))?;
        family(
            "pe_messages_processed",
            "Messages that are over",
            of_pes(|of| count(of.figures.processed as f64)),
        )?;
        family("pe_entries", "Entry methods run", of_pes(|of| count(of.figures.entries as f64)))?;
        family(
            "pe_network_bytes",
            "Bytes handed to the network",
            of_pes(|of| count(of.figures.network_bytes as f64)),
        )?;
        family(
            "pe_copied_bytes",
            "Bytes of bulk copies of nocopy data",
            of_pes(|of| count(of.figures.copied_bytes as f64)),
        )?;
        family(
            "pe_queue_length",
            "Messages that wait in the queue",
            of_pes(|of| level(of.figures.queued as f64)),
        )?;
        family(
            "pe_early_messages",
            "Messages that wait for what is not created",
            of_pes(|of| level(of.figures.early as f64)),
        )?;
        family("pe_chares", "Chares that live there", of_pes(|of| level(of.figures.chares as f64)))?;
        family(
            "pe_late",
            "1 if the PE did not answer: an entry runs there",
            of_pes(|of| level(f64::from(u8::from(of.is_late)))),
        )?;
        let (mut resident, mut messages, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
        for (of, node) in self.figures.iter().filter_map(|of| Some((of, of.figures.of_node.as_ref()?))) {
            let from = of.figures.node.to_string();
            resident
                .extend(node.resident_bytes.map(|used| (vec![("node", from.clone())], level(used as f64))));
            for path in &node.paths {
                let labels =
                    vec![("node", from.clone()), ("peer", path.to.to_string()), ("path", path.path.clone())];
                messages.push((labels.clone(), count(path.messages as f64)));
                bytes.push((labels, count(path.message_bytes as f64)));
            }
        }
        family("node_resident_bytes", "Memory of the process in use", resident)?;
        family("node_frames", "Frames sent to another node", messages)?;
        family("node_frame_bytes", "Bytes of these frames", bytes)?;
        let of_entries = |value: fn(u64, u64) -> f64| {
            let of_pe = |of: &OfPe| {
                let pe = of.pe.to_string();
                let of_entry = move |time: &EntryTime| {
                    let labels = vec![
                        ("pe", pe.clone()),
                        ("chare", time.chare.clone()),
                        ("entry", time.entry.clone()),
                    ];
                    (labels, count(value(time.runs, time.ns)))
                };
                of.figures.times.iter().map(of_entry).collect::<Vec<_>>()
            };
            self.figures.iter().flat_map(of_pe).collect::<Vec<_>>()
        };
        family("entry_seconds", "Time in an entry", of_entries(|_, ns| seconds(ns)))?;
        family("entry_runs", "How often an entry ran", of_entries(|runs, _| runs as f64))
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "figures of {} PEs", self.figures.len())
    }
}

enum Value {
    Count(ConstCounter<f64>),
    Level(ConstGauge<f64>),
}

fn count(value: f64) -> Value {
    Value::Count(ConstCounter::new(value))
}

fn level(value: f64) -> Value {
    Value::Level(ConstGauge::new(value))
}
