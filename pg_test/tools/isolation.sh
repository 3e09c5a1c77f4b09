#!/usr/bin/env bash
# isolation.sh [--accept] PG_CONFIG [TEST...]: as regress.sh, runs
# pg_test/isolation/specs/TEST.spec, sessions whose steps interleave, by
# pg_isolation_regress and compares with pg_test/isolation/expected.
exec "$(dirname "$0")/regress.sh" --isolation "$@"
