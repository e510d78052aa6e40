// Views of rows, which step nets read and write.
#include "operators/recurrent/step_net.h"

#include "caffe2_core/base/random_stream.h"
#include "operators/recurrent/step_workspaces.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::step_net_test {
namespace {

Tensor Rows(int64_t rows, int64_t columns, float first = 0) {
  Tensor tensor(CPU);
  tensor.Resize(rows, columns);
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    tensor.mutable_data<float>()[i] = first + static_cast<float>(i);
  }
  return tensor;
}

TEST(ViewOfRowsTest, SharesRowsAndKeepsThemAlive) {
  Tensor view(CPU);
  {
    Tensor rows = Rows(4, 3);
    view = ViewOfRows(rows, 1, 2);
    EXPECT_EQ(view.raw_data(), rows.data<float>() + 3);
    view.mutable_data<float>()[0] = 50;
    EXPECT_EQ(rows.data<float>()[3], 50);
    EXPECT_EQ(ViewOfRows(rows, 0, 4).raw_data(), rows.raw_data());
  }
  EXPECT_EQ(view.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(view.data<float>()[0], 50);
  EXPECT_EQ(view.data<float>()[5], 8);
}

TEST(ViewOfRowsTest, HasTheTypeOfTheRowsWithoutElements) {
  for (const int64_t first : {0, 2, 4}) {
    const Tensor none = ViewOfRows(Rows(4, 3), first, 0);
    EXPECT_EQ(none.dims(), (std::vector<int64_t>{0, 3}));
    EXPECT_TRUE(none.IsType<float>());
  }
}

TEST(ViewOfRowsTest, IsReadOnlyLikeTheRows) {
  Tensor rows = Rows(2, 1);
  EXPECT_FALSE(ViewOfRows(rows, 1, 1).storage()->read_only());
  rows.MarkReadOnly();
  EXPECT_TRUE(ViewOfRows(rows, 1, 1).storage()->read_only());
}

TEST(ViewOfRowsTest, NamesRowsThatDoNotExist) {
  const Tensor rows = Rows(4, 3);
  Tensor scalar(CPU), words(CPU);
  scalar.Resize(std::vector<int64_t>());
  scalar.mutable_data<float>()[0] = 1;
  words.Resize(2);
  words.mutable_data<std::string>()[0] = "a";
  const auto view = [](const Tensor& of, int64_t first, int64_t count) {
    return [&of, first, count] { (void)ViewOfRows(of, first, count); };
  };
  ExpectRefusals({{view(rows, 3, 2), "rows 3 to 5 of a tensor of shape [4, 3] do not exist"},
                  {view(rows, 5, 0), "rows 5 to 5 of a tensor of shape [4, 3] do not exist"},
                  {view(rows, -1, 1), "rows -1 to 0 of a tensor of shape [4, 3] do not exist"},
                  {view(rows, 2, -1), "rows 2 to 1 of a tensor of shape [4, 3] do not exist"},
                  {view(scalar, 0, 0), "rows 0 to 0 of a tensor of shape [] do not exist"}});
  ExpectThrows(view(words, 0, 1), " cannot be linked, want numbers");
}

TEST(RowsViewTest, FollowsTheRows) {
  RowsView view;
  Tensor rows = Rows(4, 2);
  const void* const first = &view.Of(rows, 1, 2);
  EXPECT_EQ(view.Of(rows, 1, 2).raw_data(), rows.data<float>() + 2);
  EXPECT_EQ(&view.Of(rows, 1, 2), first);
  EXPECT_EQ(view.Of(rows, 2, 2).raw_data(), rows.data<float>() + 4);
  EXPECT_EQ(view.Of(rows, 2, 1).dims(), (std::vector<int64_t>{1, 2}));
  rows.Resize(2, 4);  // in the same memory
  EXPECT_EQ(view.Of(rows, 1, 1).dims(), (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(view.Of(rows, 1, 1).data<float>()[0], 4);
  const Tensor other = Rows(2, 4, 100);
  EXPECT_EQ(view.Of(other, 1, 1).data<float>()[0], 104);
  ExpectThrows([&] { (void)view.Of(other, 2, 1); }, "rows 2 to 3 of a tensor of shape [2, 4]");
  EXPECT_EQ(view.Of(other, 0, 1).data<float>()[0], 100);
}

TEST(RowViewsTest, AreMadeAgainOnlyForOtherRows) {
  RowViews views;
  const StepLink link{.internal = "x_t", .external = "x", .offset = 1, .window = 1};
  Tensor rows = Rows(4, 2);
  EXPECT_TRUE(views.Make(link, rows, 3));
  EXPECT_FALSE(views.Make(link, rows, 3));
  for (size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(views[t].raw_data(), rows.data<float>() + 2 * (t + 1));
    EXPECT_EQ(views[t].dims(), (std::vector<int64_t>{1, 2}));
  }
  EXPECT_TRUE(views.Make(link, rows, 2));
  EXPECT_FALSE(views.Make(link, rows, 2));
  rows.Resize(4, 1);
  EXPECT_TRUE(views.Make(link, rows, 2));
  EXPECT_EQ(views[1].data<float>()[0], 2);
  (void)rows.mutable_data<int32_t>();  // in the same memory
  EXPECT_TRUE(views.Make(link, rows, 2));
  EXPECT_TRUE(views[0].IsType<int32_t>());
  const Tensor other = Rows(4, 1, 10);
  EXPECT_TRUE(views.Make(link, other, 2));
  EXPECT_EQ(views[0].data<float>()[0], 11);
}

// Rows are those of the workspace around the steps, also when other workspaces follow.
TEST(StepNetTest, ReadsAndWritesRowsOfTheWorkspaceThatItIsPreparedFor) {
  RandomPlace random;
  StepNet net(ParseNet("name: 'step' op { type: 'Sqr' input: 'x_t' output: 'y_t' }"),
              {{"x_t", "x", 1, 1}, {"y_t", "y", 0, 1}}, "t", {}, CPU, &random);
  Workspace first, second;
  float start = 1;
  for (Workspace* const ws : {&first, &second, &first}) {
    Feed<float>(ws, "x", {3, 1}, {0, start, start + 1});
    Feed<float>(ws, "y", {2, 1}, {0, 0});
    const auto spaces = std::make_shared<StepWorkspaces>(ws);
    spaces->Grow(2);
    for (int run = 0; run < 2; ++run) {
      net.Prepare(spaces, 2);
      for (int64_t t = 0; t < 2; ++t) net.Run(static_cast<size_t>(t), t);
      ExpectTensor<float>(*ws, "y", {2, 1}, {start * start, (start + 1) * (start + 1)});
      Feed<float>(ws, "y", {2, 1}, {0, 0});
    }
    start += 3;
  }
  Workspace none;
  const auto spaces = std::make_shared<StepWorkspaces>(&none);
  ExpectThrows([&] { net.Prepare(spaces, 1); },
               "blob \"x\", which is linked to \"x_t\", does not exist");
}

TEST(RowViewsTest, NameTheLinkAndTheRow) {
  RowViews views;
  const Tensor rows = Rows(4, 3), none = Rows(0, 3);
  Tensor scalar(CPU);
  scalar.Resize(std::vector<int64_t>());
  scalar.mutable_data<float>()[0] = 1;
  const auto make = [&](int offset, int window, int64_t count, const Tensor& of) {
    return [&views, &of, offset, window, count] {
      (void)views.Make({"x_t", "x", offset, window}, of, count);
    };
  };
  const std::string end =
      "end of the rows of blob \"x\" of shape [4, 3] that are linked to \"x_t\" ";
  ExpectRefusals({{make(1, 1, 4, rows),
                   end + "at time step 3 with offset 1 and window 1: got 5, want at most 4"},
                  {make(0, 3, 3, rows),
                   end + "at time step 2 with offset 0 and window 3: got 5, want at most 4"},
                  {make(0, 1, 1, none),
                   "blob \"x\" of shape [0, 3] has no elements that could be linked to \"x_t\""},
                  {make(0, 1, 1, scalar),
                   "blob \"x\" of shape [] has no elements that could be linked to \"x_t\""}});
  EXPECT_TRUE(views.Make({"x_t", "x", 1, 2}, rows, 2));  // up to the end
  EXPECT_EQ(views[1].data<float>()[0], 6);
  EXPECT_EQ(views[1].dims(), (std::vector<int64_t>{2, 3}));
}

}  // namespace
}  // namespace caffe2rt::test::step_net_test
