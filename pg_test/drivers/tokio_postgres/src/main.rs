//! Rows with ids of the database, and a layout as a parameter of tokio-postgres, which asks the server for the types of
//! all parameters and sends them in binary.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, NoTls, Row};

fn point(text: &str, holds: bool) {
    println!("{} {text}", if holds { "ok" } else { "not ok" });
}

/// Rows are inserted and found again.
async fn rows(client: &Client) -> Result<(), Error> {
    client
        .batch_execute(
            "CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), body text);
             CREATE TABLE item (id objectid PRIMARY KEY DEFAULT objectid(), name text)",
        )
        .await?;
    point("create", true);

    let insert = client
        .prepare("INSERT INTO message (body) VALUES ($1) RETURNING id")
        .await?;
    let one: i64 = client.query_one(&insert, &[&"hello"]).await?.try_get(0)?;
    point("insert one", one > 1 << 60);

    let bodies: Vec<String> = (0..100).map(|n| format!("hello {n}")).collect();
    let many = "INSERT INTO message (body) SELECT unnest($1::text[]) RETURNING id";
    let many = client.query(many, &[&bodies]).await?;
    let many: Vec<i64> = many.iter().map(|row| row.get(0)).collect();
    let distinct: BTreeSet<_> = many.iter().collect();
    point("insert many", distinct.len() == 100);

    let find = "SELECT body FROM message WHERE id = $1";
    let body: String = client.query_one(find, &[&many[7]]).await?.try_get(0)?;
    point("read back", body == "hello 7");

    let span = "SELECT count(*) FROM message WHERE snowflake_between(id, $1, $2)";
    let minute = Duration::from_mins(1);
    let (since, until) = (SystemTime::now() - minute, SystemTime::now() + minute);
    let all: i64 = client
        .query_one(span, &[&since, &until])
        .await?
        .try_get(0)?;
    let before = since - minute;
    let none: i64 = client
        .query_one(span, &[&before, &since])
        .await?
        .try_get(0)?;
    point("range by time", (all, none) == (101, 0));

    let insert = "INSERT INTO item (name) VALUES ('lamp') RETURNING id::text";
    let item: String = client.query_one(insert, &[]).await?.try_get(0)?;
    let find = "SELECT name FROM item WHERE id = $1::text::objectid";
    let name: String = client.query_one(find, &[&item]).await?.try_get(0)?;
    point("objectid", item.len() == 24 && name == "lamp");
    Ok(())
}

fn print(call: &str, answer: Result<Row, Error>) {
    let point = format!("layout as a parameter of {call}");
    match answer.and_then(|row| row.try_get::<_, bool>(0)) {
        Ok(true) => println!("ok {point}"),
        Ok(false) => println!("not ok {point}: false"),
        Err(error) => {
            let server = error.as_db_error().map(|error| error.message().to_owned());
            println!("not ok {point}: {}", server.unwrap_or(error.to_string()));
        }
    }
}

async fn report(client: &Client) {
    // A cast says that the parameter is text; without one the server says that it is a layout, which no Rust type is.
    let shard: &(dyn ToSql + Sync) = &5_i32;
    let tweet: &(dyn ToSql + Sync) = &454947766275222906_i64;
    let layout: &(dyn ToSql + Sync) = &"twitter";
    let calls: [(&str, &[&(dyn ToSql + Sync)]); 6] = [
        ("snowflake_next_id($1) > 0", &[shard]),
        ("snowflake_next_id($1::bigint::int) > 0", &[&5_i64]),
        (
            "snowflake_time(snowflake_next_id($1, $2::text), 'twitter') > now() - interval '1 minute'",
            &[shard, layout],
        ),
        (
            "(SELECT count(*) FROM snowflake_next_ids($1, 3, $2::text)) = 3",
            &[shard, layout],
        ),
        (
            "snowflake_time($1, $2::text) BETWEEN '2014-04-01' AND '2014-05-01'",
            &[tweet, layout],
        ),
        (
            "snowflake_between($1, '2014-04-01', '2014-05-01', $2::text)",
            &[tweet, layout],
        ),
    ];
    for (call, parameters) in calls {
        print(
            call,
            client
                .query_one(&format!("SELECT {call}"), parameters)
                .await,
        );
    }
    // The same without a cast: the program says the types.
    let call = "snowflake_next_id($1, $2) > 0";
    let typed = [(shard, Type::INT4), (layout, Type::TEXT)];
    let rows = client.query_typed(&format!("SELECT {call}"), &typed).await;
    print(
        &format!("{call}, typed"),
        rows.map(|mut rows| rows.remove(0)),
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let setting = |name| std::env::var(name);
    let address = format!(
        "host={} port={} user={} dbname={}",
        setting("PGHOST")?,
        setting("PGPORT")?,
        setting("PGUSER")?,
        setting("PGDATABASE")?
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&address, NoTls).await?;
        let connection = tokio::spawn(connection);
        rows(&client).await?;
        report(&client).await;
        drop(client);
        Ok(connection.await??)
    })
}
