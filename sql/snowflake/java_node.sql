COMMENT ON FUNCTION snowflake_node_from_mac(text) IS 'the node that Java''s SequenceGenerator makes of MAC addresses';
COMMENT ON FUNCTION snowflake_node_from_mac() IS 'the node that Java''s SequenceGenerator makes of this machine''s MAC addresses';
