# Sourced by the scripts that build other extensions into a private copy of a server tree, so that no other test has them in
# its server. A source is a folder or an archive, which stays as it is.

# Results of a build in the folder itself would be of another server.
pack() { tar -C "$1" --exclude-vcs --exclude='*.o' --exclude='*.so' --exclude='*.bc' --exclude=Makefile.global "${@:2}" -cf - .; }

# The sum that tells one source from another.
digest() {
    if [ -d "$1" ]; then pack "$1" --sort=name --mtime=@0 | sha256sum; else sha256sum <"$1"; fi
}

# unpack SOURCE FOLDER
unpack() {
    mkdir -p "$2"
    if [ -d "$1" ]; then pack "$1" | tar -x -C "$2"; else tar -xf "$1" -C "$2" --strip-components=1; fi
}

# copy_pg_mint FROM TO: the same library as that of another tree, each named by its pg_config, by new files, as servers might
# have the old ones open.
copy_pg_mint() {
    local folder
    for folder in --pkglibdir:pg_mint.so --sharedir:extension/pg_mint.control --sharedir:extension/pg_mint "--sharedir:extension/pg_mint--*"; do
        rm -rf "$("$2" "${folder%%:*}")"/${folder#*:}
        cp -a "$("$1" "${folder%%:*}")"/${folder#*:} "$("$2" "${folder%%:*}")/$(dirname "${folder#*:}")/"
    done
}
