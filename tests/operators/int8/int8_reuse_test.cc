// An operator that has run computes, after one of its inputs changes, what a new operator computes.
#include <functional>
#include <memory>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/int8/int8_blobs.h"

namespace caffe2rt::int8_reuse_test {
namespace {

using namespace test;  // used throughout this file

using Change = std::function<void(Workspace*)>;

constexpr float kScale = 0.04f;
constexpr int kZero = 100;

void FeedOperands(Workspace* ws) {
  FeedInt8(ws, "X", {1, 4, 4, 6}, RandomBytes(96, 1), kScale, kZero);
  FeedInt8(ws, "Z", {1, 4, 4, 6}, RandomBytes(96, 2), kScale, kZero);
  FeedInt8(ws, "W", {8, 3, 3, 6}, RandomBytes(432, 3), 0.02f, 120);
  FeedInt8(ws, "P", {8, 3, 3, 3}, RandomBytes(216, 4), 0.02f, 120);  // two groups
  FeedInt8(ws, "D", {6, 3, 3, 1}, RandomBytes(54, 5), 0.02f, 120);   // depthwise
  FeedInt8(ws, "T", {6, 2, 2, 3}, RandomBytes(72, 6), 0.02f, 120);   // transposed
  FeedInt8(ws, "V", {5, 96}, RandomBytes(480, 7), 0.02f, 120);       // fully connected
  FeedInt8<int32_t>(ws, "b8", {8}, RandomBiases(8, 3000, 8), 1, 0);
  FeedInt8<int32_t>(ws, "b6", {6}, RandomBiases(6, 3000, 9), 1, 0);
  FeedInt8<int32_t>(ws, "b3", {3}, RandomBiases(3, 3000, 10), 1, 0);
  FeedInt8<int32_t>(ws, "b5", {5}, RandomBiases(5, 3000, 11), 1, 0);
  Feed<float>(ws, "R", {1, 4}, {0, 0, 2, 2});
  Feed<int64_t>(ws, "starts", {4}, {0, 1, 0, 0});
  Feed<int64_t>(ws, "ends", {4}, {-1, 3, -1, -1});
  Feed<int64_t>(ws, "dims", {2}, {8, 12});
}

Change Requantized(const std::string& name, float scale, int zero_point) {
  return [=](Workspace* ws) {
    auto* const value = ws->GetBlob(name)->GetMutable<Int8TensorCPU>();
    value->scale = scale;
    value->zero_point = zero_point;
  };
}

// The same tensor with other elements.
Change Altered(const std::string& name) {
  return [=](Workspace* ws) {
    Tensor& tensor = ws->GetBlob(name)->GetMutable<Int8TensorCPU>()->t;
    auto* const elements = tensor.mutable_data<uint8_t>();
    for (int64_t i = 0; i < tensor.numel(); ++i) elements[i] ^= static_cast<uint8_t>(i % 100);
  };
}
Change AlteredBias(const std::string& name) {
  return [=](Workspace* ws) {
    Tensor& tensor = ws->GetBlob(name)->GetMutable<Int8TensorCPU>()->t;
    auto* const elements = tensor.mutable_data<int32_t>();
    for (int64_t i = 0; i < tensor.numel(); ++i) elements[i] += 4000;
  };
}

Change Reshaped(const std::string& name, const std::vector<int64_t>& dims) {
  return [=](Workspace* ws) {
    FeedInt8(ws, name, dims, RandomBytes(CheckedProduct(dims), 21), kScale, kZero);
  };
}

template <class T>
Change Replaced(const std::string& name, const std::vector<int64_t>& dims,
                const std::vector<T>& values) {
  return [=](Workspace* ws) { Feed<T>(ws, name, dims, values); };
}

// Each change changes Y, and stays for the changes after it.
void ExpectFollows(const std::string& op, const std::vector<Change>& changes) {
  SCOPED_TRACE(op);
  Workspace used;
  FeedOperands(&used);
  const std::unique_ptr<OperatorBase> reused = CreateOperator(ParseOp(op), &used);
  ASSERT_TRUE(reused->Run());
  std::vector<uint8_t> before = FetchInt8(used, "Y");
  for (size_t last = 0; last < changes.size(); ++last) {
    SCOPED_TRACE(MakeString("change ", last));
    changes[last](&used);
    ASSERT_TRUE(reused->Run());
    Workspace fresh;
    FeedOperands(&fresh);
    for (size_t i = 0; i <= last; ++i) changes[i](&fresh);
    RunOp(&fresh, op);
    const Int8TensorCPU& want = Int8Of(fresh, "Y");
    ExpectInt8(used, "Y", want.t.dims(), FetchInt8(fresh, "Y"), want.scale, want.zero_point);
    EXPECT_NE(FetchInt8(used, "Y"), before);
    before = FetchInt8(used, "Y");
  }
}

// Changes of X and of a filter, of their quantizations and of biases.
std::vector<Change> ChangesOfLayer(const std::string& filter, const std::string& bias) {
  return {Requantized("X", kScale, 37),
          Requantized("X", 0.03f, 37),
          Requantized(filter, 0.02f, 99),
          Requantized(filter, 0.025f, 99),
          Altered(filter),
          AlteredBias(bias),
          Reshaped("X", {2, 4, 4, 6}),
          Altered("X"),
          Requantized("X", kScale, 255),
          Requantized(filter, 0.02f, 128),
          Requantized("X", kScale, 110),
          Requantized(filter, 0.02f, 0)};
}

TEST(Int8ReuseTest, LayersFollowQuantizationsAndElements) {
  const std::string pad = StringArg("order", "NHWC") + IntArg("kernel", 3) + IntArg("pad", 1);
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    for (const char* type : {"Int8Conv", "Int8ConvRelu"}) {
      ExpectFollows(Int8Op(type, "X W b8", "Y", 0.3f, 70, pad), ChangesOfLayer("W", "b8"));
      ExpectFollows(Int8Op(type, "X P b8", "Y", 0.3f, 70, pad + IntArg("group", 2)),
                    ChangesOfLayer("P", "b8"));
      ExpectFollows(Int8Op(type, "X D b6", "Y", 0.1f, 70, pad + IntArg("group", 6)),
                    ChangesOfLayer("D", "b6"));
    }
    ExpectFollows(Int8Op("Int8ConvTranspose", "X T b3", "Y", 0.5f, 70,
                         StringArg("order", "NHWC") + IntArg("kernel", 2)),
                  ChangesOfLayer("T", "b3"));
    ExpectFollows(Int8Op("Int8FC", "X V b5", "Y", 4, 70), ChangesOfLayer("V", "b5"));
  }
  SetNumThreads(1);
}

// The shapes of a run that failed do not reach the next one, which has those of the run before it.
TEST(Int8ReuseTest, LayersRecoverFromShapesThatDoNotFit) {
  struct Layer {
    const char *type, *inputs;
    float scale;
    std::string more;
    const char* filter;
    std::vector<int64_t> image, kernel;  // a larger image, and a filter that does not fit it
  };
  const std::string nhwc = StringArg("order", "NHWC");
  const std::string three = nhwc + IntArg("kernel", 3) + IntArg("pad", 1);
  const Layer layers[] = {
      {"Int8ConvTranspose",
       "X T b3",
       0.5f,
       nhwc + IntArg("kernel", 2),
       "T",
       {1, 5, 6, 6},
       {6, 3, 2, 3}},
      {"Int8ConvTranspose",
       "X T b3",
       0.5f,
       nhwc + IntArg("kernel", 2),
       "T",
       {1, 5, 6, 5},
       {6, 2, 2, 3}},
      {"Int8Conv", "X W b8", 0.3f, three, "W", {1, 5, 6, 6}, {8, 3, 2, 6}},
      {"Int8ConvRelu", "X P b8", 0.3f, three + IntArg("group", 2), "P", {2, 5, 6, 6}, {8, 3, 3, 6}},
      {"Int8Conv", "X D b6", 0.1f, three + IntArg("group", 6), "D", {1, 5, 6, 6}, {6, 3, 3, 2}},
      {"Int8FC", "X V b5", 4, "", "V", {2, 4, 4, 6}, {5, 95}},
  };
  for (const Layer& layer : layers) {
    const std::string op = Int8Op(layer.type, layer.inputs, "Y", layer.scale, 70, layer.more);
    SCOPED_TRACE(op);
    Workspace ws;
    FeedOperands(&ws);
    const std::unique_ptr<OperatorBase> reused = CreateOperator(ParseOp(op), &ws);
    ASSERT_TRUE(reused->Run());
    const std::vector<int64_t> dims = Int8Of(ws, "Y").t.dims();
    const std::vector<uint8_t> want = FetchInt8(ws, "Y");
    Reshaped("X", layer.image)(&ws);
    Reshaped(layer.filter, layer.kernel)(&ws);
    EXPECT_THROW(reused->Run(), EnforceNotMet);
    FeedOperands(&ws);
    ASSERT_TRUE(reused->Run());
    ExpectInt8(ws, "Y", dims, want, layer.scale, 70);
  }
}

TEST(Int8ReuseTest, LayersFollowSizesOfFiltersAndImages) {
  const std::string nhwc = StringArg("order", "NHWC");
  const auto filter = [](const std::string& name, const std::vector<int64_t>& dims) {
    return [=](Workspace* ws) {
      FeedInt8(ws, name, dims, RandomBytes(CheckedProduct(dims), 31), 0.02f, 120);
    };
  };
  const auto bias = [](const std::string& name, int64_t size) {
    return [=](Workspace* ws) {
      FeedInt8<int32_t>(ws, name, {size}, RandomBiases(size, 3000, 32), 1, 0);
    };
  };
  const auto both = [](const Change& a, const Change& b) {
    return [=](Workspace* ws) {
      a(ws);
      b(ws);
    };
  };
  // More outputs, then wider and deeper images.
  ExpectFollows(
      Int8Op("Int8Conv", "X W b8", "Y", 0.3f, 70, nhwc + IntArg("kernel", 3)),
      {both(filter("W", {40, 3, 3, 6}), bias("b8", 40)), Reshaped("X", {1, 3, 7, 6}),
       both(filter("W", {40, 3, 3, 70}), Reshaped("X", {1, 5, 4, 70})),
       both(filter("W", {2, 3, 3, 1}), both(bias("b8", 2), Reshaped("X", {1, 5, 4, 1})))});
  ExpectFollows(Int8Op("Int8ConvTranspose", "X T b3", "Y", 0.5f, 70, nhwc + IntArg("kernel", 2)),
                {both(filter("T", {6, 2, 2, 40}), bias("b3", 40)), Reshaped("X", {3, 2, 7, 6}),
                 both(filter("T", {1, 2, 2, 40}), Reshaped("X", {3, 2, 7, 1}))});
  ExpectFollows(Int8Op("Int8FC", "X V b5", "Y", 4, 70),
                {both(filter("V", {50, 96}), bias("b5", 50)),
                 both(filter("V", {50, 7}), Reshaped("X", {20, 7})), Reshaped("X", {1, 7})});
}

// No element is written, and the prepared weights of both shapes have the same size.
TEST(Int8ReuseTest, LayersFollowWeightsThatAreReshapedInPlace) {
  const Change smaller = [](Workspace* ws) {
    FeedInt8(ws, "V", {5, 6}, RandomBytes(30, 33), 0.02f, 120);
    Reshaped("X", {2, 6})(ws);
  };
  const Change reshaped = [](Workspace* ws) {
    ws->GetBlob("V")->GetMutable<Int8TensorCPU>()->t.Reshape({6, 5});
    FeedInt8<int32_t>(ws, "b5", {6}, RandomBiases(6, 3000, 34), 1, 0);
    Reshaped("X", {2, 5})(ws);
  };
  ExpectFollows(Int8Op("Int8FC", "X V b5", "Y", 0.2f, 70), {smaller, reshaped});
}

TEST(Int8ReuseTest, FunctionsFollowQuantizations) {
  const std::string nhwc = StringArg("order", "NHWC");
  const std::vector<Change> changes = {Requantized("X", kScale, 37), Requantized("X", 0.06f, 37),
                                       Altered("X"), Reshaped("X", {2, 3, 4, 6}),
                                       Requantized("X", 0.02f, 200)};
  for (const std::string& op :
       {Int8Op("Int8LeakyRelu", "X", "Y", 0.05f, 70, FloatArg("alpha", 0.25f)),
        Int8Op("Int8Sigmoid", "X", "Y", 0.00390625f, 0),
        Int8Op("Int8AveragePool", "X", "Y", 0.02f, 70, nhwc + IntArg("kernel", 2)),
        Int8Op("Int8AveragePoolRelu", "X", "Y", 0.02f, 70,
               nhwc + IntArg("kernel", 2) + IntArg("pad", 1)),
        Int8Op("Int8AveragePool", "X", "Y", 0.05f, 70, nhwc + IntArg("global_pooling", 1)),
        Int8Op("Int8RoIAlign", "X R", "Y", 0.05f, 70, IntArg("pooled_h", 2))}) {
    ExpectFollows(op, changes);
  }
  // The zero point has no effect on Softmax.
  ExpectFollows(Int8Op("Int8Softmax", "X", "Y", 0.00390625f, 0),
                {Requantized("X", 0.06f, 37), Altered("X"), Reshaped("X", {20, 3}),
                 Requantized("X", 0.01f, 0), Reshaped("X", {3, 20})});
  for (const char* type : {"Int8Add", "Int8SumRelu"}) {
    ExpectFollows(
        Int8Op(type, "X Z", "Y", 0.06f, 70),
        {Requantized("X", kScale, 37), Requantized("X", 0.06f, 37), Requantized("Z", kScale, 200),
         Requantized("Z", 0.001f, 0), Altered("X"), Altered("Z")});
  }
}

TEST(Int8ReuseTest, MovesFollowTheInputsThatStateThem) {
  const std::vector<int64_t> pixels = {1, 4, 4, 6};
  ExpectFollows(Int8Op("Int8Slice", "X starts ends", "Y", kScale, kZero),
                {Replaced<int64_t>("starts", {4}, {0, 2, 0, 0}),
                 Replaced<int64_t>("ends", {4}, {-1, -1, -1, -1}),
                 Replaced<int32_t>("starts", {4}, {0, 0, 0, 1}), Altered("X"),
                 Replaced<int32_t>("ends", {4}, {-1, -1, -1, 3})});
  ExpectFollows(Int8Op("Int8RoIAlign", "X R", "Y", 0.05f, 70),
                {Replaced<float>("R", {1, 4}, {1, 1, 3, 3}),
                 Replaced<float>("R", {2, 5}, {0, 0, 0, 2, 1, 0, 2, 0, 3, 3})});
  ExpectFollows(
      Int8Op("Int8Concat", "X Z", "Y", kScale, kZero, IntArg("axis", 1)),
      {Altered("X"), Altered("Z"), Reshaped("X", {1, 2, 4, 6}), Reshaped("Z", {1, 7, 4, 6})});
  for (const char* type : {"Int8Relu", "Int8Flatten", "Int8Transpose"}) {
    ExpectFollows(Int8Op(type, "X", "Y", kScale, kZero),
                  {Altered("X"), Reshaped("X", {3, 2, 2, 6}), Reshaped("X", pixels)});
  }
}

// The old shape is that of the input before the run, also if the output replaces it.
TEST(Int8ReuseTest, ReshapeInPlaceReturnsTheShapeBefore) {
  Workspace ws;
  FeedOperands(&ws);
  const auto op =
      CreateOperator(ParseOp(Int8Op("Int8Reshape", "X dims", "X old", kScale, kZero)), &ws);
  ASSERT_TRUE(op->Run());
  ExpectTensor<int64_t>(ws, "old", {4}, {1, 4, 4, 6});
  ExpectInt8(ws, "X", {8, 12}, RandomBytes(96, 1), kScale, kZero);
  Feed<int32_t>(&ws, "dims", {3}, {2, -1, 3});
  ASSERT_TRUE(op->Run());
  ExpectTensor<int32_t>(ws, "old", {2}, {8, 12});
  ExpectInt8(ws, "X", {2, 16, 3}, RandomBytes(96, 1), kScale, kZero);
  RunOp(&ws, Int8Op("Int8Reshape", "X", "X old", kScale, kZero, IntsArg("shape", {96})));
  ExpectTensor<int64_t>(ws, "old", {3}, {2, 16, 3});
}

}  // namespace
}  // namespace caffe2rt::int8_reuse_test
