#!/usr/bin/env bash
# torture.sh [MINUTES [MAJOR]], on Linux: servers put through crashes, wrong clocks, failovers and
# tampering under load, one fault after another, for so many minutes (default: 10). Says
# each as it is survived, and at the end how many ids were checked.
#
# Two kinds of servers take turns. TORTURE=faults runs single servers only, and TORTURE=fleet a registry of nodes with
# its members, which prints at the end for how long they got no id after each fault: a cycle of all takes about twenty
# minutes. It takes root for copies of disks.
# HA=1 runs clusters of three servers under Patroni instead, with a fixed node and with leased ones in turn, and prints how
# many ids were issued twice, by whom, and for how long there were none: all faults of both take half an hour. It takes
# root, for network namespaces.
# TORTURE=citus runs Citus clusters of three workers, which are killed, replaced by standbys, added and removed while all
# nodes insert and shards move. It takes CITUS, a folder or an archive of the source of Citus: see citus.sh.
# A failure prints the fault and the ids; MINT_SEED=... repeats a run's choices.
set -euo pipefail
. "$(dirname "$0")/common.sh"

ha=${HA:-}
minutes=${1:-$([ -z "$ha" ] && echo 10 || echo 30)}
[[ $minutes =~ ^[1-9][0-9]*$ ]] || die "usage: torture.sh [MINUTES [MAJOR]]"
need_rust
if [ "${TORTURE:-}" = citus ]; then
    pg_config=$("$TOOLS/citus_tree.sh" "${2:-}")
else
    pg_config=$("$TOOLS/postgres.sh" "${2:-$(default_major)}")
fi
need sudo procps
if [ -n "$ha" ]; then
    [ "$(id -u)" = 0 ] || die "HA=1 makes network namespaces, which takes root: run it as root"
    need patroni etcd-server iproute2
    export TORTURE=ha
fi
cd "$REPO"
[ "${TORTURE:-}" = citus ] || "$TOOLS/install.sh" "$pg_config"
step "building the torture" torture cargo build --release -p mint_cluster --bin torture
PG_CONFIG=$pg_config "$CARGO_TARGET_DIR/release/torture" "$minutes"
