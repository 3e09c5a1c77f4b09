#!/usr/bin/env bash
# test.sh [MAJOR], on Debian: every test there is, against that major version of PostgreSQL.
# FULL=1 runs the long form of those that have one. STORIES is the form that test_all.sh asks for:
#   most  all but the longest stories and the tests inside the server
#   some  pg_regress, isolation specs, and the stories that depend on the version of the server
#   few   pg_regress, and the stories on crashes, recovery and upgrade, on a build that is not optimized
# ONLY=text runs the core's tests, files of pg_test/sql and stories that have the text in their
# names, on a build that is not optimized. All parts run even if one fails. The output ends with the
# seconds of modules and of the longest stories, and the total.
set -euo pipefail
. "$(dirname "$0")/common.sh"

major=${1:-$(default_major)}
pg_config=$("$TOOLS/postgres.sh" "$major")
if [ -n "${STORIES:-}" ]; then need_rust; else need_cargo_pgrx; fi
need sudo procps
# For the story on Patroni, which makes network namespaces.
if [ -n "${FULL:-}" ] && [ "$(id -u)" = 0 ]; then need patroni etcd-server iproute2; fi
cd "$REPO"
# cargo-pgrx sets this in some of its calls of cargo only; the bindings are rebuilt
# each time that it changes.
export PGRX_PG_CONFIG_PATH=$pg_config
logs=()
failed=()

part() {    # TEXT LOG COMMAND...
    local counts
    logs+=("$CACHE/log/$2.log")
    step "$@" || failed+=("$1")
    counts=$(count "$CACHE/log/$2.log")
    say "         $counts"
    grep 'SKIPPED' "$CACHE/log/$2.log" >&2 || true
}

# All interleavings of the lock-free core, with flags and so a build of its own.
loom() {
    CARGO_TARGET_DIR=$CARGO_TARGET_DIR/loom RUSTFLAGS="--cfg loom" \
        cargo test -p pg_mint_core --release --test loom
}

# Tests inside the server, by pgrx. The test program itself starts the server, as
# root by sudo.
pgrx_tests() {
    local as=() dir=$CACHE/pgrx_test$major
    if [ "$(id -u)" = 0 ]; then
        server_dir "$dir"
        as=(--runas postgres --pgdata "$dir/data")
    fi
    cargo pgrx test "pg$major" "${as[@]}"
}

# The newest server that is already in the cache, for pg_upgrade.
newer() {
    local m path found=
    for m in $MAJORS; do
        if [ "$m" -gt "$major" ] && [ -e "$CACHE/pg$m/done" ] && path=$("$TOOLS/postgres.sh" "$m"); then found=$path; fi
    done
    echo "$found"
}

# A thread for each story, as they wait for a turn, of which the longest has the first (turn.rs).
cluster() {
    [ -n "${FULL:-}" ] || export MINT_SHORT=1
    PG_CONFIG=$pg_config PG_CONFIG_NEW=$newer cargo test -p mint_cluster --test stories -- --test-threads=1000 "$@"
}

# These depend on the version of the server: its files, catalogs, planner, shutdown, log, workers and wait events, and
# features that older ones lack.
SOME_STORIES="ids::crash ids::recovery ids::shared_memory ids::standby ids::transactions ids::upgrade
    environment::catalog environment::dumps hostile::functions::parallel environment::image_volume environment::updates
    counter::commit_order counter::restarts existing:: managed:: monitor::waits planner::differences planner::plans
    registry::members registry::replication registry::trust servers::replicated_sequences uuid:: readme::"
FEW_STORIES="ids::crash ids::recovery ids::upgrade"
# These take longest, and depend on it least: faults between servers, and messages of any length.
LONGEST_STORIES="registry::copies registry::outages registry::reasons registry::restores registry::settings registry::unresponsive
    servers::every_fault servers::long_outages hostile::functions::long"

# The arguments that choose among stories.
chosen() {
    case ${STORIES:-} in
        most) printf -- '--skip %s ' $LONGEST_STORIES ;;
        some) echo "$SOME_STORIES" ;;
        few) echo "$FEW_STORIES" ;;
    esac
}

total() {
    echo "PostgreSQL $major: $(count "${logs[@]}") in $SECONDS s"
    if [ ${#failed[@]} != 0 ]; then
        printf 'failed: %s\n' "${failed[@]}"
        exit 1
    fi
}

# Tests by a part of their names. The library is built and installed if one of them needs it.
only() {
    local file files=() core stories
    core=$(cargo test -q -p pg_mint_core --all-features --tests -- --list "$ONLY")
    core=$(grep -c ': test$' <<<"$core" || true)
    stories=$(cargo test -q -p mint_cluster --test stories -- --list "$ONLY")
    stories=$(grep -c ': test$' <<<"$stories" || true)
    for file in pg_test/sql/*"$ONLY"*.sql; do
        if [ -e "$file" ]; then files+=("$(basename "$file" .sql)"); fi
    done
    if [ "$core" != 0 ]; then
        part "core: $ONLY" core_only cargo test -p pg_mint_core --all-features --tests -- "$ONLY"
    fi
    if [ ${#files[@]} != 0 ] || [ "$stories" != 0 ]; then
        stop_demo "$major"
        export QUICK_BUILD=1    # read by build.sh, and by the story of the library's size
        "$TOOLS/install.sh" "$pg_config"
    fi
    if [ ${#files[@]} != 0 ]; then
        part "PostgreSQL $major: pg_regress of ${files[*]}" "regress_only$major" "$TOOLS/regress.sh" "$pg_config" "${files[@]}"
    fi
    if [ "$stories" != 0 ]; then
        newer= part "PostgreSQL $major: stories: $ONLY" "cluster_only$major" cluster "$ONLY"
    fi
    [ ${#logs[@]} != 0 ] || die "nothing has \"$ONLY\" in its name: no test of the core, file of pg_test/sql or story"
    total
}

if [ -n "${ONLY:-}" ]; then only; exit; fi

# Independent of PostgreSQL: once is enough when several versions are tested.
if [ -z "${CORE_TESTED:-}" ]; then
    part "core: unit tests and properties" core cargo test -p pg_mint_core --all-features
    part "core: loom, all interleavings" loom loom
fi

# The tests install a build of their own, which a running server would load.
stop_demo "$major"
if [ -z "${STORIES:-}" ]; then part "inside PostgreSQL $major: cargo pgrx test" "pgrx_test$major" pgrx_tests; fi

newer=$(newer)
# Always optimized: test_all.sh has built it before, for the oldest.
if [ -n "$newer" ]; then "$TOOLS/install.sh" "$newer"; fi
if [ "${STORIES:-}" = few ]; then export QUICK_BUILD=1; fi
"$TOOLS/install.sh" "$pg_config"
part "PostgreSQL $major: pg_regress" "regress$major" "$TOOLS/regress.sh" "$pg_config"
if [ "${STORIES:-}" != few ]; then
    part "PostgreSQL $major: pg_isolation_regress" "isolation$major" "$TOOLS/isolation.sh" "$pg_config"
fi
part "PostgreSQL $major: servers" "cluster$major" cluster $(chosen)
"$TOOLS/times.sh" "$CACHE/log/regress$major.log" "$CACHE/log/cluster$major.log"
if [ -n "${FULL:-}" ]; then
    part "PostgreSQL $major: programs" "drivers$major" "$TOOLS/drivers.sh" "$pg_config"
    part "PostgreSQL $major: Citus" "with_citus$major" "$TOOLS/citus.sh" "$major"
    part "PostgreSQL $major: neighbors" "with_neighbors$major" "$TOOLS/neighbors.sh" "$major"
fi

total
