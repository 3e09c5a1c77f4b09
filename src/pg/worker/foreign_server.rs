//! Foreign servers: the role that connects to one.

use crate::pg::catalog::extension;
use crate::pg::catalog::privilege::is_superuser_role;
use crate::pg::charset;
use crate::pg::error::{relay_errors, report};
use mint_core::bytes::excerpt::excerpt;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// Returns the role that connects to a foreign server: the one of this name, or the owner of the server.
pub fn role_for(server: &str, name: Option<&str>) -> pg_sys::Oid {
    // dblink takes a name that it does not know for a connection string.
    let Some(owner) = owner_of(server) else {
        report(
            Code::ERRCODE_UNDEFINED_OBJECT,
            format!("server \"{}\" does not exist", excerpt(server)),
        )
        .hint(format!(
            "Use CREATE SERVER in database \"{}\".",
            extension::name_of_own_database()
        ))
        .raise()
    };
    let role = name.map_or(owner, role_oid);
    // The owner of the server decides where it leads, and as which role. dblink requires no password of a superuser:
    // that would open any database that trusts the system user of this server.
    if is_superuser_role(role) && !is_superuser_role(owner) {
        report(
            Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!("owner of foreign server \"{server}\" must be a superuser"),
        )
        .detail("The owner decides where the connection of a superuser would go.")
        .raise();
    }
    role
}

/// Returns the owner of a foreign server, if there is one of that name.
fn owner_of(name: &str) -> Option<pg_sys::Oid> {
    let name = charset::c_string(name);
    // SAFETY: a lookup in the catalogs, inside a transaction, which returns a copy or null.
    unsafe {
        let server = pg_sys::GetForeignServerByName(name.as_ptr(), true);
        server.as_ref().map(|server| server.owner)
    }
}

/// Returns the oid of a role, or raises the server's own error.
fn role_oid(name: &str) -> pg_sys::Oid {
    let name = charset::c_string(name);
    // SAFETY: a lookup in the catalogs, inside a transaction.
    relay_errors(|| unsafe { pg_sys::get_role_oid(name.as_ptr(), false) })
}
