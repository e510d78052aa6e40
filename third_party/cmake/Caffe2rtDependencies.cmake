# Everything the build needs from outside; third_party/README.md says why, and who may include it.
# The exported package (caffe2rtConfig.cmake) includes this file too.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(Onednn REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(Leveldb REQUIRED)
find_package(Lmdb REQUIRED)
find_package(absl REQUIRED)
find_package(Libzip REQUIRED)
find_package(Numa REQUIRED)
