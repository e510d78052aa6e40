#include "contexts/onednn/onednn_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test::onednn_version_test {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

constexpr auto kFloat = memory::data_type::f32;

std::string NameOf(const memory::desc& desc) { return OnednnLayoutName(desc).value_or("none"); }

TEST(OnednnVersionTest, IsThatOfTheLibrary) {
  const dnnl_version_t* const version = dnnl_version();
  EXPECT_EQ(OnednnVersion(), MakeString(version->major, ".", version->minor, ".", version->patch));
}

TEST(OnednnBlockingTest, HasTheSizesOfPaddingAndBlocks) {
  const memory::desc desc({2, 20, 3, 5}, kFloat, Tag::nChw16c);
  const std::optional<OnednnBlocking> blocking = BlockingOf(desc);
  ASSERT_TRUE(blocking.has_value());
  EXPECT_EQ(blocking->dims, (memory::dims{2, 20, 3, 5}));
  EXPECT_EQ(blocking->padded_dims, (memory::dims{2, 32, 3, 5}));
  EXPECT_EQ(blocking->strides, (memory::dims{480, 240, 80, 16}));
  EXPECT_EQ(blocking->inner_blocks, (memory::dims{16}));
  EXPECT_EQ(blocking->inner_axes, (memory::dims{1}));
  EXPECT_EQ(blocking->InnerSize(0), 1);
  EXPECT_EQ(blocking->InnerSize(1), 16);
  EXPECT_EQ(blocking->offset, 0);
}

TEST(OnednnBlockingTest, HasTheOffsetOfAPart) {
  const memory::desc desc({2, 4}, kFloat, Tag::ab);
  EXPECT_EQ(BlockingOf(desc.submemory_desc({1, 2}, {1, 2}))->offset, 6);
}

TEST(OnednnBlockingTest, IsEmptyIfTheLayoutIsNotChosen) {
  EXPECT_FALSE(BlockingOf(memory::desc({2, 4}, kFloat, Tag::any)).has_value());
  EXPECT_FALSE(OnednnLayoutName(memory::desc({2, 4}, kFloat, Tag::any)).has_value());
}

TEST(OnednnLayoutNameTest, IsReadable) {
  EXPECT_EQ(NameOf(memory::desc({8, 3, 5}, kFloat, Tag::abc)), "f32 8x3x5 strides 15x5x1");
  EXPECT_EQ(NameOf(memory::desc({8, 20, 3, 3}, kFloat, Tag::OIhw16i16o)),
            "f32 8x20x3x3 strides 0x2304x768x256 padded 16x32x3x3 blocks 16b16a");
}

TEST(OnednnLayoutNameTest, DiffersForEveryLayout) {
  const memory::dims dims{32, 48, 3, 3};
  std::set<std::string> names;
  size_t count = 0;
  for (const Tag tag : {Tag::oihw, Tag::ohwi, Tag::hwio, Tag::OIhw16i16o, Tag::OIhw16o16i,
                        Tag::OIhw8i8o, Tag::Oihw16o, Tag::Ohwi16o, Tag::OIhw4i16o4i}) {
    names.insert(NameOf(memory::desc(dims, kFloat, tag)));
    ++count;
  }
  const std::pair<memory::dims, Tag> others[] = {{{48, 32, 3, 3}, Tag::abcd},
                                                 {{31, 48, 3, 3}, Tag::abcd},
                                                 {{32, 48, 9}, Tag::abc},
                                                 {{1, 32, 48, 3, 3}, Tag::abcde}};
  for (const auto& [sizes, tag] : others) {
    names.insert(NameOf(memory::desc(sizes, kFloat, tag)));
    ++count;
  }
  const memory::desc wide({32, 96, 3, 3}, kFloat, Tag::oihw);
  for (const memory::desc& desc :
       {memory::desc(dims, memory::data_type::s32, Tag::oihw), wide,
        wide.submemory_desc(dims, {0, 0, 0, 0}), wide.submemory_desc(dims, {0, 48, 0, 0})}) {
    names.insert(NameOf(desc));
    ++count;
  }
  EXPECT_EQ(names.size(), count) << testing::PrintToString(names);
  EXPECT_EQ(names.count("none"), 0u);
}

TEST(OnednnLayoutNameTest, IsTheSameForTheSameLayout) {
  const memory::desc by_tag({32, 48, 3, 3}, kFloat, Tag::ohwi);
  const memory::desc by_strides({32, 48, 3, 3}, kFloat, memory::dims{432, 1, 144, 48});
  EXPECT_EQ(NameOf(by_tag), NameOf(by_strides));
  // The distance of a single row is not part of the layout.
  const memory::desc near({1, 48}, kFloat, memory::dims{48, 1});
  const memory::desc far({1, 48}, kFloat, memory::dims{1000, 1});
  EXPECT_EQ(NameOf(near), NameOf(far));
}

TEST(OnednnLayoutNameTest, HasTheTypeOfTheElements) {
  std::vector<std::pair<memory::data_type, std::string>> types = {
      {memory::data_type::f32, "f32"},
      {memory::data_type::s32, "s32"},
      {memory::data_type::u8, "u8"},
      {memory::data_type::bf16, "bf16"}};
  // oneDNN 3 does not show whether signed bytes have sums beside them.
  if (kOnednnHoldsScales) types.emplace_back(memory::data_type::s8, "s8");
  for (const auto& [type, name] : types) {
    EXPECT_EQ(NameOf(memory::desc({4, 3}, type, Tag::ab)), name + " 4x3 strides 3x1");
    EXPECT_EQ(NameOf(memory::desc({32, 48, 3, 3}, type, Tag::OIhw16i16o)),
              name + " 32x48x3x3 strides 6912x2304x768x256 blocks 16b16a");
    const memory::desc wide({2, 4}, type, Tag::ab);
    EXPECT_EQ(NameOf(wide.submemory_desc({2, 2}, {0, 1})), name + " 2x2 strides 4x1 offset 1");
  }
  EXPECT_EQ(NameOf(memory::desc({4, 3}, memory::data_type::f16, Tag::ab)), "none");
}

}  // namespace
}  // namespace caffe2rt::test::onednn_version_test
