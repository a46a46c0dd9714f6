#!/usr/bin/env bash
# Installs Redis, starts a server without persistence, and prints the `export` line of its address, for
# `eval "$(.ci/services/redis.sh)"`. What it cannot do, it says in one line on standard error; then it exports nothing, and
# tests skip. Needs Debian, root, and the package sources that the machine already uses. `redis.sh stop` ends the server.
set -euo pipefail

# Below the ports of outgoing connections, one of which may have taken it.
port=${QUIVER_REDIS_PORT:-15331}
cache=${QUIVER_SERVICES_CACHE:-/var/cache/quiver-services}
url="redis://127.0.0.1:$port"

say() { echo "redis: $*" >&2; }
give_up() { say "$*; tests that need it are skipped"; exit 0; }

if [[ -n ${QUIVER_REDIS_URL:-} ]]; then
  say 'QUIVER_REDIS_URL is set already'
  exit 0
fi
answers() { redis-cli -p "$port" ping 2> /dev/null | grep -q PONG; }

if [[ ${1:-} == stop ]]; then
  redis-cli -p "$port" shutdown nosave > /dev/null 2>&1 || true
  exit 0
fi
if ! command -v redis-server > /dev/null; then
  [[ $(id -u) == 0 ]] || give_up 'installing a server needs root'
  command -v apt-get > /dev/null || give_up 'this is no Debian system'
  mkdir -p "$cache"
  log=$cache/redis.log
  exec 9> "$cache/redis.lock"
  flock -w 200 9 || give_up 'another installation does not end'
  export DEBIAN_FRONTEND=noninteractive
  quietly() { timeout 180 "$@" 9>&- >> "$log" 2>&1 < /dev/null; }
  : > "$log"
  command -v redis-server > /dev/null || { quietly apt-get update && quietly apt-get install -y --no-install-recommends redis-server redis-tools; } ||
    give_up "it could not be installed, see $log"
fi
if ! answers; then
  redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --daemonize yes --dir "${TMPDIR:-/tmp}" > /dev/null 2>&1 9>&- ||
    give_up 'the server does not start'
  for _ in $(seq 50); do
    answers && break
    sleep 0.1
  done
fi
answers || give_up 'the server does not answer'
say "ready at port $port"
echo "export QUIVER_REDIS_URL='$url'"
