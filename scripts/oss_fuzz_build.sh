#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz would, without its images, and runs each on its seeds once.
#
#   scripts/oss_fuzz_build.sh [SANITIZER]     address (default) or undefined
set -euo pipefail
cd "$(dirname "$0")/.."

sanitizer=${1:-address}
folder=$PWD/build/oss-fuzz-$sanitizer
mkdir -p "$folder"/{src,work,out}
ln -sfn "$PWD" "$folder/src/penstock"

flags="-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=fuzzer-no-link"
case $sanitizer in
  address) flags+=" -fsanitize=address" ;;
  undefined) flags+=" -fsanitize=undefined -fno-sanitize-recover=undefined" ;;
  *)
    echo "oss_fuzz_build.sh: unknown sanitizer '$sanitizer'; say address or undefined." >&2
    exit 2
    ;;
esac

export CC=clang CXX=clang++ CFLAGS="$flags" CXXFLAGS="$flags" LIB_FUZZING_ENGINE=-fsanitize=fuzzer
export SRC=$folder/src WORK=$folder/work OUT=$folder/out
bash fuzz/oss-fuzz/build.sh >"$folder/build.log" 2>&1 || { tail -n 30 "$folder/build.log"; exit 1; }

for source in fuzz/*.cpp; do
  target=fuzz_$(basename "$source" .cpp)
  for wanted in "$target" "${target}_seed_corpus.zip" "$target.options"; do
    [ -e "$OUT/$wanted" ] || { echo "oss-fuzz: $OUT has no $wanted." >&2; exit 1; }
  done
  seeds=$folder/seeds/$target
  rm -rf "$seeds" && mkdir -p "$seeds"
  python3 -m zipfile -e "$OUT/${target}_seed_corpus.zip" "$seeds"
  "$OUT/$target" -runs=0 -artifact_prefix="$folder/" "$seeds" >"$folder/$target.log" 2>&1 ||
    { tail -n 30 "$folder/$target.log"; exit 1; }
  echo "oss-fuzz: $target ($sanitizer): $(find "$seeds" -type f | wc -l) seeds," \
    "$(grep -o 'cov: [0-9]*' "$folder/$target.log" | tail -n 1)"
done
