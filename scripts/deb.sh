#!/usr/bin/env bash
# Makes a Debian package of the command, its completions and its manual:
#
#   scripts/deb.sh BINARY MANUAL OUTPUT [VERSION]   prints where the package is: OUTPUT/strata_VERSION_ARCHITECTURE.deb
#
# VERSION is otherwise the tag of the last commit, or, if that has none, 0~ with its date and its hash. What the binary
# depends on is found in the binary. The same commit and the same tools give the same bytes.
set -euo pipefail
umask 022
[ $# -ge 3 ] && [ $# -le 4 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0" | head -6 >&2; exit 64; }
binary=$(realpath "$1") manual=$(realpath "$2") output=$3
cd "$(dirname "$0")/.."
for tool in dpkg-deb dpkg-shlibdeps readelf; do
    command -v "$tool" >/dev/null || { echo "deb: there is no $tool; install dpkg-dev and binutils" >&2; exit 69; }
done
# dpkg-shlibdeps passes over libraries that the binary finds by a path of its own.
if readelf -d "$binary" | grep -q 'NEEDED.*libswift'; then
    echo 'deb: the binary needs the libraries of Swift, which no package brings; build it with --static-swift-stdlib' >&2
    exit 1
fi
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=${4:-$(git describe --tags --exact-match 2>/dev/null | sed 's/^v//' || true)}
[ -n "$version" ] || version="0~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d).$(git rev-parse --short HEAD)"
architecture=$(dpkg --print-architecture)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root

DESTDIR=$root scripts/install.sh "$binary" "$manual" /usr
# Where Debian's zsh looks for what packages bring.
mkdir -p "$root/usr/share/zsh/vendor-completions"
mv "$root/usr/share/zsh/site-functions/_strata" "$root/usr/share/zsh/vendor-completions/"
rmdir "$root/usr/share/zsh/site-functions"
find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
strip --strip-unneeded --remove-section=.comment "$root/usr/bin/strata"
install -d -m 755 "$root/usr/share/doc/strata"
{ cat NOTICE; echo 'On Debian systems the Apache License 2.0 is in /usr/share/common-licenses/Apache-2.0.'; } \
    >"$root/usr/share/doc/strata/copyright"
gzip -9nc CHANGELOG.md >"$root/usr/share/doc/strata/changelog.gz"

# dpkg-shlibdeps wants to stand in a source package.
mkdir -p "$scratch/source/debian"
printf 'Source: strata\n\nPackage: strata\nArchitecture: any\n' >"$scratch/source/debian/control"
depends=$(cd "$scratch/source" && dpkg-shlibdeps -O "$root/usr/bin/strata" 2>"$scratch/messages") || {
    cat "$scratch/messages" >&2
    exit 1
}
mkdir "$root/DEBIAN"
cat >"$root/DEBIAN/control" <<END
Package: strata
Version: $version
Architecture: $architecture
Maintainer: The Strata authors <root@localhost>
Installed-Size: $(du -sk --apparent-size "$root/usr" | cut -f1)
Depends: ${depends#shlibs:Depends=}
Section: database
Priority: optional
Description: look into and look after Strata stores
 Strata is Core Data's object graph for Swift on Linux, on a log of its own.
 This is its command: it queries, compares, verifies, compacts, backs up,
 ships, restores, imports and exports stores.
END
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$root" -print0 | xargs -0 chmod u+w,go-w
find "$root" -print0 | xargs -0 touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
mkdir -p "$output"
package=$output/strata_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$root" "$package.new" >/dev/null
mv -f "$package.new" "$package"
echo "$package"
