//! Reads ids from the command line, or a tweet: `cargo run --example decode 850007368138018817`.

use mint_core::clock::timestamp_text;
use mint_core::inspect::{Context, Input, inspect};
use mint_core::snowflake::builtin::by_name;
use std::env::args;
use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

fn main() -> Result<(), Box<dyn Error>> {
    let ids: Vec<String> = args().skip(1).collect();
    if ids.is_empty() {
        return decode_tweet(850007368138018817);
    }
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros())?;
    for id in ids {
        println!("{id}");
        let context = Context { now, nodes: &[] };
        for reading in inspect(&Input::Text(id.as_bytes()), &context) {
            let version = reading.version.unwrap_or_default();
            let time = reading.time.map_or_else(String::new, timestamp_text);
            let (format, share) = (reading.format, reading.likelihood);
            println!("  {share:.3} {format} {version} {time}");
        }
    }
    Ok(())
}

fn decode_tweet(id: i64) -> Result<(), Box<dyn Error>> {
    let twitter = by_name("twitter").ok_or("no such layout")?;
    let tweet = twitter.decode(id)?;
    let lower = twitter.shard_split();
    println!("tweet      {id}");
    println!("layout     {twitter}");
    println!("time       {}", timestamp_text(tweet.at));
    println!("datacenter {}", tweet.shard >> lower);
    println!("worker     {}", tweet.shard & ((1 << lower) - 1));
    println!("sequence   {}", tweet.sequence);
    Ok(())
}
