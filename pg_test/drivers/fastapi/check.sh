# The application of examples/fastapi: started as its README says, and its own tests.
cp -r "$REPO/examples/fastapi/." .
use_python
ln -s "$tree" .venv
tested_with "FastAPI $(version_of fastapi) with SQLAlchemy $(version_of SQLAlchemy), Alembic $(version_of alembic)"

# A role that cannot create the extension can migrate where it is there.
migrates() { alembic upgrade head && alembic downgrade base; }
refused() { ! alembic upgrade head >said 2>&1 && grep 'permission denied to create extension' said; }
PGUSER=postgres sql "REVOKE CREATE ON DATABASE fastapi FROM app"
point "without rights, the migration says so" refused
PGUSER=postgres sql "CREATE EXTENSION pg_mint"
point "without rights, the migration passes where the extension is" migrates
PGUSER=postgres sql "DROP EXTENSION pg_mint" && PGUSER=postgres sql "GRANT CREATE ON DATABASE fastapi TO app"

serves() {
    local port pid rc=1
    port=$(free_port 29100)
    ./run.sh --port "$port" >served 2>&1 & pid=$!
    for _ in $(seq 150); do
        sleep 0.2
        if curl -sf "127.0.0.1:$port/authors" -H 'Content-Type: application/json' -d '{"name": "Ada"}' >answer; then rc=0; break; fi
    done
    kill "$pid"
    cat served
    [ "$rc" = 0 ] && grep -E '"id":"[0-9]{19}"' answer
}
point "create: one command migrates and serves" serves
point "schema check" alembic check
point "schema check again" alembic check
tests() { pytest -q -k "$1"; }
point "insert one: ids in JSON are text and exact" tests exact
point "read back: pages by id have each message once" tests pages
point "range by time" tests range
point "the primary key finds them" tests primary_key
point "all tests" ./run.sh test
