#!/usr/bin/env bash
# Starts a throw-away PostgreSQL with pgvector and prints the `export` line of its address, for `eval "$(.ci/services/postgres.sh)"`.
# What it cannot do, it says in one line on standard error; then it exports nothing, and tests skip.
# Needs Debian 12 or later, root, and the package sources that the machine already uses. `postgres.sh stop` ends the server.
set -euo pipefail

# Below the ports of outgoing connections, one of which may have taken it.
port=${QUIVER_POSTGRES_PORT:-15329}
cache=${QUIVER_SERVICES_CACHE:-/var/cache/quiver-services}
url="postgres://postgres@127.0.0.1:$port/postgres"
pgvector=0.8.0-1

say() { echo "postgres: $*" >&2; }
give_up() { say "$*; tests that need it are skipped"; exit 0; }

if [[ -n ${QUIVER_POSTGRES_URL:-} ]]; then
  say 'QUIVER_POSTGRES_URL is set already'
  exit 0
fi
[[ $(id -u) == 0 ]] || give_up 'preparing a server needs root'
command -v apt-get > /dev/null || give_up 'this is no Debian system'
mkdir -p "$cache"
log=$cache/postgres.log
exec 9> "$cache/postgres.lock"
flock -w 170 9 || give_up 'another preparation does not end'

quietly() { timeout 120 "$@" 9>&- >> "$log" 2>&1 < /dev/null; }
bin() { find /usr/lib/postgresql -maxdepth 3 -path '*/bin' -type d 2> /dev/null | sort -V | tail -1; }
as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups)

if [[ ${1:-} == stop ]]; then
  quietly "${as_postgres[@]}" "$(bin)/pg_ctl" -D "$cache/postgres-data" -m immediate stop || true
  exit 0
fi

# Called before `||`, where `set -e` has no effect: each step is chained to the next.
install_server() {
  export DEBIAN_FRONTEND=noninteractive
  quietly apt-get update &&
    quietly apt-get install -y --no-install-recommends postgresql postgresql-server-dev-all build-essential
}

# A private state of apt: the machine's own sources stay as they are. The mirror is the one they name.
download_pgvector() {
  local apt=$cache/apt mirror
  mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -1)
  [[ -n $mirror ]] || return 1
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/archives/partial"
  : > "$apt/status"
  printf 'Types: deb-src\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
    "$mirror" > "$apt/parts/trixie.sources"
  local options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt" -o "Dir::Cache::archives=$apt/archives")
  quietly apt-get "${options[@]}" update &&
    quietly apt-get "${options[@]}" source --download-only "pgvector=$pgvector"
}

build_pgvector() {
  cd "$cache"
  [[ -f pgvector_$pgvector.dsc ]] || download_pgvector || return 1
  sha256sum --quiet -c <<< '867a2c328d4928a5a9d6f052cd3bc78c7d60228a9b914ad32aa3db88e9de27b0  pgvector_0.8.0.orig.tar.gz' >> "$log" 2>&1 || return 1
  rm -rf pgvector
  quietly dpkg-source -x --no-check "pgvector_$pgvector.dsc" pgvector && cd pgvector || return 1
  # Without -march=native, so that a cached build works on every machine.
  quietly make -j2 OPTFLAGS= with_llvm=no "PG_CONFIG=$(bin)/pg_config" &&
    quietly make install with_llvm=no "PG_CONFIG=$(bin)/pg_config"
}

start_server() {
  local data=$cache/postgres-data
  quietly "${as_postgres[@]}" "$(bin)/pg_ctl" -D "$data" -m immediate stop || true
  rm -rf "$data"
  install -d -o postgres -g postgres "$data" &&
    quietly "${as_postgres[@]}" "$(bin)/initdb" -D "$data" -U postgres --auth=trust -E UTF8 &&
    quietly "${as_postgres[@]}" "$(bin)/pg_ctl" -D "$data" -w -l "$data/server.log" \
      -o "-p $port -k $data -c listen_addresses=127.0.0.1 -c fsync=off -c shared_buffers=256MB" start
}

answers() { "$(bin)/psql" "$url" -qtc 'create extension if not exists vector' >> "$log" 2>&1; }

: > "$log"
if [[ -z $(bin) ]] || ! answers; then
  [[ -n $(bin) && -x $(bin)/initdb && -f $("$(bin)/pg_config" --includedir-server 2> /dev/null)/postgres.h ]] || install_server || give_up "PostgreSQL could not be installed, see $log"
  [[ -f $("$(bin)/pg_config" --sharedir)/extension/vector.control ]] || build_pgvector || give_up "pgvector could not be built, see $log"
  start_server || give_up "the server does not start, see $log"
  answers || give_up "the server does not answer, see $log"
fi
say "ready at port $port"
echo "export QUIVER_POSTGRES_URL='$url'"
