#!/usr/bin/env bash
# Builds the benchmarks and runs all that need nothing from outside the repository: `make bench`.
#
#   Benchmarks/run.sh [options of strata-db-bench: --n, --runs, --only, --dir, --grdb-n]
#   Benchmarks/run.sh service [options of strata-service-bench: --seconds, --runs, --only, --stores, --contestants, --dir]
#
#   Benchmarks/run.sh all RESULTS               every program once; table.pl makes figures.md of RESULTS
#
#   Benchmarks/run.sh ycsb [options of strata-ycsb-bench: --records, --seconds, --runs, --workloads, --threads, --contestants, --dir]
#
#   Benchmarks/run.sh oo7 [options of strata-oo7-bench: --size, --runs, --only, --contestants, --dir]
#
#   Benchmarks/run.sh scale [options of strata-scale-bench: --sizes, --only, --contestants, --dir]; takes an hour, and
#   20 GB of the directory's disk
#
# Without --only, the service, YCSB and OO7 follow the groups, with the same --runs and --dir.
#
# Installs the peers' headers with apt where they are missing (sudo where needed), and says so.
set -euo pipefail
cd "$(dirname "$0")"

packages=(libsqlite3-dev liblmdb-dev liblz4-dev)
# `all` builds every program.
case "${1:-}" in scale | all) packages+=(librocksdb-dev) ;; esac
missing=()
for package in "${packages[@]}"; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    if ! command -v apt-get >/dev/null; then
        echo "Needs libraries with their headers (Debian: ${missing[*]})" >&2
        exit 1
    fi
    echo "Installing ${missing[*]} with apt-get" >&2
    sudo=()
    [ "$(id -u)" -eq 0 ] || sudo=(sudo)
    "${sudo[@]}" apt-get update -qq >&2
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >&2
fi

if [ "${1:-}" = all ]; then
    [ -n "${2:-}" ] || { echo "usage: Benchmarks/run.sh all RESULTS" >&2; exit 1; }
    results=$(mkdir -p "$2" && cd "$2" && pwd)
    swift build -c release >&2
    programs=$(swift build -c release --show-bin-path)
    status=0
    "$programs/strata-db-bench" --runs 1 >"$results/db.txt" || status=$?
    "$programs/strata-service-bench" --seconds 1.5 --runs 1 --stores single >"$results/service.txt" || status=$?
    "$programs/strata-ycsb-bench" --seconds 1.5 --runs 1 >"$results/ycsb.txt" || status=$?
    {
        "$programs/strata-oo7-bench" --size small --runs 1 || status=$?
        # GRDB's records take minutes for each of these traversals.
        "$programs/strata-oo7-bench" --size medium --contestants strata,sqlite --runs 1 || status=$?
    } >"$results/oo7.txt"
    stores=$(mktemp -d)
    "$programs/strata-migration-bench" run "$stores/people" 1000000 >"$results/migration.txt" || status=$?
    rm -rf -- "$stores"
    exit $status
fi
if [ "${1:-}" = ycsb ]; then
    shift
    swift build -c release --product strata-ycsb-bench >&2
    exec "$(swift build -c release --show-bin-path)/strata-ycsb-bench" "$@"
fi
if [ "${1:-}" = scale ]; then
    shift
    swift build -c release --product strata-scale-bench >&2
    exec "$(swift build -c release --show-bin-path)/strata-scale-bench" "$@"
fi
if [ "${1:-}" = oo7 ]; then
    shift
    swift build -c release --product strata-oo7-bench >&2
    exec "$(swift build -c release --show-bin-path)/strata-oo7-bench" "$@"
fi
swift build -c release --product strata-service-bench >&2
programs=$(swift build -c release --show-bin-path)
if [ "${1:-}" = service ]; then
    shift
    exec "$programs/strata-service-bench" "$@"
fi
swift build -c release --product strata-db-bench >&2
swift build -c release --product strata-bench >&2
swift build -c release --product strata-ycsb-bench >&2
swift build -c release --product strata-oo7-bench >&2

service=()
runs_service=true
arguments=("$@")
for ((index = 0; index < ${#arguments[@]}; index++)); do
    case "${arguments[index]}" in
    --only | --help | -h) runs_service=false ;;
    --runs | --dir) service+=("${arguments[index]}" "${arguments[index + 1]:-}") ;;
    esac
done
status=0
"$programs/strata-db-bench" "$@" || status=$?
if $runs_service; then "$programs/strata-service-bench" ${service[@]+"${service[@]}"} || status=$?; fi
if $runs_service; then "$programs/strata-ycsb-bench" ${service[@]+"${service[@]}"} || status=$?; fi
if $runs_service; then "$programs/strata-oo7-bench" ${service[@]+"${service[@]}"} || status=$?; fi
exit $status
