#!/usr/bin/env bash
# Builds the wheel, looks at what is in it, and runs the examples with it instead of the checkout.
set -euo pipefail

python=$1
pip=${PIP:-$python -m pip}
folder=build/wheel

rm -rf $folder/dist $folder/venv
$pip wheel --no-build-isolation --no-deps --wheel-dir $folder/dist \
  --config-settings=build-dir=$folder/build .
wheel=$(echo $folder/dist/penstock-*.whl)
"$python" scripts/check_wheel.py "$wheel"

# The tools and torch come from the checkout's environment. A .pth file read through another one
# is not processed, so the editable install stays out of sight.
"$python" -m venv --without-pip $folder/venv
packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
own_packages=$($folder/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$packages" >"$own_packages/checkout.pth"
cp "$packages/torchvision_beside_cpu_torch.pth" "$own_packages"  # read after the one above
$pip install --no-deps --target "$own_packages" "$wheel"

$folder/venv/bin/python -c "
import pathlib, sys, penstock
found = pathlib.Path(penstock.__file__)
sys.exit(0 if pathlib.Path('$own_packages').resolve() in found.resolve().parents else
         f'expected the wheel\'s penstock, got {found}')"
$folder/venv/bin/python -m pytest tests/test_examples.py
