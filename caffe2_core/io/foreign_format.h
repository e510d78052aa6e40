#pragma once
// Recognizes files that no function of this library reads, but that people often give instead of
// one that it does: a Git LFS pointer, a web page, an archive, weights of another framework.

#include <string>
#include <string_view>

namespace caffe2rt {

// Returns a description with its article and, where there is one, a remedy: "a gzip archive; gunzip
// unpacks it". Returns "" for any other content. `beginning` is the first bytes of the file, up to
// 1 KiB of which are read.
std::string ForeignFormat(std::string_view beginning);

}  // namespace caffe2rt
