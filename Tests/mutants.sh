#!/usr/bin/env bash
# Breaks the code in small ways, one at a time, and runs the suites that should notice: `make mutants`.
#
#   Tests/mutants.sh -l [RULE...]            list the mutants: number, rule, file, line
#   Tests/mutants.sh [RULE...]               try all of these rules (flush, order, step, lock, checksum)
#   Tests/mutants.sh -n NUMBERS [RULE...]    try some: 3,7,20-25
#   Tests/mutants.sh -k                      fail if Tests/mutants-known.txt names a mutant that there is not (any more)
#
# Rules: flush (a file's or directory's flush is left out), step (something else that is done to the disk, or that notes
# what was), order (two such statements that follow each other change places), lock (a file's lock counts as taken, the
# engine's lock is not), checksum, bound, guard (a comparison with a checksum, one of two numbers, any other condition of
# a guard or before a throw always passes).
#
# Works on a copy of what git knows of this folder, in STRATA_MUTANTS (.build-mutants), which keeps its build. All mutants
# are in one build (`mutants.pl`): a process has the one that STRATA_MUTANT names. First each suite runs without a mutant
# and says which ones it comes by, and how long it takes. Each mutant then meets only the suites that come by it, the
# quickest first, until one notices; those that take long only if they fit. Those that do not compile are left out.
#
# A mutant that no suite notices is a survivor: it gets a test, or the line goes. Those that stay as they are have their
# reasons in Tests/mutants-known.txt. Fails if there is another.
#
# STRATA_MUTANT_FILTER   the suites, as a regular expression of their names
# STRATA_MUTANT_CONDITIONS  the files that have mutants of bound and guard, as a regular expression (those that read and
#                        write the log and its indexes)
# STRATA_MUTANT_EVERY    of bound and guard every so manieth (5)
# STRATA_SHARE           which part of their usual seeds the sweeps take: 4 for a fourth
# STRATA_MUTANT_SECONDS  for each suite (300, or three times what it takes); one that hangs has noticed
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
swift=${SWIFT:-swift}
export STRATA_MUTANT_CONDITIONS=${STRATA_MUTANT_CONDITIONS:-StrataLog/(Format|Recovery|Write|Index|Compaction)/}
every=${STRATA_MUTANT_EVERY:-5}
filter=${STRATA_MUTANT_FILTER:-^(StrataLogTests\.|StrataSweepTests\.(MigrationSweep|StoreDirectory|StoreFileReplacement|AtomicStoreMigration)|StrataTransferTests\.(ImportSweep|TextTransfer))}
export STRATA_TESTS=sweeps STRATA_SHARE=${STRATA_SHARE:-4} STRATA_MUTANT_SECONDS=${STRATA_MUTANT_SECONDS:-300}

# Why a mutant's survival is known; nothing if it is not. Its number, rule and file.
reason() {
    awk -F'\t' -v n="$1" -v rule="$2" -v file="$3" '
        FNR == NR { if ($2 == rule && $3 == file) { count[$5]++; if ($1 == n) { text = $5; nth = count[$5] } } next }
        {
            split($0, part, "|")
            head = part[1] "|" part[2] "|" part[3] "|"
            if (head == rule "|" file "|" nth "|" && index($0, head text "|") == 1) print substr($0, length(head text) + 2)
        }' "$copy/.list" <(grep -v '^#' "$root/Tests/mutants-known.txt")
}

list=false
checksKnown=false
numbers=
while getopts lkn: option; do
    case $option in
    l) list=true ;;
    k) checksKnown=true ;;
    n) numbers=$OPTARG ;;
    *) exit 64 ;;
    esac
