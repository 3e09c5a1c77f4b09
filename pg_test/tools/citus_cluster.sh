# Sourced by citus.sh: a Citus cluster of a coordinator and three workers in the cache, reached by the sockets in
# their folders. $bin has the programs, $dir is the cluster's folder.
WORKERS="1 2 3"

node_dir() { echo "$dir/node$1"; }
sql_on() { "$bin/psql" -qX -v ON_ERROR_STOP=1 -h "$(node_dir "$1")" -p 5432 -U postgres -d postgres "${@:2}"; }

start_node() {
    local here; here=$(node_dir "$1")
    server_dir "$here"
    as_server_user "$bin/initdb" -D "$here/data" -U postgres -E UTF8 --no-locale --no-sync --auth=trust
    as_server_user tee -a "$here/data/postgresql.conf" >/dev/null <<END
listen_addresses = ''
unix_socket_directories = '$here'
shared_preload_libraries = 'citus'
citus.local_hostname = '$here'
citus.node_conninfo = 'sslmode=prefer'
citus.shard_count = 12
wal_level = logical
END
    as_server_user "$bin/pg_ctl" -D "$here/data" -l "$here/log" -w start
    sql_on "$1" -c 'CREATE EXTENSION citus'
}

start_cluster() {
    local node
    for node in 0 $WORKERS; do start_node "$node"; done
    sql_on 0 -c "SELECT citus_set_coordinator_host('$(node_dir 0)', 5432)"
    for node in $WORKERS; do sql_on 0 -c "SELECT citus_add_node('$(node_dir "$node")', 5432)"; done
}

stop_cluster() {
    local node
    for node in 0 $WORKERS; do
        as_server_user "$bin/pg_ctl" -D "$(node_dir "$node")/data" -m immediate stop >/dev/null 2>&1 || true
    done
}
