#!/usr/bin/env bash
# Runs each suite of the built tests by itself and prints how long each takes, the longest first: `make suite-times`.
# In a run of all tests at once a suite's own time cannot be told: all begin together.
#
#   scripts/suite-times.sh BINARY [FILTER]
#
# Prints seconds of the processor, seconds and the suite. Fails if a suite does.
set -euo pipefail
run=("$1" --testing-library swift-testing)
filter=${2:-.}
export SWIFT_BACKTRACE=enable=no
TIMEFORMAT='%U %S %R'
{
    failed=false
    while read -r suite; do
        status=0
        times=$({ time "${run[@]}" --filter "^${suite//./\\.}/" >/dev/null 2>&1; } 2>&1) || status=$?
        awk -v suite="$suite" '{ printf "%7.1f %7.1f  %s\n", $1 + $2, $3, suite }' <<<"$times"
        if [ $status -ne 0 ]; then
            echo "$suite failed" >&2
            failed=true
        fi
    done < <("${run[@]}" --list-tests 2>/dev/null | sed -nE 's#^([A-Za-z]+\.[A-Za-z]+)/.*#\1#p' | grep -E "$filter" | sort -u)
    ! $failed
} | sort -rn
