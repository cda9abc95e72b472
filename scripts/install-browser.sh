#!/usr/bin/env bash
# Installs Chromium for the tests of the page in a browser: `make test-inspect`.
#
# Where it cannot be had, this says so and fails: the tests then say what they left out. Otherwise the Makefile sets
# STRATA_BROWSER_REQUIRED, with which they fail without a browser.
set -uo pipefail

for program in chromium chromium-browser google-chrome; do
    if command -v "$program" >/dev/null 2>&1; then exit 0; fi
done

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo -n); fi
install() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install --yes --quiet --no-install-recommends chromium fonts-dejavu-core
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo 'test-inspect: installing chromium with apt-get'
if ! command -v apt-get >/dev/null 2>&1; then
    echo 'test-inspect: THE PAGE IS NOT TESTED IN A BROWSER: there is no Chromium, and no apt-get to install it with' >&2
    exit 1
elif ! install >"$log" 2>&1 && ! { "${as_root[@]}" apt-get update --quiet >>"$log" 2>&1 && install >>"$log" 2>&1; }; then
    echo "test-inspect: THE PAGE IS NOT TESTED IN A BROWSER: Chromium cannot be installed: $(tail -n 1 "$log")" >&2
    exit 1
fi
exit 0
