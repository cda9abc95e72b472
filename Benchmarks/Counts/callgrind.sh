# shellcheck shell=bash
# Sourced by what counts instructions. `program` is the program; afterwards it is a copy of it that valgrind can read.
command -v valgrind >/dev/null || { echo "needs valgrind (Debian: valgrind)" >&2; exit 1; }
# valgrind does not understand Swift's debug information.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
strip -g -o "$folder/program" "$program"
program=$folder/program

# How many instructions a run with these arguments takes. Threads other than the first are part of it, so that work
# which only moves to another core is seen, too.
instructions() {
    SWIFT_DETERMINISTIC_HASHING=1 setarch -R valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        "$program" "$@" 2>"$folder/out" >/dev/null || { cat "$folder/out" >&2; exit 1; }
    grep -o 'Collected : [0-9]*' "$folder/out" | grep -o '[0-9]*$'
}
