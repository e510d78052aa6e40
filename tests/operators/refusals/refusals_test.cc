// Errors of operators, one row for each. An error that a row of a family's own test states is not repeated here.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/io/db.h"
#include "operators/dataset/tree_cursor.h"
#include "operators/distributed/store.h"
#include "operators/queue/create_blobs_queue.h"
#include "operators/queue/rebatching_queue_input.h"
#include "tests/operators/refusals/refusal.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::refusals_test {
namespace {

constexpr Refusal kRefusals[] = {
    // Windows.
    {R"(type: "ConvTranspose" input: "X" input: "w" output: "Y" arg { name: "kernels" ints: 2 ints: 2 }
        arg { name: "adjs" ints: 0 })",
     "X f 1,2,4,4; w f 2,2,2,2", "argument adjs, want as many as kernels (got 1, want 2)"},
    {R"(type: "Conv" input: "X" input: "w" output: "Y" arg { name: "kernel" i: 2 } arg { name: "dilation" i: -1 })",
     "X f 1,2,4,4; w f 2,2,2,2", "dilation of axis 0, want at least 0"},
    {R"(type: "Conv" input: "X" input: "w" output: "Y" arg { name: "kernel" i: 2 } arg { name: "dilation" i: 2 }
        arg { name: "legacy_pad" i: 2 })",
     "X f 1,2,4,4; w f 2,2,2,2", "dilation of axis 0 with legacy_pad SAME, want 1"},
    {R"(type: "Conv" input: "X" input: "w" output: "Y" arg { name: "kernel" i: 2 } arg { name: "group" i: 3 })",
     "X f 1,4,4,4; w f 3,1,2,2", "input 0 (X) has 4 channels, want a multiple of group 3"},
    {R"(type: "UpsampleBilinear" input: "X" output: "Y")", "X f 2,3,4",
     "rank of input 0 (X) of shape [2, 3, 4], want 4"},
    {R"(type: "UpsampleBilinear" input: "X" input: "S" output: "Y")", "X f 1,1,2,2; S f 3",
     "input 1 (scales) has shape [3], want [2]: height and width"},
    {R"(type: "UpsampleNearest" input: "X" output: "Y")", "X f 2,3",
     "rank of input 0 (X) of shape [2, 3], want at least 3"},
    // Boxes.
    {R"(type: "BatchPermutation" input: "X" input: "I" output: "Y")", "X f -; I i 1",
     "rank of input 0 (X)"},
    {R"(type: "DetectionOutput" input: "L" input: "C" input: "P" output: "Y" arg { name: "num_classes" i: 0 })",
     "L f 1,4; C f 1,2; P f 1,2,4", "argument num_classes is 0, want at least 1"},
    {R"(type: "DetectionOutput" input: "L" input: "C" input: "P" output: "Y" arg { name: "num_classes" i: 2 }
        arg { name: "nms_eta" f: 0 })",
     "L f 1,4; C f 1,2; P f 1,2,4", "argument nms_eta is 0, want 0 to 1"},
    {R"(type: "DetectionOutput" input: "L" input: "C" input: "P" output: "Y" arg { name: "num_classes" i: 2 }
        arg { name: "nms_eta" f: 1.5 })",
     "L f 1,4; C f 1,2; P f 1,2,4", "argument nms_eta is 1.5, want 0 to 1"},
    {R"(type: "DetectionOutput" input: "L" input: "C" input: "P" output: "Y" arg { name: "num_classes" i: 2 })",
     "L f 2,4; C f 1,2; P f 1,2,4",
     "have shapes [2, 4] and [1, 2], want the same number of images"},
    {R"(type: "PriorBox" input: "X" input: "image" output: "Y" arg { name: "min_size" floats: 2 })",
     "X f 2,2,2; image f 1,3,8,8", "rank of input 0 (X) of shape [2, 2, 2]: got 3, want 4"},
    {R"(type: "PriorBox" input: "X" input: "image" output: "Y" arg { name: "min_size" floats: 2 })",
     "X f 1,2,2,2; image f 3,8,8", "rank of input 1 (image) of shape [3, 8, 8]: got 3, want 4"},
    {R"(type: "SparseAdagrad" input: "W" input: "m" input: "I" input: "g" input: "lr" output: "W" output: "m")",
     "W f -; m f -; I i 1; g f 1; lr f 1", "rank of input 0 (param)"},
    {R"(type: "PSRoIPoolGradient" input: "X" input: "R" input: "C" input: "dY" output: "dX"
        arg { name: "output_dim" i: 1 } arg { name: "group_size" i: 2 } arg { name: "spatial_scale" f: 1 })",
     "X f 1,4,4,4; R f 1,5; C i 1,1,2,3; dY f 1,1,2,2", "input 2 (channels)"},
    {R"(type: "PSRoIPoolGradient" input: "X" input: "R" input: "C" input: "dY" output: "dX"
        arg { name: "output_dim" i: 1 } arg { name: "group_size" i: 2 } arg { name: "spatial_scale" f: 1 })",
     "X f 1,4,4,4; R f 1,5; C i 1,1,2,2; dY f 1,1,2,3", "input 3 (dY)"},
    {R"(type: "AffineChannelGradient" input: "dY" input: "X" input: "s" output: "dX" output: "ds" output: "db"
        arg { name: "is_learnable" i: 1 })",
     "dY f 1,2,2,2; X f 1,2,2,2; s f 3", "elements of input 2 (scale)"},
    {R"(type: "CollectRpnProposals" input: "r2" input: "r3" input: "s2" input: "s3" output: "Y"
        arg { name: "rpn_min_level" i: 2 } arg { name: "rpn_max_level" i: 3 })",
     "r2 f 2,5; r3 f 1,5; s2 f 2,2; s3 f 1", "input 2 (scores) has shape [2, 2], want [2"},
    // Normalizations.
    {R"(type: "GroupNorm" input: "X" input: "g" input: "b" output: "Y" output: "m" output: "s"
        arg { name: "group" i: 1 })",
     "X f 4; g f 4; b f 4", "rank of input 0 (X)"},
    {R"(type: "InstanceNorm" input: "X" input: "g" input: "b" output: "Y")", "X f 4; g f 4; b f 4",
     "rank of input 0 (X) of shape [4], want at least 2"},
    {R"(type: "SparseNormalize" input: "W" input: "I" output: "W")", "W f -; I i 1",
     "rank of input 0 (param) of shape [], want at least 1"},
    {R"(type: "SpatialBN" input: "X" input: "s" input: "b" input: "m" input: "v" output: "Y" output: "m" output: "v"
        output: "sm" output: "sv" arg { name: "is_test" i: 1 })",
     "X f 2,3,1,1; s f 3; b f 3; m f 3; v f 3", "1 in testing, 5 in training: got 5, want 1"},
    // Fills.
    {R"(type: "ConstantFill" input: "S" input: "V" output: "Y" arg { name: "dtype" i: 4 })",
     "S l 1; V f 1", "input 1 cannot give the value of a string; use argument value"},
    {R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 2 })", "",
     "argument \"values\" is required but missing"},
    {R"(type: "GivenTensorFill" output: "Y" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 12 }
        arg { name: "values" floats: 1 })",
     "", "argument \"dtype\" is 12, want FLOAT (1)"},
    {R"(type: "GivenTensorByteStringToUInt8Fill" output: "Y" arg { name: "shape" ints: 1 })", "",
     "argument \"values\" is required but missing"},
    {R"(type: "UniformFill" input: "S" input: "lo" input: "hi" output: "Y" arg { name: "max" f: 2 })",
     "S l 1 = 3; lo f 1 = 0; hi f 1 = 1",
     "argument max is set and input 2 gives it too: remove one"},
    // Losses, products and optimizers.
    {R"(type: "SoftmaxWithLoss" input: "X" input: "L" output: "P" output: "loss" arg { name: "label_prob" i: 1 })",
     "X f 1,2; L f 1,2 = 1.5,-0.5", "element 1 of input 1 (labels) is -0.5, want a probability"},
    {R"(type: "BatchMatMul" input: "A" input: "B" output: "Y")", "A f -; B f 2,2",
     "inputs have shapes [] and [2, 2], want at least rank 1"},
    {R"(type: "SparseFtrl" input: "v" input: "n" input: "I" input: "g" output: "v" output: "n")",
     "v f -; n f 2; I i 1; g f 1", "rank of input 0"},
    {R"(type: "GFtrl" input: "v" input: "n" input: "g" output: "v" output: "n")",
     "v f -; n f 2; g f -", "rank of"},
    // Selections.
    {R"(type: "BatchOneHot" input: "X" input: "L" input: "V" output: "Y")", "X i -; L i 1; V i 1",
     "rank of input 0 (data), want at least 1"},
    {R"(type: "TopK" input: "X" input: "K" output: "V" output: "I")", "X f 2,3; K l 0",
     "elements of input 1 (k)"},
    {R"(type: "TopK" input: "X" input: "K" output: "V" output: "I")", "X f 2,3; K l 1 = 0",
     "k: got 0, want at least 1"},
    {R"(type: "TopK" input: "X" output: "V" output: "V" arg { name: "k" i: 1 })", "X f 2,3",
     "is listed twice, want different blobs"},
    {R"(type: "TopK" input: "X" output: "V" output: "I" output: "I" arg { name: "k" i: 1 })",
     "X f 2,3", "is listed twice, want different blobs"},
    {R"(type: "TopKGradient" input: "G" input: "I" input: "X" output: "D")",
     "G f 1,1; I l 1,1 = 3; X f 1,3", "element 0 of input 1 (Indices): got 3, want less than 3"},
    // Shapes.
    {R"(type: "Gather" input: "X" input: "I" output: "Y" arg { name: "match_outer" i: 1 })",
     "X f 2,3; I i 2,1", "axis with match_outer: got 0, want at least 1"},
    {R"(type: "Reshape" input: "X" input: "S" output: "Y" output: "old" arg { name: "shape" ints: 6 })",
     "X f 2,3; S l 1 = 6", "argument shape and input 1 are both given: remove one"},
    {R"(type: "ScatterAssign" input: "X" input: "I" input: "S" output: "X")", "X f -; I i 1; S f 1",
     "rank of input 0 (DATA)"},
    {R"(type: "ScatterWeightedSum" input: "X" input: "w" input: "I" input: "S" input: "v" output: "X")",
     "X f -; w f 1; I i 1; S f 1; v f 1", "rank of input 0 (X_0)"},
    {R"(type: "Slice" input: "X" input: "b" input: "e" output: "Y")",
     "X f 2,3; b i 1,2; e i 2 = 1,1", "rank of input 1 (starts), want a vector"},
    {R"(type: "Slice" input: "X" output: "Y" arg { name: "starts" ints: 0 })", "X f 3",
     "argument ends is missing"},
    {R"(type: "SparseToDense" input: "I" input: "V" output: "Y")", "I i 1; V f -",
     "rank of input 1 (values)"},
    {R"(type: "Tile" input: "X" output: "Y" arg { name: "axis" i: 0 })", "X f 2",
     "argument tiles is missing"},
    {R"(type: "Tile" input: "X" output: "Y" arg { name: "tiles" i: 2 })", "X f 2",
     "argument axis is missing"},
    {R"(type: "Where" input: "C" input: "X" input: "Z" output: "Y" arg { name: "broadcast_on_rows" i: 1 })",
     "C b 2,3; X f 2,3; Z f 2,3", "want one element for each row of input 1 (X)"},
    {R"(type: "ONNXSliceGradient" input: "X" input: "G" output: "D" arg { name: "starts" ints: 1 }
        arg { name: "ends" ints: 4 })",
     "X f 5; G f 4", "input 1 (dY) has shape [4], want that of the slice [3]"},
    // Segments.
    {R"(type: "LengthsSumGradient" input: "G" input: "L" output: "D")", "G f 1,2; L i 1,1 = 2",
     "LENGTHS"},
    {R"(type: "LengthsSum" input: "X" input: "L" output: "Y")", "X f -; L i 1 = 1",
     "rank of input 0 (DATA)"},
    {R"(type: "SparseLengthsWeightedSum" input: "X" input: "W" input: "I" input: "L" output: "Y")",
     "X f 2,3; W f 2,1; I i 2; L i 1 = 2",
     "rank of input 1 (SCALARS) of shape [2, 1], want a vector"},
    {R"(type: "TTSparseLengthsSum" input: "c0" input: "c1" input: "c2" input: "I" input: "L" output: "Y" output: "a"
        output: "b" output: "c" arg { name: "factor_i" ints: 2 ints: 2 ints: 2 }
        arg { name: "factor_j" ints: 2 ints: 2 ints: 2 } arg { name: "ranks" ints: 2 ints: 1 ints: 1 ints: 1 }
        arg { name: "emb_size" i: 8 })",
     "c0 f 2,4; c1 f 2,2; c2 f 2,2; I l 1; L i 1 = 1",
     "argument ranks is 2, ..., 1 at its ends, want 1"},
    {R"(type: "SegmentOneHot" input: "L" input: "I" input: "N" output: "Y")",
     "L i 1; I l 0; N l 1 = -1", "input 2 (index_size_tensor): got -1, want at least 0"},
    // What a run found unfit before it could be computed.
    {R"(type: "MultiHeadAttention" input: "Q" input: "K" input: "V" output: "Y"
        arg { name: "query_shape" ints: 0 ints: 0 ints: 0 ints: 0 })",
     "Q f 2,3,4; K f 2,3,4; V f 2,3,4", "of shape [2, 3, 4]"},
    {R"(type: "MultiHeadAttention" input: "Q" input: "K" input: "V" input: "M" output: "Y")",
     "Q f 2,3,4; K f 2,3,4; V f 2,3,4; M f 1,1,1,1,3", "rank of input 3 (mask)"},
    {R"(type: "MultiHeadAttention" input: "Q" input: "K" input: "V" output: "Y"
        arg { name: "output_shape" ints: 0 ints: 0 ints: 0 })",
     "Q f 2,3,4; K f 2,3,4; V f 2,3,4", "rank of the result of shape [2, 3, 1, 4]"},
    {R"(type: "Range" input: "a" input: "b" input: "s" output: "Y")",
     "a i 1 = -2147483648; b i 1 = 2147483647; s i 1 = 1",
     "range from -2147483648 to 2147483647 is too long"},
    {R"(type: "Resize" input: "X" output: "Y" arg { name: "sizes" ints: 2 ints: 2 }
        arg { name: "coordinate_transformation_mode" s: "tf_crop_and_resize" })",
     "X f 3,4", "want a begin and an end for each of 2 axes"},
    {R"(type: "Resize" input: "X" output: "Y" arg { name: "sizes" ints: 2 ints: -1 })", "X f 3,4",
     "element of sizes: got -1, want at least 0"},
    {R"(type: "Resize" input: "X" output: "Y" arg { name: "sizes" ints: 2 ints: 2 }
        arg { name: "axes" ints: 1 ints: -1 })",
     "X f 3,4", "axes are [1, -1], which name dimension 1 twice"},
    {R"(type: "TfIdfVectorizer" input: "X" output: "Y" arg { name: "mode" s: "TF" }
        arg { name: "min_gram_length" i: 1 } arg { name: "max_gram_length" i: 1 }
        arg { name: "max_skip_count" i: 0 } arg { name: "ngram_counts" ints: 0 }
        arg { name: "ngram_indexes" ints: -1 } arg { name: "pool_int64s" ints: 5 })",
     "X l 3", "element of ngram_indexes is -1"},
    {R"(type: "DetectionOutput" input: "L" input: "C" input: "P" output: "Y" arg { name: "num_classes" i: 2 })",
     "L f 1,8; C f 1,2; P f 1,2,4", "input 0 (loc) has shape [1, 8], want [1, 1 * 1 * 4]"},
    {R"(type: "ConvFusion" input: "X" input: "w" input: "b" output: "b" arg { name: "kernel" i: 1 })",
     "X f 1,2,4,4; w f 2,2,1,1; b f 2", "output 0 (Y) is in place with input 2"},
    {R"(type: "Load" output: "x" arg { name: "db" s: "f" } arg { name: "db_type" s: "minidb" }
        arg { name: "source_blob_names" strings: "x" } arg { name: "load_all" i: 1 })",
     "", "cannot load_all_ while using source_blob_names."},
    {R"(type: "FlattenToVec" input: "X" output: "Y")", "X f -", "rank of input 0"},
    // Nets.
    {R"(type: "Do" output: "scope")", "", "inputs"},
    {R"(type: "If" input: "C" output: "Y")", "C b 1",
     "argument \"then_net\" is required but missing"},
    {R"(type: "While" input: "C" output: "Y")", "C b 1",
     "argument \"loop_net\" is required but missing"},
};

