CREATE TYPE snowflake_layout;
CREATE TYPE objectid;
