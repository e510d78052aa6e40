#include "tests/support/operator_test.h"

namespace caffe2rt::test::get_all_blob_names_test {
namespace {

TEST(GetAllBlobNamesTest, ReturnsSortedNames) {
  Workspace ws;
  for (const char* name : {"b", "a", "B"}) ws.CreateBlob(name);
  RunOp(&ws, "type: 'GetAllBlobNames' output: 'names'");
  ExpectTensor<std::string>(ws, "names", {4}, {"B", "a", "b", "names"});
}

TEST(GetAllBlobNamesTest, OmitsBlobsOfTheParentUnlessIncludeShared) {
  Workspace parent;
  parent.CreateBlob("a");
  Workspace child(&parent);
  child.CreateLocalBlob("b");
  const auto run = [&](int shared) {
    RunOp(&child, MakeString("type: 'GetAllBlobNames' output: 'names' arg { name: 'include_shared' "
                             "i: ",
                             shared, " }"));
  };
  run(0);
  ExpectTensor<std::string>(child, "names", {2}, {"b", "names"});
  for (const int yes : {1, 2, -1}) {
    run(yes);
    ExpectTensor<std::string>(child, "names", {3}, {"a", "b", "names"});
  }
}

TEST(GetAllBlobNamesTest, IncludesBlobsOfTheParentByDefault) {
  Workspace parent;
  parent.CreateBlob("a");
  Workspace child(&parent);
  RunOp(&child, "type: 'GetAllBlobNames' output: 'names'");
  ExpectTensor<std::string>(child, "names", {2}, {"a", "names"});
}

}  // namespace
}  // namespace caffe2rt::test::get_all_blob_names_test