TEST(RefusalsTest, OfOperatorsNameWhatDoesNotFit) {
  for (const Refusal& row : kRefusals) ExpectRefusal(row);
}

// Every coordinate of a RoI is checked.
TEST(RefusalsTest, OfRoIsThatAreNotFinite) {
  for (
      const char* const op :
      {R"(type: "RoIPool" input: "X" input: "R" output: "Y" arg { name: "is_test" i: 1 })",
       R"(type: "RoIAlign" input: "X" input: "R" output: "Y")",
       R"(type: "PSRoIPool" input: "X" input: "R" output: "Y" output: "C" arg { name: "output_dim" i: 1 }
           arg { name: "group_size" i: 1 } arg { name: "spatial_scale" f: 1 })"}) {
    for (int coordinate = 1; coordinate < 5; ++coordinate) {
      for (const char* const value : {"inf", "-inf", "nan"}) {
        SCOPED_TRACE(MakeString(op, " ", coordinate, " ", value));
        std::vector<std::string> roi = {"0", "0", "0", "1", "1"};
        roi[static_cast<size_t>(coordinate)] = value;
        Workspace ws;
        FeedInput(&ws, "X f 1,1,2,2");
        FeedInput(&ws, "R f 1,5 = " + absl::StrJoin(roi, ","));
        ExpectThrows([&] { RunOp(&ws, op); }, "RoI 0 of input 1 (RoIs) is not finite");
      }
    }
  }
}

