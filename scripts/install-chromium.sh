#!/bin/sh
# Installs Debian's Chromium for the browser tests where it is missing and can be installed.
set -eu
command -v chromium >/dev/null 2>&1 && exit 0
if ! command -v apt-get >/dev/null 2>&1; then
  echo "No chromium and no apt-get here: the browser tests will be skipped." >&2
  exit 0
fi
run=""
[ "$(id -u)" -eq 0 ] || run="sudo -n"
echo "Installing chromium …" >&2
export DEBIAN_FRONTEND=noninteractive
if ! { $run apt-get update -qq && $run apt-get install -y -qq --no-install-recommends chromium \
    fonts-dejavu-core fonts-noto-color-emoji; } >/dev/null 2>&1; then
  echo "chromium could not be installed: the browser tests will be skipped." >&2
fi
