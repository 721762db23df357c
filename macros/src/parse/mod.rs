//! Parsing of a block: its shape and its items. Method bodies stay unread, but for those of `async` entries, which are read for one mistake that
//! the compiler cannot explain: a field of the chare is looked for in its handle.

mod helpers;

pub(crate) use helpers::read_helpers;

use crate::ast::{Block, ChareOption, Item, Method, Role};
use crate::errors::{Errors, Misuse};
use helpers::refuse_helpers;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprField, FnArg, ImplItem, ItemImpl, Pat, PatIdent, Signature, Token, Type, parse_quote,
};

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

/// Reports fields of the chare that the body of an `async` entry takes from `this`. The body is then left out, for the compiler would say
/// once more that there is no such field.
fn read_body(method: &mut Method, errors: &mut Errors) {
    let (Some(this), Some(body)) = (handle(method), &method.body) else { return };
    // What the compiler cannot read either, it says itself.
    let Ok(block) = syn::parse2::<syn::Block>(body.to_token_stream()) else { return };
    let mut search = Search { this, fields: Vec::new(), is_shadowed: false };
    search.visit_block(&block);
    let Search { this, fields, is_shadowed } = search;
    if is_shadowed || fields.is_empty() {
        return;
    }
    let this = this.to_string();
    for field in fields {
        let name = field.member.to_token_stream().to_string();
        errors.report(field, Misuse::FieldOfThis { this: this.clone(), field: name });
    }
    let mut empty = Group::new(Delimiter::Brace, quote!(::core::unreachable!()));
    empty.set_span(body.span());
    method.body = Some(empty);
    method.attributes.push(parse_quote!(#[allow(unused_variables, reason = "the body is left out")]));
}

/// The name of the handle that an `async` entry takes.
fn handle(method: &Method) -> Option<Ident> {
    let is_async_entry = matches!(method.role, Role::Entry { .. }) && method.signature.asyncness.is_some();
    let Some(FnArg::Typed(first)) = method.signature.inputs.first().filter(|_| is_async_entry) else {
        return None;
    };
    let Type::Path(ty) = &*first.ty else { return None };
    let is_handle = ty.path.segments.last().is_some_and(|last| last.ident == "This" || last.ident == "Again");
    match &*first.pat {
        Pat::Ident(pattern) if is_handle => Some(pattern.ident.clone()),
        _ => None,
    }
}

/// Fields that are taken from a name, and whether the name may mean something else somewhere.
struct Search<'a> {
    this: Ident,
    fields: Vec<&'a ExprField>,
    is_shadowed: bool,
}

impl<'a> Visit<'a> for Search<'a> {
    fn visit_expr_field(&mut self, field: &'a ExprField) {
        if matches!(&*field.base, Expr::Path(path) if path.path.is_ident(&self.this)) {
            self.fields.push(field);
        }
        visit::visit_expr_field(self, field);
    }

    fn visit_pat_ident(&mut self, pattern: &'a PatIdent) {
        self.is_shadowed |= pattern.ident == self.this;
        visit::visit_pat_ident(self, pattern);
    }
}
