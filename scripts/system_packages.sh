#!/usr/bin/env bash
# Makes sure the compiler, headers and tools that pip cannot give are there.
#
#   scripts/system_packages.sh build    what `make setup` needs
#   scripts/system_packages.sh fuzz     what `make fuzz` needs on top
#   scripts/system_packages.sh guard    what `make guard` counts instructions with
#   scripts/system_packages.sh browser  what the tests of HTML reports look at them with
#   scripts/system_packages.sh cache    what `.ci/run` compiles each file only once with
#   scripts/system_packages.sh bench    what FFCV and pillow-simd are compiled with
#
# Missing Debian packages are installed where that needs no password; otherwise the error names
# them and the command that installs them. PYTHON names the interpreter to check (python3).
set -euo pipefail

python=${PYTHON:-python3}

has_compiler() { command -v g++ >/dev/null; }
has_jpeg_headers() { printf '#include <cstdio>\n#include <jpeglib.h>\n' | g++ -E -x c++ - >/dev/null 2>&1; }
has_zlib_headers() { printf '#include <zlib.h>\n' | g++ -E -x c++ - >/dev/null 2>&1; }
has_python() { command -v "$python" >/dev/null; }
has_venv() { "$python" -c 'import ensurepip, venv' 2>/dev/null; }
has_python_headers() {
  "$python" -c 'import os, sysconfig as s; open(os.path.join(s.get_path("include"), "Python.h"))' \
    2>/dev/null
}
has_fuzzer() {
  local program
  program=$(mktemp)
  printf 'extern "C" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }\n' |
    clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$program" 2>/dev/null
  local found=$?
  rm -f "$program"
  return $found
}

has_counter() {
  command -v valgrind >/dev/null && printf '#include <valgrind/callgrind.h>\n' | g++ -E -x c++ - >/dev/null 2>&1
}

has_browser() { command -v chromium >/dev/null; }
has_browser_driver() { command -v chromedriver >/dev/null; }

has_library() { command -v pkg-config >/dev/null && pkg-config --exists "$1"; }

# Prints the Debian packages that the purpose still needs.
missing_packages() {
  case $1 in
    build)
      has_compiler || echo g++
      { has_compiler && has_jpeg_headers; } || echo libjpeg62-turbo-dev
      { has_compiler && has_zlib_headers; } || echo zlib1g-dev
      has_python || echo python3
      has_venv || echo python3-venv
      has_python_headers || echo python3-dev
      ;;
    fuzz)
      has_fuzzer || echo clang libclang-rt-14-dev
      ;;
    guard)
      has_counter || echo valgrind
      ;;
    browser)
      has_browser || echo chromium
      has_browser_driver || echo chromium-driver
      ;;
    cache)
      command -v ccache >/dev/null || echo ccache
      ;;
    bench)
      command -v pkg-config >/dev/null || echo pkg-config
      has_library libturbojpeg || echo libturbojpeg0-dev
      has_library opencv4 || echo libopencv-dev
      ;;
    *)
      echo "system_packages.sh: unknown purpose '$1'; say build, fuzz, guard, browser, cache or bench." >&2
      exit 2
      ;;
  esac
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo -n "$@"
  fi
}

install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null || return 1
  echo "setup: installing $* with apt-get"
  # The package lists may be old or absent, so a failed install is tried once more with new ones.
  local get=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  local log
  log=$(mktemp)
  if as_root "${get[@]}" install -y --no-install-recommends "$@" >"$log" 2>&1 ||
    { as_root "${get[@]}" update && as_root "${get[@]}" install -y --no-install-recommends "$@"; } \
      >"$log" 2>&1; then
    rm -f "$log"
    return 0
  fi
  tail -n 5 "$log" >&2
  rm -f "$log"
  return 1
}

purpose=${1:-build}
if has_python && ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
  echo "penstock: needs Python 3.10 or newer, but $python is $("$python" -V 2>&1)." >&2
  echo "Name another with: make setup PYTHON=/path/to/python3" >&2
  exit 1
fi

missing=$(missing_packages "$purpose")
[ -n "$missing" ] || exit 0

# shellcheck disable=SC2086 # the list is meant to split into words
install $missing || true

missing=$(missing_packages "$purpose")
if [ -n "$missing" ]; then
  missing=$(echo $missing)
  echo "penstock: not ready for $purpose: these Debian packages are missing: $missing." >&2
  echo "Install them with: sudo apt-get install $missing" >&2
  exit 1
fi
