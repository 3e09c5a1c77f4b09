# The server of examples/redis: ids of many clients through restarts, errors, garbage, and a database that is away.
command -v cargo >/dev/null || skip "Rust is missing"
use_debian redis-tools
step "building $program" "drivers_$program" \
    cargo build --manifest-path "$REPO/examples/redis/Cargo.toml" --locked || skip "cannot be built"
locked() { sed -n "/^name = \"$1\"/{n;s/version = \"\(.*\)\"/\1/p}" "$REPO/examples/redis/Cargo.lock"; }
tested_with "redis-protocol $(locked redis-protocol) with tokio-postgres $(locked tokio-postgres); Debian's redis-cli"
PGUSER=postgres sql 'CREATE EXTENSION pg_mint; CREATE ROLE idgo LOGIN; CREATE SCHEMA idgo;
    GRANT USAGE, CREATE ON SCHEMA idgo TO idgo'

port=$(free_port 29300)
export DATABASE_URL=postgresql://idgo@127.0.0.1:$PGPORT/$PGDATABASE
cli() { timeout 60 redis-cli -p "$port" "$@"; }
says() {
    local said; said=$(cli "${@:2}")
    [ "$said" = "$1" ] || { echo "${*:2}: $said instead of $1"; return 1; }
}
serve() {
    "$CARGO_TARGET_DIR/debug/idgo_server" "127.0.0.1:$port" >>served 2>&1 & pid=$!
    for _ in $(seq 50); do
        sleep 0.1
        if says PONG PING >/dev/null 2>&1; then return; fi
    done
    cat served
    return 1
}
trap 'kill "$pid"' EXIT
point "one command serves" serve

commands() {
    says OK SET abc 100 && says 101 GET abc && says 102 GET abc && says OK SET abc 5 && says 103 GET abc &&
        says 1 EXISTS abc && says 0 EXISTS nobody && says OK SELECT 1 && says 1 DEL abc && says 0 DEL abc &&
        says 0 EXISTS abc && says OK SET abc 0 && says 1 GET abc && says OK set 'a:"b' 7 && says 8 get 'a:"b' &&
        says OK SET end 9223372036854775806 && says 9223372036854775807 GET end &&
        says 'ERR reached maximum value of sequence "end" (9223372036854775807)' GET end
}
point "create: SET, GET, EXISTS and DEL" commands

# A command on connection 3, and a line of its answer.
answered() { local line; read -t 5 -r line <&3; echo "$line"; [ "${line%$'\r'}" = "$1" ]; }
connect() { exec 3<>"/dev/tcp/127.0.0.1/$port"; }
bulk() { local one; printf '*%d\r\n' $#; for one in "$@"; do printf '$%d\r\n%s\r\n' ${#one} "$one"; done; }
refuses() { bulk "${@:2}" >&3; answered "-ERR $1"; }
errors() {
    local integer='value is not an integer or out of range'
    connect
    refuses 'unknown command "FLUSHALL"' FLUSHALL && refuses "wrong number of arguments for 'GET' command" get &&
        refuses "wrong number of arguments for 'SET' command" SET a && refuses 'no such key' GET nobody &&
        refuses "wrong number of arguments for 'DEL' command" DEL a b && refuses "$integer" SET a one &&
        refuses "$integer" SET a 1.5 && refuses "$integer" SET a '' && refuses "$integer" SET a -1 &&
        refuses "$integer" SET a 9223372036854775807 && refuses "$integer" SET a 99999999999999999999 &&
        refuses 'a key must have 1 to 63 bytes, none of them zero' GET '' &&
        refuses 'a key must have 1 to 63 bytes, none of them zero' SET "$(printf %064d 0)" 1 &&
        refuses 'a key must be UTF-8' GET $'\xff' && refuses 'unknown command "\u{1b}"' $'\e' &&
        refuses 'no such key' GET 'x"; DROP SCHEMA idgo CASCADE; --' && bulk PING >&3 && answered +PONG
}
point "each error is an answer, and its connection stays" errors

# 8 clients at once; their answers that are numbers are in ids.
draw() {
    local n clients=()
    for n in 1 2 3 4 5 6 7 8; do cli -r "$1" GET many >"drawn.$n" 2>&1 & clients+=($!); done
    [ -z "${2:-}" ] || { sleep 0.5; $2; }
    wait "${clients[@]}" || [ -n "${2:-}" ]
    grep -hxE '[0-9]+' drawn.* >>ids
}
crash() { kill -9 "$pid"; }
postgres() { as_server_user "$bin/pg_ctl" -D "$server/data" -w "$@" >/dev/null; }
restart_database() { postgres -m immediate -l "$server/log" -o "-p $PGPORT" restart; }
none_twice() {
    says OK SET many 1000 && draw 500 && crash && serve && draw 500 && restart_database && draw 500 || return
    [ "$(wc -l <ids)" = 12000 ] || { wc -l ids; return 1; }
    draw 3000 crash
    serve && draw 3000 restart_database && draw 500 || return
    sort -n ids | uniq -d >twice
    echo "$(wc -l <ids) ids" >figure
    cat figure twice
    [ ! -s twice ] && [ "$(wc -l <ids)" -gt 16000 ] && [ "$(sort -n ids | head -n 1)" = 1001 ]
}
point "no id twice: 8 clients, both servers crash" none_twice

garbage() {
    local before=$pid one
    for one in 'GET / HTTP/1.1\r\n\r\n' '*-5\r\n' '*99999999999999999999\r\n' '*1\r\n:1\r\n' '*0\r\n' '*-1\r\n' \
        "$(printf '*1\\r\\n%.0s' $(seq 9999))" "\$9999\\r\\n$(printf %09999d 0)" '*999999999\r\n' '*2\r\n$3\r\nGET\r\n$9\r\nx'; do
        connect
        (printf "$one" >&3) 2>/dev/null    # which the server can end
        says PONG PING || return    # beside a client that has not finished
        exec 3>&-
    done
    connect
    head -c 1000000 /dev/urandom >&3 2>/dev/null
    (exec timeout -s KILL 0.3 redis-cli -p "$port" -r 100000 GET many >/dev/null 2>&1)
    says PONG PING && kill -0 "$before"
}
point "garbage, and clients that are cut off, harm nobody" garbage

away() {
    local before=$pid
    says OK SET here 1 && postgres -m fast stop || return
    says 'ERR the database does not answer' GET here && says 'ERR the database does not answer' PING &&
        says 'ERR unknown command "HELLO"' HELLO || return
    postgres -l "$server/log" -o "-p $PGPORT" start && says PONG PING || return
    cli GET here | grep -xE '[0-9]+' && kill -0 "$before"
}
point "a database that is away is an error, until it returns" away
