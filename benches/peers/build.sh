#!/usr/bin/env bash
# Compiles the peers' programs against the libraries of a Python environment.
#
# usage: build.sh VENV OUT
#
# CXX chooses the compiler. clang is the default: it makes Pinocchio up to twice as fast as g++ 12
# does, and Rust and clang share a back end.
set -euo pipefail

if [[ $# -ne 2 ]]; then
  echo "usage: build.sh VENV OUT" >&2
  exit 2
fi
venv=$(realpath "$1")
out=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$out"

site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
prefix=$site/cmeel.prefix
idyntree=$site/idyntree
# The wheels ship no Eigen: this is where Debian's libeigen3-dev puts it.
eigen=${EIGEN_INCLUDE_DIR:-/usr/include/eigen3}
compile=("${CXX:-clang++}" -std=c++17 -O3 -march=native -DNDEBUG -w)

# Definitions as in Pinocchio's CMake target. No Pinocchio library is linked: all its code is
# compiled here, for this processor.
echo "building pinocchio (some minutes)"
"${compile[@]}" \
  -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30 \
  -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS -DBOOST_FUSION_INVOKE_MAX_ARITY=12 \
  -isystem "$prefix/include" -isystem "$prefix/include/pinocchio/deprecated" -isystem "$eigen" \
  "$here/pinocchio.cpp" -o "$out/pinocchio" \
  -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lboost_serialization

# iDynTree's algorithms come compiled in the wheel's static libraries.
echo "building idyntree"
"${compile[@]}" \
  -isystem "$idyntree/include" -isystem "$idyntree/include/iDynTree" \
  "$here/idyntree.cpp" -o "$out/idyntree" \
  -L"$idyntree/lib" -lidyntree-high-level -lidyntree-modelio -lidyntree-modelio-xml \
  -lidyntree-model -lidyntree-core \
  "$site"/idyntree.libs/*.so* -Wl,--disable-new-dtags,-rpath,"$site/idyntree.libs"
