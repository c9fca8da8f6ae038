#!/usr/bin/env bash
# Builds the fuzz targets and runs each for the seconds given, as many at a time as there are cores.
# What a target finds stays in build/fuzz/findings/; a crash joins fuzz/corpus/ with its fix.
set -euo pipefail

seconds=$1
build=build/fuzz

"${CMAKE:-cmake}" -S . -B $build -G Ninja -DCMAKE_MAKE_PROGRAM="${NINJA:-ninja}" \
  --log-level=WARNING -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_BUILD_TYPE=Checked -DPENSTOCK_EXTENSION=OFF -DPENSTOCK_FUZZ=ON >/dev/null
"${CMAKE:-cmake}" --build $build -- --quiet

"${PYTHON:-python3}" fuzz/make_seeds.py $build/seeds >/dev/null

# What the file TARGET.options says to the service that runs the targets, as arguments.
options_of() {
  sed -n -e 's/^max_len = /-max_len=/p' -e 's|^dict = |-dict=fuzz/|p' "fuzz/$1.options"
}

run() {
  local target=$1 log=$build/$1.log
  # New inputs go to the first folder, so the committed corpus stays as it is.
  mkdir -p "$build/corpus/$target" $build/findings
  "${PYTHON:-python3}" -m zipfile -e "$build/seeds/${target}_seed_corpus.zip" \
    "$build/seeds/$target"
  # shellcheck disable=SC2046 # one argument for each word
  if ! "$build/fuzz/$target" $(options_of "$target") -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -verbosity=0 -print_final_stats=1 -artifact_prefix="$build/findings/$target-" \
    "$build/corpus/$target" "$build/seeds/$target" fuzz/corpus >"$log" 2>&1; then
    cat "$log"
    return 1
  fi
  echo "fuzz: $target for $seconds s"
  grep '^stat::' "$log"
}

waiting=()
for source in fuzz/*.cpp; do
  run "fuzz_$(basename "$source" .cpp)" &
  waiting+=($!)
  if [ ${#waiting[@]} -ge "$(nproc)" ]; then
    wait "${waiting[0]}"
    waiting=("${waiting[@]:1}")
  fi
done
for process in "${waiting[@]}"; do wait "$process"; done
