#!/usr/bin/env bash
# Builds the benchmarks and runs all that need nothing from outside the repository: `make bench`.
#
#   Benchmarks/run.sh [options of strata-db-bench: --n, --runs, --only, --dir, --grdb-n]
#
# Installs the peers' headers with apt where they are missing (sudo where needed), and says so.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
for package in libsqlite3-dev liblmdb-dev liblz4-dev; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        echo "Needs SQLite, LMDB and LZ4 with their headers (Debian: ${missing[*]})" >&2
        exit 1
    fi
    echo "Installing ${missing[*]} with apt-get" >&2
    sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq >&2
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >&2
fi

swift build -c release --product strata-db-bench >&2
swift build -c release --product strata-bench >&2
exec "$(swift build -c release --show-bin-path)/strata-db-bench" "$@"
