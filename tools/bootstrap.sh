#!/bin/sh
# The one way in. `make` and .ci/run call it; it needs no more than a POSIX shell, Node.js 20 and npm.
#   tools/bootstrap.sh install                      dependencies only
#   tools/bootstrap.sh test|lint|typecheck|build    the whole repository; more arguments go to the tool
#   tools/bootstrap.sh project <folder> <verb>      one project's own script
#   tools/bootstrap.sh <stack verb> [...]           the stack runner, tools/src/cli.ts
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)

fail() { echo "sluice: $*" >&2; exit 1; }

require_node() {
  command -v node >/dev/null 2>&1 || fail "Node.js was not found. Install Node.js 20 or newer (https://nodejs.org) and run this again."
  major=$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null) || fail "The node on the PATH does not run. Install Node.js 20 or newer (https://nodejs.org) and run this again."
  [ "$major" -ge 20 ] || fail "Node.js $(node -v) is too old. Install Node.js 20 or newer (https://nodejs.org) and run this again."
  command -v npm >/dev/null 2>&1 || fail "npm was not found beside node. Install it (it comes with Node.js) and run this again."
}

# npm writes node_modules/.package-lock.json last, so an interrupted install counts as missing. What was installed is told by
# the copy of the lockfile; where somebody installed by hand there is none, and time stamps have to do.
needs_install() {
  installed=node_modules/.package-lock.json
  [ -f "$installed" ] || return 0
  copy=node_modules/.sluice-installed-lock.json
  if [ -f "$copy" ]; then ! cmp -s package-lock.json "$copy"; else [ -n "$(find package-lock.json -newer "$installed")" ]; fi
}

install() {
  needs_install || return 0
  echo "sluice: installing dependencies with npm ci ..." >&2
  started=$(date +%s)
  npm ci --prefer-offline --loglevel=error >&2 || fail "npm ci failed; its messages are above."
  cp package-lock.json node_modules/.sluice-installed-lock.json
  echo "sluice: dependencies installed in $(( $(date +%s) - started )) s" >&2
}

# Puts the Node.js that the lockfile pins first, for this process and for all it starts.
use_pinned_node() {
  if [ -x node_modules/.bin/node ] && node_modules/.bin/node -v >/dev/null 2>&1; then
    PATH="$root/node_modules/.bin:$PATH"; export PATH
    return 0
  fi
  major=$(node -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge 24 ] || fail "npm has no Node.js 24 for this platform ($(uname -sm)). Install Node.js 24 and run this again."
}

run_jest() {
  exec node --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js "$@"
}

[ $# -ge 1 ] || fail "usage: tools/bootstrap.sh <verb>; 'make help' lists the verbs."
verb=$1; shift
require_node
install
use_pinned_node

case $verb in
  install) ;;
  test) run_jest "$@" ;;
  lint | typecheck | build) exec npm run --silent "$verb" -- "$@" ;;
  project)
    folder=$1; verb=$2
    if node -e 'process.exit(require(process.argv[1]).scripts?.[process.argv[2]] ? 0 : 1)' "$root/$folder/package.json" "$verb"; then
      exec npm run --silent --workspace "$folder" "$verb"
    fi
    echo "$folder has no '$verb' of its own."
    ;;
  *) exec node --conditions=@sluice/source tools/src/cli.ts "$verb" "$@" ;;
esac
