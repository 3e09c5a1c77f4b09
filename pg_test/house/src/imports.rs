//! The imports of one file: its `use` items, and paths that begin with `crate`, `super`, `self` or an imported name, in
//! macros too.

use crate::File;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{Visit, visit_item_mod, visit_macro, visit_path};
use syn::{Attribute, ItemMod, ItemUse, Macro, UseTree};

/// Returns the module of a file: `pg/error.rs` is `pg::error`, `pg/mod.rs` is `pg`.
pub fn module_of(file: &str) -> Vec<String> {
    let stem = Path::new(file).with_extension("");
    let mut parts: Vec<String> = stem
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if matches!(
        parts.last().map(String::as_str),
        Some("mod" | "lib" | "main")
    ) {
        parts.pop();
    }
    parts
}

/// Returns the files of the crate that a file imports. Tests are left out: they can import everything.
pub fn of(file: &str, text: &str, modules: &BTreeMap<Vec<String>, File>) -> BTreeSet<File> {
    let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut reader = Reader {
        module: module_of(file),
        modules,
        aliases: BTreeMap::new(),
        found: BTreeSet::new(),
    };
    // Twice, as a path can stand before the `use` that names its beginning.
    reader.visit_file(&syntax);
    reader.visit_file(&syntax);
    reader.found.remove(file);
    reader.found
}

struct Reader<'a> {
    module: Vec<String>,
    modules: &'a BTreeMap<Vec<String>, File>,
    /// The paths of imported names.
    aliases: BTreeMap<String, Vec<String>>,
    found: BTreeSet<File>,
}

impl Reader<'_> {
    /// Adds the file that a path leads to: that of the longest module at its start.
    fn note(&mut self, path: &[String]) {
        let mut at = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            // A module of this file, or another crate.
            Some(first) => {
                let child = [self.module.as_slice(), &[first.to_owned()]].concat();
                if !self.modules.contains_key(&child) {
                    return;
                }
                self.module.clone()
            }
            None => return,
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(at.pop()),
                part => {
                    at.push(part.to_owned());
                    if !self.modules.contains_key(&at) {
                        at.pop();
                        break;
                    }
                }
            }
        }
        if let Some(file) = self.modules.get(&at) {
            self.found.insert(file.clone());
        }
    }

    fn note_tree(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.note_tree(&path.tree, before);
                before.pop();
            }
            UseTree::Name(name) => self.note_end(&name.ident, &name.ident, before),
            UseTree::Rename(rename) => self.note_end(&rename.ident, &rename.rename, before),
            UseTree::Glob(_) => self.note(before),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.note_tree(tree, before);
                }
            }
        }
    }

    fn note_end(&mut self, end: &syn::Ident, alias: &syn::Ident, before: &mut Vec<String>) {
        before.push(end.to_string());
        self.note(before);
        self.aliases.insert(alias.to_string(), before.clone());
        before.pop();
    }

    /// Adds the file of a path in code. A path of one name is a local one.
    fn note_path(&mut self, parts: &[String]) {
        let [first, rest @ ..] = parts else { return };
        if rest.is_empty() {
            return;
        }
        if matches!(first.as_str(), "crate" | "super" | "self") {
            self.note(parts);
        } else if let Some(imported) = self.aliases.get(first) {
            let whole = [imported.as_slice(), rest].concat();
            self.note(&whole);
        }
    }
}

/// Returns the paths in the text of a macro: names joined by `::`.
fn paths(text: &str) -> Vec<Vec<String>> {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut rest = text;
    let mut is_joined = false;
    while let Some(start) = rest.find(is_part) {
        let between = rest[..start].trim();
        is_joined = is_joined && between == "::";
        rest = &rest[start..];
        let end = rest.find(|sign| !is_part(sign)).unwrap_or(rest.len());
        let name = rest[..end].to_owned();
        match found.last_mut() {
            Some(path) if is_joined => path.push(name),
            _ => found.push(vec![name]),
        }
        is_joined = true;
        rest = &rest[end..];
    }
    found
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.note_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path
            .segments
            .iter()
            .map(|part| part.ident.to_string())
            .collect();
        self.note_path(&parts);
        visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        for path in paths(&call.tokens.to_string()) {
            self.note_path(&path);
        }
        visit_macro(self, call);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if item.content.is_none() || is_test(&item.attrs) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit_item_mod(self, item);
        self.module.pop();
    }
}

/// Returns whether the item is compiled for tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
    attributes
        .iter()
        .filter(is_cfg)
        .any(|attribute| match &attribute.meta {
            syn::Meta::List(list) => list.tokens.to_string().contains("test"),
            _ => false,
        })
}
