//! The results: a CSV of each table, and one report in Markdown.

use crate::scale::Scale;
use mint_cluster::Server;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Prints the progress of the run on the terminal.
pub fn progress(text: &str) {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    eprintln!("[{:4} s] {text}", BEGAN.elapsed().as_secs());
}

/// Formats a figure with three significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A table of the report.
pub struct Table {
    name: &'static str,
    title: &'static str,
    text: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
    charts: Vec<(&'static str, &'static str)>,
}

impl Table {
    pub fn new(name: &'static str, title: &'static str, text: &str, columns: &[&str]) -> Self {
        Self {
            name,
            title,
            text: text.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
            charts: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    pub fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Shows a chart below the table.
    pub fn chart(&mut self, file: &'static str, title: &'static str) {
        self.charts.push((file, title));
    }

    fn csv(&self) -> String {
        std::iter::once(&self.columns)
            .chain(&self.rows)
            .map(|cells| {
                let quoted: Vec<_> = cells
                    .iter()
                    .map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")))
                    .collect();
                quoted.join(",") + "\n"
            })
            .collect()
    }

    fn markdown(&self, origin: &str) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let mut text = format!(
            "{}\n\n{origin}{}\n\n{}",
            self.title,
            self.text,
            line(&self.columns)
        );
        let is_number = |row: &Vec<String>, place: usize| {
            row.get(place).is_some_and(|cell| {
                cell.trim_start_matches(['+', '-'])
                    .starts_with(|sign: char| sign.is_ascii_digit())
            })
        };
        let rule: Vec<_> = (0..self.columns.len())
            .map(|place| place > 0 && self.rows.iter().any(|row| is_number(row, place)))
            .map(|is_right| if is_right { "---:" } else { "---" }.to_owned())
            .collect();
        text += &line(&rule);
        for row in &self.rows {
            text += &line(row);
        }
        for note in &self.notes {
            let _ = write!(text, "\n{note}\n");
        }
        for (file, title) in &self.charts {
            let _ = write!(text, "\n![{title}]({file})\n");
        }
        text
    }
}

/// The report of a run. One of some sections replaces these in the report that is there.
pub struct Report {
    directory: PathBuf,
    /// The versions and the machine, and each section, which begins with its title.
    sections: Vec<String>,
    /// The note of a section that has a run of its own.
    origin: String,
}

const SECTION: &str = "\n## ";

impl Report {
    /// Starts the report with the versions and the machine.
    pub fn begin(server: &Server, scale: Scale, directory: PathBuf, is_whole: bool) -> Self {
        std::fs::create_dir_all(&directory).expect("a directory for the results");
        let mut session = server.connect("postgres");
        // The settings of the library are known when it is loaded.
        session.run("SELECT objectid()");
        let settings: Vec<String> = session.column(
            "SELECT name || ' = ' || current_setting(name) FROM pg_settings
             WHERE source = 'configuration file' AND name NOT LIKE '%director%' AND name NOT LIKE 'log%'
               AND name NOT LIKE 'lc_%' AND name NOT IN ('DateStyle', 'TimeZone', 'default_text_search_config',
                   'dynamic_library_path', 'dynamic_shared_memory_type', 'listen_addresses', 'port')
             ORDER BY name",
        );
        let version = session.one::<String>("SELECT version()");
        let commit = said_by("git", &["describe", "--always", "--dirty"]);
        let mut head = format!(
            "# Bench\n\nMade by `make bench{}`. Unless a section says otherwise, all figures are from one run: compare \
             them only with each other.\n\n",
            if scale.quick { " QUICK=1" } else { "" }
        );
        for (what, value) in [
            ("Server", &version),
            (
                "Extension",
                &session
                    .one::<String>("SELECT extversion FROM pg_extension WHERE extname = 'pg_mint'"),
            ),
            ("Commit", &commit),
            ("Machine", &machine()),
            ("Settings", &settings.join(", ")),
        ] {
            let _ = writeln!(head, "- {what}: {value}");
        }
        let before = std::fs::read_to_string(directory.join("README.md"));
        let (sections, origin) = match before {
            Ok(before) if !is_whole => (
                before.split(SECTION).map(str::to_owned).collect(),
                format!(
                    "A run of its own: commit {commit}, {}, {}.\n\n",
                    version.split(' ').take(2).collect::<Vec<_>>().join(" "),
                    machine()
                ),
            ),
            _ => (vec![head], String::new()),
        };
        Self {
            directory,
            sections,
            origin,
        }
    }

