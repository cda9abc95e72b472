#!/usr/bin/env bash
# Runs a command and notes how long it took, for the table that `make test` prints.
#
#   scripts/timed.sh NAME COMMAND...   run it
#   scripts/timed.sh -t                print the table of what was run since the last one, and begin a new one
set -euo pipefail
notes=$(dirname "$0")/../.build/times
mkdir -p "$(dirname "$notes")"
if [ "$1" = -t ]; then
    [ -f "$notes" ] || exit 0
    awk -F'\t' '{ printf "%6d s  %s\n", $1, $2 }' "$notes"
    rm -f "$notes"
    exit 0
fi
name=$1
shift
began=$SECONDS
"$@"
printf '%d\t%s\n' $((SECONDS - began)) "$name" >>"$notes"
