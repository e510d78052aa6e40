#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::sparse_to_dense_test {
namespace {

using test::ExpectGradientMatches;
using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

const char* const kPlain = R"(type: "SparseToDense" input: "I" input: "V" output: "Y")";
const char* const kLike = R"(type: "SparseToDense" input: "I" input: "V" input: "D" output: "Y")";

TEST(SparseToDenseTest, AddsTheSlicesOfEqualIndices) {
  Workspace ws;
  Feed<int32_t>(&ws, "I", {3}, {2, 0, 2});
  FeedRange<float>(&ws, "V", {3, 2}, 1);
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {3, 2}, {3, 4, 0, 0, 6, 8});
  ExpectShapeInferred(&ws, kPlain, true);
}

TEST(SparseToDenseTest, ReadsTheSizeFromAnArgumentOrATensor) {
  Workspace ws;
  Feed<int64_t>(&ws, "I", {2}, {1, 0});
  Feed<int64_t>(&ws, "V", {2}, {7, 8});
  const std::string sized = std::string(kPlain) + R"( arg { name: "output_first_dim" i: 4 })";
  RunOp(&ws, sized);
  ExpectTensor<int64_t>(ws, "Y", {4}, {8, 7, 0, 0});
  ExpectShapeInferred(&ws, sized);
  Feed<float>(&ws, "D", {3, 1}, {0, 0, 0});
  RunOp(&ws, kLike);
  ExpectTensor<int64_t>(ws, "Y", {3}, {8, 7, 0});
  ExpectShapeInferred(&ws, kLike);
}

TEST(SparseToDenseTest, AcceptsNoIndicesAndNoElements) {
  Workspace ws;
  Feed<int32_t>(&ws, "I", {0}, {});
  Feed<float>(&ws, "V", {0, 2}, {});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {0, 2}, {});
  Feed<float>(&ws, "D", {2}, {0, 0});
  RunOp(&ws, kLike);
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 0, 0});
  Feed<int32_t>(&ws, "I", {2}, {1, 1});
  Feed<float>(&ws, "V", {2, 0}, {});
  RunOp(&ws, kPlain);
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
}

// As in Caffe2, the indices are not checked then.
TEST(SparseToDenseTest, HasNoRowsIfTheTensorForTheSizeHasNone) {
  Workspace ws;
  FeedRange<float>(&ws, "V", {2, 3}, 1);
  Feed<float>(&ws, "L", {0, 9}, {});
  for (const int64_t index : {0, 7, -1}) {
    Feed<int64_t>(&ws, "I", {2}, {index, 5});
    ws.RunOperatorOnce(
        test::ParseOp("type: 'SparseToDense' input: 'I' input: 'V' input: 'L' output: 'Y'"));
    ExpectTensor<float>(ws, "Y", {0, 3}, {});
  }
  Feed<float>(&ws, "L", {1}, {0});
  ExpectThrows(
      [&] {
        ws.RunOperatorOnce(
            test::ParseOp("type: 'SparseToDense' input: 'I' input: 'V' input: 'L' output: 'Y'"));
      },
      "index");
}

TEST(SparseToDenseTest, AddsIntegersModuloTheirRange) {
  Workspace ws;
  Feed<int64_t>(&ws, "I", {2}, {0, 0});
  Feed<int32_t>(&ws, "V", {2}, {2147483647, 2});
  RunOp(&ws, kPlain);
  ExpectTensor<int32_t>(ws, "Y", {1}, {-2147483647});
}

TEST(SparseToDenseTest, RejectsWhatDoesNotFit) {
  Workspace ws;
  Feed<int32_t>(&ws, "I", {2}, {0, 3});
  FeedRange<float>(&ws, "V", {2});
  FeedRange<float>(&ws, "D", {3});
  const auto run = [&](const std::string& op) { return [&ws, op] { RunOp(&ws, op); }; };
  ExpectThrows(run(kLike), "index 3 is out of range, want at least 0 and below 3");
  ExpectThrows(run(std::string(kLike) + R"( arg { name: "output_first_dim" i: 4 })"),
               "are both given: remove one");
  Feed<int32_t>(&ws, "I", {2}, {2, -1});
  ExpectThrows(run(kPlain), "index -1 is out of range");
  FeedRange<float>(&ws, "V", {3});
  ExpectThrows(run(kPlain), "dim 0 of input 1 (values) of shape [3], want the number of indices");
  Feed<int32_t>(&ws, "I", {1, 2}, {0, 1});
  ExpectThrows(run(kPlain), "rank of input 0 (indices) of shape [1, 2]");
  Feed<int32_t>(&ws, "I", {2}, {0, 1});
  FeedRange<double>(&ws, "V", {2});
  ExpectThrows(run(kPlain), "input 1 (values) has elements of type double");
  Feed<float>(&ws, "V", {2}, {1, 2});
  Feed<float>(&ws, "D", {}, {1});
  ExpectThrows(run(kLike), "rank of input 2 (data_to_infer_dim)");
}

TEST(SparseToDenseTest, GathersTheGradientOfTheValues) {
  Workspace ws;
  Feed<int32_t>(&ws, "I", {3}, {2, 0, 2});
  test::FeedRandom(&ws, "V", {3, 2});
  ExpectGradientMatches(&ws, kPlain);
  ExpectGradientMatches(&ws, std::string(kPlain) + R"( arg { name: "output_first_dim" i: 4 })");
}

}  // namespace
}  // namespace caffe2rt::sparse_to_dense_test
