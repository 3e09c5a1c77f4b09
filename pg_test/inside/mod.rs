//! Tests inside the server, by pgrx, that need Rust.

#[pgrx::pg_schema]
mod tests {
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    use crate::pg::backend::wait::WaitEvent;
    use crate::snowflake::lane::lanes;
    use mint_core::{BUILTINS, Layout};
    use pgrx::prelude::*;

    /// Returns the value of a query as text.
    fn value(query: &str) -> Option<String> {
        Spi::get_one::<String>(query).unwrap_or_default()
    }

    #[pg_test]
    fn the_first_built_in_is_the_default_layout() {
        assert_eq!(BUILTINS[0].name, "instagram");
        let shard = value("SELECT snowflake_shard(snowflake_next_id(5), 'instagram')::text");
        assert_eq!(shard.as_deref(), Some("5"));
    }

    #[pg_test]
    fn every_current_built_in_mints_what_it_decodes() {
        for builtin in BUILTINS.iter().filter(|builtin| builtin.name != "baidu") {
            let name = builtin.name;
            let node = builtin.layout.shard.max().min(3);
            let id = Spi::get_one::<i64>(&format!("SELECT snowflake_next_id({node}, '{name}')"));
            let id = id.unwrap_or_default().unwrap_or_default();
            assert_eq!(
                builtin.layout.decode(id).map(|parts| parts.shard),
                Ok(node),
                "{name}"
            );
        }
    }

    #[pg_test]
    fn the_bytes_of_a_layout_travel_as_they_are() {
        for builtin in &BUILTINS {
            let query = format!("SELECT mint.snowflake_layout_send('{}')", builtin.name);
            let sent = Spi::get_one::<Vec<u8>>(&query)
                .unwrap_or_default()
                .unwrap_or_default();
            assert_eq!(sent, builtin.layout.to_bytes());
            assert_eq!(sent.len(), Layout::BYTES);
        }
    }

    /// Sessions of two lanes must not wait for one cache line.
    #[pg_test]
    fn lanes_in_shared_memory_share_no_cache_line() {
        const LINE: usize = 64;
        let _ = Spi::run("SELECT snowflake_next_id(1)");
        let layout = &BUILTINS[0].layout;
        let address =
            |shard| std::ptr::from_ref(lanes::lane(lanes::shared(), layout, shard)).addr();
        let mut lines: Vec<usize> = (0..1_000).map(address).collect();
        assert!(lines.iter().all(|address| address % LINE == 0));
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 1_000);
    }

    #[pg_test(error = "shard must not be null")]
    fn a_null_shard_is_refused() {
        let _ = Spi::run("SELECT snowflake_next_id(NULL)");
    }

    #[pg_test(error = "count must not be negative")]
    fn a_negative_count_is_refused() {
        let _ = Spi::run("SELECT * FROM snowflake_next_ids(1, -1)");
    }

    #[pg_test]
    fn a_function_of_the_server_sees_ids_of_the_session() {
        let same = value("SELECT (snowflake_next_id(1) = snowflake_last_id())::text");
        assert_eq!(same.as_deref(), Some("true"));
    }
    /// A server has room for 128 names, and other extensions may have used them. The name lasts as long as the server, so
    /// it is one that no other test needs.
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    #[pg_test]
    fn a_wait_without_room_for_its_name_is_no_error() {
        static EVENT: WaitEvent = WaitEvent::new(c"MintWithoutRoom");
        let fill = || {
            for number in 0..200 {
                let name = std::ffi::CString::new(format!("Filler{number}")).unwrap_or_default();
                // SAFETY: adds a name, or raises an error.
                unsafe { pg_sys::WaitEventExtensionNew(name.as_ptr()) };
            }
        };
        let is_full = PgTryBuilder::new(|| {
            fill();
            false
        })
        .catch_others(|_| {
            // SAFETY: the lock that the error has left.
            unsafe { pg_sys::LWLockReleaseAll() };
            true
        })
        .execute();
        assert!(is_full);
        assert_eq!(EVENT.number(), pg_sys::PG_WAIT_EXTENSION);
        // Names that are there are still found, and the session still works.
        assert_eq!(EVENT.show(|| 5), 5);
        assert_eq!(value("SELECT 'works'").as_deref(), Some("works"));
        let named =
            value("SELECT count(*)::text FROM pg_wait_events WHERE name = 'MintWithoutRoom'");
        assert_eq!(named.as_deref(), Some("0"));
    }
}