// A blob of a handle's type to which no operator has given an object.
TEST(RefusalsTest, OfHandlesThatHoldNothing) {
  Workspace ws;
  ws.CreateBlob("mutex")->GetMutable<std::unique_ptr<std::mutex>>();
  ws.CreateBlob("list")->GetMutable<std::unique_ptr<std::vector<Tensor>>>();
  ws.CreateBlob("queue")->GetMutable<BlobsQueueBlob>();
  ws.CreateBlob("rebatching")->GetMutable<RebatchingQueueBlob>();
  ws.CreateBlob("cursor")->GetMutable<TreeCursorBlob>();
  ws.CreateBlob("store")->GetMutable<StoreBlob>();
  ws.CreateBlob("reader")->GetMutable<db::DBReader>();
  FeedInput(&ws, "X f 2,3");
  FeedInput(&ws, "Z f 2,3");
  FeedInput(&ws, "I i 1");
  FeedInput(&ws, "J i 1");
  const std::pair<const char*, const char*> cases[] = {
      {R"(type: "AtomicAppend" input: "mutex" input: "X" input: "Z" output: "X")",
       "input 0 (mutex) holds no mutex"},
      {R"(type: "AtomicIter" input: "mutex" input: "I" output: "I")",
       "input 0 (mutex) holds no mutex"},
      {R"(type: "LastNWindowCollector" input: "X" input: "I" input: "Z" input: "mutex" output: "X" output: "I"
          arg { name: "num_to_collect" i: 2 })",
       "input 3 (MUTEX) holds no mutex"},
      {R"(type: "ReservoirSampling" input: "X" input: "I" input: "Z" input: "mutex" output: "X" output: "I"
          arg { name: "num_to_collect" i: 2 })",
       "input 3 (MUTEX) holds no mutex"},
      {R"(type: "AtomicFetchAdd" input: "mutex" input: "I" input: "J" output: "I" output: "K")",
       "input 0 (mutex_ptr) holds no mutex"},
      {R"(type: "ConcatTensorVector" input: "list" output: "Y")",
       "input 0 holds no list of tensors"},
      {R"(type: "TensorVectorSize" input: "list" output: "Y")", "input 0 holds no list of tensors"},
      {R"(type: "EnqueueBlobs" input: "queue" input: "X" output: "X")",
       "input 0 (queue) holds no queue"},
      {R"(type: "DequeueBlobs" input: "queue" output: "Y")", "input 0 (queue) holds no queue"},
      {R"(type: "CloseBlobsQueue" input: "queue")", "input 0 (queue) holds no queue"},
      {R"(type: "EnqueueRebatchingQueue" input: "rebatching" input: "X")",
       "input 0 (queue) holds no queue"},
      {R"(type: "CloseRebatchingQueue" input: "rebatching")", "input 0 (queue) holds no queue"},
      {R"(type: "ResetCursor" input: "cursor")", "input 0 (cursor) holds no cursor"},
      {R"(type: "StoreGet" input: "store" output: "Y")", "input 0 (handler) holds no store"},
      {R"(type: "StoreWait" input: "store" arg { name: "blob_names" strings: "k" })",
       "input 0 (handler) holds no store"},
      {R"(type: "Load" input: "reader" output: "Y")", "input 0 is a reader that was not opened"},
  };
  for (const auto& [op, part] : cases) {
    SCOPED_TRACE(op);
    ExpectThrows([&, op = op] { RunOp(&ws, op); }, part);
  }
}

}  // namespace
}  // namespace caffe2rt::test::refusals_test
