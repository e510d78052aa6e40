#pragma once
// Rules about public headers, which are installed and whose symbols the shared libraries export.
//
// A header of the library is public if `#pragma GCC visibility push(default)` stands before its
// `namespace caffe2rt`, or if it does not open this namespace. third_party/cmake/InstallHeaders.cmake
// follows the same rule.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

bool IsPublicHeader(const SourceFile& file);

// Public headers that include internal ones, and headers whose `push` and `pop` do not enclose
// their namespace.
Violations CheckPublicHeaders(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
