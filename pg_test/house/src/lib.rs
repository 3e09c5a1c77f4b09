//! A reader of the layout of a crate: which file imports which, and which have unsafe code.
//!
//! Imports have an order when the entries of each folder, files and folders alike, can be put on floors such that every
//! import leads to a lower floor. Then there is no circle of files, of folders, or of both.

mod imports;
pub mod markdown;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the folder of the repository. Read at run time, as checkouts that share a target directory share the programs.
///
/// # Panics
/// Outside of cargo.
#[must_use]
pub fn repository() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package's directory");
    let repository = Path::new(&here).join("../..").canonicalize();
    repository.expect("the repository")
}

/// A file's path below the crate's `src`, like `pg/error.rs`.
pub type File = String;

/// The files of a crate and their imports.
#[derive(Debug, Default)]
pub struct Crate {
    /// The files of the same crate that each file imports.
    pub imports: BTreeMap<File, BTreeSet<File>>,
    /// The files with unsafe code, and how often the word stands there.
    pub with_unsafe: BTreeMap<File, usize>,
    /// The files with a `static mut`.
    pub with_static_mut: BTreeSet<File>,
}

impl Crate {
    /// Reads all files of a folder.
    ///
    /// # Errors
    /// A file or folder that cannot be read.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut texts = BTreeMap::new();
        collect(root, root, &mut texts)?;
        Ok(Self::parse(&texts))
    }

    /// Parses the texts of files.
    #[must_use]
    pub fn parse(texts: &BTreeMap<File, String>) -> Self {
        let modules: BTreeMap<Vec<String>, File> = texts
            .keys()
            .map(|file| (imports::module_of(file), file.clone()))
            .collect();
        let mut all = Self::default();
        for (file, text) in texts {
            let imported = imports::of(file, text, &modules);
            all.imports.insert(file.clone(), imported);
            let words = words(text);
            let count = words.iter().filter(|word| **word == "unsafe").count();
            if count > 0 {
                all.with_unsafe.insert(file.clone(), count);
            }
            if words.windows(2).any(|pair| pair == ["static", "mut"]) {
                all.with_static_mut.insert(file.clone());
            }
        }
        all
    }

    /// Returns every folder; the root is empty.
    #[must_use]
    pub fn folders(&self) -> BTreeSet<String> {
        let above = |file: &File| {
            let parents = Path::new(file).ancestors().skip(1).map(Path::to_path_buf);
            parents.collect::<Vec<PathBuf>>()
        };
        let all = self.imports.keys().flat_map(above);
        all.map(|folder| folder.display().to_string()).collect()
    }

    /// Returns the entries of a folder with the other entries that each imports, and an example of files for each import.
    #[must_use]
    pub fn entries(&self, folder: &str) -> BTreeMap<String, BTreeMap<String, (File, File)>> {
        let mut entries: BTreeMap<String, BTreeMap<String, (File, File)>> = BTreeMap::new();
        for (file, imported) in &self.imports {
            let Some(from) = entry(folder, file) else {
                continue;
            };
            let arrows = entries.entry(from.clone()).or_default();
            for other in imported {
                if let Some(to) = entry(folder, other).filter(|to| *to != from) {
                    let example = (file.clone(), other.clone());
                    arrows.entry(to).or_insert(example);
                }
            }
        }
        entries
    }

    /// Returns a line for each import that is part of a circle.
    #[must_use]
    pub fn circles(&self) -> Vec<String> {
        let mut found = Vec::new();
        for folder in self.folders() {
            let mut left = self.entries(&folder);
            // Removes the entries that import nothing that is left, floor by floor.
            loop {
                let is_ground =
                    |arrows: &BTreeMap<String, _>| arrows.keys().all(|to| !left.contains_key(to));
                let floor: Vec<String> = left
                    .iter()
                    .filter(|(_, arrows)| is_ground(arrows))
                    .map(|(entry, _)| entry.clone())
                    .collect();
                if floor.is_empty() {
                    break;
                }
                floor.iter().for_each(|entry| drop(left.remove(entry)));
            }
            for (entry, arrows) in &left {
                for (to, (file, other)) in arrows {
                    if left.contains_key(to) {
                        found.push(format!(
                            "in {folder:?}, {entry} -> {to}: {file} imports {other}"
                        ));
                    }
                }
            }
        }
        found
    }
}

/// Returns the entry of a folder that a file is, or is below.
fn entry(folder: &str, file: &str) -> Option<String> {
    let below = Path::new(file).strip_prefix(folder).ok()?;
    let first = below.components().next()?;
    Some(first.as_os_str().to_string_lossy().into_owned())
}

/// Returns the words of code, comments aside. A text search, so that it sees macros as well.
fn words(text: &str) -> Vec<&str> {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '\'';
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| line.split(|sign| !is_part(sign)))
        .filter(|word| !word.is_empty())
        .collect()
}

fn collect(root: &Path, folder: &Path, texts: &mut BTreeMap<File, String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, texts)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let file = path.strip_prefix(root).unwrap_or(&path);
            texts.insert(file.display().to_string(), fs::read_to_string(&path)?);
        }
    }
    Ok(())
}
