//! Lists of nodes as text.

use mint_core::{NodesError, parse_nodes};
use proptest::prelude::*;

#[test]
fn nodes_are_read_in_all_their_forms() {
    for (text, nodes) in [
        ("", vec![]),
        (" \t", vec![]),
        ("5", vec![5..=5]),
        ("0", vec![0..=0]),
        (" 5 , 100 - 163,7", vec![5..=5, 100..=163, 7..=7]),
        ("3-3", vec![3..=3]),
        ("007", vec![7..=7]),
        (
            "9223372036854775807",
            vec![i64::MAX as u64..=i64::MAX as u64],
        ),
    ] {
        assert_eq!(parse_nodes(text), Ok(nodes), "{text:?}");
    }
}

#[test]
fn wrong_nodes_are_refused_by_name() {
    for (text, part) in [
        ("auto", "auto"),
        ("1,", ""),
        (",1", ""),
        ("1,,2", ""),
        ("-1", "-1"),
        ("1-", "1-"),
        ("1-2-3", "1-2-3"),
        ("+1", "+1"),
        ("1 2", "1 2"),
        ("4, 1.5 ,6", "1.5"),
        ("0x10", "0x10"),
        ("٣", "٣"),
        ("9223372036854775808", "9223372036854775808"),
        ("1-99999999999999999999", "1-99999999999999999999"),
    ] {
        let error = NodesError::NotNodes(part.to_owned());
        assert_eq!(parse_nodes(text), Err(error), "{text:?}");
    }
    let backwards = NodesError::Backwards("9-8".to_owned());
    assert_eq!(parse_nodes("1, 9-8"), Err(backwards));
    for (text, part) in [
        ("1,1", "1"),
        ("1-5, 5", "5"),
        ("5, 1-5", "1-5"),
        ("3-4,1-9", "1-9"),
        ("1-9,3-4", "3-4"),
    ] {
        let error = NodesError::Repeated(part.to_owned());
        assert_eq!(parse_nodes(text), Err(error), "{text:?}");
    }
    assert_eq!(
        parse_nodes("1,x").unwrap_err().to_string(),
        "\"x\" is not a node or a range of nodes"
    );
}

proptest! {
    #[test]
    fn nodes_that_are_written_are_read(
        parts in prop::collection::vec((0..1_000_000_u64, 0..5_u64), 0..20),
    ) {
        let mut next = 0;
        let nodes: Vec<_> = parts
            .iter()
            .map(|(gap, more)| {
                let first = next + gap;
                next = first + more + 1;
                first..=first + more
            })
            .collect();
        let text: Vec<_> = nodes
            .iter()
            .map(|nodes| match nodes.end() - nodes.start() {
                0 => nodes.start().to_string(),
                _ => format!("{}-{}", nodes.start(), nodes.end()),
            })
            .collect();
        prop_assert_eq!(parse_nodes(&text.join(", ")), Ok(nodes));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[-0-9, x]{0,12}|.*") {
        let _ = parse_nodes(&text);
    }
}
