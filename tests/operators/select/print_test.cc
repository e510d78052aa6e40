#include "operators/select/print.h"

#include <fstream>
#include <sstream>

#include "tests/support/operator_test.h"

namespace caffe2rt {
namespace {

using test::ExpectThrows;
using test::Feed;
using test::FeedRange;
using test::RunOp;

std::string Line(const Tensor& tensor, int64_t limit = 1000) {
  std::ostringstream out;
  PrintTensor("x", tensor, limit, out);
  return out.str();
}

TEST(PrintTest, WritesNameTypeDimsAndValues) {
  Workspace ws;
  EXPECT_EQ(Line(*Feed<float>(&ws, "X", {1, 4}, {0, 1.5, 1e-7f, 1e10f})),
            "Tensor x of type float. Dims: (1,4,): 0,1.5,1e-07,1e+10");
  EXPECT_EQ(Line(*Feed<int64_t>(&ws, "X", {}, {-7})), "Tensor x of type long int. Dims: (): -7");
  EXPECT_EQ(Line(*Feed<uint8_t>(&ws, "X", {2}, {65, 66})),
            "Tensor x of type unsigned char. Dims: (2,): A,B");
  EXPECT_EQ(Line(*Feed<bool>(&ws, "X", {2}, {true, false})),
            "Tensor x of type bool. Dims: (2,): 1,0");
  EXPECT_EQ(Line(*Feed<std::string>(&ws, "X", {2}, {"a", "b c"})),
            "Tensor x of type std::basic_string<char>. Dims: (2,): a,b c");
  EXPECT_EQ(Line(*Feed<double>(&ws, "X", {0, 2}, {})), "Tensor x of type double. Dims: (0,2,): ");
}

TEST(PrintTest, StopsAtTheLimit) {
  Workspace ws;
  EXPECT_EQ(Line(*test::FeedRange<float>(&ws, "X", {5}), 2),
            "Tensor x of type float. Dims: (5,): 0,1");
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PrintTest, WritesEveryNthRunToAFileOfTheRootFolder) {
  const test::TempDir folder;
  Workspace ws(folder.path());
  Feed<float>(&ws, "X", {1}, {0});
  NetDef def =
      test::ParseNet(R"(name: "n" op { type: "Print" input: "X" arg { name: "to_file" i: 1 }
                                 arg { name: "every_n" i: 2 } })");
  ws.CreateNet(def);
  for (int run = 0; run < 3; ++run) {
    Feed<float>(&ws, "X", {1}, {static_cast<float>(run)});
    ASSERT_TRUE(ws.RunNet("n"));
  }
  EXPECT_EQ(Contents(folder.path() + "/X.log"),
            "Tensor X of type float. Dims: (1,): 0\nTensor X of type float. Dims: (1,): 2\n");
  // Made again, the operator cuts the file when it first runs.
  ws.CreateNet(def, true);
  ASSERT_TRUE(ws.RunNet("n"));
  EXPECT_EQ(Contents(folder.path() + "/X.log"), "Tensor X of type float. Dims: (1,): 2\n");
}

TEST(PrintTest, RefusesFilesItCannotOpenTypesAndEveryZero) {
  Workspace ws;
  Feed<float>(&ws, "no/such/folder", {1}, {0});
  Feed<int16_t>(&ws, "S", {1}, {0});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "Print" input: "no/such/folder" arg { name: "to_file" i: 1 })"); },
      "cannot open \"./no/such/folder.log\"");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Print" input: "S")"); },
               "input 0 (tensor) has elements of type short");
  ExpectThrows([&] { RunOp(&ws, R"(type: "Print" input: "S" arg { name: "every_n" i: 0 })"); },
               "argument every_n");
}

}  // namespace
}  // namespace caffe2rt
