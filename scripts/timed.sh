#!/usr/bin/env bash
# Runs a command and notes how long it took, by the clock and in processor time, for the table that `make test` prints.
#
#   scripts/timed.sh NAME COMMAND...   run it
#   scripts/timed.sh -t                print the table of what was run since the last one, and begin a new one
set -euo pipefail
notes=$(dirname "$0")/../.build/times
mkdir -p "$(dirname "$notes")"
if [ "$1" = -t ]; then
    [ -f "$notes" ] || exit 0
    awk -F'\t' '{ printf "%6d s  %6d s of processor time  %s\n", $1, $2, $3 }' "$notes"
    rm -f "$notes"
    exit 0
fi
name=$1
shift
began=$SECONDS
"$@"
# The second line of `times` is what the commands that have ended took, in user and in system mode: 3m4.567s each. In a
# pipe it would speak of another process.
times >"$notes.used"
used=$(tail -n 1 "$notes.used" | tr ' ' '\n' | awk -F'[ms]' '{ n += $1 * 60 + $2 } END { printf "%d", n }')
rm -f "$notes.used"
printf '%d\t%d\t%s\n' $((SECONDS - began)) "$used" "$name" >>"$notes"
