#!/bin/sh
# Installs the real pi for the tests: node, pi and pi-acp, at the versions in internal/pitest/versions.
#
#   .ci/pi.sh [DIR]
#
# They are then in DIR/node_modules/.bin. Without DIR they go to a folder below the user's cache, where the tests
# look for them by themselves; for any other, set PITAP_TEST_PI=DIR. Needs npm, and what npm is set up to fetch from.
# Does nothing when all is there, and may run several times at once: DIR appears whole or not at all.
set -eu

case "${1-}" in
-*) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
# shellcheck source=../internal/pitest/versions
. "$(dirname "$0")/../internal/pitest/versions"

dir=${1-}
if [ -z "$dir" ]; then
	case $(uname) in # as os.UserCacheDir of Go
	Darwin) cache=$HOME/Library/Caches ;;
	*) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;;
	esac
	dir=$cache/pitap-test/pi-$pi-node-$node-acp-$pi_acp
fi

# Prints the versions that are installed in a folder; fails when one is missing or does not run.
versions() {
	"$1/node_modules/.bin/node" -p '
		const version = (name) => JSON.parse(fs.readFileSync(`${process.argv[1]}/node_modules/${name}/package.json`)).version;
		["node " + process.versions.node, "pi " + version("@earendil-works/pi-coding-agent"), "pi-acp " + version("pi-acp")].join(", ")
	' "$1" 2>/dev/null
}
wanted="node $node, pi $pi, pi-acp $pi_acp"

if [ "$(versions "$dir" || true)" = "$wanted" ]; then
	echo "$wanted are in $dir"
	exit
fi
if [ -e "$dir" ] && [ -n "$(ls -A "$dir")" ]; then
	echo "$dir: holds something other than $wanted; remove it, or name another folder" >&2
	exit 1
fi
if ! command -v npm >/dev/null; then
	echo "npm is missing; install it first (Debian: apt-get install npm, macOS: brew install node)" >&2
	exit 1
fi

mkdir -p "$(dirname "$dir")"
new=$(mktemp -d "$dir.new-XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
echo "installing $wanted into $dir"
npm install --prefix "$new" --loglevel=error --no-audit --no-fund --no-update-notifier --save-exact \
	"node@$node" "@earendil-works/pi-coding-agent@$pi" "pi-acp@$pi_acp"
found=$(versions "$new" || true)
if [ "$found" != "$wanted" ]; then
	echo "npm installed ${found:-something that does not run}, wanted $wanted" >&2
	exit 1
fi

# rename(2) itself, because mv would put a folder inside one that exists. It fails when somebody else was first.
if ! "$new/node_modules/.bin/node" -e 'fs.renameSync(process.argv[1], process.argv[2])' "$new" "$dir" 2>/dev/null &&
	[ "$(versions "$dir" || true)" != "$wanted" ]; then
	echo "$dir: cannot be put in place" >&2
	exit 1
fi
echo "$wanted are in $dir"
