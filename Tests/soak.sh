#!/usr/bin/env bash
# The long proofs: what `make test` does in seconds, for hours. Stops at the first finding.
#
#   Tests/soak.sh                         everything once
#   STRATA_SOAK_HOURS=8 Tests/soak.sh     everything again and again, with new seeds, for eight hours
#   Tests/soak.sh PART...                 sweeps, graph, random, plans, strings, fuzz, ship, network, large, kills,
#                                         follow, service, threads, macros or combine
#
# STRATA_SOAK_HOURS   begin no part after so many hours; every part is run at least once
# STRATA_SEED         the first seed of the sweeps and of the random suites of the object graph, to repeat a run that failed
# STRATA_OPERATIONS   the number of operations of each of their runs (what is usual for the suite)
# STRATA_SOAK         how many times the sweeps' usual number of states (13: more than a million of commits, and another
#                     million of compaction), and how many times the
#                     usual number of seeds of the object graph (100: millions of operations)
# STRATA_RANDOM       how many times the 100,000 operations of random programs over random models (100)
# STRATA_PLANS        requests whose plans are compared with the interpreter and with SQLite (2 million)
# STRATA_STRINGS      hostile predicate formats (10 million)
# STRATA_FUZZ_SECONDS for each fuzz target (60)
# STRATA_SHIP_RUNS    seeds of runs that ship, fork and take over (100); every request of a shipper fails in every way
# STRATA_SHIP_STATES  lives of a store and its bucket in which requests fail, in pairs and threes (1,000,000)
# STRATA_NETWORK_SECONDS for each of the networks over which a store is shipped and followed (20)
# STRATA_LARGE_ROWS   of the store that is shipped, lost and restored (10 million; 10 GB of disk)
# STRATA_KILLS        processes to kill (3000)
# STRATA_FOLLOW_SECONDS for the writer and the followers that are killed at random (300)
# STRATA_SERVICE_SECONDS for the service of 64 clients that is killed every ten seconds (600)
set -euo pipefail
cd "$(dirname "$0")/.."

swift=${SWIFT:-swift}
# As the Makefile has it, so that what `make test` has built serves here, too.
release_tests=("$swift" test -c release -debug-info-format "${DEBUG_INFO:-none}" -Xswiftc -enable-testing
    --disable-testable-imports --scratch-path .build-release)
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(sweeps graph random plans strings fuzz ship network large kills follow service threads macros combine)

sweeps() {
    mkdir -p .build-release
    STRATA_SOAK=${STRATA_SOAK:-13} "${release_tests[@]}" \
        --filter 'StrataLogTests\..*(Sweep|Schedule)|StrataSweepTests\.MigrationSweepTests' | tee .build-release/sweeps.log
    awk '/crash sweep/ { for (i = 2; i <= NF; i++) if ($i ~ /^states/) n += $(i - 1) } END { printf "soak: %d crash states\n", n }' \
        .build-release/sweeps.log
}

ship() {
    STRATA_TESTS=ship STRATA_SHIP_RUNS=${STRATA_SHIP_RUNS:-100} STRATA_SHIP_SWEEP=1 \
        "${release_tests[@]}" --filter 'ShipRunTests|ShipSweepTests'
    # Short lives of stores and buckets, each with a number of its own, which a failure names; and a thousand followers.
    STRATA_TESTS=ship STRATA_SHIP_FOLLOWERS=1000 STRATA_SHIP_STATES=${STRATA_SHIP_STATES:-1000000} \
        STRATA_SHIP_STATE=${STRATA_SEED:-$RANDOM$RANDOM} "${release_tests[@]}" --filter 'ShipStateTests|FollowerFleetTests'
}

shipping_tool() {
    local build=("$swift" build --package-path Benchmarks/Shipping -c release)
    env -u STRATA_TESTS "${build[@]}" >&2
    printf '%s/strata-shipping' "$(env -u STRATA_TESTS "${build[@]}" --show-bin-path)"
}

# Needs network namespaces and tunnels, and says so where it has not got them.
network() {
    local tool
    tool=$(shipping_tool)
    Benchmarks/Shipping/network.py "$tool" --seconds "${STRATA_NETWORK_SECONDS:-20}"
}

large() {
    local tool
    tool=$(shipping_tool)
    Benchmarks/Shipping/large.py "$tool" --rows "${STRATA_LARGE_ROWS:-10000000}"
}

graph() {
    local suites='WholeGraphTests|RelationshipModelTests|TwoContextsModelTests|ParentStackModelTests|UndoModelTests'
    suites+='|FetchRandomTests|CompiledFetchTests|IndexedFetchTests|DirectFetchTests|ColumnChunkTests|SemiJoinTests'
    suites+='|FetchedResultsRandomTests|MigrationSweepOfChainsTests|CountedIndexTests|HierarchyFetchTests|LongDictionaryTests'
    STRATA_SOAK=${STRATA_SOAK:-100} "${release_tests[@]}" \
        --filter "Strata(Sweep)?Tests\.($suites)"
}

