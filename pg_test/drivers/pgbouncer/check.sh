# Eight clients over three sessions of the server, by PgBouncer in transaction mode.
use_debian pgbouncer
use_python
tested_with "PgBouncer $(dpkg-query -W -f '${source:Upstream-Version}' pgbouncer) with psycopg $(version_of psycopg)"
sql 'CREATE EXTENSION pg_mint'
pooler=$work/pgbouncer.server
port=$(free_port 29000)
server_dir "$pooler"
echo '"app" ""' | as_server_user tee "$pooler/users" >/dev/null
as_server_user tee "$pooler/pgbouncer.ini" >/dev/null <<END
[databases]
pooled = host=127.0.0.1 port=$PGPORT dbname=$PGDATABASE
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = trust
auth_file = $pooler/users
pool_mode = transaction
default_pool_size = 3
pidfile = $pooler/pid
logfile = $pooler/log
END
as_server_user /usr/sbin/pgbouncer -d "$pooler/pgbouncer.ini" >pooler.log 2>&1
for _ in $(seq 50); do (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.1; done
PGDATABASE=pooled PGPORT=$port report python3 program.py
kill "$(cat "$pooler/pid")" || cat pooler.log "$pooler/log"
