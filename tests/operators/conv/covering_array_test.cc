#include "tests/operators/conv/covering_array.h"

#include <gtest/gtest.h>

namespace caffe2rt::test::covering_array_test {
namespace {

TEST(CoveringArrayTest, HasEachCombination) {
  const std::vector<size_t> levels = {2, 3, 4, 2};
  for (const size_t strength : {1u, 2u, 3u}) {
    std::set<std::vector<size_t>> found;
    const std::vector<std::vector<size_t>> rows = CoveringArray(levels, strength);
    for (const std::vector<size_t>& row : rows) {
      for (size_t chosen = 0; chosen < 16; ++chosen) {  // bit f: factor f is chosen
        std::vector<size_t> key = {chosen};
        for (size_t f = 0; f < levels.size(); ++f) {
          if (chosen >> f & 1) key.push_back(row[f]);
        }
        if (key.size() == strength + 1) found.insert(key);
      }
    }
    // 2+3+4+2; 6+8+4+12+6+8; 24+12+16+24
    const size_t want[] = {11, 44, 76};
    EXPECT_EQ(found.size(), want[strength - 1]);
    const size_t most[] = {4, 14, 30};
    EXPECT_LE(rows.size(), most[strength - 1]);
  }
}

}  // namespace
}  // namespace caffe2rt::test::covering_array_test
