# The dependencies of the library, each as the name of a CMake package and of the Debian package that contains it.
# third_party/README.md states the purpose of each, and who may include it.
#
# Public: the library's headers include their headers. Private: what a program links if the library is static. The installed
# package (caffe2rtConfig.cmake) looks for the public ones, and for the private ones if it contains a static library.
set(CAFFE2RT_PUBLIC_DEPENDENCIES Threads:libc6-dev Protobuf:libprotobuf-dev absl:libabsl-dev)
set(CAFFE2RT_PRIVATE_DEPENDENCIES
  Onednn:libdnnl-dev JPEG:libjpeg-dev PNG:libpng-dev Leveldb:libleveldb-dev Lmdb:liblmdb-dev
  Libzip:libzip-dev Numa:libnuma-dev)
set(THREADS_PREFER_PTHREAD_FLAG ON)
