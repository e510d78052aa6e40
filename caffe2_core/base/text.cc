#include "caffe2_core/base/text.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_format.h>

namespace caffe2rt {

std::string FixedText(double value, int digits) { return absl::StrFormat("%.*f", digits, value); }

std::string ShortText(double value) { return absl::StrFormat("%g", value); }

bool IsAsciiWord(char c) { return absl::ascii_isalnum(c) || c == '_'; }

}  // namespace caffe2rt
