# Sets up a virtual environment for the other scripts. To be sourced; nothing here runs by itself.
#
#   set_up VENV SET [PYTHON]   SET is `runtime` (enough to use memplan) or `dev` (enough to test and check it, too);
#                              PYTHON creates VENV if need be (default: what choose_python finds)
#   choose_python              prints the interpreter that the scripts use
#   newest_python              prints the newest supported interpreter of this machine
#
# Later calls do nothing: a stamp in VENV holds a fingerprint of all inputs.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
MINORS=(11 12 13 14)   # the versions of Python 3 that requirements/*.txt are pinned for

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 1; }

# Prints each usable interpreter as "minor lacks took path": lacks is 1 if Python.h is missing (the kernels need it to compile), 2 or more if it
# cannot make virtual environments; took is the time of a loop.
# Besides the PATH it searches the folder where pyenv keeps installed versions.
list_pythons() {
    local minor name candidate
    for minor in "${MINORS[@]}"; do
        {
            type -aP "python3.$minor" python3 python || true
            if command -v pyenv >/dev/null; then
                for candidate in "$(pyenv root)/versions/3.$minor".*/bin/python; do echo "$candidate"; done
            fi
        } 2>/dev/null | while read -r candidate; do
            "$candidate" - "$minor" 2>/dev/null <<'PYTHON' || true
import importlib.util, os, sys, sysconfig, time
def took():
    begun = time.process_time()
    for i in range(100_000):
        len([i])
    return time.process_time() - begun
if sys.version_info[:2] == (3, int(sys.argv[1])) and sys.implementation.name == "cpython" and sys.prefix == sys.base_prefix:
    header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    lacks = (not os.path.exists(header)) + 2 * (importlib.util.find_spec("ensurepip") is None)
    print(sys.argv[1], lacks, "%.6f" % min(took() for _ in range(5)), sys.executable)
PYTHON
        done
    done | awk '!seen[$4]++'
}

# Takes the first of the best interpreters, unless another is clearly faster: one compiled without optimisations, pyenv's default, takes half as long again
# for pure Python.
fastest() {
    awk 'NR == 1 { minor = $1; lacks = $2 }
         $1 == minor && $2 == lacks && (NR == 1 || 1.2 * $3 < took) { took = $3; found = $0 }
         END { print found }'
}

# The oldest supported version, so that the code works with all versions; one with headers if there is one.
choose_python() {
    if [ -n "${MEMPLAN_PYTHON:-}" ]; then
        command -v "$MEMPLAN_PYTHON" || die "MEMPLAN_PYTHON=$MEMPLAN_PYTHON is no program"
        return
    fi
    local found
    found=$(list_pythons | sort -s -k2,2n -k1,1n | fastest)
    [ -n "$found" ] || die "no Python 3.${MINORS[0]} to 3.${MINORS[-1]} found. Debian, Ubuntu: apt-get install python3 python3-venv (or set MEMPLAN_PYTHON)"
    echo "${found#* * * }"
}

newest_python() {
    local found
    found=$(list_pythons | sort -s -k1,1nr -k2,2n | fastest)
    echo "${found#* * * }"
}

fingerprint() { "$1" "$ROOT/scripts/steps/fingerprint.py" "${@:2}"; }

set_up() {
    local venv=$1 set=$2 python=${3:-} files=() arguments=() file
    case $set in
        runtime) files=(runtime.txt build.txt) ;;
        dev) files=(dev.txt) ;;
        *) die "no set of requirements is called $set" ;;
    esac

    # A virtual environment contains absolute paths, so one that was moved or copied is made again, and so is a broken one.
    if [ "$(cat "$venv/memplan-root" 2>/dev/null)" != "$ROOT" ] || ! "$venv/bin/python" -c '' 2>/dev/null; then
        [ -n "$python" ] || python=$(choose_python)
        "$python" -c 'import ensurepip, venv' 2>/dev/null ||
            die "$python has no venv module. Debian, Ubuntu: apt-get install python3-venv"
        say "Creating ${venv#"$ROOT"/} with $("$python" --version)"
        rm -rf "$venv"
        "$python" -m venv "$venv" || die "$python cannot create a virtual environment. Debian, Ubuntu: apt-get install python3-venv"
        echo "$ROOT" >"$venv/memplan-root"
    fi
    python=$venv/bin/python

    # `dev` contains `runtime`, so it serves both.
    local stamp wanted
    stamp=$venv/memplan-requirements-$set
    wanted=$(fingerprint "$python" "${files[@]/#/requirements/}")
    if [ "$set" = runtime ] && [ "$(cat "$venv/memplan-requirements-dev" 2>/dev/null)" = "$(fingerprint "$python" requirements/dev.txt)" ]; then
        :
    elif [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        say "Installing the pinned requirements (${files[*]})"
        rm -f "$venv"/memplan-requirements-* "$venv/memplan-project"
        for file in "${files[@]}"; do arguments+=(-r "$ROOT/requirements/$file"); done
        pip_install "$python" --require-hashes --only-binary :all: "${arguments[@]}"
        echo "$wanted" >"$stamp"
    fi

    # Python files are used in place by an installation: only changes of compiled, declared or moved files need a new one.
    stamp=$venv/memplan-project
    wanted=$(fingerprint "$python" --compiler pyproject.toml CMakeLists.txt 'solvers/**/*.cpp' 'solvers/**/*.hpp' --packages api memplan planner solvers)
    if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
        say "Installing memplan, compiling its kernels"
        rm -f "$stamp"
        PATH="$venv/bin:$PATH" pip_install "$python" --no-deps --no-build-isolation --no-index --editable "$ROOT"
        # If Python writes no bytecode, every start would compile all of it again.
        (cd "$ROOT" && "$python" -m compileall -q -x '^api/site/' api memplan planner solvers)
        "$python" -c 'from solvers.kernels.selection import active; s = active(); s.reason and print("Kernels: the reference in Python;", s.reason)' >&2
        echo "$wanted" >"$stamp"
    fi
}

# Quiet unless pip fails; then its output is shown. Compiled files are kept in .compiled, for other environments and the tests.
# In CI Python compiles what it imports, and not all of the 8 400 files of an environment, which takes 17 s.
pip_install() {
    local python=$1 log status=0 lazily=()
    shift
    if [ "${CI:-}" = true ]; then lazily=(--no-compile); fi
    log=$(mktemp)
    CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER:-$python;$ROOT/scripts/steps/compile_once.py} MEMPLAN_COMPILED=${MEMPLAN_COMPILED:-$ROOT/.compiled} \
        PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip install --no-input ${lazily[@]+"${lazily[@]}"} "$@" >"$log" 2>&1 || status=$?
    [ "$status" = 0 ] || { cat "$log" >&2; }
    rm -f "$log"
    [ "$status" = 0 ] || die "pip install failed (above is what it said)"
}
