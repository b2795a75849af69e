# Sourced by the scripts, with $root set to the repository. Makes $root/.venv ready, and does nothing when it already is.

# What the caller's shell exports for other projects must not reach ours.
unset PYTHONHOME PYTHONPATH

venv=$root/.venv
stamp=$venv/.ready

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# 3.14 is left out because the package that carries the model is not made for it.
is_supported() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

find_python() {
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11; do
        if is_supported "$candidate"; then
            command -v "$candidate"
            return
        fi
    done
    fail "Python 3.11, 3.12 or 3.13 is needed and none was found (python3 is $(python3 -V 2>&1 || :)).
Install one, or name it: PYTHON=/path/to/python3 sh $0"
}

has_uv() {
    command -v uv >/dev/null 2>&1
}

create() {
    python=$(find_python)
    rm -rf "$venv"
    if has_uv; then
        uv venv --quiet --no-python-downloads --python "$python" "$venv"
    else
        "$python" -m venv "$venv" ||
            fail "$python can't make virtual environments. On Debian and Ubuntu: apt install python3-venv. Or install uv."
    fi
}

install() {
    if has_uv; then
        uv pip install --quiet --python "$venv/bin/python" "$@"
    else
        "$venv/bin/python" -m pip install -qq --disable-pip-version-check "$@"
    fi
}

# An environment is kept when it has a Python we support and something to install with.
is_usable() {
    is_supported "$venv/bin/python" && { has_uv || "$venv/bin/python" -m pip --version >/dev/null 2>&1; }
}

# The path counts too: an environment that was moved or copied starts the wrong programs.
wanted() {
    { printf '%s\n' "$root" && cat "$root/requirements.lock" "$root/pyproject.toml"; } | cksum
}

prepare() {
    if [ "$(cat "$stamp" 2>/dev/null || :)" = "$(wanted)" ] && is_supported "$venv/bin/python"; then
        return
    fi
    printf 'Setting up %s, which takes a minute the first time ...\n' "$venv" >&2
    is_usable || create
    rm -f "$stamp"
    install --require-hashes -r "$root/requirements.lock"
    # The build backend is in the lock, so nothing is fetched outside of it.
    install --no-deps --no-build-isolation -e "$root"
    wanted >"$stamp"
}

prepare
