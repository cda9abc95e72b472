#!/usr/bin/env bash
# Breaks the code in small ways, one at a time, and runs the suites that should notice: `make mutants`.
#
#   Tests/mutants.sh -l [RULE...]           list the mutants: number, rule, file, line
#   Tests/mutants.sh [RULE...]              try all of these rules
#   Tests/mutants.sh -n NUMBER[,NUMBER...]  try some
#
# Rules: flush (a file's or directory's flush is left out), checksum (a comparison with a checksum always passes), bound (a
# length that comes from a file is not compared), guard (a condition of the log always passes), lock (the engine's lock is
# not taken).
#
# Works on a copy of what git knows of this folder, in STRATA_MUTANTS (.build-mutants), which keeps its build. A mutant that
# does not compile is none. One that no suite notices is a survivor: it gets a test, or the line goes. Fails if there is one.
#
# STRATA_MUTANT_FILTER   the suites (the log's, with the sweeps)
# STRATA_MUTANT_SECONDS  for each mutant (900); a test that hangs has noticed
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
copy=${STRATA_MUTANTS:-$root/.build-mutants}
swift=${SWIFT:-swift}
filter=${STRATA_MUTANT_FILTER:-StrataLogTests}
seconds=${STRATA_MUTANT_SECONDS:-900}

list=false
numbers=
while getopts ln: option; do
    case $option in
    l) list=true ;;
    n) numbers=",$OPTARG," ;;
    *) exit 64 ;;
    esac
done
shift $((OPTIND - 1))
rules=("$@")
[ ${#rules[@]} -gt 0 ] || rules=(flush checksum bound guard lock)

# What a rule makes of a line; it prints nothing if the rule does not fit.
mutate() {
    perl -ne '
        BEGIN { $rule = shift @ARGV }
        next if m{^\s*//} || /\bfunc\b/;
        $old = $_;
        if ($rule eq "flush") {
            s/\btry[?]? (\w+(?:\.\w+)*)\.sync(?:Data)?\(\)/_ = $1/ or s/\btry[?]? (\w+(?:\.\w+)*)\.syncDirectory\([^()]*\)/_ = $1/;
        } elsif ($rule eq "checksum") {
            s/^(\s*(?:guard |if )?)((?=[^{]*(?:hecksum|crc)\b)[^={]* == )/$1true || $2/ unless /\blet\b|=>|return/;
        } elsif ($rule eq "bound") {
            s/^(\s*guard )((?!let\b|var\b)[^{,]*(?:ount|ength|ytes)[^{,]* (?:<=|>=|<|>) )/$1true || $2/;
        } elsif ($rule eq "guard") {
            s/^(\s*guard )((?!let\b|var\b|case\b|true\b)[^{]*\belse\b)/$1true || $2/ unless /(?:<=|>=|hecksum|crc)/;
        } elsif ($rule eq "lock") {
            s/^(\s*)if !isMine \{ wait\(\) \}/$1_ = isMine/;
        }
        print if $_ ne $old;
    ' "$1"
}

mutants=()
for rule in "${rules[@]}"; do
    folders=(Sources/StrataLog)
    [ "$rule" = lock ] && folders=(Sources/StrataSupport)
    while IFS= read -r file; do
        while IFS= read -r line; do
            [ -n "$line" ] || continue
            mutated=$(sed -n "${line}p" "$file" | mutate "$rule")
            [ -n "$mutated" ] && mutants+=("$rule"$'\t'"$file"$'\t'"$line"$'\t'"$mutated")
        done < <(grep -nE 'sync|hecksum|crc|guard|isMine' "$file" | cut -d: -f1)
    done < <(git ls-files "${folders[@]}" | grep '\.swift$')
done
if $list; then
    index=0
    for mutant in "${mutants[@]}"; do
        index=$((index + 1))
        IFS=$'\t' read -r rule file line mutated <<<"$mutant"
        printf '%4d %-8s %s:%d %s\n' "$index" "$rule" "$file" "$line" "$(sed 's/^ *//' <<<"$mutated")"
    done
    exit 0
fi

mkdir -p "$copy"
# With their times, so that only what differs is compiled again.
refresh() { git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - | tar -xf - -C "$copy"; }
refresh
try() {
    (cd "$copy" && STRATA_TESTS=sweeps timeout "$seconds" "$swift" "$@" -c release -Xswiftc -enable-testing)
}
echo "Building without a mutant" >&2
try build --build-tests >"$copy/.log" 2>&1 || { tail -20 "$copy/.log" >&2; exit 1; }
try test --skip-build --filter "$filter" >"$copy/.log" 2>&1 || { echo "The suites fail as it is" >&2; exit 1; }

index=0
survivors=0
for mutant in "${mutants[@]}"; do
    index=$((index + 1))
    [ -z "$numbers" ] || [[ $numbers == *",$index,"* ]] || continue
    IFS=$'\t' read -r rule file line mutated <<<"$mutant"
    refresh
    LINE=$line TEXT=$mutated perl -pi -e '$_ = "$ENV{TEXT}\n" if $. == $ENV{LINE}' "$copy/$file"
    if ! try build --build-tests >"$copy/.log" 2>&1; then
        verdict="does not compile"
    elif try test --skip-build --filter "$filter" >"$copy/.log" 2>&1; then
        verdict=SURVIVES
        survivors=$((survivors + 1))
    else
        verdict="noticed by $(grep -oE 'Test [A-Za-z"].*(failed|recorded an issue)' "$copy/.log" | head -1 || echo 'a crash or the time')"
    fi
    printf '%4d %-8s %s:%d %s\n' "$index" "$rule" "$file" "$line" "$verdict"
done
echo "$survivors survivors" >&2
[ $survivors -eq 0 ]
