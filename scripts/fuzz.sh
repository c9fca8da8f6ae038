#!/usr/bin/env bash
# Builds the fuzz targets and runs each for its share of the seconds given.
# What a target finds stays in build/fuzz/findings/; a crash joins fuzz/corpus/ with its fix.
set -euo pipefail

seconds=$1
build=build/fuzz

"${CMAKE:-cmake}" -S . -B $build -G Ninja -DCMAKE_MAKE_PROGRAM="${NINJA:-ninja}" \
  --log-level=WARNING -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_BUILD_TYPE=Checked -DPENSTOCK_EXTENSION=OFF -DPENSTOCK_FUZZ=ON >/dev/null
"${CMAKE:-cmake}" --build $build -- --quiet

sources=(fuzz/*.cpp)
share=$((seconds / ${#sources[@]}))
for source in "${sources[@]}"; do
  target=fuzz_$(basename "$source" .cpp)
  echo "fuzz: $target for $share s"
  # New inputs go to the first folder, so the committed corpus stays as it is.
  mkdir -p "$build/corpus/$target" $build/findings
  log=$build/$target.log
  if ! "$build/fuzz/$target" -max_total_time="$share" -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$build/findings/$target-" \
    "$build/corpus/$target" fuzz/corpus >$log 2>&1; then
    cat $log
    exit 1
  fi
  grep '^stat::' $log
done
