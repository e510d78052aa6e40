#pragma once
// Names in files may hold any bytes; what writes text of a fixed encoding asks here.

#include <cstddef>
#include <string_view>

namespace caffe2rt {

// Bytes of the UTF-8 character at `at`, 0 when there is none (RFC 3629: no form that is too long,
// no half of a UTF-16 pair). REQUIRES: at < text.size().
size_t Utf8CharacterSize(std::string_view text, size_t at);

}  // namespace caffe2rt
