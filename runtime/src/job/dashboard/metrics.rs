//! Metrics: the figures of a job in Prometheus's text format.

use super::gathering::{OfPe, Snapshot};
use crate::services::survey::{CollectionFigures, EntryTime};
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
        let of_pe = |of: &OfPe| {
            let pe = of.pe.to_string();
            let of_collection = move |of: &CollectionFigures| {
                let labels =
                    vec![("collection", of.id.clone()), ("chare", of.chare.clone()), ("pe", pe.clone())];
                (labels, level(of.elements as f64))
            };
            of.figures.collections.iter().map(of_collection).collect::<Vec<_>>()
        };
        let elements = self.figures.iter().flat_map(of_pe).collect();
        family("collection_elements", "Elements of a collection that live on a PE", elements)?;
        let last = self.figures.iter().find_map(|of| of.figures.balancings.last());
        let loads = last.into_iter().flat_map(|last| (0_u32..).zip(&last.loads));
        let loads = loads.map(|(pe, load)| (vec![("pe", pe.to_string())], level(*load))).collect();
        family("balancing_load_seconds", "What the last balancing was told of each PE", loads)?;
        let of_last = |value: f64| vec![(Labels::new(), count(value))];
        let rounds = last.map_or_else(Vec::new, |last| of_last(last.number as f64 + 1.0));
        family("balancings", "Balancings so far", rounds)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::balancing::BalancingFigures;
    use crate::services::survey::{Figures, NodeFigures, PathFigures};
    use std::collections::BTreeSet;

    /// A job that has something to tell in every family.
    fn busy() -> Snapshot {
        let path = PathFigures {
            to: 1,
            path: "messages by shm".to_owned(),
            used: String::new(),
            messages: 3,
            message_bytes: 300,
        };
        let figures = Figures {
            node: 0,
            uptime_ns: 2_000_000_000,
            idle_ns: 500_000_000,
            queued: 4,
            early: 1,
            sent: 10,
            processed: 9,
            entries: 8,
            network_bytes: 300,
            copies: 1,
            copied_bytes: 64,
            chares: 5,
            times: vec![EntryTime { chare: "Cell".into(), entry: "step".into(), runs: 8, ns: 1_500_000_000 }],
            collections: vec![CollectionFigures { id: "0.1".into(), chare: "Cell".into(), elements: 5 }],
            balancings: vec![BalancingFigures { number: 6, loads: vec![0.25, 1.5], moves: 2 }],
            of_node: Some(NodeFigures { resident_bytes: Some(1 << 20), paths: vec![path] }),
        };
        Snapshot {
            program: "cells".to_owned(),
            pes: 2,
            nodes: 2,
            figures: vec![OfPe { pe: 0, is_late: false, figures }],
        }
    }

    #[test]
    fn collections_and_balancings_are_told() {
        let text = encode(&busy());
        for line in [
            r#"chare_collection_elements{collection="0.1",chare="Cell",pe="0"} 5.0"#,
            r#"chare_balancing_load_seconds{pe="1"} 1.5"#,
            "chare_balancings_total 7.0",
            r#"chare_entry_seconds_total{pe="0",chare="Cell",entry="step"} 1.5"#,
        ] {
            assert!(text.lines().any(|told| told == line), "{line}\n{text}");
        }
    }

    #[test]
    fn what_the_dashboard_for_grafana_asks_for_is_there() {
        let text = encode(&busy());
        let told: BTreeSet<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split(['{', ' ']).next())
            .collect();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/grafana/chare.json");
        let dashboard = std::fs::read_to_string(file).expect("it stands beside the book");
        let dashboard: serde_json::Value = serde_json::from_str(&dashboard).expect("JSON");
        let mut asked = BTreeSet::new();
        let targets = dashboard["panels"].as_array().expect("panels").iter();
        for target in targets.flat_map(|panel| panel["targets"].as_array().expect("targets")) {
            let query = target["expr"].as_str().expect("a query");
            let words = query.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
            asked.extend(words.filter(|word| word.starts_with("chare_")).map(str::to_owned));
        }
        assert!(asked.len() >= 10, "{asked:?}");
        let missing: Vec<&String> = asked.iter().filter(|name| !told.contains(&name[..])).collect();
        assert!(missing.is_empty(), "no metric has these names: {missing:?}; those are there: {told:?}");
    }
}
