#!/usr/bin/env bash
# Runs the fuzz targets, each for SECONDS (default 60), and prints how many inputs each saw. Fails at the first finding,
# which stays in Tests/Fuzz/.build/findings with the command that repeats it.
#
#   Tests/Fuzz/run.sh [SECONDS] [TARGET...]
#
# STRATA_FUZZ_BUILD=debug builds in half the time, checks every assertion, and sees a tenth as many inputs.
set -euo pipefail
cd "$(dirname "$0")"

seconds=${1:-60}
[ $# -gt 0 ] && shift
swift=${SWIFT:-swift}
flags=(-c "${STRATA_FUZZ_BUILD:-release}" -Xswiftc -enable-testing -Xswiftc -parse-as-library -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=address)

"$swift" build "${flags[@]}" --product StrataFuzz >&2
bin=$("$swift" build "${flags[@]}" --show-bin-path)
program=.build/strata-fuzz
# A source file for the driver, whose imports name the libraries; libFuzzer's main comes with the sanitizer's runtime.
echo "import Foundation; import Synchronization" >.build/link.swift
"${swift}c" -parse-as-library .build/link.swift -sanitize=fuzzer,address -o "$program" -L "$bin" -lStrataFuzz \
    $(pkg-config --libs liblz4) -lFoundation -ldispatch -lBlocksRuntime -lswiftDispatch -lswiftGlibc \
    -lswiftSynchronization >.build/link.log 2>&1 || { cat .build/link.log >&2; exit 1; }

# Swift's own crash reports would take minutes; freed memory is kept for a while, but not beyond the limit.
export SWIFT_BACKTRACE=enable=no
export ASAN_OPTIONS=quarantine_size_mb=16:detect_leaks=0

targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <(STRATA_FUZZ_LIST=1 "$program" | awk '{ print $1 }')
fi
declare -A longest
while read -r name count; do longest[$name]=$count; done < <(STRATA_FUZZ_LIST=1 "$program")

mkdir -p .build/findings
total=0
for target in "${targets[@]}"; do
    export STRATA_FUZZ_TARGET=$target
    corpus=.build/corpus/$target
    mkdir -p "$corpus" ".build/seeds/$target"
    STRATA_FUZZ_SEEDS=.build/seeds/$target "$program"
    log=.build/$target.log
    if ! "$program" "$corpus" ".build/seeds/$target" -max_total_time="$seconds" -max_len="${longest[$target]}" \
        -detect_leaks=0 -rss_limit_mb=512 -timeout=5 -print_final_stats=1 -artifact_prefix=".build/findings/$target-" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        printf 'fuzz: %s found something; repeat it with: STRATA_FUZZ_TARGET=%s %s FILE\n' "$target" "$target" "$PWD/$program" >&2
        exit 1
    fi
    count=$(awk '/stat::number_of_executed_units/ { print $2 }' "$log")
    total=$((total + count))
    printf 'fuzz: %-26s %12d inputs, nothing found\n' "$target" "$count"
done
printf 'fuzz: %d targets, %d inputs\n' "${#targets[@]}" "$total"
