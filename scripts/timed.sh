#!/usr/bin/env bash
# Runs a command and notes how long it took, for the table that `make test` prints.
#
#   scripts/timed.sh NAME COMMAND...   run it
#   scripts/timed.sh -s NAME COMMAND...   run a test run, whose suites are noted, too
#   scripts/timed.sh -t                print the table of what was run since the last one, and begin a new one
set -euo pipefail
cd "$(dirname "$0")/.."
notes=.build/times
mkdir -p .build

# A suite's time is the sum of its tests' times. It is that of the processor's as long as no more tests run at once than
# there are cores.
suites() {
    sed -nE 's/^.*Test (case passing .* to )?"?([^"]*)"? passed after ([0-9.]+) seconds\.?$/\3/p' "$1" | head -0
    sed -nE 's/^.*Suite "?([^"]*)"? passed after ([0-9.]+) seconds\.?$/\2\t\1/p' "$1" | sort -rn | head -12
}

case ${1:-} in
-t)
    [ -f $notes ] || exit 0
    echo
    echo 'seconds  what'
    awk -F'\t' '{ printf "%7.0f  %s\n", $1, $2 } $2 !~ /^  / { sum += $1 } END { printf "%7.0f  in all\n", sum }' $notes
    rm -f $notes
    exit 0
    ;;
-s)
    shift
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    ;;
esac
name=$1
shift
began=$(date +%s%N)
if [ -n "${log:-}" ]; then "$@" 2>&1 | tee "$log"; else "$@"; fi
printf '%s\t%s\n' "$((($(date +%s%N) - began) / 100000000))" "$name" | awk -F'\t' -v OFS='\t' '{ print $1 / 10, $2 }' >>$notes
if [ -n "${log:-}" ]; then suites "$log" | awk -F'\t' -v OFS='\t' '{ print $1, "    " $2 }' >>$notes; fi
