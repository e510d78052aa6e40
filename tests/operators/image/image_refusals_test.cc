// Whole messages of the operators on images, and what is accepted next to their bounds.
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::image_refusals_test {
namespace {

struct RejectedRun {
  std::vector<int64_t> dims;  // of "X"
  std::string op;
  std::string message;
};

// The operator's own sentence begins after its frame.
void ExpectRejectedRuns(const std::vector<RejectedRun>& rows) {
  for (const RejectedRun& row : rows) {
    Workspace ws;
    FeedRange<float>(&ws, "X", row.dims);
    FeedRange<float>(&ws, "two", {2});
    FeedRange<float>(&ws, "grid", {1, 2, 2, 3});
    FeedRange<double>(&ws, "doubles", {1, 2, 2, 2});
    const std::string got = MessageOf([&] { RunOp(&ws, row.op); });
    EXPECT_TRUE(got == row.message || got.ends_with(": " + row.message))
        << row.op << "\ngot:  " << got << "\nwant: " << row.message;
  }
}

std::string Blocks(const std::string& type, const std::string& args = "") {
  return "type: '" + type + "' input: 'X' output: 'Y' " + args;
}
std::string Pad(int pad) { return MakeString("arg { name: 'pad' i: ", pad, " }"); }

TEST(ImageRefusalsTest, OfBlocksNameThePaddedSize) {
  ExpectRejectedRuns(
      {{{1, 1, 3, 4},
        Blocks("SpaceToBatch"),
        "padded height 3 and width 4 of input 0 (X) of shape [1, 1, 3, 4], want multiples of "
        "block_size 2"},
       {{1, 1, 4, 3},
        Blocks("SpaceToBatch"),
        "padded height 4 and width 3 of input 0 (X) of shape [1, 1, 4, 3], want multiples of "
        "block_size 2"},
       {{1, 1, 3, 4},
        Blocks("SpaceToBatch", Pad(1)),
        "padded height 5 and width 6 of input 0 (X) of shape [1, 1, 3, 4], want multiples of "
        "block_size 2"},
       {{4}, Blocks("SpaceToBatch"), "rank of input 0 (X) of shape [4], want 4 (got 1, want 4)"},
       {{4}, Blocks("BatchToSpace"), "rank of input 0 (X) of shape [4], want 4 (got 1, want 4)"},
       {{3, 1, 1, 1},
        Blocks("BatchToSpace"),
        "remainder of the batch of input 0 (X) of shape [3, 1, 1, 1] divided by block_size squared "
        "4, want 0 (got 3, want 0)"},
       {{4, 1, 1, 2},
        Blocks("BatchToSpace", Pad(2)),
        "height -2 and width 0 after cropping, want at least 0"},
       {{4, 1, 2, 1},
        Blocks("BatchToSpace", Pad(2)),
        "height 0 and width -2 after cropping, want at least 0"}});
}

// Padding at the top replaces "pad" there alone, and cropping may leave nothing.
TEST(ImageRefusalsTest, BlocksThatFitAreAccepted) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {1, 1, 1, 2}, 1);
  RunOp(&ws, Blocks("SpaceToBatch", Pad(1) + "arg { name: 'pad_t' i: 0 }"));
  // The padded image: 0 1 2 0 / 0 0 0 0
  ExpectTensor<float>(ws, "Y", {4, 1, 1, 2}, {0, 2, 1, 0, 0, 0, 0, 0});
  FeedRange<float>(&ws, "X", {4, 1, 1, 1}, 1);
  RunOp(&ws, Blocks("BatchToSpace", Pad(1)));
  ExpectTensor<float>(ws, "Y", {1, 1, 0, 0}, {});
  RunOp(&ws, Blocks("BatchToSpace"));
  ExpectTensor<float>(ws, "Y", {1, 1, 2, 2}, {1, 2, 3, 4});
}

