#pragma once
// libzip through a table of functions, which is filled on first use: the library and what it needs
// (libcrypto among them) take as long to load as a fifth of a packed model, and few processes read
// an archive.
//
//   Zip().close(archive);
//
// Members have the names of the functions, without the prefix. To add a function, add its name to
// the list. Thread safe.

#include <zip.h>

namespace caffe2rt::internal {

// clang-format off
#define CAFFE2RT_ZIP_FUNCTIONS(X) \
  X(close) X(discard) X(error_code_zip) X(error_fini) X(error_init) X(error_set) X(error_strerror) \
  X(error_to_data) X(fclose) X(file_add) X(file_get_error) X(file_set_dostime) X(fopen_index) \
  X(fread) X(get_error) X(get_num_entries) X(open_from_source) X(set_file_compression) \
  X(source_buffer_create) X(source_buffer_fragment) X(source_close) X(source_error) \
  X(source_filep_create) X(source_free) X(source_function_create) \
  X(source_make_command_bitmap) X(source_open) X(source_read) X(source_seek) \
  X(source_seek_compute_offset) X(source_stat) X(stat_index) X(stat_init)
// clang-format on

struct ZipFunctions {
#define CAFFE2RT_MEMBER(name) decltype(&zip_##name) name = nullptr;
  CAFFE2RT_ZIP_FUNCTIONS(CAFFE2RT_MEMBER)
#undef CAFFE2RT_MEMBER
};

// THROWS if the library cannot be opened.
const ZipFunctions& Zip();

}  // namespace caffe2rt::internal
