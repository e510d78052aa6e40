#!/usr/bin/env bash
# Installs what is missing on Debian 12, builds, and runs.
#
#   ./setup.sh          install what is missing, nothing else
#   ./setup.sh demo     ... build bin/caffe2 and classify the demo's images
#   ./setup.sh test     ... build everything and pass the tests
#
# Prints what it will install first, skips what is installed, and needs root (or sudo) only if something is missing.
set -euo pipefail
cd "$(dirname "$0")"

build_packages=(g++ cmake ninja-build pkg-config protobuf-compiler libprotobuf-dev libdnnl-dev libleveldb-dev
                liblmdb-dev libjpeg-dev libpng-dev libabsl-dev libcli11-dev nlohmann-json3-dev libzip-dev libnuma-dev)
# The tests compile sources in Caffe2's style, which use Eigen; the trees of the sanitizers are built by clang; drawings of nets
# are laid out by graphviz.
test_packages=(zlib1g-dev libgtest-dev libgmock-dev libbenchmark-dev libeigen3-dev clang libclang-rt-dev lld graphviz)

missing_of() {
  local package
  for package in "$@"; do
    if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'; then
      echo "$package"
    fi
  done
}

install_missing() {
  local missing
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

case "${1:-}" in
  "")
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    ;;
  demo)
    install_missing "${build_packages[@]}"
    cmake --preset release -DCAFFE2RT_BUILD_TESTS=OFF
    cmake --build --preset release --target caffe2
    demo=binaries/demo/stripes
    set -x
    build/release/bin/caffe2 run --init-net $demo/init_net.pb --predict-net $demo/predict_net.pb \
      --image $demo/images --labels $demo/labels.txt --top 1
    ;;
  test)
    install_missing "${build_packages[@]}" "${test_packages[@]}"
    cmake --preset release -DCAFFE2RT_BUILD_TESTS=ON
    cmake --build --preset release
    ctest --preset release
    ;;
  *)
    echo "usage: ./setup.sh [demo|test]" >&2
    exit 2
    ;;
esac