done
shift $((OPTIND - 1))
rules=("$@")
$checksKnown && rules=(flush order step lock checksum bound guard)
[ ${#rules[@]} -gt 0 ] || rules=(flush order step lock checksum)
rules=$(IFS=, && echo "${rules[*]}")
# Conditions are tried in the engine, which is built alone.
folders=(Sources/StrataSupport Sources/StrataIO Sources/StrataLog)
if [[ $rules =~ ^(bound|guard|,)+$ ]]; then
    copy=${STRATA_MUTANTS:-$root/.build-mutants-engine}
    export STRATA_TESTS=engine
else
    copy=${STRATA_MUTANTS:-$root/.build-mutants}
    folders+=(Sources/Strata/{Coordinator,CustomStores,Migration,Stores} Sources/StrataRows/{Stores,Transfer})
fi
mapfile -t files < <(git ls-files -- "${folders[@]}" | grep '\.swift$')

if $checksKnown; then
    perl Tests/mutants.pl -l "$rules" "${files[@]}" | awk -F'\t' '
        FNR == NR { count[$2 "|" $3 "|" $5]++; next }
        /^#/ || NF == 0 { next }
        {
            split($0, part, "|")
            rest = substr($0, length(part[1] part[2] part[3]) + 4)
            known = 0
            for (key in count) {
                head = part[1] "|" part[2] "|"
                if (index(key, head) != 1 || count[key] + 0 < part[3] + 0) continue
                if (index(rest, substr(key, length(head) + 1) "|") == 1) { known = 1; break }
            }
            if (!known) { print "Tests/mutants-known.txt:" FNR ": no such mutant: " part[1] " in " part[2]; failed = 1 }
        }
        END { exit failed }' - Tests/mutants-known.txt
    exit
fi

if $list; then
    perl Tests/mutants.pl -l "$rules" "${files[@]}" | awk -F'\t' '{ printf "%4d %-8s %s:%d %s\n", $1, $2, $3, $4, $5 }'
    exit 0
fi

stage=$copy/.stage
mkdir -p "$copy"
# The numbers of those that do not compile, by their rules.
remembered=$copy/.without-$rules
without=$(cat "$remembered" 2>/dev/null || true)

# Brings the copy up to date, with the mutants in it. Only what differs is written, so that only that is compiled.
refresh() {
    rm -rf "$stage"
    mkdir -p "$stage"
    git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$stage"
    (cd "$stage" && STRATA_MUTANTS_WITHOUT=$without perl Tests/mutants.pl "$rules" "${files[@]}" >"$copy/.list")
    cat >"$stage/Sources/CStrataSupport/include/StrataMutants.h" <<'END'
#include <stdbool.h>
#include <stdint.h>
extern int32_t strata_mutant_number;
extern uint8_t strata_mutants_reached[8192];
/// Whether the process has this mutant.
static inline bool strata_mutant(int32_t number) {
    if (!strata_mutants_reached[number]) strata_mutants_reached[number] = 1;
    return strata_mutant_number == number;
}
END
    cat >"$stage/Sources/CStrataSupport/mutants.c" <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "CStrataSupport.h"
int32_t strata_mutant_number;
uint8_t strata_mutants_reached[8192];
__attribute__((constructor)) static void choose(void) {
    const char *text = getenv("STRATA_MUTANT");
    if (text) strata_mutant_number = atoi(text);
}
__attribute__((destructor)) static void report(void) {
    const char *path = getenv("STRATA_MUTANTS_REACHED");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    for (int number = 0; number < 8192; number++)
        if (strata_mutants_reached[number]) fprintf(file, "%d\n", number);
    fclose(file);
}
END
    sed -i 's/^#include "StrataMutants.h"$//; s/^#include "StrataObject.h"$/#include "StrataMutants.h"\n&/' \
        "$stage/Sources/CStrataSupport/include/CStrataSupport.h"
    (cd "$stage" && find . -type f -print0) | while IFS= read -r -d '' file; do
        cmp -s "$stage/$file" "$copy/$file" || { mkdir -p "$(dirname "$copy/$file")" && cp "$stage/$file" "$copy/$file"; }
    done
    (cd "$stage" && find . -type l -print0) | while IFS= read -r -d '' link; do
        mkdir -p "$(dirname "$copy/$link")" && ln -sfn "$(readlink "$stage/$link")" "$copy/$link"
    done
    # What has gone from the sources.
    (cd "$copy" && find Sources Tests -name '*.swift' -print0) | while IFS= read -r -d '' file; do
        [ -e "$stage/$file" ] || rm "$copy/$file"
    done
}

# Those whose line an error is about do not compile.
echo "Building with all mutants" >&2
for attempt in 1 2 3 4 5 6 7 8; do
    refresh
    (cd "$copy" && "$swift" build --build-tests -c release -Xswiftc -enable-testing) >"$copy/.log" 2>&1 && break
    found=$(perl -ne '
        BEGIN { $copy = shift @ARGV }
        next unless m{^\Q$copy\E/(Sources/\S+?):(\d+):\d+: error:} and !$seen{"$1:$2"}++;
        my ($path, $line) = ("$copy/$1", $2);
        open my $in, "<", $path or next;
        my @lines = <$in>;
        # An error in a statement of several lines may be reported at a later one.
        for (my $at = $line - 1; $at >= 0 && $at > $line - 12; $at--) {
            my @numbers = $lines[$at] =~ /strata_mutant\((\d+)\)/g or next;
            print "$_\n" for @numbers;
            last;
        }
    ' "$copy" "$copy/.log" | sort -nu | paste -sd,)
    [ -n "$found" ] && [ $attempt -lt 8 ] || { grep -a 'error:' "$copy/.log" | head -20 >&2; exit 1; }
    echo "Without $found, which do not compile" >&2
    without=${without:+$without,}$found
done
echo "$without" >"$remembered"

tests=$(ls "$copy"/.build/release/*PackageTests.xctest)
# Runs suites until one notices; prints the verdict.
cat >"$copy/.run.pl" <<'END'
use strict; use warnings;
my ($seconds, $log, @command) = @ARGV;
my $pid = open(my $out, '-|') // die;
if (!$pid) { setpgrp; open STDERR, '>&', \*STDOUT; exec @command or die }
$SIG{ALRM} = sub { kill 'KILL', -$pid; print "noticed by the time: @command[2..$#command]\n"; exit 1 };
alarm $seconds;
open my $copy, '>', $log;
while (<$out>) {
    print $copy $_;
    next unless /recorded an issue|: Fatal error|^\S+ Test .* failed/;
    s/^\S+\s+(?=Test)//; s/\s+$//;
    kill 'KILL', -$pid;
    print 'noticed by ', substr($_, 0, 200), "\n";
    exit 1;
}
close $out;
if ($?) { print "noticed by the end of the process ($?): @command[2..$#command]\n"; exit 1 }
END
run() {
    local seconds=$1
    shift
    (cd "$copy" && SWIFT_BACKTRACE=enable=no perl "$copy/.run.pl" "$seconds" "$copy/.log" "$tests" --testing-library swift-testing "$@")
}

# What the suites come by is known from the last run, if that was of the same build.
if [ ! "$copy/.measured" -nt "$tests" ]; then
echo "Running the suites without a mutant" >&2
"$tests" --testing-library swift-testing --list-tests 2>/dev/null | sed -nE 's#^([A-Za-z]+\.[A-Za-z0-9_]+)/.*#\1#p' |
    sort -u | grep -E "$filter" >"$copy/.suites"
: >"$copy/.reached"
while IFS= read -r suite; do
    rm -f "$copy/.numbers"
    start=$(date +%s%N)
    verdict=$(STRATA_MUTANTS_REACHED=$copy/.numbers run 1800 --filter "^${suite//./\\.}/") ||
        { echo "$suite fails as it is: $verdict" >&2; exit 1; }
    milliseconds=$((($(date +%s%N) - start) / 1000000))
    [ -e "$copy/.numbers" ] || continue
    sort -nu "$copy/.numbers" | sed "s/\$/\t$milliseconds\t$suite/" >>"$copy/.reached"
done <"$copy/.suites"
touch "$copy/.measured"
fi

# Whether a suite that takes seconds is one for a mutant. (A survivor would meet all sweeps, since all of them come by
# nearly every line.)
fits() {
    local rule=$1 file=$2 suite=$3
    case $suite in
    *\|*) true ;;
    *.CorruptionSweepTests) [[ $rule =~ ^(checksum|bound|guard)$ ]] ;;
    *.MigrationSweepTests | *.ImportSweepTests) [[ $file == Sources/Strata/* || $file == Sources/StrataRows/* ]] ;;
    *.CompactionSweepTests | *.CompactionScheduleTests) [[ $file =~ /(Compaction|Write)/ ]] ;;
    *.OrderedIndexTests) [[ $file =~ /(Ordered|Index)/ ]] ;;
    *.DirectorySweepTests) [[ $file =~ /(Directory|Recovery|StrataSupport)/ ]] ;;
    *.CrashSweepTests | *.ErrorSweepTests) [[ $file == Sources/StrataLog/* && $file != */Directory/* ]] ;;
    *) true ;;
    esac
}

survivors=0
noticed=0
unreached=0
: >"$copy/.results"
while IFS=$'\t' read -r number rule file line text; do
    if [ -n "$numbers" ]; then
        perl -e 'my $n = shift; exit !grep { /^(\d+)(?:-(\d+))?$/ && $n >= $1 && $n <= ($2 // $1) } split /,/, shift' \
            "$number" "$numbers" || continue
    elif [[ $rule =~ ^(bound|guard)$ ]] && ((number % every)); then
        continue
    fi
    verdict=
    # Those of less than a second together, then one after the other.
    mapfile -t plan < <(awk -F'\t' -v n="$number" '$1 == n { print $2 "\t" $3 }' "$copy/.reached" | sort -n |
        awk -F'\t' '$1 < 1000 { quick = quick (quick ? "|" : "") $2; time += $1; next }
            quick { print time "\t" quick; quick = "" } { print } END { if (quick) print time "\t" quick }')
    for entry in "${plan[@]}"; do
        seconds=$((${entry%%$'\t'*} * 3 / 1000 + 30))
        [ $seconds -ge "$STRATA_MUTANT_SECONDS" ] || seconds=$STRATA_MUTANT_SECONDS
        names=${entry#*$'\t'}
        [ "${entry%%$'\t'*}" -lt 3000 ] || fits "$rule" "$file" "$names" || continue
        verdict=$(STRATA_MUTANT=$number run "$seconds" --filter "^(${names//./\\.})/") ||
            { [ -n "$verdict" ] || exit 1; break; }
    done
    if [ -n "$verdict" ]; then
        noticed=$((noticed + 1))
    else
        reason=$(reason "$number" "$rule" "$file")
        if [ -n "$reason" ]; then
            verdict="survives: $reason"
        elif [ ${#plan[@]} -eq 0 ]; then
            verdict="SURVIVES: no suite comes by it"
            unreached=$((unreached + 1))
        else
            verdict=SURVIVES
            survivors=$((survivors + 1))
        fi
    fi
    printf '%4d %-8s %s:%d %s\n     %s\n' "$number" "$rule" "$file" "$line" "$text" "$verdict" | tee -a "$copy/.results"
done < <(for rule in ${rules//,/ }; do awk -F'\t' -v r="$rule" '$2 == r' "$copy/.list"; done)
echo "$noticed noticed, $survivors survivors, $unreached that no suite comes by" >&2
[ $((survivors + unreached)) -eq 0 ]
