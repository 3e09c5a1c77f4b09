# Sourced, on Debian, by the scripts that take something out of another Debian than the system's.

# apt_of SUITES COMMAND...: apt with lists of its own in $work: it checks the
# signatures, and neither the system's lists nor what is installed matter. It
# takes the newest postgresql-$major, of ARCHITECTURE if that is another than the system's.
# An empty SUITES stands for those of the system and its versions.
apt_of() {
    local suites=$1 command=$2 from=()
    shift 2
    mkdir -p "$work"/{lists/partial,archives/partial}
    if [ -n "$suites" ]; then
        from=(-o Dir::Etc::sourcelist="$work/debian.sources" -o Dir::Etc::sourceparts=-
            -o Dir::Etc::preferences="$work/preferences" -o Dir::Etc::preferencesparts=-)
        printf 'Package: src:postgresql-%s\nPin: release o=Debian\nPin-Priority: 990\n' "$major" >"$work/preferences"
        cat >"$work/debian.sources" <<END
Types: deb deb-src
URIs: $(mirror)
Suites: $suites
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
    fi
    "$command" "${from[@]}" \
        ${ARCHITECTURE:+-o APT::Architecture="$ARCHITECTURE" -o APT::Architectures="$ARCHITECTURE"} \
        -o Dir::State::lists="$work/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$work" \
        -o APT::Sandbox::User= -o Debug::NoLocking=true "$@"
}
