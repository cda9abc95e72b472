#!/usr/bin/env bash
# What StrataService costs while it listens: instructions of hot paths with it and without, in turns.
#
#   hooks.sh PROGRAM [NAME...]
set -euo pipefail
program=$1
shift
# shellcheck source=../Counts/callgrind.sh
source "$(dirname "$0")/../Counts/callgrind.sh"

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
