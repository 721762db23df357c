//! Lines of a trace: an event in the trace event format of `chrome://tracing` and Perfetto, which is JSON.
//!
//! Spans and idle times are complete events (`X`). A message is a flow: it starts (`s`) within the span that sent it, and ends (`f`, bound to
//! its enclosing span) at the beginning of the span that it caused.

use super::event::{Event, What};
use crate::model::ids::{MessageId, NodeId, PeId};
use crate::model::registry::show;
use std::fmt::{self, Display, Write};

/// A PE as a viewer knows it: process and thread.
#[derive(Clone, Copy)]
pub(super) struct TraceThread {
    pub(super) node: NodeId,
    pub(super) thread: i32,
}

impl Display for TraceThread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, r#""pid":{},"tid":{}"#, self.node.0, self.thread)
    }
}

/// Nanoseconds, written as microseconds.
struct Us(u64);

impl Display for Us {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

/// A text as it stands within the quotes of JSON.
struct Escaped<'a>(&'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_special = |letter| matches!(letter, '"' | '\\' | '\0'..='\x1f');
        let mut rest = self.0;
        while let Some(place) = rest.find(is_special) {
            let (plain, from_special) = rest.split_at(place);
            let (special, after) = from_special.split_at(1);
            out.write_str(plain)?;
            match special {
                "\"" | "\\" => write!(out, "\\{special}")?,
                control => write!(out, "\\u{:04x}", control.as_bytes()[0])?,
            }
            rest = after;
        }
        out.write_str(rest)
    }
}

/// Appends the line, or the two, of an event.
pub(super) fn append(text: &mut String, place: TraceThread, event: &Event) {
    let written = match *event {
        Event::Span { what, begun_ns, ended_ns, cause } => span(text, place, &what, (begun_ns, ended_ns))
            .and_then(|()| match cause {
                None => Ok(()),
                Some(message) => {
                    let phase = format_args!(r#""ph":"f","bp":"e""#);
                    flow(text, place, (phase, message, begun_ns), ("from", message.sender()))
                }
            }),
        Event::Sent { message, to, at_ns } => {
            flow(text, place, (format_args!(r#""ph":"s""#), message, at_ns), ("to", to))
        }
        Event::Idle { since_ns, until_ns } => writeln!(
            text,
            r#"{{"name":"idle","cat":"idle","ph":"X","ts":{},"dur":{},{place},"args":{{}}}},"#,
            Us(since_ns),
            Us(until_ns - since_ns)
        ),
    };
    written.expect("a text takes what is written");
}

fn span(text: &mut String, place: TraceThread, what: &What, (begun_ns, ended_ns): (u64, u64)) -> fmt::Result {
    text.push_str(r#"{"name":""#);
    if let Some((chare, _)) = what.chare {
        write!(text, "{}::", Escaped(chare))?;
    }
    let (name, category) = (Escaped(what.name), what.kind.category());
    let (begun, lasted) = (Us(begun_ns), Us(ended_ns - begun_ns));
    write!(text, r#"{name}","cat":"{category}","ph":"X","ts":{begun},"dur":{lasted},{place},"args":{{"#)?;
    if let Some((chare, target)) = what.chare {
        write!(text, r#""chare":"{}""#, Escaped(&show(chare, target)))?;
    }
    text.push_str("}},\n");
    Ok(())
}

fn flow(
    text: &mut String,
    place: TraceThread,
    (phase, MessageId(id), at_ns): (impl Display, MessageId, u64),
    (way, PeId(other)): (&str, PeId),
) -> fmt::Result {
    let at = Us(at_ns);
    writeln!(
        text,
        r#"{{"name":"message","cat":"message",{phase},"id":"{id:#x}","ts":{at},{place},"args":{{"{way}":{other}}}}},"#
    )
}

/// Appends the lines that name a PE and its place among the others.
pub(super) fn append_name(text: &mut String, place: TraceThread, pe: PeId) {
    let names =
        [("thread_name", "name", format!("\"{pe}\"")), ("thread_sort_index", "sort_index", pe.0.to_string())];
    for (what, key, value) in names {
        *text += &format!(r#"{{"name":"{what}","ph":"M",{place},"args":{{"{key}":{value}}}}},"#);
        text.push('\n');
    }
}

/// Appends the line that says how many events a PE dropped.
pub(super) fn append_dropped(text: &mut String, place: TraceThread, at_ns: u64, events: u64) {
    let at = Us(at_ns);
    *text += &format!(
        r#"{{"name":"dropped","cat":"trace","ph":"i","s":"t","ts":{at},{place},"args":{{"events":{events}}}}},"#
    );
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_forbids_within_quotes_is_escaped() {
        let said = Escaped("Grid<'\"', '\\\\'>\n\u{1}ü").to_string();
        assert_eq!(said, r#"Grid<'\"', '\\\\'>\u000a\u0001ü"#);
        assert_eq!(Escaped("").to_string(), "");
    }
}
