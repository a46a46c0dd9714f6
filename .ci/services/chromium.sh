#!/usr/bin/env bash
# Installs the browser that the test of the graph's page opens, and prints the `export` line of its path, for
# `eval "$(.ci/services/chromium.sh)"`. What it cannot do, it says in one line on standard error; then it exports nothing, and
# that test is skipped. Needs Debian, root, and the package sources that the machine already uses.
set -euo pipefail

cache=${QUIVER_SERVICES_CACHE:-/var/cache/quiver-services}

say() { echo "chromium: $*" >&2; }
give_up() { say "$*; tests that need it are skipped"; exit 0; }
browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

if [[ -n ${QUIVER_CHROMIUM:-} ]]; then
  say 'QUIVER_CHROMIUM is set already'
  exit 0
fi
if ! browser > /dev/null; then
  [[ $(id -u) == 0 ]] || give_up 'installing a browser needs root'
  command -v apt-get > /dev/null || give_up 'this is no Debian system'
  mkdir -p "$cache"
  log=$cache/chromium.log
  exec 9> "$cache/chromium.lock"
  flock -w 290 9 || give_up 'another installation does not end'
  export DEBIAN_FRONTEND=noninteractive
  quietly() { timeout 240 "$@" 9>&- >> "$log" 2>&1 < /dev/null; }
  : > "$log"
  browser > /dev/null || { quietly apt-get update && quietly apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } ||
    give_up "it could not be installed, see $log"
fi
path=$(browser) || give_up 'there is no package of it for this system'
say "ready at $path"
echo "export QUIVER_CHROMIUM='$path'"
