#!/usr/bin/env bash
# The long proofs: what `make test` does in seconds, for hours. Stops at the first finding.
#
#   Tests/soak.sh            everything
#   Tests/soak.sh PART...    sweeps, graph, plans, strings, fuzz, kills, follow or threads
#
# STRATA_SEED         the first seed of the random suites of the object graph, to repeat a run that failed
# STRATA_OPERATIONS   the number of operations of each of their runs (what is usual for the suite)
# STRATA_SOAK         how many times the sweeps' usual number of states (10: more than a million), and how many times the
#                     usual number of seeds of the object graph (100: millions of operations)
# STRATA_PLANS        requests whose plans are compared with the interpreter and with SQLite (2 million)
# STRATA_STRINGS      hostile predicate formats (10 million)
# STRATA_FUZZ_SECONDS for each fuzz target (60)
# STRATA_KILLS        processes to kill (3000)
# STRATA_FOLLOW_SECONDS for the writer and the followers that are killed at random (300)
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(sweeps graph plans strings fuzz kills follow threads)

sweeps() {
    STRATA_SOAK=${STRATA_SOAK:-10} "$swift" test -c release -Xswiftc -enable-testing --scratch-path .build-release \
        --filter 'StrataLogTests\..*Sweep' | tee .build-release/sweeps.log
    awk '/crash sweep/ { for (i = 2; i <= NF; i++) if ($i ~ /^states/) n += $(i - 1) } END { printf "soak: %d crash states\n", n }' \
        .build-release/sweeps.log
}

graph() {
    local suites='WholeGraphTests|RelationshipModelTests|TwoContextsModelTests|ParentStackModelTests|UndoModelTests'
    suites+='|FetchRandomTests|CompiledFetchTests|FetchedResultsRandomTests'
    STRATA_SOAK=${STRATA_SOAK:-100} "$swift" test -c release -Xswiftc -enable-testing --scratch-path .build-release \
        --filter "StrataTests\.($suites)"
}

# Seeds of their own each time; STRATA_SEED repeats a run.
plans() {
    STRATA_SEED=${STRATA_SEED:-$RANDOM$RANDOM} STRATA_SOAK=$((${STRATA_PLANS:-2000000} / 10000)) STRATA_OPERATIONS=5000 \
        "$swift" test -c release -Xswiftc -enable-testing --scratch-path .build-release \
        --filter 'StrataTests\.(PlanSweepTests|SQLiteComparisonTests)'
}

strings() {
    STRATA_SEED=${STRATA_SEED:-$RANDOM$RANDOM} STRATA_SOAK=$((${STRATA_STRINGS:-10000000} / 250000)) STRATA_OPERATIONS=250000 \
        "$swift" test -c release -Xswiftc -enable-testing --scratch-path .build-release \
        --filter 'StrataTests\.PredicateFuzzTests' | tee .build-release/strings.log
    awk '/so far/ { n = $(NF - 1) > n ? $(NF - 1) : n } END { printf "soak: %d strings\n", n }' .build-release/strings.log
}

fuzz() {
    Tests/Fuzz/run.sh "${STRATA_FUZZ_SECONDS:-60}"
}

kills() {
    "$swift" run --package-path Tests/KillLoop -c release kill-loop "${STRATA_KILLS:-3000}" "$RANDOM"
}

follow() {
    "$swift" run --package-path Tests/KillLoop -c release kill-loop follow "${STRATA_FOLLOW_SECONDS:-300}" "$RANDOM"
}

threads() {
    TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$swift" test --sanitize=thread -Xswiftc -DSTRATA_THREAD_SANITIZER \
        -Xswiftc -disable-upcoming-feature -Xswiftc MemberImportVisibility \
        --scratch-path .build-tsan --filter 'StrataLogTests|StrataIOTests|StrataTests\.(ManyContexts|Parent|Observation|Faulting|ContextTests|FetchAsync|ServiceClient|ConcurrencySetting)'
}

for part in "${parts[@]}"; do
    case "$part" in
    sweeps | graph | plans | strings | fuzz | kills | follow | threads) "$part" ;;
    *)
        printf 'soak: unknown part "%s" (known: sweeps graph plans strings fuzz kills follow threads)\n' "$part" >&2
        exit 2
        ;;
    esac
done
printf 'soak: %s passed\n' "${parts[*]}"
