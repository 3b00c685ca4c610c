#!/bin/sh
# The tests need a real PostgreSQL, Redis and Chromium. Install what is missing through apt, and say so first.
missing=""
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
command -v redis-server >/dev/null 2>&1 || missing="$missing redis-server"
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
[ -z "$missing" ] && exit 0

echo "memport: the tests need these system packages:$missing"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "memport: no apt-get here. Install them with this system's own tools, then run the tests again." >&2
    exit 2
fi
if [ "$(id -u)" = 0 ]; then
    sudo=""
elif command -v sudo >/dev/null 2>&1; then
    sudo="sudo"
else
    echo "memport: neither root nor sudo. Ask for:  apt-get install$missing" >&2
    exit 2
fi
echo "memport: installing them now: $sudo apt-get install$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq || exit 2
# shellcheck disable=SC2086
$sudo apt-get install -y -qq --no-install-recommends $missing fonts-dejavu-core >/dev/null || {
    echo "memport: apt could not install them. Install by hand, then run the tests again:  apt-get install$missing" >&2
    exit 2
}
