#!/usr/bin/env bash
# Puts the command, its completions and its manual under a prefix, as the file system hierarchy standard has them:
#
#   scripts/install.sh BINARY MANUAL PREFIX     MANUAL is the directory with the pages; none are installed without it
#
# DESTDIR comes before PREFIX, for packages. Files that are there are replaced, each in one step.
set -euo pipefail
[ $# = 3 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -5 >&2; exit 64; }
binary=$1 manual=$2 root=${DESTDIR:-}$3
put() { # MODE SOURCE TARGET
    install -d -m 755 "$(dirname "$3")"
    install -m "$1" "$2" "$3.new"
    mv -f "$3.new" "$3"
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# First of all what may fail.
for shell in bash zsh fish; do "$binary" --generate-completion-script "$shell" >"$scratch/$shell"; done
put 755 "$binary" "$root/bin/strata"
put 644 "$scratch/bash" "$root/share/bash-completion/completions/strata"
put 644 "$scratch/zsh" "$root/share/zsh/site-functions/_strata"
put 644 "$scratch/fish" "$root/share/fish/vendor_completions.d/strata.fish"
shopt -s nullglob
for page in "$manual"/strata*.1; do
    # man has strata-query for "man strata query".
    name=$(basename "$page" .1)
    put 644 "$page" "$root/share/man/man1/${name//./-}.1"
done
