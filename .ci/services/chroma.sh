#!/usr/bin/env bash
# Starts the Chroma server that the npm package `chromadb` brings and prints the `export` line of its address, for
# `eval "$(.ci/services/chroma.sh)"`. What it cannot do, it says in one line on standard error; then it exports nothing, and
# tests skip. Needs an installed checkout; on systems older than Debian 13 also the package sources the machine already uses.
# `chroma.sh stop` ends the server.
set -euo pipefail

# Below the ports of outgoing connections, one of which may have taken it.
port=${QUIVER_CHROMA_PORT:-15330}
cache=${QUIVER_SERVICES_CACHE:-/var/cache/quiver-services}
url="http://127.0.0.1:$port"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

say() { echo "chroma: $*" >&2; }
give_up() { say "$*; tests that need it are skipped"; exit 0; }

if [[ -n ${QUIVER_CHROMA_URL:-} ]]; then
  say 'QUIVER_CHROMA_URL is set already'
  exit 0
fi
mkdir -p "$cache" 2> /dev/null || cache=${TMPDIR:-/tmp}/quiver-services-$(id -u)
mkdir -p "$cache"
log=$cache/chroma.log
exec 9> "$cache/chroma.lock"
flock -w 170 9 || give_up 'another preparation does not end'

answers() { curl -sf -m 2 "$url/api/v2/heartbeat" > /dev/null 2>&1; }
stop() {
  # The server notes SIGTERM and stays, so it is killed; only the process that was started here.
  if [[ -f $cache/chroma.pid ]]; then kill -9 "$(cat "$cache/chroma.pid")" 2> /dev/null || true; fi
  rm -f "$cache/chroma.pid"
}

if [[ ${1:-} == stop ]]; then
  stop
  exit 0
fi

# The server wants a newer C library than Debian 12 has: three packages of the next release, unpacked beside it, and their loader.
download_loader() {
  local apt=$cache/chroma-apt mirror
  mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/debian.sources 2> /dev/null | head -1)
  [[ -n $mirror ]] || return 1
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/archives/partial" "$cache/chroma-debs"
  : > "$apt/status"
  printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n' \
    "$mirror" > "$apt/parts/trixie.sources"
  local options=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt" -o "Dir::Cache::archives=$apt/archives")
  cd "$cache/chroma-debs" || return 1
  timeout 60 apt-get "${options[@]}" update >> "$log" 2>&1 9>&- &&
    timeout 60 apt-get "${options[@]}" download libc6 libstdc++6 libgcc-s1 >> "$log" 2>&1 9>&- || return 1
  local package
  for package in *.deb; do dpkg-deb -x "$package" "$cache/chroma-root" || return 1; done
}

newest_of() { printf '%s\n' "$@" | sort -V | tail -1; }

: > "$log"
if ! answers; then
  cli=$here/packages/rag/node_modules/chromadb/dist/cli.mjs
  [[ -f $cli ]] || give_up 'the npm package chromadb is not installed'
  node=$(node -p process.execPath)
  command=("$node" "$cli")
  libc=$(ldd --version 2> /dev/null | sed -n '1s/.* //p')
  if [[ $(newest_of "$libc" 2.39) != "$libc" ]]; then
    root=$cache/chroma-root/usr/lib/x86_64-linux-gnu
    loader=$root/ld-linux-x86-64.so.2
    [[ -x $loader ]] || download_loader || give_up "the loader could not be downloaded, see $log"
    command=("$loader" --library-path "$root:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu" "${command[@]}")
  fi
  stop
  rm -rf "$cache/chroma-data"
  mkdir -p "$cache/chroma-data"
  cd "$cache"
  nohup "${command[@]}" run --path "$cache/chroma-data" --host 127.0.0.1 --port "$port" >> "$log" 2>&1 < /dev/null 9>&- &
  echo $! > "$cache/chroma.pid"
  for _ in $(seq 100); do
    answers && break
    sleep 0.1
  done
  answers || give_up "the server does not answer, see $log"
fi
say "ready at port $port"
echo "export QUIVER_CHROMA_URL='$url'"
