//! Reading of one file: a walk over its syntax that fills the modules of a `Source`, and finds which other files it declares.
//!
//! Test code is passed over, and so are documentation and visibilities. Macro calls are read as far as `tokens` understands them.

use super::conditions::{attributes, is_test};
use super::source::{Definition, Import, Mention, Module, ModuleId, Source};
use super::tokens;
use std::collections::BTreeSet;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ImplItem, Item, Meta, Stmt, TraitItem, Type, UseTree, Visibility};

/// A module whose text stands in a file of its own.
#[derive(PartialEq, Eq)]
pub(crate) struct Declared {
    /// None for a root.
    pub(crate) parent: Option<ModuleId>,
    pub(crate) name: String,
    /// Where files of its modules lie.
    pub(crate) folder: String,
    /// Where its own file may be.
    pub(crate) candidates: Vec<String>,
}

impl Declared {
    /// The root of a library or of a program, by its path.
    pub(crate) fn root(path: &str) -> Self {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        Self { parent: None, name: String::new(), folder, candidates: vec![path.to_owned()] }
    }

    fn child(parent: ModuleId, name: String, folder: String) -> Self {
        let candidates = vec![format!("{folder}.rs"), format!("{folder}/mod.rs")];
        Self { parent: Some(parent), name, folder, candidates }
    }
}

/// Reads a file into its module, and tells which other files it declares.
pub(crate) fn read(source: &mut Source, module: ModuleId, file: &syn::File) -> Vec<Declared> {
    let mut reader = Reader { source, module, declared: Vec::new() };
    if !is_test(&file.attrs) {
        reader.read_items(&file.items);
    }
    reader.declared
}

struct Reader<'source> {
    source: &'source mut Source,
    module: ModuleId,
    declared: Vec<Declared>,
}

