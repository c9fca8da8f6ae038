#!/bin/bash -eu
# Builds all fuzz targets into $OUT, with the compiler, flags and engine that OSS-Fuzz gives:
# $CC $CXX $CFLAGS $CXXFLAGS $LIB_FUZZING_ENGINE $OUT $WORK, and the checkout in $SRC/penstock.
# scripts/oss_fuzz_build.sh gives the same on any machine that has clang.
cd "$SRC/penstock"

# The targets run in another image, which has no libjpeg: it is linked into them.
static() { "$CXX" -print-file-name="$1"; }

cmake -S . -B "$WORK/penstock" -DCMAKE_BUILD_TYPE=Checked -DPENSTOCK_EXTENSION=OFF \
  -DPENSTOCK_FUZZ=ON -DPENSTOCK_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
  -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
  -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
  -DJPEG_LIBRARY_RELEASE="$(static libjpeg.a)" -DZLIB_LIBRARY_RELEASE="$(static libz.a)"
cmake --build "$WORK/penstock" --parallel "$(nproc)"

cp "$WORK"/penstock/fuzz/fuzz_* "$OUT/"
cp fuzz/*.options fuzz/*.dict "$OUT/"
python3 fuzz/make_seeds.py "$OUT"
