//! Parsing of a block: its shape and its items. Method bodies stay unread, but for those of `async` entries.

mod bodies;
mod helpers;

pub(crate) use helpers::read_helpers;

use crate::ast::{Block, ChareOption, Item, Method, Role};
use crate::errors::{Errors, Misuse};
use bodies::read_body;
use helpers::refuse_helpers;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Ident, ImplItem, ItemImpl, Signature, Token};

/// Reads the attribute's options and the item that it stands on; `None` if that is no impl block.
pub(crate) fn parse(options: TokenStream, item: TokenStream, errors: &mut Errors) -> Option<Block> {
    let options = match Punctuated::<ChareOption, Token![,]>::parse_terminated.parse2(options.clone()) {
        Ok(options) => options.into_iter().collect(),
        Err(_) => {
            errors.report(&options, Misuse::UnknownKind { found: options.to_string() });
            Vec::new()
        }
    };
    let Some((mut header, body)) = parse_header(item.clone()) else {
        errors.report(item, Misuse::NotAnImplBlock);
        return None;
    };
    match parse_body.parse2(body.stream()) {
        Ok((inner_attributes, raw)) => {
            header.attrs.extend(inner_attributes);
            let items = raw.into_iter().map(|item| item.read(errors)).collect();
            Some(Block { options, header, items })
        }
        Err(error) => {
            errors.add(error);
            None
        }
    }
}

impl Parse for ChareOption {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        match ahead.parse::<Ident>() {
            Ok(name) if name == "index" && ahead.peek(Token![=]) => {
                let name = input.parse()?;
                input.parse::<Token![=]>()?;
                Ok(Self::Index { name, ty: input.parse()? })
            }
            Ok(name) if name == "on_panic" && ahead.peek(Token![=]) => {
                let name = input.parse()?;
                input.parse::<Token![=]>()?;
                Ok(Self::OnPanic { name, policy: input.parse()? })
            }
            Ok(name) if name == "migrate" && (ahead.is_empty() || ahead.peek(Token![,])) => {
                input.parse().map(Self::Migrate)
            }
            Ok(name) if name == "sync" && (ahead.is_empty() || ahead.peek(Token![,])) => {
                input.parse().map(Self::Sync)
            }
            _ => input.parse().map(Self::Kind),
        }
    }
}

/// An impl block without its items, and the braces that hold them.
fn parse_header(item: TokenStream) -> Option<(ItemImpl, Group)> {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else { return None };
    if body.delimiter() != Delimiter::Brace {
        return None;
    }
    let mut empty = Group::new(Delimiter::Brace, TokenStream::new());
    empty.set_span(body.span());
    let header = syn::parse2(quote!(#(#tokens)* #empty)).ok()?;
    Some((header, body))
}

fn parse_body(input: ParseStream<'_>) -> syn::Result<(Vec<Attribute>, Vec<RawItem>)> {
    let inner_attributes = input.call(Attribute::parse_inner)?;
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse()?);
    }
    Ok((inner_attributes, items))
}

/// An item whose helper attributes are not read yet.
enum RawItem {
    Method(Method),
    Other(ImplItem),
}

impl Parse for RawItem {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        let attributes = ahead.call(Attribute::parse_outer)?;
        let visibility = ahead.parse()?;
        let Ok(signature) = ahead.parse::<Signature>() else {
            return input.parse().map(Self::Other);
        };
        input.advance_to(&ahead);
        let body = match input.parse::<Option<Token![;]>>()? {
            Some(_) => None,
            None => Some(input.parse()?),
        };
        let (role, nocopy, references) = (Role::Helper, Vec::new(), Vec::new());
        Ok(Self::Method(Method { attributes, visibility, signature, body, role, nocopy, references }))
    }
}

impl RawItem {
    fn read(self, errors: &mut Errors) -> Item {
        match self {
            Self::Method(mut method) => {
                read_helpers(&mut method, errors);
                read_body(&mut method, errors);
                Item::Method(method)
            }
            Self::Other(mut item) => {
                refuse_helpers(&mut item, errors);
                Item::Other(item)
            }
        }
    }
}
