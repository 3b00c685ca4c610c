#!/bin/sh
# Refuse a Python that cannot carry memport, and say what to install.
python="$1"
if ! command -v "$python" >/dev/null 2>&1; then
    echo "memport: no '$python' on this machine. Install Python 3.11 or newer (Debian, Ubuntu: apt install python3 python3-venv)," >&2
    echo "         or name another one: make PYTHON=/path/to/python3 …" >&2
    exit 2
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "memport: $("$python" --version) is too old; Python 3.11 or newer is needed. Name another one: make PYTHON=python3.12 …" >&2
    exit 2
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "memport: $("$python" --version) lacks its venv module (Debian, Ubuntu: apt install python3-venv)." >&2
    exit 2
fi
