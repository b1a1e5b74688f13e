#!/bin/sh
# Installs Debian packages that a group of tests needs, where they are missing and can be installed.
# Usage: install-debian.sh GROUP CHECK PACKAGE…   (CHECK: a command that works once all is there)
set -eu
group=$1 check=$2
shift 2
sh -c "$check" >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "No $1 and no apt-get here: the tests of the group $group will be skipped." >&2
  exit 0
fi
run=""
[ "$(id -u)" -eq 0 ] || run="sudo -n"
echo "Installing $* …" >&2
export DEBIAN_FRONTEND=noninteractive
if ! { $run apt-get update -qq && $run apt-get install -y -qq --no-install-recommends "$@"; } \
    >/dev/null 2>&1; then
  echo "$1 could not be installed: the tests of the group $group will be skipped." >&2
fi
