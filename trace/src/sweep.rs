//! Sweep over the spans of one PE: which of the spans that are open is the innermost, and when.

use std::ops::Range;

/// A piece of a PE's time in which one span is the innermost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    /// The span's place among those of its PE.
    pub span: usize,
    /// Microseconds since the timeline's begin.
    pub begun_us: f64,
    /// Microseconds since the timeline's begin.
    pub ended_us: f64,
}

/// Cuts the times of spans, which are sorted by their begin, and the longer first among those that begin together, into pieces.
pub(crate) fn pieces(spans: &[Range<f64>]) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(spans.len());
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0.0_f64;
    let mut tell = |span: usize, from: &mut f64, to: f64| {
        if to > *from {
            pieces.push(Piece { span, begun_us: *from, ended_us: to });
            *from = to;
        }
    };
    for (number, span) in spans.iter().enumerate() {
        while let Some(inner) = open.pop_if(|inner| spans[*inner].end <= span.start) {
            tell(inner, &mut at, spans[inner].end);
        }
        if let Some(outer) = open.last() {
            tell(*outer, &mut at, span.start);
        }
        at = at.max(span.start);
        open.push(number);
    }
    while let Some(inner) = open.pop() {
        tell(inner, &mut at, spans[inner].end);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_span_has_the_time() {
        let spans = [0.0..10.0, 2.0..5.0, 3.0..4.0, 5.0..6.0, 20.0..21.0];
        let cut: Vec<_> =
            pieces(&spans).iter().map(|piece| (piece.span, piece.begun_us, piece.ended_us)).collect();
        let expected = [
            (0, 0.0, 2.0),
            (1, 2.0, 3.0),
            (2, 3.0, 4.0),
            (1, 4.0, 5.0),
            (3, 5.0, 6.0),
            (0, 6.0, 10.0),
            (4, 20.0, 21.0),
        ];
        assert_eq!(cut, expected);
    }
}
