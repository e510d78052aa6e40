// Copies of channel ranges between images in nhwc and nChw16c: every kind of range, the padding of the last block, and
// which ranges are parts of the memory as they are.
#include "operators/shape/channel_copies.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::channel_copies_test {
namespace {

ChannelPlanes PlanesOf(int64_t batch, int64_t channels, bool blocked) {
  return {.batch = batch, .channels = channels, .height = 2, .width = 3, .blocked = blocked};
}

// A range of one image in blocks, which begins with a block and ends with one or with the image. A block of all
// pixels has 6 * 16 floats.
TEST(DensePartsTest, BeginAndEndWithBlocks) {
  struct DenseRow {
    int64_t batch, channels, first, count, offset;
  };
  const DenseRow rows[] = {
      {1, 40, 0, 16, 0},   {1, 40, 16, 16, 96},  {1, 40, 0, 32, 0},   {1, 40, 32, 8, 192},
      {1, 40, 16, 24, 96}, {1, 40, 0, 40, 0},    {1, 40, 0, 8, -1},   {1, 40, 0, 24, -1},
      {1, 40, 16, 8, -1},  {1, 40, 16, 23, -1},  {1, 40, 8, 16, -1},  {1, 40, 8, 32, -1},
      {1, 40, 39, 1, -1},  {1, 48, 32, 16, 192}, {1, 48, 32, 15, -1}, {1, 5, 0, 5, 0},
      {1, 5, 0, 4, -1},    {2, 40, 0, 16, -1},   {2, 40, 0, 40, -1},  {2, 32, 16, 16, -1},
  };
  for (const DenseRow& row : rows) {
    const ChannelRange range{row.first, row.count};
    EXPECT_EQ(OffsetOfDensePart(PlanesOf(row.batch, row.channels, true), range), row.offset)
        << row.batch << " " << row.channels << " " << row.first << " " << row.count;
    EXPECT_EQ(OffsetOfDensePart(PlanesOf(row.batch, row.channels, false), range), -1);
  }
}

struct Pieces {
  std::vector<int64_t> channels;
};

// The number of image n, channel c and pixel p.
float NumberAt(int64_t n, int64_t c, int64_t p) {
  return static_cast<float>(1000 * n + 10 * c + p + 1);
}
// Channels [first, first + count) of the image with these numbers.
std::vector<float> NumbersOf(const ChannelPlanes& planes, int64_t first) {
  std::vector<float> x;
  for (int64_t n = 0; n < planes.batch; ++n) {
    for (int64_t c = 0; c < planes.channels; ++c) {
      for (int64_t p = 0; p < planes.pixels(); ++p) x.push_back(NumberAt(n, first + c, p));
    }
  }
  return test::ToPlanes(planes, x);
}

const Pieces kPieces[] = {{{16, 16, 8}}, {{40}},     {{8, 16, 16}}, {{24, 16}},    {{5, 3, 32}},
                          {{32, 8}},     {{39, 1}},  {{16, 24}},    {{1, 15, 24}}, {{7, 0, 9, 24}},
                          {{20, 12, 8}}, {{32, 16}}, {{3}},         {{17, 17}},    {{16, 5, 27}}};

TEST(ChannelCopiesTest, JoinAndSplitEveryKindOfRange) {
  for (const bool blocked : {false, true}) {
    for (const int64_t batch : {1, 2}) {
      for (const Pieces& pieces : kPieces) {
        SCOPED_TRACE(testing::Message()
                     << blocked << " " << batch << " " << testing::PrintToString(pieces.channels));
        int64_t all = 0;
        for (const int64_t channels : pieces.channels) all += channels;
        const ChannelPlanes whole = PlanesOf(batch, all, blocked);
        const std::vector<float> want = NumbersOf(whole, 0);
        // The numbers that are not written show.
        std::vector<float> joined(want.size(), -7.0f);
        int64_t first = 0;
        for (const int64_t channels : pieces.channels) {
          const ChannelPlanes part = PlanesOf(batch, channels, blocked);
          const std::vector<float> piece = NumbersOf(part, first);
          CopyToWhole(whole, first, part, piece.data(), joined.data());
          std::vector<float> split(piece.size(), -7.0f);
          CopyToPart(whole, first, part, want.data(), split.data());
          EXPECT_EQ(split, piece) << "channels from " << first;
          first += channels;
        }
        EXPECT_EQ(joined, want);
      }
    }
  }
}

// Only the range is written.
TEST(ChannelCopiesTest, LeaveOtherChannelsAsTheyAre) {
  for (const bool blocked : {false, true}) {
    const ChannelPlanes whole = PlanesOf(2, 32, blocked), part = PlanesOf(2, 5, blocked);
    std::vector<float> to = NumbersOf(whole, 0);
    const std::vector<float> before = to;
    const std::vector<float> from = NumbersOf(part, 500);
    CopyToWhole(whole, 14, part, from.data(), to.data());
    for (int64_t n = 0; n < 2; ++n) {
      for (int64_t c = 0; c < 32; ++c) {
        for (int64_t p = 0; p < 6; ++p) {
          const int64_t at = test::IndexIn(whole, n, c, p);
          const float want =
              c >= 14 && c < 19 ? NumberAt(n, 500 + c - 14, p) : before[static_cast<size_t>(at)];
          ASSERT_EQ(to[static_cast<size_t>(at)], want) << blocked << n << " " << c << " " << p;
        }
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::channel_copies_test
