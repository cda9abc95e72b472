#!/usr/bin/env bash
# Installs what the build needs and the system lacks, through apt. Prints nothing when all is there.
#
#   scripts/bootstrap.sh            what the library and its tests need
#   scripts/bootstrap.sh sqlite     also what the comparison with SQLite needs
#   scripts/bootstrap.sh lmdb       also what the comparison with LMDB needs
#   scripts/bootstrap.sh deb        also what `make deb` needs
set -euo pipefail

fail() {
    printf 'bootstrap: %s\n' "$1" >&2
    exit 1
}

command -v swift >/dev/null 2>&1 ||
    fail "no swift command found. Install a Swift 6.2 or later toolchain (https://www.swift.org/install/linux/) and put its usr/bin on the PATH."

has_library() { command -v pkg-config >/dev/null 2>&1 && pkg-config --exists "$1"; }

packages=()
reasons=()
need() {
    packages+=("$1")
    reasons+=("$1: $2")
}

command -v pkg-config >/dev/null 2>&1 || need pkg-config "tells the build where libraries are"
has_library liblz4 || need liblz4-dev "LZ4, which compresses the store"
command -v git >/dev/null 2>&1 || need git "fetches the Swift packages this one depends on"
for extra in "$@"; do
    case "$extra" in
    sqlite) has_library sqlite3 || need libsqlite3-dev "SQLite, which the benchmark compares with" ;;
    lmdb) has_library lmdb || need liblmdb-dev "LMDB, which the benchmark compares with" ;;
    deb) command -v dpkg-shlibdeps >/dev/null 2>&1 || need dpkg-dev "finds what the package depends on" ;;
    *) fail "unknown argument \"$extra\" (known: sqlite lmdb deb)" ;;
    esac
done

[ "${#packages[@]}" -eq 0 ] && exit 0

printf 'bootstrap: this system lacks\n'
printf '  %s\n' "${reasons[@]}"
command -v apt-get >/dev/null 2>&1 ||
    fail "there is no apt-get here. Install these with your system's package manager, development files included, and run make again."

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
        fail "installing needs root, and there is no sudo. As root, run: apt-get install ${packages[*]}"
    as_root=(sudo)
fi

install_packages() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet --no-install-recommends "${packages[@]}"
}

printf 'bootstrap: installing %s with apt-get%s\n' "${packages[*]}" "${as_root[0]:+ through sudo}"
# A fresh system has no package lists, or old ones that name files long gone: fetch them only if it does not work without.
if ! install_packages; then
    printf 'bootstrap: that did not work; fetching the package lists and trying again\n'
    "${as_root[@]}" apt-get update --quiet
    install_packages || fail "apt-get could not install ${packages[*]}; see its messages above."
fi
