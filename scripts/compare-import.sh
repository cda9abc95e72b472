#!/usr/bin/env bash
# Measures the package graph's import beside the same rows in SQLite (prepared statements, WAL, synchronous=FULL, equal
# batches), by turns so that both meet the same machine, and prints medians and ratios.
#
#   scripts/compare-import.sh [INDEX] [-n RUNS] [-b BATCH]
set -euo pipefail
cd "$(dirname "$0")/.."

runs=5
batch=10000
index=()
while [ $# -gt 0 ]; do
    case "$1" in
    -n) runs="$2"; shift 2 ;;
    -b) batch="$2"; shift 2 ;;
    *) index=("$1"); shift ;;
    esac
done

swift=${SWIFT:-swift}
build() { # package folder, product; prints the program's path
    "$swift" build --package-path "$1" -c release --product "$2" >&2
    printf '%s/%s\n' "$("$swift" build --package-path "$1" -c release --show-bin-path)" "$2"
}
graph=$(build Examples/PackageGraph packagegraph)
sqlite=$(build Benchmarks/PackageGraphSQLite packagegraph-sqlite)

results=$(mktemp)
trap 'rm -f "$results"' EXIT
for run in $(seq "$runs"); do
    printf 'run %d of %d\n' "$run" "$runs" >&2
    "$graph" --batch "$batch" ${index:+--file "${index[0]}"} 2>/dev/null |
        awk '/^  import / { gsub(",", ""); for (i = 1; i <= NF; i++) if ($i == "objects/s") print "strata\t" $(i - 1) }' >>"$results"
    "$sqlite" --batch "$batch" ${index:+"${index[0]}"} | awk -F '\t' '{ print $1 "\t" $3 }' >>"$results"
done

# The median of each variant, and how the graph stands to it.
sort -t "$(printf '\t')" -k1,1 -k2,2n "$results" | awk -F '\t' '
    { values[$1, ++count[$1]] = $2 }
    END {
        for (name in count) {
            n = count[name]
            median[name] = n % 2 ? values[name, (n + 1) / 2] : (values[name, n / 2] + values[name, n / 2 + 1]) / 2
        }
        printf "%-24s %12s %10s %12s %12s\n", "import", "objects/s", "ratio", "lowest", "highest"
        split("strata sqlite-default sqlite-tuned sqlite-default-indexed sqlite-tuned-indexed", order, " ")
        for (i = 1; i in order; i++) {
            name = order[i]
            if (name in count)
                printf "%-24s %12d %10.2f %12d %12d\n", name, median[name], median["strata"] / median[name],
                    values[name, 1], values[name, count[name]]
        }
    }'
printf 'ratio: the graph'\''s rate divided by that line'\''s; above 1 the graph is faster. indexed: with indexes on the foreign keys,\n'
printf 'which SQLite needs to follow an inverse relationship without reading the whole table.\n'
