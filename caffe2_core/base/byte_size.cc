#include "caffe2_core/base/byte_size.h"

#include <absl/strings/str_cat.h>

#include "caffe2_core/base/text.h"

namespace caffe2rt {

std::string ByteSizeText(uint64_t bytes) {
  if (bytes < 1024) return CountText(bytes, "byte");
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  int shift = 10;
  // 1023.95 and more of a unit would be printed as 1024.0.
  const auto number = [&] {
    return static_cast<double>(bytes) / static_cast<double>(1ULL << shift);
  };
  for (; unit + 1 < std::size(kUnits) && number() >= 1023.95; ++unit) shift += 10;
  const bool is_exact = bytes % (uint64_t{1} << shift) == 0;
  return absl::StrCat(FixedText(number(), is_exact ? 0 : 1), " ", kUnits[unit]);
}

}  // namespace caffe2rt
