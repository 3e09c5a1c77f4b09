#!/usr/bin/env bash
# notices.sh: prints the licenses of the crates that the library is made of, as copies of it
# have to bring them. Takes the crates in vendor, or else those that cargo has downloaded to build it.
set -euo pipefail
cd "$(dirname "$0")/.."

crates=$(cargo tree --locked --offline --package pg_mint --edges normal --prefix none --format '{p}|{l}|{r}')
declare -A printed
while IFS='|' read -r crate license place; do
    read -r name version _ <<<"$crate"
    echo "=== $name ${version#v}: $license, $place"
    folder=vendor/$name-${version#v}
    [ -d "$folder" ] || folder=$(echo "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/"$name-${version#v}")
    [ -d "$folder" ] || { echo "pg_mint: the sources of $name ${version#v} are missing: run cargo fetch --locked" >&2; exit 1; }
    for file in "$folder"/*; do
        case ${file##*/} in
            [Ll][Ii][Cc][Ee][Nn][CcSs][Ee]* | UNLICENSE* | COPYING* | COPYRIGHT* | NOTICE*) ;;
            *) continue ;;
        esac
        [ -f "$file" ] || continue
        sum=$(sha256sum <"$file")
        if [ -n "${printed[$sum]:-}" ]; then echo "--- ${file##*/}: as ${printed[$sum]}"; continue; fi
        printed[$sum]="${file##*/} of $name"
        echo "--- ${file##*/}"
        cat "$file"
    done
    echo
done < <(grep -v '(proc-macro)\|^pg_mint' <<<"$crates" | sed 's/ (\*)$//' | sort -u)
