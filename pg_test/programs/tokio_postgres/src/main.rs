//! A layout as a parameter of tokio-postgres, which asks the server for the types of all parameters and sends them
//! in binary.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, NoTls, Row};

fn print(point: &str, answer: Result<Row, Error>) {
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
        report(&client).await;
        drop(client);
        Ok(connection.await??)
    })
}
