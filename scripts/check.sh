#!/usr/bin/env bash
# Runs the tests of what has changed: `make check`.
#
#   scripts/check.sh [-n] [FILE...]
#
# Without files, those that differ from the branch `main` or are not committed. -n only says what would be run. A file's
# tests are the suites of its folder in the table below, and the suites that name a type which the file declares. It builds
# what `swift test` builds; `make test` runs everything.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
only_say=false
if [ "${1:-}" = -n ]; then
    only_say=true
    shift
fi

files=("$@")
if [ ${#files[@]} -eq 0 ]; then
    base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
    mapfile -t files < <({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u)
fi

# The suites of a folder of Sources, by what they are called.
suites_of() {
    case $1 in
    Sources/StrataRuntime/*) echo 'RuntimeAssumption|MethodOverrides|ObjectLifetime|LargeSave' ;;
    Sources/CStrataSupport/*) echo 'StrataIOTests|RuntimeAssumption|ColumnTests|BlockMemory' ;;
    Sources/StrataSupport/*) echo 'AdaptiveMutex|CacheConcurrency|ReadMostlyCache|PlanCache' ;;
    Sources/StrataIO/*) echo 'StrataIOTests' ;;
    Sources/StrataLog/Format/*) echo 'FormatDamage|FormatParts|FormatRoundTrip|HostileLog' ;;
    Sources/StrataLog/Index/*) echo 'IndexEdit|IndexCheckpoint|PostingsTests|PostingsCheckpoint' ;;
    Sources/StrataLog/Ordered/*) echo 'OrderedKey|OrderedStore' ;;
    Sources/StrataLog/Unique/*) echo 'UniqueConstraint|UniqueTable' ;;
    Sources/StrataLog/Compaction/*) echo 'CompactionTests|CompactionReview|CompactionPace|FreshRow' ;;
    Sources/StrataLog/Past/*) echo 'PastSnapshot' ;;
    Sources/StrataLog/Follow/*) echo 'StrataLogTests.*Follow' ;;
    Sources/StrataLog/Salvage/*) echo 'Salvage' ;;
    Sources/StrataLog/Read/* | Sources/StrataLog/Memory/*) echo 'CacheTests|CacheConcurrency|RowReader|BlockMemory|MemoryBudget' ;;
    Sources/StrataLog/*) echo 'StoreTests|StoreRegression|CommitTicket|CommitClaim|FullDisk|QuietCheckpoint|ConcurrencyTests' ;;
    Sources/StrataSchema/Model/*) echo 'StrataTests.Model' ;;
    Sources/StrataSchema/Predicate/*) echo 'StrataTests.Predicate' ;;
    Sources/StrataSchema/*) echo 'KeyValue|UndoManager|StrataTests.(Model|Predicate)' ;;
    Sources/Strata/Fetch/*) echo 'Fetch|CompiledFetch|SemiJoinTests|IndexedFetch|Planning' ;;
    Sources/Strata/Results/*) echo 'FetchedResults' ;;
    Sources/Strata/Batch/*) echo 'Batch' ;;
    Sources/Strata/History/*) echo 'History' ;;
    Sources/Strata/Generations/*) echo 'Generation|Difference|Past' ;;
    Sources/Strata/Context/*) echo 'ContextTests|LifeCycle|ObjectLifetime|LargeSave|Conflict|MergePolic|DeleteRule|Uniqueness|ParentStack' ;;
    Sources/Strata/Object/* | Sources/Strata/Accessors/*) echo 'Faulting|KeyValue|LifeCycle|Relationship|Accessor|MethodOverrides|DynamicInit|Validation' ;;
    Sources/Strata/Store/*) echo 'AtomicStore|IncrementalStore|CustomStore|PropertyListStore' ;;
    Sources/Strata/Coordinator/*) echo 'Container|Coordinator|StoreRemoval|StoreMove|Metadata' ;;
    Sources/Strata/Migration/*) echo 'Migration|Mapping' ;;
    Sources/Strata/Observation/* | Sources/Strata/Messages/*) echo 'Observ|ChangeStream|Message' ;;
    Sources/Strata/Scheduling/*) echo 'ContextPool|SearchGate|ScanPool|SerialQueue|ManyContextsTests' ;;
    Sources/Strata/*) echo 'StrataTests.(Guide|Seam|Surface)' ;;
    Sources/StrataTransfer/* | Sources/Strata/Transfer/*) echo 'StrataTransferTests' ;;
    Sources/StrataModel*) echo 'StrataModelTests' ;;
    Sources/StrataCLI/*) echo 'StrataCLITests' ;;
    Sources/Strata*Tool*/* | Sources/StrataSourceTools/*) echo 'StrataSourceToolsTests' ;;
    Sources/StrataTestKit/*) echo 'StrataIOTests|Simulated' ;;
    docs/* | *.md) echo 'GuideDocument|UnsafeCodeDocument' ;;
    esac
}

# The suites that a test file declares.
suites_in() { grep -hoE '^(@Suite[^{]*|final |struct |class |enum )*(struct|class) [A-Za-z]+Tests' "$1" | grep -oE '[A-Za-z]+Tests' || true; }

declare -A filters=()
sources=false
for file in "${files[@]}"; do
    case $file in
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
# Long ones are for `make test`.
"$swift" test --filter "$filter" --skip 'Sweep|Schedule|Random|Fuzz|Soak|ManyContextsService'
