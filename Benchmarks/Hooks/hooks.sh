#!/usr/bin/env bash
# What StrataService costs while it listens: instructions of hot paths with it and without, in turns.
#
#   hooks.sh PROGRAM [NAME...]
set -euo pipefail
program=$1
shift
command -v valgrind >/dev/null || { echo "needs valgrind (Debian: valgrind)" >&2; exit 1; }
# valgrind does not understand Swift's debug information.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
strip -g -o "$folder/program" "$program"

instructions() {
    SWIFT_DETERMINISTIC_HASHING=1 setarch -R valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$folder/program" "$1" "$2" "$3" 2>"$folder/out" >/dev/null || { cat "$folder/out" >&2; exit 1; }
    grep -o 'Collected : [0-9]*' "$folder/out" | grep -o '[0-9]*$'
}

names=("$@")
[ ${#names[@]} -gt 0 ] || mapfile -t names < <("$program" list | cut -d' ' -f1)
echo "| path | instructions | more with StrataService |"
echo "|---|---|---|"
for name in "${names[@]}"; do
    operations=$("$program" list | awk -v name="$name" '$1 == name { print $2 }')
    [ -n "$operations" ] || { echo "no path $name" >&2; exit 64; }
    rounds=20
    for mode in none all; do
        few=$(instructions $mode "$name" 2)
        printf -v "$mode" %s $((($(instructions $mode "$name" $((2 + rounds))) - few) / rounds / operations))
    done
    # shellcheck disable=SC2154
    awk -v name="$name" -v none="$none" -v all="$all" \
        'BEGIN { printf "| %s | %d | %+d (%+.2f %%) |\n", name, none, all - none, (all - none) * 100 / (none ? none : 1) }'
done
