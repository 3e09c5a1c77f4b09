//! Documents as their readers follow them: links, pictures and headings, outside of code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A document of the repository.
pub struct Document {
    pub path: PathBuf,
    /// The text without blocks and spans of code, and without comments.
    prose: String,
    /// The lines of the headings, as written.
    headings: Vec<String>,
}

/// A link or a picture: `[text](target)`, `![text](target)`.
#[derive(Debug)]
pub struct Link {
    pub text: String,
    pub target: String,
    pub is_picture: bool,
}

/// Returns the lines outside of blocks of code.
#[must_use]
pub fn without_blocks(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut kept = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            kept.push(line);
        }
    }
    kept
}

/// Returns a text without what is between backticks, which are kept.
fn without_spans(text: &str) -> String {
    let mut kept = String::new();
    for (place, part) in text.split('`').enumerate() {
        kept.push_str(if place % 2 == 0 { part } else { "``" });
    }
    kept
}

/// Returns the anchor that a heading has on GitHub and in mdBook.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim();
    let mut anchor = String::new();
    // The text of a link counts, its target does not.
    let mut is_target = false;
    let mut before = ' ';
    for sign in text.chars() {
        match sign {
            '(' if before == ']' => is_target = true,
            ')' if is_target => is_target = false,
            _ if is_target => {}
            ' ' => anchor.push('-'),
            '-' | '_' => anchor.push(sign),
            _ if sign.is_alphanumeric() => anchor.extend(sign.to_lowercase()),
            _ => {}
        }
        before = sign;
    }
    anchor
}

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let lines = without_blocks(&text);
        let headings = lines.iter().filter(|line| line.starts_with('#'));
        let headings = headings.map(|line| (*line).to_owned()).collect();
        let prose = lines.join("\n");
        let parts = prose.split("<!--");
        let prose: String = parts
            .map(|part| part.split_once("-->").map_or(part, |(_, after)| after))
            .collect();
        Ok(Self {
            path: path.to_owned(),
            prose: without_spans(&prose),
            headings,
        })
    }

    /// Returns the links and pictures in order.
    #[must_use]
    pub fn links(&self) -> Vec<Link> {
        let mut links = Vec::new();
        for (place, _) in self.prose.match_indices("](") {
            let (before, after) = self.prose.split_at(place);
            let target = after[2..].split(')').next().unwrap_or_default();
            let start = before.rfind('[').unwrap_or_default();
            links.push(Link {
                text: before[start..].trim_start_matches('[').to_owned(),
                target: target.to_owned(),
                is_picture: before[..start].ends_with('!'),
            });
        }
        links
    }

    /// Returns the anchors of the headings; those of a text that comes again are numbered.
    #[must_use]
    pub fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        for heading in &self.headings {
            let first = anchor(heading);
            let mut next = first.clone();
            let mut count = 0;
            while !anchors.insert(next) {
                count += 1;
                next = format!("{first}-{count}");
            }
        }
        anchors
    }

    /// Returns the headings whose text an earlier one has.
    pub fn repeated_headings(&self) -> impl Iterator<Item = &str> {
        let mut seen = BTreeSet::new();
        let headings = self.headings.iter().map(String::as_str);
        headings.filter(move |heading| !seen.insert(anchor(heading)))
    }
}

/// Returns the files below a folder with an ending, in order.
///
/// # Panics
///
/// If a folder cannot be read.
#[must_use]
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry of the folder").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::anchor;

    #[test]
    fn anchors_are_those_of_github() {
        for (heading, expected) in [
            ("## Guarantees", "guarantees"),
            (
                "### `snowflake_min`, `snowflake_max`",
                "snowflake_min-snowflake_max",
            ),
            ("## mint.lanes", "mintlanes"),
            ("## 2200H", "2200h"),
            ("## What [a layout](layouts.md) is", "what-a-layout-is"),
        ] {
            assert_eq!(anchor(heading), expected);
        }
    }
}
