#include "tests/operators/refusals/refusal.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

template <class T>
void FeedNumbers(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims,
                 const std::vector<std::string>& values) {
  Tensor* const tensor = FeedRange<T>(ws, name, dims);
  for (size_t i = 0; i < values.size(); ++i) {
    T* const element = tensor->mutable_data<T>() + i;
    if constexpr (std::is_same_v<T, int64_t>) {
      ASSERT_TRUE(absl::SimpleAtoi(values[i], element)) << values[i];
    } else {
      double value = 0;
      ASSERT_TRUE(absl::SimpleAtod(values[i], &value)) << values[i];
      *element = static_cast<T>(value);
    }
  }
}

}  // namespace

void FeedInput(Workspace* ws, const std::string& text) {
  const std::vector<std::string> halves = absl::StrSplit(text, " = ");
  const std::vector<std::string> words = absl::StrSplit(absl::StripAsciiWhitespace(halves[0]), ' ');
  ASSERT_EQ(words.size(), 3u) << text;
  std::vector<int64_t> dims;
  if (words[2] != "-") {
    const std::vector<std::string> sizes = absl::StrSplit(words[2], ',');
    for (const std::string& size : sizes)
      ASSERT_TRUE(absl::SimpleAtoi(size, &dims.emplace_back())) << text;
  }
  std::vector<std::string> values;
  if (halves.size() > 1) values = absl::StrSplit(absl::StripAsciiWhitespace(halves[1]), ',');
  switch (words[1][0]) {
    case 'f':
      return FeedNumbers<float>(ws, words[0], dims, values);
    case 'd':
      return FeedNumbers<double>(ws, words[0], dims, values);
    case 'i':
      return FeedNumbers<int32_t>(ws, words[0], dims, values);
    case 'l':
      return FeedNumbers<int64_t>(ws, words[0], dims, values);
    case 'b':
      return FeedNumbers<bool>(ws, words[0], dims, values);
    case 'u':
      return FeedNumbers<uint8_t>(ws, words[0], dims, values);
    case 'c':
      return FeedNumbers<int8_t>(ws, words[0], dims, values);
    case 's':
      Feed<std::string>(ws, words[0], dims, values);
      return;
    default:
      FAIL() << text;
  }
}

void ExpectRefusal(const Refusal& row) {
  SCOPED_TRACE(row.op);
  Workspace ws;
  const std::vector<std::string> inputs = absl::StrSplit(row.inputs, "; ", absl::SkipEmpty());
  for (const std::string& input : inputs) FeedInput(&ws, input);
  ExpectThrows([&] { RunOp(&ws, row.op); }, row.part);
}

}  // namespace caffe2rt::test
