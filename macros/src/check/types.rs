//! Type questions that tokens alone answer: is it `Self`, `This` or `Received`, does it borrow?

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Expr, ExprPath, GenericArgument, Ident, Path, PathArguments, PathSegment, QSelf, Token, Type, TypePath,
};

/// The type inside the invisible or visible brackets that macros and people put around types.
pub(super) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        plain => plain,
    }
}

/// The last segment of a path type: `Received<f64>` of `chare::Received<f64>`.
pub(super) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ungrouped(ty) {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// Whether a path type ends in this name.
pub(super) fn is_named(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}

/// Whether a type is `Self` or the chare's own path.
pub(super) fn is_chare(ty: &Type, chare: &Path) -> bool {
    matches!(ungrouped(ty), Type::Path(TypePath { qself: None, path, .. }) if path.is_ident("Self") || path == chare)
}

/// The name of the handle that a type is, if it is one: `This` or `Again`.
pub(super) fn handle(ty: &Type) -> Option<&'static str> {
    ["This", "Again"].into_iter().find(|name| is_named(ty, name))
}

/// Whether a handle is that of the chare: `This<Self>`, or the same with the chare's own path.
pub(super) fn is_handle_of(ty: &Type, chare: &Path) -> bool {
    let Some(PathArguments::AngleBracketed(arguments)) = last_segment(ty).map(|segment| &segment.arguments)
    else {
        return false;
    };
    let mut arguments = arguments.args.iter();
    matches!((arguments.next(), arguments.next()), (Some(GenericArgument::Type(of)), None) if is_chare(of, chare))
}

/// The reason why a type cannot be part of a message.
pub(super) enum Obstacle {
    Borrow,
    ImplTrait,
}

/// The first obstacle in a type, and its tokens.
pub(super) fn obstacle(ty: &Type) -> Option<(Obstacle, proc_macro2::TokenStream)> {
    #[derive(Default)]
    struct Search(Option<(Obstacle, proc_macro2::TokenStream)>);

    impl<'ast> Visit<'ast> for Search {
        fn visit_type(&mut self, ty: &'ast Type) {
            let found = match ty {
                Type::Reference(_) => Obstacle::Borrow,
                Type::ImplTrait(_) => Obstacle::ImplTrait,
                _ => return visit::visit_type(self, ty),
            };
            self.0.get_or_insert_with(|| (found, ty.to_token_stream()));
        }

        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            if lifetime.ident != "static" {
                self.0.get_or_insert_with(|| (Obstacle::Borrow, lifetime.to_token_stream()));
            }
        }
    }

    let mut search = Search::default();
    search.visit_type(ty);
    search.0
}

/// The type with the chare's path for `Self`, so that it can stand in the `impl` block of a proxy.
pub(crate) fn without_self(ty: &Type, chare: &Path) -> Type {
    struct Replace<'a>(&'a Path);

    impl Replace<'_> {
        /// Turns `Self` into `Chare` and `Self::Name` into `<Chare>::Name`.
        fn replace(&self, qself: &mut Option<QSelf>, path: &mut Path) {
            if qself.is_some() || path.leading_colon.is_some() || path.segments[0].ident != "Self" {
                return;
            }
            if path.segments.len() == 1 {
                *path = self.0.clone();
                return;
            }
            let span = path.segments[0].ident.span();
            let ty = Type::Path(TypePath { attrs: Vec::new(), qself: None, path: self.0.clone() });
            path.segments = std::mem::take(&mut path.segments).into_iter().skip(1).collect();
            path.leading_colon = Some(Token![::](span));
            *qself = Some(QSelf {
                lt_token: Token![<](span),
                ty: Box::new(ty),
                position: 0,
                as_token: None,
                gt_token: Token![>](span),
            });
        }
    }

    impl VisitMut for Replace<'_> {
        fn visit_type_path_mut(&mut self, ty: &mut TypePath) {
            self.replace(&mut ty.qself, &mut ty.path);
            visit_mut::visit_type_path_mut(self, ty);
        }

        fn visit_expr_mut(&mut self, expression: &mut Expr) {
            if let Expr::Path(ExprPath { qself, path, .. }) = expression {
                self.replace(qself, path);
            }
            visit_mut::visit_expr_mut(self, expression);
        }
    }

    let mut ty = ty.clone();
    Replace(chare).visit_type_mut(&mut ty);
    ty
}

/// Whether a type depends on `Self`.
pub(crate) fn names_self(ty: &Type) -> bool {
    struct Search(bool);

    impl<'ast> Visit<'ast> for Search {
        fn visit_path(&mut self, path: &'ast Path) {
            self.0 |= path.segments.first().is_some_and(|first| first.ident == "Self");
            visit::visit_path(self, path);
        }
    }

    let mut search = Search(false);
    search.visit_type(ty);
    search.0
}

/// Tokens as a person writes them.
pub(super) fn plain_text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, plain) in [(" :: ", "::"), (" < ", "<"), (" >", ">"), (" ,", ","), ("& ", "&"), ("- ", "-")]
    {
        text = text.replace(spaced, plain);
    }
    text
}

/// A name without the `r#` that lets it be a keyword.
pub(crate) fn plain_name(name: &Ident) -> String {
    use syn::ext::IdentExt;
    name.unraw().to_string()
}