TEST(ImageRefusalsTest, OfScaledImagesNameTheRankAndTheSize) {
  const std::string scales =
      "arg { name: 'height_scale' f: 2 } arg { name: 'width_scale' f: 4294967296 }";
  const std::string negative =
      "arg { name: 'height_scale' f: 2 } arg { name: 'width_scale' f: -1 }";
  for (const std::string type : {"ResizeNearest", "UpsampleBilinear"}) {
    ExpectRejectedRuns(
        {{{2, 3}, Blocks(type), "rank of input 0 (X) of shape [2, 3], want 4 (got 2, want 4)"},
         {{1, 1, 2, 3},
          Blocks(type, scales),
          "size of 3 pixels scaled by 4.29497e+09 is 1.28849e+10, want 0 to "
          "2147483647"},
         {{1, 1, 2, 3}, Blocks(type, negative), "argument \"width_scale\" is -1, want above 0"}});
  }
  ExpectRejectedRuns(
      {{{2, 3},
        Blocks("UpsampleNearest"),
        "rank of input 0 (X) of shape [2, 3], want at least 3 (got 2, want at least 3)"}});
}

TEST(ImageRefusalsTest, OfScaledGradientsNameTheBatchAndTheChannels) {
  const auto run = [](const std::string& type, const std::vector<int64_t>& dy,
                      const std::vector<int64_t>& x) {
    Workspace ws;
    FeedRange<float>(&ws, "dY", dy);
    FeedRange<float>(&ws, "X", x);
    RunOp(&ws, "type: '" + type + "' input: 'dY' input: 'X' output: 'dX'");
    return DimsOf(ws, "dX");
  };
  for (const std::string type :
       {"ResizeNearestGradient", "UpsampleBilinearGradient",
        "ResizeNearestGradient' arg { name: 'order' s: 'NHWC' } engine: '"}) {
    SCOPED_TRACE(type);
    const bool last = type.find("NHWC") != std::string::npos;
    const auto dims = [last](int64_t n, int64_t c, int64_t size) {
      return last ? std::vector<int64_t>{n, size, size, c} : std::vector<int64_t>{n, c, size, size};
    };
    EXPECT_EQ(run(type, dims(2, 3, 4), dims(2, 3, 2)), dims(2, 3, 2));
    for (const auto& [dy, x] : {std::pair(dims(2, 4, 4), dims(2, 3, 2)),
                                {dims(2, 2, 2), dims(2, 3, 2)},
                                {dims(1, 3, 4), dims(2, 3, 2)},
                                {dims(3, 3, 4), dims(2, 3, 2)}}) {
      const std::string got = MessageOf([&, dy = dy, x = x] { (void)run(type, dy, x); });
      EXPECT_TRUE(got.ends_with(MakeString("input 0 (dY) has shape ", IntArrayRef(dy),
                                           ", want the batch and the channels of input 1 (X) of "
                                           "shape ",
                                           IntArrayRef(x))))
          << got;
    }
  }
}

TEST(ImageRefusalsTest, OfGridsNameBothShapesAndTypes) {
  const auto sample = [](const std::string& grid) {
    return "type: 'GridSample' input: 'X' input: '" + grid + "' output: 'Y'";
  };
  ExpectRejectedRuns(
      {{{1, 1, 2, 2},
        sample("grid"),
        "input 1 (grid) has shape [1, 2, 2, 3], want [1, ..., 2] with the rank of input 0 (X) of "
        "shape [1, 1, 2, 2]"},
       {{3, 1, 2, 2},
        sample("doubles"),
        "input 1 (grid) has shape [1, 2, 2, 2], want [3, ..., 2] with the rank of input 0 (X) of "
        "shape [3, 1, 2, 2]"},
       {{1, 1, 2, 2, 2},
        sample("doubles"),
        "input 1 (grid) has shape [1, 2, 2, 2], want [1, ..., 3] with the rank of input 0 (X) of "
        "shape [1, 1, 2, 2, 2]"},
       {{1, 1, 2, 2},
        sample("doubles"),
        "input 1 (grid) has elements of type double, want float as input 0 (X)"}});
}

TEST(ImageRefusalsTest, OfStylizersNameTheShapeAndTheMean) {
  const std::string deprocess =
      "type: 'BRGNCHWCToPackedInt8BGRAStylizerDeprocess' input: 'X' input: 'two' output: 'Y'";
  ExpectRejectedRuns(
      {{{1, 3, 1, 1}, deprocess, "elements of input 1 (mean), want 3 (got 2, want 3)"},
       {{1, 4, 1, 1}, deprocess, "input 0 (X) has shape [1, 4, 1, 1], want [N, 3, H, W]"},
       {{3, 1, 1}, deprocess, "input 0 (X) has shape [3, 1, 1], want [N, 3, H, W]"}});
}

}  // namespace
}  // namespace caffe2rt::test::image_refusals_test
