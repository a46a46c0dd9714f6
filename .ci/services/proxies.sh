#!/usr/bin/env bash
# Installs nginx, HAProxy and Caddy, without starting them, and prints the `export` lines of their paths, for
# `eval "$(.ci/services/proxies.sh)"`. What it cannot do, it says in one line on standard error; then it does not export that program, and
# tests skip. Needs Debian, root, and the package sources that the machine already uses.
set -euo pipefail

cache=${QUIVER_SERVICES_CACHE:-/var/cache/quiver-services}
log=$cache/proxies.log

say() { echo "$program: $*" >&2; }
path_of() { PATH=$PATH:/usr/sbin command -v "$1"; }

install() {
  [[ $(id -u) == 0 ]] && command -v apt-get > /dev/null || return 0
  mkdir -p "$cache"
  exec 9> "$cache/proxies.lock"
  flock -w 200 9 || return 0
  # The second one: without starting them as services.
  export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
  quietly() { timeout 180 "$@" 9>&- >> "$log" 2>&1 < /dev/null; }
  : > "$log"
  quietly apt-get update || return 0
  for package in "$@"; do quietly apt-get install -y --no-install-recommends "$package" || true; done
}

missing=()
for program in nginx haproxy caddy; do
  variable=QUIVER_${program^^}
  [[ -n ${!variable:-} ]] || path_of $program > /dev/null || missing+=("${program/nginx/nginx-light}")
done
[[ ${#missing[@]} == 0 ]] || install "${missing[@]}"

for program in nginx haproxy caddy; do
  variable=QUIVER_${program^^}
  if [[ -n ${!variable:-} ]]; then
    say "$variable is set already"
  elif path=$(path_of $program); then
    say "ready at $path"
    echo "export $variable='$path'"
  else
    say "it could not be installed, which needs Debian and root, see $log; tests that need it are skipped"
  fi
done
