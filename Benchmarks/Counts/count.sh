#!/usr/bin/env bash
# Counts the instructions of hot paths, per operation: what a round costs when a few have been run, divided by its
# operations.
#
#   count.sh PROGRAM check [NAME...]    compares with counts.txt and fails if a path costs 3 % more
#   count.sh PROGRAM update [NAME...]   writes counts.txt
#
# The counts are those of one processor's architecture and one toolchain: counts.txt says which. With another one the
# comparison is skipped; with STRATA_COUNT_STRICT=1 that is a failure. The smaller count of two runs is taken, since work
# in the background may come into one of them. Counts repeat to about 1 % while nothing else runs, and are no measure of
# time. On a busy machine threads take each other's work over at other times: saves then cost up to a third more, with
# any program.
set -euo pipefail
program=$1
action=$2
shift 2
cd "$(dirname "$0")"
machine="$(uname -m) $("${SWIFT:-swift}" --version 2>/dev/null | grep -o 'swiftlang-[0-9.]*\|Swift version [0-9.]*' | head -1)"
limit=3
# shellcheck source=callgrind.sh
source ./callgrind.sh

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <("$program" list | cut -d' ' -f1)
[ "$action" = update ] && { [ $# -gt 0 ] || printf '# %s\n' "$machine" >counts.txt; }
known=$(head -1 counts.txt 2>/dev/null | cut -c3- || true)
if [ "$action" = check ] && [ "$known" != "$machine" ]; then
    echo "counts.txt was made on $known, this is $machine: nothing to compare with" >&2
    exit "${STRATA_COUNT_STRICT:-0}"
fi
# The fewer instructions of two runs with these arguments.
fewer() {
    local first second
    first=$(instructions "$@")
    second=$(instructions "$@")
    echo $((first < second ? first : second))
}

failed=0
for name in "${names[@]}"; do
    operations=$("$program" list | awk -v name="$name" '$1 == name { print $2 }')
    [ -n "$operations" ] || { echo "no path $name" >&2; exit 64; }
    few=$(fewer "$name" 2)
    rounds=4
    count=$((($(fewer "$name" $((2 + rounds))) - few) / rounds / operations))
    # Of short operations more, since what the program does beside them comes in between.
    if [ $count -lt 1000 ]; then
        rounds=40
        count=$((($(fewer "$name" $((2 + rounds))) - few) / rounds / operations))
    fi
    old=$(awk -v name="$name" '$1 == name { print $2 }' counts.txt 2>/dev/null || true)
    if [ "$action" = update ]; then
        grep -v "^$name " counts.txt >counts.tmp || true
        echo "$name $count" >>counts.tmp
        mv counts.tmp counts.txt
        echo "$name $count (was ${old:-unknown})"
    elif [ -z "$old" ]; then
        echo "$name $count, not in counts.txt"
        failed=1
    else
        change=$(awk -v new="$count" -v old="$old" 'BEGIN { printf "%+.1f", (new - old) * 100 / old }')
        verdict=ok
        if awk -v change="$change" -v limit=$limit 'BEGIN { exit !(change > limit) }'; then verdict="COSTS MORE"; failed=1; fi
        echo "$name $count (was $old, $change %) $verdict"
    fi
done
exit $failed
