# Sourced by every script of this folder: paths, the user of the servers, and the
# display of progress and failures. On its own it does nothing.
#
# One cache has everything: private server trees (the system's PostgreSQL is never
# written to), the build, cargo-pgrx, data directories and logs. As root it is
# outside of root's home, which the user postgres cannot enter.
umask 022
TOOLS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
REPO=$(cd "$TOOLS/../.." && pwd)
MAJORS="15 16 17 18 19"
CANNOT_BE_HAD=77    # the status of postgres.sh, and so of each script that wants that server
PGRX_VERSION=0.19.3
RUST_VERSION=1.96    # that pgrx asks for; it compiles with 1.95 as well

if [ "$(id -u)" = 0 ]; then
    CACHE=${PG_MINT_CACHE:-/var/cache/pg_mint}
else
    CACHE=${PG_MINT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pg_mint}
fi

say() { printf '%s\n' "$*" >&2; }
die() { say "pg_mint: $*"; exit 1; }

mkdir -p "$CACHE/log" "$CACHE/pgrx" && [ -w "$CACHE/log" ] ||
    die "$CACHE cannot be written: set PG_MINT_CACHE to a folder that can be written"

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$CACHE/target}
export PGRX_HOME=$CACHE/pgrx
export PATH=$CACHE/cargo/bin:$HOME/.cargo/bin:$PATH
unset RUST_BACKTRACE    # a server that inherits it adds a backtrace to every error
unset PGHOST PGPORT PGUSER PGDATABASE PGDATA PGOPTIONS PGPASSWORD PGSERVICE

# cargo-pgrx passes a linker flag that its tests do not, so that everything would be built twice. Linkers here do not
# need it.
if [ "$(uname -sm)" = "Linux x86_64" ]; then export CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1; fi

# The library for each PostgreSQL has a directory of its own, or cargo would rebuild it after each change of version.
target_of() { echo "$CARGO_TARGET_DIR/pg$1"; }

# rust_is VERSION [+TOOLCHAIN]: succeeds if rustc is that version or newer.
rust_is() {
    local found; found=$(rustc ${2:-} --version 2>/dev/null | cut -d ' ' -f 2)
    [ -n "$found" ] && printf '%s\n' "$1" "$found" | sort -C -V
}

# Replaces a default toolchain that is older than pgrx asks for: by another that is
# installed and new enough, a release before a nightly, or else by a program named
# cargo that tells cargo not to compare versions. A toolchain that the caller has
# chosen with RUSTUP_TOOLCHAIN stays.
use_rust() {
    local name before=$CACHE/cargo/before
    rust_is "$RUST_VERSION" && return
    if [ -z "${RUSTUP_TOOLCHAIN:-}" ]; then
        for name in $(rustup toolchain list -q 2>/dev/null | sed 's/^nightly/~&/' | LC_ALL=C sort | tr -d '~'); do
            if rust_is "$RUST_VERSION" "+$name"; then export RUSTUP_TOOLCHAIN=$name; return; fi
        done
    fi
    rust_is 1.95 || return 0    # cargo says what is wrong
    [ "$(command -v cargo)" != "$before/cargo" ] || return 0
    mkdir -p "$before"
    cat >"$before/cargo.$$" <<END
#!/bin/sh
export CARGO=$before/cargo
case \$1 in
    build|check|clippy|test|rustc|run|bench|install) verb=\$1; shift; set -- "\$verb" --ignore-rust-version "\$@" ;;
    pgrx) exec cargo-pgrx "\$@" ;;    # cargo would tell it to call itself
esac
exec $(command -v cargo) "\$@"
END
    chmod +x "$before/cargo.$$" && mv "$before/cargo.$$" "$before/cargo"
    PATH=$before:$PATH
}

# step TEXT LOG COMMAND...: runs COMMAND with its output in a log file. Prints TEXT,
# the last line of the log every half minute, and the log's tail if it fails.
step() {
    local text=$1 log=$CACHE/log/$2.log began=$SECONDS rc=0 pid shown=0
    shift 2
    say "[$(printf %4d "$SECONDS") s] $text ... ($log)"
    # Background commands of bash ignore Ctrl-C by default.
    { trap - INT; "$@"; } >"$log" 2>&1 </dev/null &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        if (( (SECONDS - began) / 30 > shown )); then
            shown=$(( (SECONDS - began) / 30 ))
            say "         $((SECONDS - began)) s: $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-100)"
        fi
    done
    wait "$pid" || rc=$?
    if [ "$rc" != 0 ]; then
        say "--- the last lines of $log:"
        tail -n 60 "$log" >&2
        say "pg_mint: failed after $((SECONDS - began)) s: $text (whole log: $log)"
    fi
    return "$rc"
}

