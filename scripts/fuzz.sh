#!/usr/bin/env bash
# Builds the fuzz targets and runs each for its share of the seconds given.
# What a target finds stays in build/fuzz/findings/; a crash joins fuzz/corpus/<target>/ with its fix.
set -euo pipefail

seconds=$1
build=build/fuzz

"${CMAKE:-cmake}" -S . -B $build -G Ninja -DCMAKE_MAKE_PROGRAM="${NINJA:-ninja}" \
  --log-level=WARNING -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_BUILD_TYPE=Checked -DPENSTOCK_EXTENSION=OFF -DPENSTOCK_FUZZ=ON \
  -DPENSTOCK_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
"${CMAKE:-cmake}" --build $build -- --quiet

targets=()
for source in fuzz/*.cpp; do
  target=$(basename "$source" .cpp)
  [ -x "$build/fuzz/$target" ] && targets+=("$target")
done
if [ ${#targets[@]} -eq 0 ]; then
  echo "fuzz: no target was built from fuzz/*.cpp." >&2
  exit 1
fi

share=$((seconds / ${#targets[@]}))
for target in "${targets[@]}"; do
  echo "fuzz: $target for $share s"
  # New inputs go to the first folder, so the committed corpus stays as it is.
  corpora=("$build/corpus/$target")
  [ -d "fuzz/corpus/$target" ] && corpora+=("fuzz/corpus/$target")
  mkdir -p "$build/corpus/$target" $build/findings
  "$build/fuzz/$target" -max_total_time="$share" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$build/findings/$target-" \
    "${corpora[@]}"
done
