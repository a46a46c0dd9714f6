#!/usr/bin/env bash
# Installs nginx, without starting it, and prints the `export` line of its path, for `eval "$(.ci/services/nginx.sh)"`. What it cannot
# do, it says in one line on standard error; then it exports nothing, and tests skip. Needs Debian, root, and the package sources that
# the machine already uses.
set -euo pipefail

cache=${QUIVER_SERVICES_CACHE:-/var/cache/quiver-services}

say() { echo "nginx: $*" >&2; }
give_up() { say "$*; tests that need it are skipped"; exit 0; }
program() { PATH=$PATH:/usr/sbin command -v nginx; }

if [[ -n ${QUIVER_NGINX:-} ]]; then
  say 'QUIVER_NGINX is set already'
  exit 0
fi
if ! program > /dev/null; then
  [[ $(id -u) == 0 ]] || give_up 'installing it needs root'
  command -v apt-get > /dev/null || give_up 'this is no Debian system'
  mkdir -p "$cache"
  log=$cache/nginx.log
  exec 9> "$cache/nginx.lock"
  flock -w 200 9 || give_up 'another installation does not end'
  # The second one: without starting it as a service.
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
  quietly() { timeout 180 "$@" 9>&- >> "$log" 2>&1 < /dev/null; }
  : > "$log"
  program > /dev/null || { quietly apt-get update && quietly apt-get install -y --no-install-recommends nginx-light; } ||
    give_up "it could not be installed, see $log"
fi
path=$(program) || give_up 'there is no package of it for this system'
say "ready at $path"
echo "export QUIVER_NGINX='$path'"
