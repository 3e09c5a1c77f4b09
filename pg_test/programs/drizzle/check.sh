# `drizzle-kit push` makes the tables once and then has nothing to change; `pull` writes TypeScript with the defaults.
use_node
sql 'CREATE EXTENSION pg_mint'
push() { mark && drizzle-kit push; }
made() { push && statements | grep 'CREATE TABLE "message"'; }
# A push that fails ends well, so the table has to be there.
no_statement() { push && sql "TABLE message" && ! statements | grep .; }
point "push" made
point "push again, without a statement" no_statement
point "pull" drizzle-kit pull
only_mine() {
    grep -oE 'pg(Table|View|MaterializedView|Sequence)\("[^"]*' pulled/schema.ts | sort >found
    printf 'pgTable("%s\n' event message tweet | diff - found
}
point "pull writes the application's tables only" only_mine
point "pull writes valid TypeScript" tsc
point "pull writes the default" grep -F 'default(sql`snowflake_next_id(5)`)' pulled/schema.ts
