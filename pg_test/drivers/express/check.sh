# The application of examples/express: started as its README says, its own tests, and its page in Chromium.
cp -r "$REPO/examples/express/." .
use_node
tested_with "Express $(version_of express) with Drizzle $(version_of drizzle-orm), node-postgres $(version_of pg)"

# Runs a command with the address of the application, once that answers.
with_server() {
    local pid rc=1
    PORT=$(free_port 29200)
    export PORT
    ./run.sh >served 2>&1 & pid=$!
    for _ in $(seq 150); do
        sleep 0.2
        if curl -sf "127.0.0.1:$PORT/" >/dev/null; then rc=0; break; fi
    done
    [ "$rc" != 0 ] || "$@" "127.0.0.1:$PORT" || rc=1
    kill "$pid"
    cat served
    return "$rc"
}
post() { curl -sf "$1" -H 'Content-Type: application/json' -d "$2"; }
sends() {
    author=$(post "$1/authors" '{"name": "Ada"}' | grep -oE '"id":"[0-9]{19}"' | cut -d '"' -f 4)
    post "$1/messages" "{\"authorId\": \"$author\", \"body\": \"hello\"}"
}
point "create: one command migrates and serves" with_server sends

# drizzle-kit knows no change that its migrations lack, and finds none in the database.
generated() { drizzle-kit generate | grep 'No schema changes'; }
pushed() { mark && drizzle-kit push && ! statements | grep .; }
point "schema check" generated
point "schema check again" pushed
tests() { node --test --test-name-pattern "$1" test.js >tap; cat tap; grep -q '^ok 1 ' tap && ! grep -q '^not ok' tap; }
point "insert one: ids in JSON are text and exact" tests 'ids are text'
point "read back: pages by id have each message once" tests 'pages have'
point "range by time" tests 'a range of time'
point "the primary key finds them" tests 'primary key'
point "the page in jsdom shows ids exactly" tests 'in the browser'
point "all tests" ./run.sh test

# The page as a browser renders it has the ids that the database has, whole.
rendered() {
    chromium --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/chromium" --virtual-time-budget=10000 \
        --dump-dom "http://$1/" >dom 2>chromium.log
    grep -oE '<small>[0-9]+ by [0-9]+' dom | tr -dc '0-9 \n' | tr -s ' ' >shown
    "$bin/psql" -qXAt -F ' ' -c "SELECT id, author_id FROM message ORDER BY id DESC LIMIT 10" >wanted
    cat dom shown
    [ "$(wc -l <wanted)" = 10 ] && diff wanted shown
}
(use_debian chromium; point "the page in Chromium shows ids exactly" with_server rendered)
