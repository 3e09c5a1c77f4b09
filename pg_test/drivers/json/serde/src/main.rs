//! Prints a message as JSON, and reads it back.

use serde::{Deserialize, Serialize};
use serde_with::{serde_as, DisplayFromStr};

#[serde_as]
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Message {
    #[serde_as(as = "DisplayFromStr")]
    id: i64,
    #[serde_as(as = "Option<DisplayFromStr>")]
    author_id: Option<i64>,
}

fn main() {
    let number = |name| std::env::var(name).unwrap().parse().unwrap();
    let message = Message {
        id: number("ID"),
        author_id: Some(number("AUTHOR")),
    };
    let text = serde_json::to_string(&message).unwrap();
    println!("{text}");
    assert_eq!(serde_json::from_str::<Message>(&text).unwrap(), message);
}
