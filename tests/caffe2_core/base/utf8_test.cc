#include "caffe2_core/base/utf8.h"

#include <gtest/gtest.h>

namespace caffe2rt {
namespace {

TEST(Utf8Test, MeasuresCharacters) {
  EXPECT_EQ(Utf8CharacterSize("a", 0), 1u);
  EXPECT_EQ(Utf8CharacterSize("x\xc3\xa9", 1), 2u);
  EXPECT_EQ(Utf8CharacterSize("\xe2\x82\xac", 0), 3u);
  EXPECT_EQ(Utf8CharacterSize("\xf0\x9f\x98\x80", 0), 4u);
}

TEST(Utf8Test, RefusesWhatIsNoCharacter) {
  for (const char* bytes : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                            "\xf4\x90\x80\x80", "\xff", "\xe2\x82"}) {
    EXPECT_EQ(Utf8CharacterSize(bytes, 0), 0u) << testing::PrintToString(std::string(bytes));
  }
}

}  // namespace
}  // namespace caffe2rt
