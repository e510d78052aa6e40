# cmake -DSOURCE_DIR=... -DNAME=... -DVERSION=... -DDESCRIPTION=... -DFOLDER=... -P write_doxyfile.cmake: writes FOLDER/Doxyfile.
cmake_minimum_required(VERSION 3.25)

# In the order in which the site lists them, after the main page and the operators.
set(main_page ${SOURCE_DIR}/README.md)
set(guides
  operators/README.md
  contexts/README.md
  caffe2_core/compat/README.md
  caffe2_core/c_api/README.md
  tests/embedding/README.md
  binaries/README.md
  SECURITY.md
  CONTRIBUTING.md
  CHANGELOG.md
  tests/README.md
  third_party/README.md
  docs/README.md
  proto/README.md
  caffe2_core/base/README.md
  caffe2_core/device/README.md
  caffe2_core/tensor/README.md
  caffe2_core/io/README.md
  caffe2_core/graph/README.md
  caffe2_core/graph/passes/README.md
  caffe2_core/runtime/README.md
  caffe2_core/import/caffe/README.md
  caffe2_core/export/README.md
  caffe2_core/executors/README.md
  caffe2_core/plan/README.md
  caffe2_core/model/README.md
  caffe2_core/training/README.md
  caffe2_core/inspect/README.md
  contexts/cpu/README.md
  contexts/cuda/README.md
  contexts/onednn/README.md
  contexts/pool/README.md
  contexts/synced/README.md
  operators/elementwise/README.md
  operators/math/README.md
  tests/operators/README.md
  tests/support/README.md
  tests/fake_cuda/README.md)
list(TRANSFORM guides PREPEND ${SOURCE_DIR}/)

# Public headers; those of compat only forward to them.
file(GLOB_RECURSE headers ${SOURCE_DIR}/caffe2_core/*.h ${SOURCE_DIR}/contexts/*.h ${SOURCE_DIR}/operators/*.h)
list(FILTER headers EXCLUDE REGEX "/caffe2_core/compat/")
set(public_headers)
foreach(header IN LISTS headers)
  file(STRINGS ${header} line LIMIT_COUNT 1 REGEX "^(namespace caffe2rt|#pragma GCC visibility)")
  if(line MATCHES "^#pragma")
    list(APPEND public_headers ${header})
  endif()
endforeach()

set(inputs ${main_page} ${FOLDER}/catalogue ${guides} ${public_headers})
list(JOIN inputs "\" \\\n  \"" inputs)
configure_file(${SOURCE_DIR}/docs/Doxyfile.in ${FOLDER}/Doxyfile @ONLY)
