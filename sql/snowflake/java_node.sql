COMMENT ON FUNCTION snowflake_node_from_mac(text) IS 'Returns the node that Java''s SequenceGenerator computes from MAC addresses';
