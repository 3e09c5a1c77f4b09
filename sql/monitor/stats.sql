COMMENT ON FUNCTION mint.stat_values() IS 'Internal: returns the values of the view mint.stats';
ALTER FUNCTION mint.stat_values() ROWS 1;
REVOKE ALL ON FUNCTION mint.stat_values() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION mint.stat_values() TO pg_monitor;
CREATE VIEW mint.stats AS
SELECT s.ids[1] AS snowflakes, s.ids[2] AS objectids, s.ids[3] AS segment_values,
    s.waits[1] AS capacity_waits, s.waited[1] AS capacity_wait_time,
    s.waits[2] AS clock_waits, s.waited[2] AS clock_wait_time,
    s.waits[3] AS ceiling_waits, s.waited[3] AS ceiling_wait_time,
    s.waits[4] AS lease_waits, s.waited[4] AS lease_wait_time,
    s.waits[5] AS segment_waits, s.waited[5] AS segment_wait_time,
    s.waits[6] AS user_lock_waits, s.waited[6] AS user_lock_wait_time,
    s.counts[1] AS clock_steps_back, s.counts[2] AS clock_steps_forward,
    s.counts[3] AS ceiling_writes, s.counts[4] AS section_raises, s.counts[5] AS refills,
    s.counts[6] AS segment_evictions, s.counts[7] AS section_evictions, s.counts[8] AS user_evictions,
    s.counts[9] AS lease_renewals, s.counts[10] AS lease_failures,
    s.used[1] AS lanes, s.used[2] AS max_lanes,
    s.used[3] AS ceilings, s.used[4] AS max_ceilings,
    s.used[5] AS segments, s.used[6] AS max_segments,
    s.used[7] AS sections, s.used[8] AS max_sections,
    s.used[9] AS users, s.used[10] AS max_users,
    s.used[11] AS leases, s.used[12] AS max_leases,
    s.since AS stats_reset
FROM mint.stat_values() AS s;
COMMENT ON VIEW mint.stats IS 'Shows the statistics of this server in one row';
GRANT SELECT ON mint.stats TO pg_monitor;
COMMENT ON FUNCTION mint.reset_stats() IS 'Sets the statistics of this server to zero, and returns the time';
REVOKE ALL ON FUNCTION mint.reset_stats() FROM PUBLIC;
