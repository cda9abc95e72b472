#!/usr/bin/env bash
# Runs the tests of what has changed: `make check`.
#
#   scripts/check.sh [-n] [FILE...]
#   scripts/check.sh -l
#
# Without files, those that differ from the branch `main` or are not committed. -n only says what would be run. -l says
# what is wrong with the table below, which a test asks for (CheckScriptTests). A file's tests are the suites of its
# folder in the table, and the suites that name a type which the file declares. It builds what `swift test` builds;
# `make test` runs everything.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
# Those of `make test`, so that what it has built serves here, too.
read -ra flags <<<"${BUILD_FLAGS:-}"
only_say=false
only_check_table=false
if [ "${1:-}" = -l ]; then only_check_table=true; fi
if [ "${1:-}" = -n ]; then
    only_say=true
    shift
fi

files=("$@")
if [ ${#files[@]} -eq 0 ]; then
    base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
    mapfile -t files < <({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
fi

# The suites of the folders of Sources, by what they are called. The longest folder that a file lies in counts; in a
# module of which one folder is named here, all are.
table() {
    cat <<'END'
CLZ4/ FormatRoundTrip|InflateTests
CStrataSupport/ StrataIOTests|RuntimeAssumption|ColumnChunk|BlockMemory
Combine/ StrataTests.Surface
CoreData/ StrataTests.Surface|ClientTests
CoreDataNames/ StrataTests.Surface|PredicateCompound
Strata/ StrataTests.Guide|StrataTests.Surface
Strata/Accessors/ Accessor|MethodOverrides|KeyValueCoding|DynamicInitialization
Strata/Batch/ Batch
Strata/Context/ ContextTests|ChangeTracking|LifeCycle|ObjectRelease|LargeSave|Conflict|Merge|DeleteRule|UniquenessTests|Parent|Rollback|SaveError
Strata/Coordinator/ Container|Coordinator|StoreMoving|ClosingTests
Strata/CustomStores/ AtomicStore|IncrementalStore|CustomStore
Strata/Events/ EventTests|TaskLocalTests|DebugOutput
Strata/Faulting/ FaultingTests|RecentFaults|ReadSampling|LinkIndex
Strata/Fetch/ Fetch|SemiJoin|NullCondition|PlanParameter|ColumnChunk|IndexedPage|PendingChanges
Strata/FetchedResults/ FetchedResults|ResultsController
Strata/Migration/ Migration|Mapping
Strata/Object/ Faulting|KeyValue|LifeCycle|Relationship|ObjectLifetime|MethodOverrides|DynamicInitialization|Validation|IdentityTests
Strata/Observation/ Observ|MessageTests
Strata/Stores/ StoreCopy|StoreDirectory|StoreLock|ForeignFiles|FollowingStore|DamageTests|WrittenStore|CompactingTests
Strata/Strata.docc/ GuideDocument|ReferenceExample
Strata/Time/ History|Generation|Difference
Strata/Transfer/ StrataTransferTests
StrataAccessorTool/ StrataSourceToolsTests
StrataBrowsing/ StrataCLITests
StrataCLI/ StrataCLITests
StrataEncryption/ StrataS3Tests
StrataIO/ StrataIOTests
StrataInspect/ StrataInspectTests
StrataLog/ StrataLogTests.StoreTests|StoreRegression
StrataLog/Compaction/ CompactionTests|CompactionFault|CompactionPace|FreshRow|ShrinkTests
StrataLog/Directory/ DamagedDirectory|StoreDirectory|StoreLock|ForeignFiles|StoreMoving
StrataLog/Follow/ StrataLogTests.*Follow|FollowingStore
StrataLog/Format/ FormatDamage|FormatParts|FormatRoundTrip|HostileLog|InflateTests|WorkedExample
StrataLog/History/ HistoryFollow|HistoryTests|HistorySequence
StrataLog/Index/ IndexEdit|IndexCheckpoint|IndexConcurrency|PostingsTests|PostingsCheckpoint
StrataLog/Memory/ BlockMemory|MemoryBudget
StrataLog/Ordered/ OrderedKey|OrderedStore|OrderedPairs
StrataLog/Past/ PastSnapshot|PastSchema
StrataLog/Read/ CacheTests|CacheConcurrency|RowReader|StoredText|LiftingTests
StrataLog/Recovery/ StrataLogTests.StoreTests|StoreRegression|HostileLog|DurableFiles|WrittenLog
StrataLog/Salvage/ Salvage
StrataLog/Ship/ StrataShipTests
StrataLog/Snapshot/ StrataLogTests.StoreTests|StrataLogTests.ConcurrencyTests|PostingsTests
StrataLog/Statistics/ StatsCommandTests
StrataLog/Store/ StrataLogTests.StoreTests|StoreRegression|QuietCheckpoint|OrderedStore|StrataLogTests.ConcurrencyTests
StrataLog/StrataLog.docc/ GuideDocument|EngineExample
StrataLog/Unique/ UniqueConstraint|UniqueTable
StrataLog/Write/ StrataLogTests.StoreTests|CommitTicket|ConflictKey|FullDisk|FailedFlush|StrataLogTests.ConcurrencyTests
StrataMacros/ StrataMacrosTests
StrataManaged/ StrataMacrosTests
StrataModelFile/ StrataModelTests
StrataModelTool/ StrataModelTests
StrataModelXML/ StrataModelTests
StrataObjectStore/ StrataShipTests|StrataS3Tests
StrataPortTool/ StrataSourceToolsTests
StrataRows/ StrataTests.Guide
StrataRows/History/ History|Retention
StrataRows/Identity/ IdentityTests|StrataTests.Surface
StrataRows/Query/ Fetch|FirstRows|MemberText|SemiJoin|NullCondition|PlanParameter|ColumnChunk|IndexedPage|PlanSweep|SQLiteComparison
StrataRows/Scheduling/ ContextPool|SearchGate|ScanScheduling|WaitGraph|Cancellation|TimeLimit|ManyContextsTests
StrataRows/Shapes/ StrataTests.Model|MethodOverrides|Relationship
StrataRows/Stores/ StoreCopy|StoreDirectory|StoreLock|ForeignFiles|FollowingStore|DamageTests|WrittenStore|CompactingTests
StrataRows/Transfer/ StrataTransferTests
StrataRows/Values/ KeyValue|Fetch
StrataRuntime/ RuntimeAssumption|MethodOverrides|ObjectLifetime|LargeSave
StrataS3/ StrataS3Tests
StrataSchema/ KeyValue|UndoManager
StrataSchema/Foundation/ KeyValue|UndoManager|StrataTests.Model|StrataTests.Predicate
StrataSchema/Model/ StrataTests.Model
StrataSchema/Predicate/ StrataTests.Predicate|FormatTemplate|NullCondition
StrataSchema/StrataSchema.docc/ GuideDocument|ReferenceExample
StrataService/ StrataServiceTests
StrataShip/ StrataShipTests
StrataSourceTools/ StrataSourceToolsTests
StrataSupport/ AdaptiveMutex|CacheConcurrency|ConcurrencyTests|EventTests
StrataTestKit/ StrataIOTests
StrataTransfer/ StrataTransferTests
END
}

suites_of() {
    case $1 in
    docs/monitoring/*) echo 'MonitoringTests' ;;
    docs/worked-examples/*) echo 'WorkedExample' ;;
    docs/* | *.md) echo 'GuideDocument|UnsafeCodeDocument' ;;
    scripts/check.sh) echo 'CheckScript' ;;
    Sources/*)
        local folder suites longest='' found=''
        while read -r folder suites; do
            if [[ ${1#Sources/} == "$folder"* ]] && [ ${#folder} -gt ${#longest} ]; then
                longest=$folder
                found=$suites
            fi
        done < <(table)
        echo "$found"
        ;;
    esac
}

# Says which rows of the table name no folder or no suite, and which folders have no row.
check_table() {
    local folder suites suite module known
    known=$(grep -rE --include='*.swift' '(struct|class) [A-Za-z]+Tests\b' Tests |
        sed -E 's|^Tests/([A-Za-z]+)/.*(struct\|class) ([A-Za-z]+Tests)\b.*|\1.\3|')
    while read -r folder suites; do
        [ -d "Sources/$folder" ] || echo "scripts/check.sh has a row for $folder, which is no folder of Sources"
        while read -r suite; do
            grep -qE -- "$suite" <<<"$known" || echo "scripts/check.sh: no suite is called $suite ($folder)"
        done < <(tr '|' '\n' <<<"$suites")
    done < <(table)
    for module in Sources/*/; do
        module=${module#Sources/}
        table | grep -q "^$module " || echo "scripts/check.sh has no row for Sources/$module"
        if table | grep -qE "^$module[^ ]"; then
            for folder in "Sources/$module"*/; do
                table | grep -q "^${folder#Sources/} " || echo "scripts/check.sh has no row for $folder"
            done
        fi
    done
}
if $only_check_table; then
    problems=$(check_table)
    if [ -z "$problems" ]; then exit 0; fi
    echo "$problems"
    exit 1
fi

# The suites that a test file declares.
suites_in() { grep -hoE '^(@Suite[^{]*|final |struct |class |enum )*(struct|class) [A-Za-z]+Tests' "$1" | grep -oE '[A-Za-z]+Tests' || true; }

declare -A filters=()
sources=false
for file in "${files[@]}"; do
    case $file in
    scripts/check.sh) ;;
    Package.swift | Makefile | scripts/* | .github/*) continue ;;
    Sources/*)
        sources=true
        # What names a type that the file declares, if that is not half of all.
        name=$(basename "$file" | sed 's/[+.].*//')
        mapfile -t naming < <(grep -rlw --include='*Tests.swift' "$name" Tests 2>/dev/null || true)
        if [ ${#naming[@]} -le 6 ]; then
            for test in "${naming[@]}"; do for suite in $(suites_in "$test"); do filters[$suite]=1; done; done
        fi
        ;;
    Tests/*.swift)
        if [ -f "$file" ]; then for suite in $(suites_in "$file"); do filters[$suite]=1; done; fi
        ;;
    esac
    found=$(suites_of "$file")
    if [ -n "$found" ]; then filters[$found]=1; fi
done
if $sources; then filters[UnsafeCodeDocument]=1; fi
if [ ${#filters[@]} -eq 0 ]; then
    echo "Nothing has changed that tests are known for." >&2
    exit 0
fi
filter=$(printf '%s\n' "${!filters[@]}" | sort -u | paste -sd '|')
echo "swift test --filter '$filter'"
if $only_say; then exit 0; fi
# Long suites are for `make test`.
"$swift" test "${flags[@]}" --filter "$filter" --skip '\.[A-Za-z]*(Sweep|Schedule|Random|Fuzz|Soak|ManyContextsService)'
