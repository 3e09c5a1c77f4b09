# Reads the extension's SQL, sql/*.sql and the strings in *.rs that go to the server, and prints operators, functions,
# casts and catalogs without their schema, which the server would look up in the search path. Code that runs as a
# superuser must have none. Exits with 1 if there are any.

FNR == 1 { finish(); file = FILENAME; text = "" }
{ text = text $0 "\n" }
END { finish(); exit found }

function finish() {
    if (file == "") return
    if (file ~ /\.rs$/) rust(text); else script(text)
    file = ""
}

# Every string of a Rust file that is SQL.
function rust(text,    at, sign, two, line, begun, literal) {
    line = 1
    for (at = 1; at <= length(text); at++) {
        sign = substr(text, at, 1)
        two = substr(text, at, 2)
        if (sign == "\n") line++
        else if (two == "//") {
            while (substr(text, at + 1, 1) != "\n") at++
        } else if (substr(text, at, 3) == "'\"'" || substr(text, at, 4) == "'\\\"'") at += 3
        else if (sign == "\"") {
            literal = ""
            begun = line
            for (at++; (sign = substr(text, at, 1)) != "\""; at++) {
                if (sign == "\\") {
                    at++
                    sign = substr(text, at, 1)
                    if (sign == "n") sign = "\n"
                }
                if (sign == "\n") line++
                literal = literal sign
            }
            if (is_sql(literal)) check(literal, file ":" begun)
        }
    }
}

function is_sql(literal) {
    return literal ~ /^[ \n]*(SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP|COMMENT|SET|TABLE)[ \n]/ ||
        literal ~ /pg_catalog/ || literal ~ / (FROM|WHERE) /
}

# Each statement of a script by its kind. A DO block is one for each of its semicolons.
function script(text,    parts, count, i, statement, rest) {
    count = split(bare(text), parts, ";")
    for (i = 1; i <= count; i++) {
        statement = parts[i]
        sub(/^[ \n]+/, "", statement)
        # These name the extension's own objects by exact types, in the schemas that they were created in before.
        if (statement ~ /^(COMMENT ON|GRANT|REVOKE|ALTER FUNCTION) /) continue
        if (statement ~ /^CREATE FUNCTION/ && statement ~ /LANGUAGE c /) continue
        if (statement ~ /^CREATE (OPERATOR|TYPE|AGGREGATE|CAST) ?/) {
            rest = statement
            gsub(/(RESTRICT|JOIN) = pg_catalog\./, "", rest)
            gsub(/(FUNCTION|FUNCTION [0-9]+|FUNC|INPUT|OUTPUT|RECEIVE|SEND)( =)? (pg_catalog|mint)\./, "", rest)
            if (match(rest, /(RESTRICT|JOIN|FUNCTION|FUNC|INPUT|OUTPUT|RECEIVE|SEND)( [0-9]+)?( =)? [a-z_]+/))
                say(file, "function", substr(rest, RSTART, RLENGTH), statement)
            continue
        }
        check(statement, file)
    }
}

# Returns SQL without comments and with empty literals.
function bare(text) {
    gsub(/--[^\n]*/, "", text)
    gsub(/"char"/, "char", text)
    gsub(/'[^']*'/, "''", text)
    return text
}

function check(text, place,    rest, word) {
    text = bare(text)
    # Inserted strings are checked where they are written.
    gsub(/[{][a-z_]*[}]/, "_", text)
    gsub(/[$][a-z_0-9]+[$]?/, "_", text)    # an argument, a mark or a quote
    gsub(/<<[a-z]+>>/, "", text)             # a label
    rest = text
    gsub(/OPERATOR[(](pg_catalog|@extschema@)\.[-+*\/<>=~!@#%^&|?]+[)]/, " ", rest)
    gsub(/SELECT [*]/, "SELECT", rest)
    gsub(/fillfactor = /, "", rest)
    gsub(/:=/, "", rest)
    gsub(/TABLE _ [(]LIKE _ INCLUDING/, "TABLE _ (", rest)
    # Parts of an error of PL/pgSQL.
    gsub(/(ERRCODE|MESSAGE|DETAIL|HINT|DIAGNOSTICS [a-z_]+) = /, "", rest)
    gsub(/ AS [a-z]+ [(]/, " AS (", rest)    # names of columns
    if (rest ~ /UPDATE/)
        while (match(rest, /(SET|,)[ \n]+[a-z_]+ = /))
            rest = substr(rest, 1, RSTART - 1) " " substr(rest, RSTART + RLENGTH)
    word = rest
    if (match(word, /[-+*\/<>=~!@#%^&|?]+/)) say(place, "operator", substr(word, RSTART, RLENGTH), text)
    # The parser turns these into operators without a schema.
    if (match(rest, /(^|[^A-Za-z_])(BETWEEN|LIKE|ILIKE|SIMILAR|GREATEST|LEAST|NULLIF|OVERLAPS|EXTRACT|AT TIME ZONE|DISTINCT FROM)([^A-Za-z_]|$)/) ||
        match(tolower(rest), /(^|[^a-z_.])(greatest|least|extract|coalesce) ?[(]/) ||
        match(rest, /[^A-Za-z_]IN[ \n]*[(]/) || match(rest, /CASE[ \n]+[^W \n][^ \n]*/) || match(rest, /USING[ \n]*[(]/))
        say(place, "hidden operator", substr(rest, RSTART, RLENGTH), text)
    word = rest
    while (match(word, /::[ ]*[A-Za-z_.]+/)) {
        if (substr(word, RSTART, RLENGTH) !~ /^::(pg_catalog\.[a-z]|snowflake_layout|objectid)/)
            say(place, "cast", substr(word, RSTART, RLENGTH), text)
        word = substr(word, RSTART + RLENGTH)
    }
    word = rest
    while (match(word, /[A-Za-z_][A-Za-z_0-9.]*[ ]*[(]/)) {
        call = substr(word, RSTART, RLENGTH - 1)
        sub(/ +$/, "", call)
        if (call !~ /^(pg_catalog\.|_\.|mint\.|snowflake_|sequence_table|objectid_|uuid_v7_|uuid_to_|ulid_)/ &&
            call !~ /^(OPERATOR|SELECT|VALUES|EXISTS|ANY|ALL|ARRAY|AND|OR|NOT|WITH|AS|ON|FROM|TO|JOIN|CHECK|KEY|TABLE|gist|answer|held|name|one|IDENTITY|CACHE|THEN|ELSE|WHEN|WHERE|CONFLICT|grants|here)$/ &&
            call !~ /^_/)
            say(place, "function", call, text)
        word = substr(word, RSTART + RLENGTH)
    }
    word = rest
    while (match(word, /(FROM|JOIN|INTO|UPDATE)[ \n]+pg_[a-z_]+/)) {
        call = substr(word, RSTART, RLENGTH)
        word = substr(word, RSTART + RLENGTH)
        if (substr(word, 1, 1) != ".") say(place, "relation", call, text)
    }
}

function say(place, what, which, text) {
    gsub(/[ \n]+/, " ", text)
    printf "%s: %s without its schema: %s\n    in: %s\n", place, what, which, substr(text, 1, 160)
    found = 1
}