    /// Returns the path of a file of the results.
    pub fn place(&self, file: &str) -> PathBuf {
        self.directory.join(file)
    }

    /// Adds a table, and writes the report so far.
    pub fn add(&mut self, table: Table) {
        let csv = self.place(&format!("{}.csv", table.name));
        std::fs::write(csv, table.csv()).expect("results can be written");
        let title = |section: &str| section.lines().next().map(str::to_owned);
        let text = table.markdown(&self.origin);
        let place = self
            .sections
            .iter()
            .position(|old| title(old) == title(&text));
        match place {
            Some(place) => self.sections[place] = text,
            None => self.sections.push(text),
        }
        std::fs::write(self.place("README.md"), self.text()).expect("results can be written");
    }

    fn text(&self) -> String {
        let sections: Vec<&str> = self.sections.iter().map(|text| text.trim_end()).collect();
        sections.join(&format!("\n{SECTION}")) + "\n"
    }

    pub fn finish(self) {
        println!("{}", self.text());
        progress(&format!("written to {}", self.directory.display()));
    }
}

fn said_by(program: &str, arguments: &[&str]) -> String {
    std::process::Command::new(program)
        .args(arguments)
        .output()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}

fn machine() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    // The rest of the version is the name of one build.
    let kernel = said_by("uname", &["-sr"]);
    let kernel: Vec<&str> = kernel.splitn(3, '.').take(2).collect();
    format!("{model}, {cores} cores, {}", kernel.join("."))
}

/// Reads a file of the results or a document.
pub fn read(place: &Path) -> String {
    std::fs::read_to_string(place).unwrap_or_else(|error| panic!("{}: {error}", place.display()))
}

/// A table of the results.
pub struct Results(Vec<Vec<String>>);

impl Results {
    pub fn read(results: &Path, name: &str) -> Self {
        let text = read(&results.join(name));
        let cells = |line: &str| {
            let inside = line.trim_matches('"').split("\",\"");
            inside.map(str::to_owned).collect()
        };
        Self(text.lines().map(cells).collect())
    }

    /// Returns the first cell of each row.
    pub fn first_cells(&self) -> impl Iterator<Item = &str> {
        self.0[1..].iter().map(|cells| cells[0].as_str())
    }

    /// Returns the cell of a column in the first row that starts with `row`; empty where it was not measured.
    pub fn cell(&self, row: &[&str], column: &str) -> &str {
        let place = self.0[0].iter().position(|name| name == column);
        let place = place.unwrap_or_else(|| panic!("no column {column}"));
        self.0
            .iter()
            .find(|cells| cells.iter().zip(row).all(|(cell, wanted)| cell == wanted))
            .map_or("", |cells| &cells[place])
    }
}

/// Returns the number of cores of the run.
pub fn cores_of(results: &Path) -> usize {
    let machine = machine_of(results);
    let cores = machine
        .split(" cores")
        .next()
        .and_then(|text| text.rsplit(' ').next());
    cores.and_then(|cores| cores.parse().ok()).unwrap_or(1)
}

/// Returns the machine of the run, from the head of the report.
pub fn machine_of(results: &Path) -> String {
    let report = read(&results.join("README.md"));
    let said = |what: &str| {
        let start = format!("- {what}: ");
        report
            .lines()
            .find_map(|line| line.strip_prefix(&start))
            .unwrap_or_default()
    };
    let server: Vec<&str> = said("Server").split(' ').take(2).collect();
    format!("{}, {}.\n", server.join(" "), said("Machine"))
}