# PostgreSQL refuses to run as root, where servers run as the user postgres.
as_server_user() {
    if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

# Makes that user where no package of PostgreSQL has, with the home and the shell that
# Debian's gives it.
need_server_user() {
    if [ "$(id -u)" != 0 ] || id postgres >/dev/null 2>&1; then return; fi
    say "pg_mint: creating the user postgres, as PostgreSQL does not run as root"
    useradd --system --user-group --home-dir /var/lib/postgresql --shell /bin/bash postgres ||
        die "the user postgres cannot be created: create it, or run this as an ordinary user"
}

# An empty directory that the servers' user owns.
server_dir() {
    rm -rf "$1" && mkdir -p "$1"
    if [ "$(id -u)" = 0 ]; then chown postgres: "$1"; fi
}

# The first free localhost port from $1 on.
free_port() {
    local port=$1
    while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
    echo "$port"
}

# need PACKAGE...: installs the Debian packages that are missing.
need() {
    local missing=() p
    if ! command -v apt-get >/dev/null; then
        say "pg_mint: not a Debian system; continuing without a check for: $*"
        return
    fi
    for p in "$@"; do
        dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q ' installed$' || missing+=("$p")
    done
    [ ${#missing[@]} = 0 ] && return
    if [ "$(id -u)" = 0 ]; then
        step "installing ${missing[*]}" packages install_packages "${missing[@]}"
    elif sudo -n true 2>/dev/null; then
        step "installing ${missing[*]} (sudo)" packages install_packages "${missing[@]}"
    else
        die "these packages are missing; please run: sudo apt-get install ${missing[*]}"
    fi
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

install_packages() {
    local get="as_root env DEBIAN_FRONTEND=noninteractive apt-get"
    $get install -y --no-install-recommends "$@" ||
        { $get update && $get install -y --no-install-recommends "$@"; }
}

# apt's lists of packages, which images of containers lack. Without them, apt knows
# neither packages nor its own mirror.
need_lists() {
    if ! command -v apt-get >/dev/null || [ -n "$(apt-get indextargets)" ]; then return; fi
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        say "pg_mint: apt has no lists of packages; please run: sudo apt-get update"
        return 1
    fi
    step "downloading apt's lists of packages" lists as_root apt-get update --error-on=any
}

# The mirror of Debian that apt is configured with.
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1; }

# Packages to build the extension: bindgen needs libclang, and PostgreSQL's headers
# include those of ICU, OpenSSL and Kerberos where it was built with them.
BUILD_PACKAGES="build-essential pkg-config libclang-dev libicu-dev libkrb5-dev libssl-dev zlib1g-dev"

# The programs that a build needs.
need_rust() {
    need $BUILD_PACKAGES
    command -v cargo >/dev/null || die "Rust is missing: see https://rustup.rs ($RUST_VERSION or newer)"
}

# The full path of a pg_config; by default the first of PATH.
find_pg_config() {
    local path
    path=$(type -P "${1:-pg_config}") || die "there is no program ${1:-pg_config}: name yours, as in make PG_CONFIG=/path/to/pg_config (make help lists more)"
    realpath "$path"
}

supported() { [[ " $MAJORS " == *" $1 "* ]] || die "PostgreSQL $1: supported are $MAJORS"; }

# The major version of a server, which must be one of those that pg_mint supports.
major_of() {
    local major; major=$("$1" --version | sed 's/^PostgreSQL \([0-9]*\).*/\1/')
    supported "$major"
    echo "$major"
}

# The version of pg_mint.
version() { sed -n 's/^version = "\(.*\)"/\1/p' "$REPO/Cargo.toml" | head -n 1; }

# cargo-pgrx must have the version of the crate pgrx. Another version that is
# installed already stays where it is.
need_cargo_pgrx() {
    need_rust
    [ "$(cargo pgrx --version 2>/dev/null)" = "cargo-pgrx $PGRX_VERSION" ] ||
        step "installing cargo-pgrx $PGRX_VERSION, about 4 minutes" cargo_pgrx env -u CARGO_TARGET_DIR \
            cargo install cargo-pgrx --version "$PGRX_VERSION" --locked --root "$CACHE/cargo"
}

# The default major version: the first that is in the cache already or takes no
# build, or else 15.
default_major() {
    local m lists=
    for m in 15 17 18 19 16; do
        if [ -e "$CACHE/pg$m/done" ] || [ -x "/usr/lib/postgresql/$m/bin/postgres" ]; then break; fi
        [ -n "$lists" ] || need_lists || true
        lists=sought
        if apt-cache show "postgresql-server-dev-$m" >/dev/null 2>&1; then break; fi
        m=
    done
    echo "${m:-15}"
}

# The results of cargo's tests and of pg_regress (15's format, and TAP since 16).
count() {
    awk '{ for (rest = $0; match(rest, /[0-9]+ passed; [0-9]+ failed/); rest = substr(rest, RSTART + RLENGTH)) {
               split(substr(rest, RSTART, RLENGTH), n, " "); passed += n[1]; failed += n[3] } }
         /^(ok |test .* \.\.\. ok +[0-9]+ ms)/           { passed++ }
         /^(not ok |test .* \.\.\. FAILED.* [0-9]+ ms)/  { failed++ }
         END { printf "%d passed, %d failed\n", passed, failed }' "$@"
}

# The demonstration server of a major version, if it runs: see run.sh.
demo_dir() { echo "$CACHE/demo/pg$1"; }

stop_demo() {
    local dir; dir=$(demo_dir "$1")
    if [ -e "$dir/data/postmaster.pid" ]; then
        as_server_user "$(cat "$dir/bindir")/pg_ctl" -D "$dir/data" -m fast -w stop >/dev/null 2>&1 || true
    fi
}

use_rust
