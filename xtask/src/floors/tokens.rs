//! Tokens of macro calls: those of well-known macros as expressions, all others as a search for paths that start with a crate.

use super::source::Mention;
use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Pat, Token};

/// Macros whose arguments are expressions between commas.
const WELL_KNOWN: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "dbg",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// What is written in a macro call.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) expressions: Vec<Expr>,
    pub(crate) patterns: Vec<Pat>,
}

/// Parses a call of a well-known macro.
pub(crate) fn parse(call: &syn::Macro) -> Option<Parts> {
    let name = call.path.segments.last()?.ident.to_string();
    let tokens = call.tokens.clone();
    match name.as_str() {
        "matches" => matches.parse2(tokens).ok(),
        "vec" => list.parse2(tokens.clone()).or_else(|_| repeated.parse2(tokens)).ok(),
        name if WELL_KNOWN.contains(&name) => list.parse2(tokens).ok(),
        _ => None,
    }
}

fn list(input: ParseStream<'_>) -> syn::Result<Parts> {
    let expressions = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
    Ok(Parts { expressions: expressions.into_iter().collect(), patterns: Vec::new() })
}

fn repeated(input: ParseStream<'_>) -> syn::Result<Parts> {
    let value = input.parse()?;
    input.parse::<Token![;]>()?;
    Ok(Parts { expressions: vec![value, input.parse()?], patterns: Vec::new() })
}

fn matches(input: ParseStream<'_>) -> syn::Result<Parts> {
    let mut parts = Parts::default();
    parts.expressions.push(input.parse()?);
    input.parse::<Token![,]>()?;
    parts.patterns.push(Pat::parse_multi_with_leading_vert(input)?);
    if input.parse::<Option<Token![if]>>()?.is_some() {
        parts.expressions.push(input.parse()?);
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(parts)
}

/// How paths begin that are found among other tokens; `$crate` is one of them.
const CRATES: [&str; 4] = ["crate", "std", "core", "alloc"];

/// The paths in tokens that start with a crate.
pub(crate) fn crate_paths(tokens: TokenStream) -> Vec<Mention> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => found.extend(crate_paths(group.stream())),
            TokenTree::Ident(ident) if CRATES.iter().any(|name| ident == name) => {
                let line = ident.span().start().line;
                let mut path = vec![ident.to_string()];
                while let Some(segment) = segment_after(&tokens[at + 1..]) {
                    path.push(segment);
                    at += 3;
                }
                found.push(Mention { path, line });
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The name that follows `::`.
fn segment_after(tokens: &[TokenTree]) -> Option<String> {
    match tokens {
        [TokenTree::Punct(one), TokenTree::Punct(two), TokenTree::Ident(name), ..] => {
            (one.as_char() == ':' && two.as_char() == ':').then(|| name.to_string())
        }
        _ => None,
    }
}
