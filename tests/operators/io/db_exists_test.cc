#include "operators/io/db_exists.h"

#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::db_exists_test {
namespace {

using test::ExpectTensor;
using test::RunOp;
using test::TempDir;

TEST(DBExistsTest, ReportsWhetherItCanBeOpened) {
  const TempDir dir;
  db::CreateDB("minidb", dir.path("m"), db::NEW)->Close();
  Workspace ws(dir.path());
  const std::string type = "type: 'DBExists' output: 'e' arg { name: 'db_type' s: 'minidb' } ";
  RunOp(&ws, type + "arg { name: 'db_name' s: 'm' }");
  ExpectTensor<bool>(ws, "e", {}, {true});
  RunOp(&ws, type + "arg { name: 'db_name' s: 'none' }");
  ExpectTensor<bool>(ws, "e", {}, {false});
  RunOp(&ws, type + "arg { name: 'absolute_path' i: 1 } arg { name: 'db_name' s: '" +
                 dir.path("m") + "' }");
  ExpectTensor<bool>(ws, "e", {}, {true});
  test::ExpectShapeInferred(&ws, type + "arg { name: 'db_name' s: 'm' }");
}

}  // namespace
}  // namespace caffe2rt::db_exists_test
