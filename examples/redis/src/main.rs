//! idgo's commands for Redis clients, over sequences of pg_mint.
//!
//! A key is a sequence in the schema idgo. The role of this server needs USAGE and CREATE there, and no other right.

use bytes::{BufMut, Bytes, BytesMut};
use deadpool_postgres::{Manager, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime};
use redis_protocol::resp2::decode::decode_bytes_mut;
use redis_protocol::resp2::encode::extend_encode;
use redis_protocol::resp2::types::BytesFrame;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::FromSqlOwned;
use tokio_postgres::{Error, NoTls};

/// The most bytes of a command: of lists in lists, as many as the decoder can take apart on the stack of a thread.
const LONGEST: usize = 1024;

const CONNECTIONS: usize = 16;
const PATIENCE: Duration = Duration::from_secs(3);

/// The text of an error, for the client.
struct Refused(String);

impl From<&str> for Refused {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        eprintln!("{error:?}");
        let message = error.as_db_error().map(|error| error.message());
        message.unwrap_or("the database does not answer").into()
    }
}

impl From<PoolError> for Refused {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            error => {
                eprintln!("{error}");
                "the database does not answer".into()
            }
        }
    }
}

/// Returns the quoted name of the sequence of a key. PostgreSQL would cut a longer one, and two keys would be one.
fn sequence(key: &Bytes) -> Result<String, Refused> {
    let text = str::from_utf8(key).map_err(|_| "a key must be UTF-8")?;
    if text.is_empty() || text.len() > 63 || text.contains('\0') {
        return Err("a key must have 1 to 63 bytes, none of them zero".into());
    }
    Ok(format!("idgo.\"{}\"", text.replace('"', "\"\"")))
}

/// Creates a sequence whose first id follows `last`. As in idgo, a sequence that exists stays as it is.
async fn set(pool: &Pool, key: &Bytes, last: &Bytes) -> Result<BytesFrame, Refused> {
    let name = sequence(key)?;
    let last = str::from_utf8(last).ok().and_then(|text| text.parse().ok());
    let start = last
        .filter(|last| *last >= 0)
        .and_then(|last: i64| last.checked_add(1));
    let start = start.ok_or("value is not an integer or out of range")?;
    let db = pool.get().await?;
    let create = "SELECT segment_create($1, start => $2) WHERE to_regclass($1) IS NULL";
    let create = db.prepare_cached(create).await?;
    match db.execute(&create, &[&name, &start]).await {
        // Another client was faster.
        Err(error) if error.code() == Some(&SqlState::DUPLICATE_TABLE) => {}
        Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {}
        done => drop(done?),
    }
    Ok(BytesFrame::SimpleString("OK".into()))
}

/// Returns what a query finds about the sequence of a key.
async fn ask<T: FromSqlOwned>(pool: &Pool, query: &str, key: &Bytes) -> Result<T, Refused> {
    let name = sequence(key)?;
    let db = pool.get().await?;
    let query = db.prepare_cached(query).await?;
    Ok(db.query_one(&query, &[&name]).await?.get(0))
}

/// Returns the next id. idgo answers 0 if there is no such key, which a program could take for an id.
async fn get(pool: &Pool, key: &Bytes) -> Result<BytesFrame, Refused> {
    let id: Option<i64> = ask(pool, "SELECT segment_next(to_regclass($1))", key).await?;
    let id = id.ok_or("no such key")?;
    Ok(BytesFrame::BulkString(id.to_string().into()))
}

async fn exists(pool: &Pool, key: &Bytes) -> Result<BytesFrame, Refused> {
    let exists: bool = ask(pool, "SELECT to_regclass($1) IS NOT NULL", key).await?;
    Ok(BytesFrame::Integer(exists.into()))
}

async fn del(pool: &Pool, key: &Bytes) -> Result<BytesFrame, Refused> {
    let drop_it = format!("DROP SEQUENCE {}", sequence(key)?);
    match pool.get().await?.batch_execute(&drop_it).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
            Ok(BytesFrame::Integer(0))
        }
        done => Ok(done.map(|()| BytesFrame::Integer(1))?),
    }
}

/// Says that the database answers, too.
async fn ping(pool: &Pool) -> Result<BytesFrame, Refused> {
    pool.get().await?.batch_execute("").await?;
    Ok(BytesFrame::SimpleString("PONG".into()))
}

async fn answer(pool: &Pool, command: &[Bytes]) -> Result<BytesFrame, Refused> {
    let [word, arguments @ ..] = command else {
        return Err("a command has a name".into());
    };
    let word = String::from_utf8_lossy(word).to_ascii_uppercase();
    match (word.as_str(), arguments) {
        ("SET", [key, last]) => set(pool, key, last).await,
        ("GET", [key]) => get(pool, key).await,
        ("EXISTS", [key]) => exists(pool, key).await,
        ("DEL", [key]) => del(pool, key).await,
        ("PING", []) => ping(pool).await,
        // All numbers are one database, as in idgo.
        ("SELECT", [_]) => Ok(BytesFrame::SimpleString("OK".into())),
        ("SET" | "GET" | "EXISTS" | "DEL" | "PING" | "SELECT", _) => Err(Refused(format!(
            "wrong number of arguments for '{word}' command"
        ))),
        _ => Err(Refused(format!(
            "unknown command {:.64}",
            format!("{word:?}")
        ))),
    }
}

/// Returns the strings of a command, which is a list of nothing else.
fn strings(frame: BytesFrame) -> Option<Vec<Bytes>> {
    let BytesFrame::Array(frames) = frame else {
        return None;
    };
    let strings = frames.into_iter().map(|frame| match frame {
        BytesFrame::BulkString(string) => Some(string),
        _ => None,
    });
    strings.collect()
}

/// Answers a client until it leaves, or sends what is not a command.
async fn serve(pool: Pool, mut client: TcpStream) -> std::io::Result<()> {
    let mut received = BytesMut::new();
    loop {
        let (answer, is_end) = match decode_bytes_mut(&mut received) {
            Ok(Some((frame, ..))) => match strings(frame) {
                Some(command) => (answer(&pool, &command).await, false),
                None => (Err("Protocol error: not a list of strings".into()), true),
            },
            Ok(None) if received.len() < LONGEST => {
                let room = LONGEST - received.len();
                if client.read_buf(&mut (&mut received).limit(room)).await? == 0 {
                    return Ok(());
                }
                continue;
            }
            Ok(None) => (Err("Protocol error: the command is too long".into()), true),
            Err(error) => (
                Err(Refused(format!("Protocol error: {}", error.details()))),
                true,
            ),
        };
        let frame = answer.unwrap_or_else(|Refused(text)| {
            let line = text.replace(['\r', '\n'], " ");
            BytesFrame::Error(format!("ERR {line}").into())
        });
        let mut sent = BytesMut::new();
        extend_encode(&mut sent, &frame, false).map_err(std::io::Error::other)?;
        client.write_all(&sent).await?;
        if is_end {
            return Ok(());
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::var("DATABASE_URL").map_err(|_| "DATABASE_URL names no database")?;
    let recycling_method = RecyclingMethod::Fast;
    let manager = Manager::from_config(url.parse()?, NoTls, ManagerConfig { recycling_method });
    let pool = Pool::builder(manager)
        .max_size(CONNECTIONS)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE))
        .runtime(Runtime::Tokio1)
        .build()?;
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:6389")).await?;
    loop {
        match listener.accept().await {
            Ok((client, _)) => drop(tokio::spawn(serve(pool.clone(), client))),
            Err(error) => {
                eprintln!("{error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}
