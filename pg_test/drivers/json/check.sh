# One row of the page "Ids in JSON, JavaScript and URLs" after the other: what a server sends, JavaScript reads exactly.
cache=$tree
tree=$cache/python
use_python
versions="Django REST framework $(version_of djangorestframework)"
tree=$cache/javascript
use_node
versions+=", graphql-js $(version_of graphql), openapi-typescript $(version_of openapi-typescript), serde_with"
versions+=" $(sed -n '/^name = "serde_with"/{n;s/version = "\(.*\)"/\1/p}' serde/Cargo.lock)"
tested_with "$versions; Debian's ActiveRecord, Jackson and Go"

sql 'CREATE EXTENSION pg_mint'
sql 'CREATE TABLE author (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5))'
sql 'CREATE TABLE message (id bigint PRIMARY KEY DEFAULT snowflake_next_id(5), author_id bigint REFERENCES author)'
AUTHOR=$("$bin/psql" -qXAt -c 'INSERT INTO author DEFAULT VALUES RETURNING id')
# Whose last digits JavaScript changes, which one of 1024 ids keeps.
ID=$(($("$bin/psql" -qXAt -c 'SELECT snowflake_next_id(5)') | 1))
sql "INSERT INTO message VALUES ($ID, $AUTHOR)"
export AUTHOR ID

# The output, after the program has ended well.
exact() { "$@" >answer && node exact.mjs <answer; }
rounded() { ! exact "$@" >said && grep "read: [0-9]*0 " said; }

point "a number is rounded" rounded "$cache/python/bin/python" django_rest.py number
point "read back, by Django REST framework" exact "$cache/python/bin/python" django_rest.py
half() { "$cache/python/bin/python" django_rest.py setting >said && grep -E '^\{"id":"[0-9]+","author":[0-9]+\}$' said; }
point "the setting of Django REST framework leaves foreign keys numbers" half
point "read back, by GraphQL" exact node graphql.mjs
typed() { openapi-typescript openapi.yaml -o types.ts && tsc --noEmit types.ts && [ "$(grep -cE '^ *(id|author_id): string;' types.ts)" = 2 ]; }
point "OpenAPI: a generated client has strings" typed
(use_debian ruby-activerecord ruby-pg; point "read back, by Rails" exact /usr/bin/ruby rails.rb)
(
    command -v javac >/dev/null || use_debian default-jdk-headless
    use_debian libjackson2-databind-java
    jars=/usr/share/java/jackson
    point "read back, by Jackson" exact java -cp "$jars-core.jar:$jars-annotations.jar:$jars-databind.jar" Jackson.java
)
(
    command -v go >/dev/null || use_debian golang-go
    export GOCACHE=$cache/go GO111MODULE=off
    point "read back, by Go" exact go run main.go
)
command -v cargo >/dev/null || skip "Rust is missing"
step "building $program" "drivers_$program" \
    env CARGO_TARGET_DIR="$cache/rust" cargo build --manifest-path serde/Cargo.toml --locked || skip "cannot be built"
point "read back, by serde" exact "$cache/rust/debug/mint_json"
