//! Bodies of `async` entries, read for one mistake that the compiler cannot explain: a field of the chare is looked for in its handle.

use crate::ast::{Method, Role};
use crate::errors::{Errors, Misuse};
use proc_macro2::{Delimiter, Group, Ident};
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprField, FnArg, Pat, PatIdent, Type, parse_quote};

/// Reports fields of the chare that the body of an `async` entry takes from `this`. The body is then left out, for the compiler would say
/// once more that there is no such field.
pub(super) fn read_body(method: &mut Method, errors: &mut Errors) {
    let (Some(this), Some(body)) = (handle(method), &method.body) else { return };
    // What the compiler cannot read either, it says itself.
    let Ok(block) = syn::parse2::<Block>(body.to_token_stream()) else { return };
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
