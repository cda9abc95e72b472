#!/usr/bin/env bash
# Builds the reference of Strata and its tutorial with DocC, in .build/docs; a warning is a failure: `make docs`.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
graphs=$PWD/.build/docs-graphs
rm -rf "$graphs" .build/docs
mkdir -p "$graphs"
"$swift" build --target Strata
bin=$("$swift" build --show-bin-path)
system=$(find -L .build/checkouts/swift-system -name module.modulemap | head -1)
# SwiftPM's own command builds every target again to do this.
"$swift" symbolgraph-extract -module-name Strata -target "$(uname -m)-unknown-linux-gnu" -I "$bin/Modules" \
    -Xcc "-fmodule-map-file=$system" -Xcc "-fmodule-map-file=$bin/CStrataSupport.build/module.modulemap" \
    -I Sources/CLZ4 -I Sources/CStrataSupport/include \
    -output-dir "$graphs" -minimum-access-level public -skip-synthesized-members
"${DOCC:-docc}" convert Sources/Strata/Strata.docc --additional-symbol-graph-dir "$graphs" \
    --fallback-display-name Strata --fallback-bundle-identifier strata --warnings-as-errors --output-path .build/docs
echo "The reference is in .build/docs: docc preview shows it, or any web server."
