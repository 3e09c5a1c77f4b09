CREATE TYPE snowflake_layout;
