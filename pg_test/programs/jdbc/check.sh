# A layout by setString, and a shard by setInt and setLong.
command -v javac >/dev/null || use_debian default-jdk-headless
use_debian libpostgresql-jdbc-java
sql 'CREATE EXTENSION pg_mint'
report java -cp /usr/share/java/postgresql.jar Layout.java
