#!/usr/bin/env bash
# Builds the references of the public modules, and the tutorial, with DocC: one archive each in .build/docs. A warning
# is a failure, and so is a public symbol without documentation: `make docs`.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
# Those that .spi.yml promises.
read -ra modules <<<"$(sed -n 's/.*documentation_targets: \[\(.*\)\]/\1/p' .spi.yml | tr -d ,)"
[ ${#modules[@]} -gt 0 ] || { echo "docs: .spi.yml names no documentation_targets" >&2; exit 1; }
graphs=$PWD/.build/docs-graphs
rm -rf "$graphs" .build/docs
# StrataTransfer depends on the others.
"$swift" build --target StrataTransfer
bin=$("$swift" build --show-bin-path)
system=$(find -L .build/checkouts/swift-system -name module.modulemap | head -1)
for module in "${modules[@]}"; do
    mkdir -p "$graphs/$module" .build/docs
    # SwiftPM's own command builds every target again to do this. Whoever imports Strata has what StrataRows declares.
    "$swift" symbolgraph-extract -module-name "$module" -target "$(uname -m)-unknown-linux-gnu" -I "$bin/Modules" \
        -Xcc "-fmodule-map-file=$system" -Xcc "-fmodule-map-file=$bin/CStrataSupport.build/module.modulemap" \
        -I Sources/CLZ4 -I Sources/CStrataSupport/include \
        -output-dir "$graphs/$module" -minimum-access-level public -skip-synthesized-members \
        -emit-extension-block-symbols $([ "$module" != Strata ] || echo -experimental-allowed-reexported-modules=StrataRows)
done
scripts/undocumented.pl "$graphs"
for module in "${modules[@]}"; do
    "${DOCC:-docc}" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$graphs/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "${module,,}" --warnings-as-errors \
        --output-path ".build/docs/$module"
done
echo "The references are in .build/docs: docc preview shows them, or any web server."
