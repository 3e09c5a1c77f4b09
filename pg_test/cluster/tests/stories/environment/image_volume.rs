//! An extension in folders of its own, as images for CloudNativePG mount it (packaging/cloudnative-pg.Dockerfile).

use std::path::Path;
use std::process::Command;

use mint_cluster::{Server, assert_unique, extension_folder, say};

fn copy(pattern: &str, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder of the image");
    let copied = Command::new("sh")
        .args(["-c", &format!("cp -r {pattern} '{}'", to.display())])
        .status();
    assert!(copied.is_ok_and(|status| status.success()), "{pattern}");
}

#[test]
fn an_image_has_all_that_a_server_needs() {
    let server = Server::build("an image volume").start_empty();
    if server.major() < 18 {
        say("no extension_control_path before PostgreSQL 18");
        return;
    }
    let mut session = server.connect("postgres");
    let libraries: String = session.one("SELECT setting FROM pg_config WHERE name = 'PKGLIBDIR'");
    let image = server.socket().join("image");
    copy(&format!("'{libraries}/pg_mint.so'"), &image.join("lib"));
    copy(
        &format!("'{}'/pg_mint*", extension_folder().display()),
        &image.join("share/extension"),
    );
    let path = image.display();
    // CloudNativePG sets these; $libdir, which has pg_mint as well, is for plpgsql.
    session.run(&format!(
        "ALTER SYSTEM SET dynamic_library_path = '{path}/lib:$libdir'"
    ));
    session.run(&format!(
        "ALTER SYSTEM SET extension_control_path = '{path}/share'"
    ));
    session.run("SELECT pg_reload_conf()");
    server.until("the paths are those of the image", || {
        let seen: String = server.one("SHOW extension_control_path");
        seen.ends_with("/share")
    });

    let mut session = server.connect("postgres");
    session.run("CREATE EXTENSION pg_mint");
    session.run("CREATE TABLE item (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5))");
    session.run("INSERT INTO item SELECT FROM generate_series(1, 1000)");
    session.run("SELECT count(*) FROM mint.health()");
    let mut ids: Vec<i64> = session.column("SELECT id FROM item");
    let pid: i32 = session.one("SELECT pg_backend_pid()");
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("the session's maps");
    let loaded: Vec<&str> = maps
        .lines()
        .filter(|line| line.ends_with("/pg_mint.so"))
        .collect();
    assert!(!loaded.is_empty());
    for line in loaded {
        assert!(line.ends_with(&format!("{path}/lib/pg_mint.so")), "{line}");
    }
    // A session that finds the library by the function's own path.
    let more: Vec<i64> = server.column("SELECT snowflake_next_id(5) FROM generate_series(1, 1000)");
    ids.extend(more);
    assert_unique([&ids]);
}
