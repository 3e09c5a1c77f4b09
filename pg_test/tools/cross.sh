# Sourced, after common.sh, by the scripts that build or run programs of arm64 on a machine of another processor.
[ "${ARCHITECTURE:-arm64}" = arm64 ] || die "ARCHITECTURE=$ARCHITECTURE: arm64 is the only one beside that of the machine"
target=aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export BINDGEN_EXTRA_CLANG_ARGS_aarch64_unknown_linux_gnu="--target=aarch64-linux-gnu -I/usr/aarch64-linux-gnu/include"

need_target() {
    [ -d "$(rustc --print target-libdir --target "$target")" ] ||
        step "adding the standard library of $target" arm64_target rustup target add "$target"
}

# Programs of arm64 are started by their names once the kernel knows their emulator.
emulator() {
    local kernel=/proc/sys/fs/binfmt_misc zeros='\x00\x00\x00\x00\x00\x00\x00\x00' ones='\xff\xff\xff\xff\xff\xff\xff'
    local magic="\x7fELF\x02\x01\x01\x00$zeros\x02\x00\xb7\x00" mask="$ones\x00$ones\xff\xfe\xff\xff\xff"
    # A machine of arm64 that started its own programs by an emulator would start none.
    if [ "$(uname -m)" = aarch64 ] || grep -qs ^enabled "$kernel"/qemu-aarch64; then return; fi
    [ -e "$kernel/register" ] || as_root mount -t binfmt_misc none "$kernel"
    echo ":qemu-aarch64:M::$magic:$mask:/usr/bin/qemu-aarch64-static:F" | as_root tee "$kernel/register"
}
