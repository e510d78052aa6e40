#include "operators/primitives/onednn_pieces.h"

#include <gtest/gtest.h>

#include <vector>

#include "contexts/onednn/onednn_version.h"

namespace caffe2rt::onednn_pieces_test {
namespace {

using Element = dnnl::memory::data_type;

// By definition: the elements before the part times the bytes of an element.
TEST(OnednnPartTest, BeginsAtTheBytesOfItsElements) {
  const struct {
    Element element;
    size_t bytes;
  } kElements[] = {{Element::f32, 4}, {Element::bf16, 2}, {Element::u8, 1}, {Element::s8, 1}};
  for (const auto& [element, bytes] : kElements) {
    const auto last = DescIn(OnednnFormat::kNhwc, {1, 3, 4, 5}, element);
    const auto blocks = DescIn(OnednnFormat::kBlocked16, {1, 48, 4, 5}, element);
    const auto batch = DescIn(OnednnFormat::kBlocked16, {3, 17, 2, 2}, element);
    const OnednnPart rows = RowsOf(last, {1, 3}), pixels = PixelsOf(last, {7, 9});
    const OnednnPart channels = ChannelsOf(blocks, {16, 48}), images = ImagesOf(batch, {2, 3});
    EXPECT_EQ(rows.offset_bytes, 1 * 5 * 3 * bytes);
    EXPECT_EQ(pixels.offset_bytes, 7 * 3 * bytes);
    EXPECT_EQ(channels.offset_bytes, 1 * 4 * 5 * 16 * bytes);
    EXPECT_EQ(images.offset_bytes, 2 * 32 * 2 * 2 * bytes);  // 17 channels lie in two blocks of 16
    for (const OnednnPart& part : {rows, pixels, channels, images}) {
      EXPECT_EQ(DataTypeOf(part.desc), element);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::onednn_pieces_test
