#!/usr/bin/env bash
# Runs commands beside each other and fails when one of them does.
#
#   scripts/side-by-side.sh COMMAND...
#
# The first one's output appears as it comes, each other's once those before it have ended. What failed is said once
# more at the end: among tens of thousands of lines nobody would find it.
set -euo pipefail
logs=$(mktemp -d)
groups=()
# Each command is a process group, so that what it has started ends with it.
set -m
stop() {
    local group
    for group in "${groups[@]}"; do kill -- "-$group" 2>/dev/null || true; done
    rm -rf "$logs"
}
trap stop EXIT
trap 'exit 130' INT TERM

number=0
for command in "$@"; do
    if [ $number -eq 0 ]; then
        bash -c "$command" </dev/null > >(tee "$logs/$number") 2>&1 &
    else
        bash -c "$command" </dev/null >"$logs/$number" 2>&1 &
    fi
    groups+=($!)
    number=$((number + 1))
done

status=0
for number in "${!groups[@]}"; do
    wait "${groups[$number]}" || status=$?
    if [ "$number" -gt 0 ]; then cat "$logs/$number"; fi
done
groups=()
if [ $status -ne 0 ]; then
    echo 'What failed:'
    # Swift Testing's mark, a compiler's or a command's error, a runtime's last words, and make's.
    cat "$logs"/* | grep -aE '^(✘|error:|/[^ ]*: error:|.*Fatal error|make.*\*\*\*)' | head -n 60 || true
fi
exit $status
