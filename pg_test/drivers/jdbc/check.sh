# Generated keys, batches, ObjectIDs, a layout by setString, and a shard by setInt and setLong.
command -v javac >/dev/null || use_debian default-jdk-headless
use_debian libpostgresql-jdbc-java
tested_with "pgJDBC $(dpkg-query -W -f '${source:Upstream-Version}' libpostgresql-jdbc-java)"
sql 'CREATE EXTENSION pg_mint'
report java -cp /usr/share/java/postgresql.jar Program.java
report java -cp /usr/share/java/postgresql.jar Layout.java