impl Reader<'_> {
    fn read_items(&mut self, items: &[Item]) {
        for item in items {
            if !is_test(attributes(item)) {
                self.define(item);
            }
            self.visit_item(item);
        }
    }

    fn define(&mut self, item: &Item) {
        let mut variants = BTreeSet::new();
        let (name, is_type) = match item {
            Item::Const(item) => (&item.ident, false),
            Item::Fn(item) => (&item.sig.ident, false),
            Item::Static(item) => (&item.ident, false),
            Item::Struct(item) => (&item.ident, true),
            Item::Trait(item) => (&item.ident, true),
            Item::TraitAlias(item) => (&item.ident, true),
            Item::Type(item) => (&item.ident, true),
            Item::Union(item) => (&item.ident, true),
            Item::Enum(item) => {
                variants.extend(item.variants.iter().map(|variant| variant.ident.unraw().to_string()));
                (&item.ident, true)
            }
            Item::Macro(item) => match &item.ident {
                Some(name) => (name, false),
                None => return,
            },
            _ => return,
        };
        let line = name.span().start().line;
        let name = name.unraw().to_string();
        if attributes(item).iter().any(|attribute| attribute.path().is_ident("macro_export")) {
            self.export(&name);
        }
        if is_type {
            self.module().types.push(Definition { name: name.clone(), line });
        }
        self.module().definitions.entry(name).or_default().extend(variants);
    }

    /// Makes a macro known where it is named, at the root; the module that defines it answers.
    fn export(&mut self, name: &str) {
        let inwards: Vec<ModuleId> = self.source.ancestors(self.module).collect();
        let names = inwards.iter().rev().map(|module| &self.source.modules[module.0].name);
        let mut path: Vec<String> = names.filter(|name| !name.is_empty()).cloned().collect();
        path.insert(0, "crate".to_owned());
        path.push(name.to_owned());
        let mention = Mention { path, line: 1 };
        let import = Import { name: Some(name.to_owned()), mention, is_reexport: true };
        let root = self.source.root_of(self.module);
        self.source.modules[root.0].imports.push(import);
    }

    fn module(&mut self) -> &mut Module {
        &mut self.source.modules[self.module.0]
    }

    fn mention(&mut self, path: &syn::Path) {
        let mention = mention(path);
        self.module().mentions.push(mention);
    }

    fn read_tree(&mut self, tree: &UseTree, prefix: &[String], is_reexport: bool) {
        let with = |ident: &syn::Ident| [prefix, &[ident.unraw().to_string()]].concat();
        let (path, name, ident) = match tree {
            UseTree::Path(tree) => return self.read_tree(&tree.tree, &with(&tree.ident), is_reexport),
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.read_tree(tree, prefix, is_reexport));
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                let mention = Mention { path: prefix.to_vec(), line };
                return self.module().imports.push(Import { name: None, mention, is_reexport });
            }
            UseTree::Name(name) if name.ident == "self" => {
                (prefix.to_vec(), prefix.last().cloned(), &name.ident)
            }
            UseTree::Name(name) => (with(&name.ident), Some(name.ident.unraw().to_string()), &name.ident),
            UseTree::Rename(rename) => {
                let path = if rename.ident == "self" { prefix.to_vec() } else { with(&rename.ident) };
                (path, Some(rename.rename.unraw().to_string()), &rename.ident)
            }
        };
        let mention = Mention { path, line: ident.span().start().line };
        self.module().imports.push(Import { name, mention, is_reexport });
    }

    fn read_module(&mut self, item: &syn::ItemMod) {
        let name = item.ident.unraw().to_string();
        let folder = format!("{}/{name}", self.module().folder);
        if is_test(&item.attrs) || item.ident == "tests" {
            self.source.tests.push(folder);
            return;
        }
        if item.attrs.iter().any(|attribute| attribute.path().is_ident("path")) {
            return self.read_elsewhere(item, name);
        }
        let Some((_, items)) = &item.content else {
            let declared = Declared::child(self.module, name, folder);
            // Under two conditions it may be declared twice.
            if !self.declared.contains(&declared) {
                self.declared.push(declared);
            }
            return;
        };
        let outer = self.module;
        let file = self.source.modules[outer.0].file;
        self.module = self.source.add_module(file, Some(outer), &name, folder);
        self.read_items(items);
        self.module = outer;
    }

    /// A module by `#[path]`: a program may take files of other programs, which are checked where they lie.
    fn read_elsewhere(&mut self, item: &syn::ItemMod, name: String) {
        let line = item.ident.span().start().line;
        let file = self.module().file;
        let here = self.source.files[file.0].path.clone();
        if here.ends_with("/main.rs") {
            let mention = Mention { path: vec!["::".to_owned(), name.clone()], line };
            self.module().imports.push(Import { name: Some(name), mention, is_reexport: false });
        } else {
            self.source.faults.push(format!(
                "{}/{here}:{line}: `#[path]` hides where a module lies: move the file to where its name says",
                self.source.name
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Mod(module) => self.read_module(module),
            item if is_test(attributes(item)) => {}
            item => visit::visit_item(self, item),
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let prefix = if item.leading_colon.is_some() { vec!["::".to_owned()] } else { Vec::new() };
        self.read_tree(&item.tree, &prefix, !matches!(item.vis, Visibility::Inherited));
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        if let (true, Some((_, name))) = (item.ident == "self", &item.rename) {
            self.source.own_name = Some(name.to_string());
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let (None, Some(path)) = (&item.trait_, named(&item.self_ty)) {
            let mention = mention(path);
            self.module().extensions.push(mention);
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !is_test(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        let attributes = match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            _ => return,
        };
        if !is_test(attributes) {
            visit::visit_trait_item(self, item);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let is_test = match statement {
            Stmt::Local(local) => is_test(&local.attrs),
            Stmt::Macro(call) => is_test(&call.attrs),
            Stmt::Expr(Expr::Block(block), _) => is_test(&block.attrs),
            Stmt::Expr(Expr::Call(call), _) => is_test(&call.attrs),
            Stmt::Expr(Expr::MethodCall(call), _) => is_test(&call.attrs),
            _ => false,
        };
        if !is_test {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if !is_test(&field.attrs) {
            visit::visit_field(self, field);
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if !is_test(&field.attrs) {
            visit::visit_field_value(self, field);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        if !is_test(&variant.attrs) {
            visit::visit_variant(self, variant);
        }
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if !is_test(&arm.attrs) {
            visit::visit_arm(self, arm);
        }
    }

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        visit::visit_attribute(self, attribute);
        if let Meta::List(list) = &attribute.meta {
            let found = tokens::crate_paths(list.tokens.clone());
            self.module().mentions.extend(found);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        // A lone name in lower case is a local variable, unless it is called.
        if path.segments.len() > 1 || path.segments.iter().any(|segment| is_capital(&segment.ident)) {
            self.mention(path);
        }
        visit::visit_path(self, path);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if is_capital(&pattern.ident) {
            self.mention(&pattern.ident.clone().into());
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(function) = &*call.func
            && function.qself.is_none()
        {
            self.mention(&function.path);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.mention(&call.path);
        match tokens::parse(call) {
            Some(parts) => {
                parts.expressions.iter().for_each(|expression| self.visit_expr(expression));
                parts.patterns.iter().for_each(|pattern| self.visit_pat(pattern));
            }
            None => {
                let found = tokens::crate_paths(call.tokens.clone());
                self.module().mentions.extend(found);
            }
        }
    }
}

fn mention(path: &syn::Path) -> Mention {
    let root = path.leading_colon.map(|_| "::".to_owned());
    let segments = path.segments.iter().map(|segment| segment.ident.unraw().to_string());
    let line = path.segments.first().map_or(1, |segment| segment.ident.span().start().line);
    Mention { path: root.into_iter().chain(segments).collect(), line }
}

fn is_capital(name: &syn::Ident) -> bool {
    name.to_string().starts_with(char::is_uppercase)
}

/// The path of the type that an `impl` block is for.
fn named(self_type: &Type) -> Option<&syn::Path> {
    match self_type {
        Type::Path(named) if named.qself.is_none() => Some(&named.path),
        Type::Paren(inner) => self::named(&inner.elem),
        Type::Group(inner) => self::named(&inner.elem),
        Type::TraitObject(object) => object.bounds.iter().find_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => Some(&bound.path),
            _ => None,
        }),
        _ => None,
    }
}