# Seeds of their own each time; STRATA_SEED repeats a run.
random() {
    STRATA_TESTS=random STRATA_SEED=${STRATA_SEED:-$RANDOM$RANDOM} STRATA_SOAK=${STRATA_RANDOM:-100} \
        "${release_tests[@]}" --filter 'StrataRandomTests\.RandomProgramTests'
}

# The same.
plans() {
    STRATA_SEED=${STRATA_SEED:-$RANDOM$RANDOM} STRATA_SOAK=$((${STRATA_PLANS:-2000000} / 10000)) STRATA_OPERATIONS=5000 \
        "${release_tests[@]}" \
        --filter 'StrataSweepTests\.(PlanSweepTests|SQLiteComparisonTests)'
}

strings() {
    STRATA_SEED=${STRATA_SEED:-$RANDOM$RANDOM} STRATA_SOAK=$((${STRATA_STRINGS:-10000000} / 250000)) STRATA_OPERATIONS=250000 \
        "${release_tests[@]}" \
        --filter 'StrataSweepTests\.PredicateFuzzTests' | tee .build-release/strings.log
    awk '/so far/ { n = $(NF - 1) > n ? $(NF - 1) : n } END { printf "soak: %d strings\n", n }' .build-release/strings.log
}

# With the trait Combine all is built anew.
combine() {
    "$swift" test --package-path Examples/CombineClient
}

# For these swift-syntax is built, which takes too long for every run of the tests.
macros() {
    STRATA_TESTS=macros "$swift" test --traits Macros --scratch-path .build-macros
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

service() {
    "$swift" run --package-path Tests/KillLoop -c release kill-loop service "${STRATA_SERVICE_SECONDS:-600}" "$RANDOM"
}

# The suites with threads. Left out are those of the engine that build large indexes with one, which take an hour under the
# sanitizer.
threads() {
    local engine='ConcurrencyTests|IndexConcurrency|Cache(Tests|Concurrency)|RowReader|FailedFlushTests|FollowTests|HistoryFollow|Ordered'
    engine+='|CommitTicket'
    engine+='|StoreTests|UniqueConstraint|Compaction(Tests|Concurrency)|StoreRegression|FormatParts|PastSnapshot'
    local graph='ManyContexts|ServiceClient|SyncClient|LibraryClient|ObjectClient|HelpersClient|Parent(Save|Context)'
    graph+='|Faulting|ContextTests|ConcurrencySetting|IdentityTests|UndoManager|NotificationContents|LinkConflict'
    graph+='|Uniqueness|RecentFaults|KnownSequences|EventSets|LargeSave|GuideTests'
    graph+='|SlowObserver|TwoCoordinators'
    local requests='HistorySequence|Following|FetchAsync|FetchedResultsC|QueryGeneration|Batch|PastGeneration|Difference'
    requests+='|HistoryRe|CancellationTests|TimeLimit|Observation|DamageTests'
    local queues='ParentRules|ConcurrencyDebugging|StoreLock|ContainerTests|Coordinator|StoreCopy|RoundTrip|ContextPool'
    queues+='|ScanScheduling|SearchGate|WaitGraph|ClosingTests|MemoryTests'
    # In groups: all at once, tests that wait for others wait longer than they may. What the sanitizer keeps of a load is
    # its own business.
    local group
    for group in "StrataLogTests\.($engine)|StrataIOTests" "Strata(Sweep)?Tests\.($graph)" "StrataTests\.($requests)" \
        "StrataTests\.($queues)"; do
        TSAN_OPTIONS=halt_on_error=0:exitcode=66 "$swift" test --sanitize=thread -Xswiftc -DSTRATA_THREAD_SANITIZER \
            -Xswiftc -disable-upcoming-feature -Xswiftc MemberImportVisibility \
            --scratch-path .build-tsan --filter "$group" --skip memoryGoesBack
    done
}

for part in "${parts[@]}"; do
    # Each part is a function above.
    if ! declare -F "$part" >/dev/null; then
        printf 'soak: unknown part "%s" (known: %s)\n' "$part" "$(declare -F | awk '{ printf "%s%s", (NR > 1 ? " " : ""), $3 }')" >&2
        exit 2
    fi
done

end=$((SECONDS + ${STRATA_SOAK_HOURS:-0} * 3600))
round=0
while [ $round -eq 0 ] || [ $SECONDS -lt $end ]; do
    if [ $round -gt 0 ]; then
        STRATA_SEED=$((RANDOM << 30 | RANDOM << 15 | RANDOM))
        export STRATA_SEED
        printf 'soak: round %d, STRATA_SEED=%d\n' $((round + 1)) "$STRATA_SEED"
    fi
    for part in "${parts[@]}"; do
        if [ $round -eq 0 ] || [ $SECONDS -lt $end ]; then
            began=$SECONDS
            "$part"
            printf 'soak: %s took %d s\n' "$part" $((SECONDS - began))
        fi
    done
    round=$((round + 1))
done
printf 'soak: %s passed, %d round(s) in %d s\n' "${parts[*]}" "$round" "$SECONDS"
