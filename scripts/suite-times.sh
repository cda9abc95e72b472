#!/usr/bin/env bash
# Runs each suite of the built tests by itself and prints how long each takes, the longest first: `make suite-times`.
# In a run of all tests at once a suite's own time cannot be told: all begin together.
#
#   scripts/suite-times.sh BINARY [FILTER]
#
# Prints seconds of the processor, seconds, the number of tests and the suite.
set -euo pipefail
binary=$1
filter=${2:-.}
export SWIFT_BACKTRACE=enable=no
out=$(mktemp)
trap 'rm -f "$out"' EXIT
TIMEFORMAT='%U %S %R'
"$binary" --testing-library swift-testing --list-tests 2>/dev/null | grep -E "$filter" | grep / |
    sed -E 's#/[^/]*$##' | sort -u |
    while read -r suite; do
        { time "$binary" --testing-library swift-testing --filter "^${suite//./\\.}/" >"$out" 2>&1 || echo "$suite failed" >&2; } 2>"$out.time"
        grep failed "$out.time" >&2 || true
        count=$(grep -oE 'run with [0-9]+ test' "$out" | grep -oE '[0-9]+' | head -n 1 || true)
        awk -v count="${count:-0}" -v suite="$suite" 'END { printf "%7.1f %7.1f %5d  %s\n", $1 + $2, $3, count, suite }' "$out.time"
    done | sort -rn
rm -f "$out.time"
