//! The programs of examples/decode/README.md read the ids of its table.

use std::process::Command;

const PAGE: &str = include_str!("../../../examples/decode/README.md");

/// The mark of a block, the file that it is written to, and what runs that.
const PROGRAMS: [(&str, &str, &[&str]); 6] = [
    ("javascript", "decode.cjs", &["node"]),
    ("python", "decode.py", &["python3"]),
    ("java", "Decode.java", &["java"]),
    ("go", "decode.go", &["go", "run"]),
    ("csharp", "decode.cs", &["dotnet", "run"]),
    ("ruby", "decode.rb", &["ruby"]),
];

/// The numbers of the default layout, as the programs write them, and of twitter's.
const TWITTER_REPLACEMENTS: [(&str, &str); 4] = [
    ("1314220021721", "1288834974657"),
    ("13n, 10n", "10n, 12n"),
    ("13, 10", "10, 12"),
    ("NODE = 13, SEQ = 10", "NODE = 10, SEQ = 12"),
];

fn block(mark: &str) -> &'static str {
    let begin = format!("\n```{mark}\n");
    let (_, rest) = PAGE.split_once(&begin).unwrap();
    rest.split_once("\n```").unwrap().0
}

#[test]
fn programs_decode_ids() {
    let folder = std::env::temp_dir().join(format!("mint_decode_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let rows = PAGE.lines().filter_map(|line| {
        let cells: Vec<&str> = line
            .strip_prefix("| ")?
            .trim_end_matches(" |")
            .split(" | ")
            .collect();
        (cells.len() == 3 && cells[1].parse::<i64>().is_ok())
            .then(|| (cells[1], cells[2].to_owned()))
    });
    let rows: Vec<(&str, String)> = rows.collect();
    assert_eq!(rows.len(), 2);
    let mut ran = 0;
    for (mark, file, run) in PROGRAMS {
        let program = block(mark);
        if Command::new(run[0]).arg("--help").output().is_err() {
            println!("{mark} was not run, as there is no {}", run[0]);
            continue;
        }
        for (place, (id, expected)) in rows.iter().enumerate() {
            let swap = |text: String, (ours, its): &(&str, &str)| text.replace(ours, its);
            let program = match place {
                0 => program.to_owned(),
                _ => TWITTER_REPLACEMENTS.iter().fold(program.to_owned(), swap),
            };
            let path = folder.join(file);
            std::fs::write(&path, program).unwrap();
            let output = Command::new(run[0])
                .args(&run[1..])
                .arg(&path)
                .arg(id)
                .output();
            let output = output.unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(
                printed.trim(),
                expected,
                "{mark}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        ran += 1;
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(ran > 0, "none of the programs was run");
}
