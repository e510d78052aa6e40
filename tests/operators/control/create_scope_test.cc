#include "tests/support/operator_test.h"

namespace caffe2rt::test::create_scope_test {
namespace {

constexpr char kCreate[] = R"(type: "CreateScope" output: "scope")";
constexpr char kHas[] = R"(type: "HasScope" input: "scope" output: "has")";
constexpr char kDo[] = R"(type: "Do" input: "x" input: "scope" output: "y" output: "scope"
  arg { name: "inner_blobs" strings: "in" strings: "out" } arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
  arg { name: "net" n { name: "copy" op { type: "Copy" input: "in" output: "out" } } })";

TEST(CreateScopeTest, MakesAnEmptyScopeOrEmptiesIt) {
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kCreate)));
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kHas)));
  ExpectTensor<bool>(ws, "has", {1}, {false});
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kDo)));
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kHas)));
  ExpectTensor<bool>(ws, "has", {1}, {true});
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kCreate)));
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kHas)));
  ExpectTensor<bool>(ws, "has", {1}, {false});
}

TEST(HasScopeTest, RejectsOtherBlobs) {
  Workspace ws;
  Feed<float>(&ws, "scope", {1}, {1});
  ExpectThrows([&] { (void)ws.RunOperatorOnce(ParseOp(kHas)); }, "WorkspaceStack");
}

}  // namespace
}  // namespace caffe2rt::test::create_scope_test
