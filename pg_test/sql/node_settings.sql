-- The settings of the nodes of a server, and functions that compute nodes.
\pset format unaligned \pset tuples_only on \pset null NULL
CREATE EXTENSION pg_mint;
-- The settings of members.
SET pg_mint.node = 'auto';
SHOW pg_mint.node;
SELECT snowflake_next_id();
SET pg_mint.node = 7;
SELECT snowflake_shard(snowflake_next_id());
SET pg_mint.node = 9000;
SELECT snowflake_next_id();
SELECT snowflake_next('twitter');
SELECT snowflake_shard(snowflake_next('sonyflake'), 'sonyflake');
-- The same without an id.
SELECT snowflake_own_shard('sonyflake'), snowflake_own_shard('mastodon'), snowflake_own_shard(NULL);
SELECT snowflake_own_shard();
SET pg_mint.node = -1;
SELECT snowflake_next_id();
SET pg_mint.node = 'some';
SET pg_mint.node = '99999999999';
SET pg_mint.node = '4/';
SET pg_mint.node = '4/8/1';
SET pg_mint.node = '4/-8';
-- The parts of a split node.
SET pg_mint.node = '4/8';
SELECT parts FROM snowflake_decode(snowflake_next('twitter'), 'twitter');
SELECT parts FROM snowflake_decode(snowflake_next('time:41 shard:3+4 seq:12 epoch:2020-01-01T00:00:00Z'), 'time:41 shard:3+4 seq:12 epoch:2020-01-01T00:00:00Z');
SELECT snowflake_next_id();
SELECT snowflake_own_shard('twitter'), snowflake_own_shard('time:41 shard:3+4 seq:12 epoch:1577836800000');
SELECT snowflake_own_shard();
SELECT snowflake_next('mastodon') > 0 AS has_no_node;
SET pg_mint.node = '4/40';
SELECT snowflake_next('twitter');
SET pg_mint.node = -2;
RESET pg_mint.node;
SELECT snowflake_own_shard();
SET pg_mint.own_shards = '1';
ALTER SYSTEM SET pg_mint.own_shards = '5, 100-163,7';
ALTER SYSTEM SET pg_mint.own_shards = '5, 100-';
ALTER SYSTEM SET pg_mint.own_shards = '163-100';
ALTER SYSTEM SET pg_mint.own_shards = 'all, 5';
ALTER SYSTEM SET pg_mint.own_shards = '99999999999999999999';
ALTER SYSTEM RESET pg_mint.own_shards;
SELECT mint.release_leases();

-- Only a superuser can let a role set its node.
CREATE ROLE node_owner; SET ROLE node_owner; SET pg_mint.node = 3;
RESET ROLE; GRANT SET ON PARAMETER pg_mint.node TO node_owner; SET ROLE node_owner; SET pg_mint.node = 3; SELECT snowflake_own_shard();
RESET ROLE; RESET pg_mint.node; REVOKE SET ON PARAMETER pg_mint.node FROM node_owner; DROP ROLE node_owner;

-- Nodes of parts.
SELECT snowflake_shard_from_parts('{4,8}', 'twitter'), snowflake_shard_from_parts('{5}', 'instagram'), snowflake_shard_from_parts('{}', 'tso'), snowflake_shard_from_parts(NULL, 'tso') IS NULL AS strict;
SELECT snowflake_shard_from_parts('{3,40}', 'twitter');
SELECT snowflake_shard_from_parts('{-1,8}', 'twitter');
SELECT snowflake_shard_from_parts('{104}', 'twitter');
SELECT snowflake_shard_from_parts('{1,2}', 'instagram');
SELECT snowflake_shard_from_parts('{1}', 'tso');
SELECT snowflake_shard_from_parts('{1,NULL}', 'twitter');

-- Nodes of Java's SequenceGenerator.
SELECT mac, snowflake_node_from_mac(mac) FROM unnest('{0242AC110002, 02:42:ac:11:00:02, 005056219395}'::text[]) mac;
SELECT snowflake_node_from_mac('hello');
SELECT snowflake_node_from_mac('');
SELECT snowflake_node_from_mac(NULL) IS NULL AS strict;
DROP EXTENSION pg_mint CASCADE;
