//! Lines of a trace: an event in the trace event format of `chrome://tracing` and Perfetto, which is JSON.
//!
//! | what | events |
//! |---|---|
//! | span | a complete event (`X`) |
//! | span that lies across others | a pair (`b`, `e`), which has a line of its own |
//! | message | a flow: it starts (`s`) at the begin of the span that sent it, behind that span in the file, and ends (`f`, bound to its enclosing span) at the begin of the span that it caused; its argument `at` is when it left |
//! | what the program counts | a counter (`C`) of its PE |
//! | element that leaves or arrives | an instant (`i`) |
//! | idle time | metadata (`M`), which viewers leave alone: nothing stands there, and so nothing is buried. An event of the thread would be taken for where the next arrow starts |

use super::event::{Event, Kind, Move, What};
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
                    let from = format_args!(r#""from":{}"#, message.sender().0);
                    flow(text, place, (phase, message, begun_ns), from)
                }
            }),
        Event::Beside { what, begun_ns, ended_ns, of } => {
            beside(text, place, &what, (begun_ns, ended_ns), of)
        }
        Event::Sent { message, to, at_ns, span_ns } => {
            let arguments = format_args!(r#""to":{},"at":{}"#, to.0, Us(at_ns));
            flow(text, place, (format_args!(r#""ph":"s""#), message, span_ns), arguments)
        }
        Event::Value { name, value, at_ns, of } => {
            let (name, at) = (Escaped(name), Us(at_ns));
            writeln!(
                text,
                r#"{{"name":"{name}","cat":"own","ph":"C","id":"{of}","ts":{at},{place},"args":{{"value":{value:e}}}}},"#
            )
        }
        Event::Moved { what, way, at_ns } => moved(text, place, &what, (way, at_ns)),
        Event::Idle { since_ns, until_ns } => writeln!(
            text,
            r#"{{"name":"idle","cat":"idle","ph":"M","ts":{},"dur":{},{place},"args":{{}}}},"#,
            Us(since_ns),
            Us(until_ns - since_ns)
        ),
    };
    written.expect("a text takes what is written");
}

fn span(text: &mut String, place: TraceThread, what: &What, (begun_ns, ended_ns): (u64, u64)) -> fmt::Result {
    text.push_str(r#"{"name":""#);
    if let Some((chare, _)) = what.chare.filter(|_| what.kind != Kind::Own) {
        write!(text, "{}::", Escaped(chare))?;
    }
    let (name, category) = (Escaped(what.name), what.kind.category());
    let (begun, lasted) = (Us(begun_ns), Us(ended_ns - begun_ns));
    write!(text, r#"{name}","cat":"{category}","ph":"X","ts":{begun},"dur":{lasted},{place},"args":{{"#)?;
    text.push_str(&chare_of(what));
    text.push_str("}},\n");
    Ok(())
}

/// The argument that names the chare, if there is one.
fn chare_of(what: &What) -> String {
    let argument = |(chare, target)| format!(r#""chare":"{}""#, Escaped(&show(chare, target)));
    what.chare.map_or_else(String::new, argument)
}

fn beside(
    text: &mut String,
    place: TraceThread,
    what: &What,
    (begun_ns, ended_ns): (u64, u64),
    (pe, number): (PeId, u64),
) -> fmt::Result {
    let (name, category, arguments) = (Escaped(what.name), what.kind.category(), chare_of(what));
    for (phase, at_ns) in [("b", begun_ns), ("e", ended_ns)] {
        let at = Us(at_ns);
        writeln!(
            text,
            r#"{{"name":"{name}","cat":"{category}","ph":"{phase}","id":"{}-{number}","ts":{at},{place},"args":{{{arguments}}}}},"#,
            pe.0
        )?;
    }
    Ok(())
}

fn moved(text: &mut String, place: TraceThread, what: &What, (way, at_ns): (Move, u64)) -> fmt::Result {
    let (way, PeId(other)) = match way {
        Move::Leaves { to } => ("to", to),
        Move::Arrives { from } => ("from", from),
    };
    let chare = what.chare.map_or("", |(chare, _)| chare);
    let (chare, name, at, arguments) = (Escaped(chare), what.name, Us(at_ns), chare_of(what));
    writeln!(
        text,
        r#"{{"name":"{chare} {name}","cat":"move","ph":"i","s":"t","ts":{at},{place},"args":{{{arguments},"{way}":{other}}}}},"#
    )
}

fn flow(
    text: &mut String,
    place: TraceThread,
    (phase, MessageId(id), at_ns): (impl Display, MessageId, u64),
    arguments: impl Display,
) -> fmt::Result {
    let at = Us(at_ns);
    writeln!(
        text,
        r#"{{"name":"message","cat":"message",{phase},"id":"{id:#x}","ts":{at},{place},"args":{{{arguments}}}}},"#
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
