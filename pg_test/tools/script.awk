# Brings an install script of pgrx, whose order is another each time, into the form
# that is checked in: without places, paths and types in Rust, each block behind those
# that make what it uses, and in the order of their first lines otherwise.

/^\/\*$/ { comment = 1 }
comment { if (/^\*\/$/) comment = 0; next }
/^\/\* <begin connected objects> \*\/$/ { n++; gap = 0; next }
/^\/\* <\/end connected objects> \*\/$/ { next }
/^$/ { gap = text[n] != ""; next }
# Behind its place each object has its name, what it creates and what it requires.
/^-- (src|pg_test)\/[^ ]*:[0-9]+$/ { head = 1; next }
head && /^--( [A-Za-z_0-9:]+|   [^ ]+)$/ { next }
{
    head = 0
    sub(/ *(\/\* [^*]*(\*[^*\/]+)* \*\/)?$/, "")
    sub(/^\t+/, "    ")
    sub(/^CREATE  /, "CREATE ")
    if (/^(IMMUTABLE|STABLE|VOLATILE|STRICT|PARALLEL|SECURITY|COST|ROWS) /) gsub(/  +/, " ")
    text[n] = text[n] (gap ? "\n" : "") $0 "\n"
    gap = 0
    if (/^--/) next
    if (!(n in key)) key[n] = $0
    gsub(/'[^']*'/, "''")
    bare[n] = bare[n] " " $0
    if (/^CREATE OPERATOR [^A-Z]/) operators = operators " " n
    # A type is made when it gets its functions: its shell, of the first block, does not count.
    if (!/^CREATE TYPE [^ ]+;$/ && match($0, /^CREATE (FUNCTION|AGGREGATE|VIEW|SEQUENCE|TABLE|TYPE) [^ (;]+/)) {
        split(substr($0, RSTART, RLENGTH), word, " ")
        gsub(/.*\.|"/, "", word[3])
        if (word[2] == "TYPE") types[word[3]] = types[word[3]] " " n
        else makers[word[3]] = makers[word[3]] " " n
    }
}

# Returns whether one of the blocks of a list other than b is not printed yet.
function missing(list, b,    block, i, count) {
    count = split(list, block, " ")
    for (i = 1; i <= count; i++) if (block[i] != b && !done[block[i]]) return 1
    return 0
}

# Returns whether all that make what a block uses are printed. A function in C uses types only.
function ready(b,    name) {
    for (name in types)
        if (bare[b] ~ ("(^|[^A-Za-z0-9_])" name "([^A-Za-z0-9_(]|$)") && missing(types[name], b)) return 0
    if (bare[b] ~ / LANGUAGE c / && bare[b] !~ /CREATE TYPE/) return 1
    if (bare[b] ~ /OPERATOR[(]@extschema@/ && missing(operators, b)) return 0
    for (name in makers)
        if (bare[b] ~ ("(^|[^A-Za-z0-9_])" name (name in types ? "[(]" : "([^A-Za-z0-9_]|$)")) && missing(makers[name], b)) return 0
    return 1
}

function emit(b) {
    printf "\n%s", text[b]
    done[b] = 1
}

END {
    print "-- The install script of pg_mint: made of src and sql by make script."
    print "\\echo Use \"CREATE EXTENSION pg_mint\" to load this file. \\quit"
    for (b = 1; b <= n; b++) if (text[b] == "") done[b] = 1
    for (first = 1; done[first]; first++);
    emit(first)
    for (;;) {
        next_block = waiting = 0
        for (b = 1; b <= n; b++) {
            if (done[b]) continue
            waiting = b
            if ((!next_block || key[b] text[b] < key[next_block] text[next_block]) && ready(b)) next_block = b
        }
        if (!next_block) break
        emit(next_block)
    }
    if (waiting) {
        print "script.awk: these use each other:" >"/dev/stderr"
        for (b = 1; b <= n; b++) if (!done[b]) print "    " key[b] >"/dev/stderr"
        exit 1
    }
}
