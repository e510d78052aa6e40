#pragma once
// A dataset for tests: four records with a list and a number each.
//
//   l = [1, 2, 0, 3]   "a:lengths"
//   v = [0 .. 6)       "a:values"
//   b = [1, 2, 3, 4]   "b"

#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::test {

inline constexpr char kListFields[] =
    " arg { name: 'fields' strings: 'a:lengths' strings: 'a:values' strings: 'b' }";

inline void FeedLists(Workspace* ws) {
  Feed<int32_t>(ws, "l", {4}, {1, 2, 0, 3});
  FeedRange<float>(ws, "v", {6});
  Feed<int64_t>(ws, "b", {4}, {1, 2, 3, 4});
}

// The argument "fields".
inline std::string FieldsArgument(const std::vector<std::string>& names) {
  std::string text = " arg { name: 'fields'";
  for (const std::string& name : names) text += " strings: '" + name + "'";
  return text + " }";
}

// Creates the cursor "cursor".
inline void CreateCursor(Workspace* ws, const std::vector<std::string>& names) {
  RunOp(ws, "type: 'CreateTreeCursor' output: 'cursor'" + FieldsArgument(names));
}
inline void CreateListCursor(Workspace* ws) { CreateCursor(ws, {"a:lengths", "a:values", "b"}); }

}  // namespace caffe2rt::test
