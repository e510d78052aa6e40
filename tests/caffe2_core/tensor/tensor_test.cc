#include "caffe2_core/tensor/tensor.h"

#include <gtest/gtest.h>

#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::tensor_test {
namespace {

Tensor Floats(std::vector<int64_t> dims, std::vector<float> values) {
  Tensor tensor(dims, CPU);
  float* data = tensor.mutable_data<float>();
  std::copy(values.begin(), values.end(), data);
  return tensor;
}

// Restores the process's options.
class OptionsGuard {
 public:
  OptionsGuard() : saved_(GlobalTensorShrinkOptions()) {}
  ~OptionsGuard() { GlobalTensorShrinkOptions() = saved_; }

 private:
  const TensorShrinkOptions saved_;
};

TEST(TensorTest, AcceptsDeletersOfEveryKind) {
  float data[2] = {1, 2};
  int freed = 0;
  static int plain = 0;
  plain = 0;
  {
    Tensor tensor(std::vector<int64_t>{2}, CPU);
    tensor.ShareExternalPointer(data, sizeof(data), [&freed](void*) { ++freed; });
    const Tensor twin(tensor);
    tensor.FreeMemory();
    EXPECT_EQ(freed, 0);
    tensor.ShareExternalPointer(static_cast<void*>(data), TypeMeta::Make<float>(), sizeof(data),
                                [](void*) { ++plain; });
  }
  EXPECT_EQ(freed, 1);
  EXPECT_EQ(plain, 1);
}

template <class T>
concept CanBeResized = requires(T& tensor) {
  tensor.Resize(3);
}
|| requires(T& tensor) { tensor.Resize(std::vector<int64_t>{3}); }
|| requires(T& tensor) { tensor.Resize({3, 4}); };
template <class T>
concept CanBeWritten = requires(T& tensor) {
  tensor.template mutable_data<float>();
}
|| requires(T& tensor) { tensor.raw_mutable_data(TypeMeta()); }
|| requires(T& tensor) { tensor.raw_mutable_data(); };

TEST(TensorTest, ConstTensorsAreOnlyRead) {
  EXPECT_TRUE(CanBeResized<Tensor> && CanBeWritten<Tensor>);
  EXPECT_FALSE(CanBeResized<const Tensor>);
  EXPECT_FALSE(CanBeWritten<const Tensor>);
}

TEST(TensorTest, SharesMemoryGivenByAConstPointer) {
  float memory[2] = {1, 2};
  const float* const data = memory;
  Tensor tensor(std::vector<int64_t>{2}, CPU);
  tensor.ShareExternalPointer(data);
  EXPECT_TRUE(tensor.IsType<float>());
  EXPECT_EQ(tensor.data<float>(), data);
  EXPECT_EQ(tensor.nbytes(), sizeof(memory));
}

TEST(TensorTest, NeverShapedHasSizeMinusOne) {
  const Tensor tensor(CPU);
  EXPECT_EQ(tensor.size(), -1);
  EXPECT_EQ(tensor.dim(), 0);
  EXPECT_FALSE(tensor.IsShaped());
  EXPECT_EQ(tensor.nbytes(), 0u);
  EXPECT_THROW((void)tensor.data<float>(), EnforceNotMet);
  EXPECT_THROW((void)Tensor(CPU).mutable_data<float>(), EnforceNotMet);
}

TEST(TensorTest, ResizeAcceptsAnyIntegers) {
  Tensor tensor(CPU);
  tensor.Resize(2, int64_t{3}, size_t{4});
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{2, 3, 4}));
  tensor.Resize(std::vector<int>{5, 1});
  EXPECT_EQ(tensor.numel(), 5);
  tensor.Resize(std::vector<size_t>{7});
  EXPECT_EQ(tensor.dim(0), 7);
  tensor.Resize(std::vector<int64_t>());
  EXPECT_EQ(tensor.ndim(), 0);
  EXPECT_EQ(tensor.numel(), 1);  // a scalar
}

TEST(TensorTest, ResizeAllocatesNothing) {
  Tensor tensor(CPU);
  tensor.Resize(int64_t{1} << 40);
  EXPECT_EQ(tensor.capacity_nbytes(), 0u);
}

TEST(TensorTest, ResizeRejectsNegativeDimsOverflowAndRank) {
  Tensor tensor(CPU);
  EXPECT_THROW(tensor.Resize(2, -1), EnforceNotMet);
  EXPECT_THROW(tensor.Resize(INT64_MAX, 2), EnforceNotMet);
  EXPECT_THROW(tensor.Resize(std::vector<int64_t>(65, 1)), EnforceNotMet);
  tensor.Resize(std::vector<int64_t>(64, 1));
  EXPECT_EQ(tensor.dim(), 64);
}

TEST(TensorTest, ZeroDimensionNeedsNoMemory) {
  Tensor tensor(CPU);
  tensor.Resize(0, 5);
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_NO_THROW(tensor.mutable_data<float>());
  EXPECT_NO_THROW((void)tensor.data<float>());
}

TEST(TensorTest, ReadingWithoutMemoryThrows) {
  Tensor tensor(CPU);
  tensor.Resize(2);
  EXPECT_THROW((void)tensor.data<float>(), EnforceNotMet);
  EXPECT_THROW((void)tensor.raw_data(), EnforceNotMet);
}

TEST(TensorTest, ReadingAsAnotherTypeNamesBoth) {
  const Tensor tensor = Floats({1}, {1});
  try {
    (void)tensor.data<int>();
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_NE(error.message().find("float"), std::string::npos);
    EXPECT_NE(error.message().find("int"), std::string::npos);
  }
}

TEST(TensorTest, NewMemoryIsZero) {
  Tensor tensor(std::vector<int64_t>{100}, CPU);
  const float* data = tensor.mutable_data<float>();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(data[i], 0.f);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
}

TEST(TensorTest, MemoryIsReusedWhenLargeEnough) {
  Tensor tensor(std::vector<int64_t>{10}, CPU);
  const void* data = tensor.mutable_data<float>();
  tensor.Resize(2, 5);
  EXPECT_EQ(tensor.mutable_data<float>(), data);
  tensor.Resize(3);
  EXPECT_EQ(tensor.mutable_data<float>(), data);
  // Plain types share the memory.
  EXPECT_EQ(static_cast<void*>(tensor.mutable_data<int32_t>()), data);
  tensor.Resize(11);
  EXPECT_EQ(tensor.capacity_nbytes(), 0u);
}

TEST(TensorTest, KeepOnShrinkCanBeSwitchedOff) {
  const OptionsGuard guard;
  GlobalTensorShrinkOptions().keep_on_shrink = false;
  Tensor tensor = Floats({10}, {});
  tensor.Resize(5);
  EXPECT_EQ(tensor.capacity_nbytes(), 0u);
}

TEST(TensorTest, KeepOnShrinkHasALimit) {
  const OptionsGuard guard;
  GlobalTensorShrinkOptions().max_keep_on_shrink_bytes = 16;
  Tensor tensor = Floats({10}, {});
  tensor.Resize(7);  // 12 bytes idle
  EXPECT_EQ(tensor.capacity_nbytes(), 40u);
  tensor.Resize(5);  // 20 bytes idle
  EXPECT_EQ(tensor.capacity_nbytes(), 0u);
}

TEST(TensorTest, ReserveKeepsDataAndShape) {
  Tensor tensor = Floats({2, 2}, {1, 2, 3, 4});
  tensor.Reserve(std::vector<int64_t>{100, 2});
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(tensor.data<float>()[3], 4);
  const void* data = tensor.raw_data();
  tensor.Resize(100, 2);
  EXPECT_EQ(tensor.mutable_data<float>(), data);
}

TEST(TensorTest, ExtendKeepsDataAndGrows) {
  Tensor tensor = Floats({2, 2}, {1, 2, 3, 4});
  tensor.Extend(1, 100.f);
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(tensor.data<float>()[3], 4);
  EXPECT_EQ(tensor.capacity_nbytes(), 4 * 2 * sizeof(float));  // 2 * (100 + 100) %
  const void* data = tensor.raw_data();
  tensor.Extend(1, 100.f);
  EXPECT_EQ(tensor.raw_data(), data);
  EXPECT_EQ(tensor.dim(0), 4);
  tensor.ExtendTo(6, 0.f);
  EXPECT_EQ(tensor.dim(0), 6);
  EXPECT_THROW(tensor.ExtendTo(2, 0.f), EnforceNotMet);
}

TEST(TensorTest, ExtendOfStringsKeepsThem) {
  Tensor tensor(std::vector<int64_t>{1}, CPU);
  tensor.mutable_data<std::string>()[0] = "a string that does not fit into the small buffer";
  tensor.Extend(3, 50.f);
  EXPECT_EQ(tensor.data<std::string>()[0], "a string that does not fit into the small buffer");
  tensor.mutable_data<std::string>()[3] = "last";
  EXPECT_EQ(tensor.dim(0), 4);
}

TEST(TensorTest, ShrinkLowersTheOuterDimension) {
  Tensor tensor = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  tensor.ShrinkTo(2);
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(tensor.capacity_nbytes(), 24u);
  EXPECT_THROW(tensor.Shrink(3), EnforceNotMet);
  EXPECT_THROW(Tensor(std::vector<int64_t>{}, CPU).Shrink(0), EnforceNotMet);
}

TEST(TensorTest, ReshapeKeepsTheProduct) {
  Tensor tensor = Floats({2, 3}, {});
  tensor.Reshape({3, 2});
  EXPECT_EQ(tensor.dim(0), 3);
  EXPECT_THROW(tensor.Reshape({4, 2}), EnforceNotMet);
}

TEST(TensorTest, ShareDataSeesTheSameMemory) {
  Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor b(std::vector<int64_t>{3, 2}, CPU);
  b.ShareData(a);
  EXPECT_TRUE(b.shares_data());
  EXPECT_EQ(a.raw_data(), b.raw_data());
  b.Resize(2, 4);
  b.mutable_data<float>();
  EXPECT_NE(a.raw_data(), b.raw_data());
  EXPECT_FALSE(b.shares_data());
}

TEST(TensorTest, ShareDataTakesTheElementType) {
  Tensor source(std::vector<int64_t>{2}, CPU), view(std::vector<int64_t>{2}, CPU);
  source.mutable_data<int64_t>()[1] = 7;
  view.mutable_data<float>();
  view.ShareData(source);
  EXPECT_TRUE(view.IsType<int64_t>());
  EXPECT_EQ(view.data<int64_t>()[1], 7);
}

TEST(TensorTest, ShareDataRejectsOtherSizesAndNoData) {
  Tensor a = Floats({2}, {}), b(std::vector<int64_t>{3}, CPU), c(CPU);
  EXPECT_THROW(b.ShareData(a), EnforceNotMet);
  EXPECT_THROW(c.ShareData(a), EnforceNotMet);
  EXPECT_THROW(a.ShareData(Tensor(std::vector<int64_t>{2}, CPU)), EnforceNotMet);
}

TEST(TensorTest, ExternalPointerIsUsedAndDeletedOnce) {
  static int deleted;
  deleted = 0;
  std::vector<float> memory = {1, 2, 3};
  {
    Tensor tensor(std::vector<int64_t>{3}, CPU);
    tensor.ShareExternalPointer(memory.data(), 0, MemoryDeleter([](void*) { ++deleted; }));
    EXPECT_EQ(tensor.data<float>()[2], 3);
    const Tensor copy = tensor;
    tensor.FreeMemory();
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
  EXPECT_THROW(Tensor(CPU).ShareExternalPointer(memory.data()), EnforceNotMet);
}

TEST(TensorTest, CopySharesCopyFromDoesNot) {
  Tensor a = Floats({2}, {1, 2});
  const Tensor shared = a;
  Tensor copied(CPU);
  copied.CopyFrom(a);
  a.mutable_data<float>()[0] = 9;
  EXPECT_EQ(shared.data<float>()[0], 9);
  EXPECT_EQ(copied.data<float>()[0], 1);
  EXPECT_EQ(a.Clone().data<float>()[0], 9);
}

TEST(TensorTest, AliasesSeeWritesOfEachOther) {
  Tensor a = Floats({2}, {1, 2});
  Tensor alias = a.Alias(), shared = a.UnsafeSharedInstance();
  a.mutable_data<float>()[0] = 3;
  alias.mutable_data<float>()[1] = 4;
  for (const Tensor* tensor : {&a, &alias, &shared}) {
    EXPECT_EQ(tensor->storage(), a.storage());
    EXPECT_EQ(tensor->data<float>()[0], 3);
    EXPECT_EQ(tensor->data<float>()[1], 4);
  }
  shared.mutable_data<float>()[0] = 5;
  EXPECT_EQ(a.data<float>()[0], 5);
  shared.Resize(1);  // the shape is not shared
  EXPECT_EQ(a.numel(), 2);
}

TEST(TensorTest, CopyFromAcceptsVectorsStringsAndUnshapedTensors) {
  Tensor tensor(CPU);
  tensor.CopyFrom(std::vector<int>{4, 5});
  EXPECT_EQ(tensor.data<int>()[1], 5);
  tensor.CopyFrom(std::vector<int>{6});
  EXPECT_EQ(tensor.sizes(), IntArrayRef({1}));
  Tensor text(std::vector<int64_t>{2}, CPU);
  text.mutable_data<std::string>()[1] = "text";
  tensor.CopyFrom(text);
  EXPECT_EQ(tensor.data<std::string>()[1], "text");
  tensor.CopyFrom(tensor);
  EXPECT_EQ(tensor.data<std::string>()[1], "text");
  tensor.CopyFrom(Tensor(CPU));
  EXPECT_FALSE(tensor.IsShaped());
}

TEST(TensorTest, CopyFromATensorThatSharesMemoryIsSafe) {
  Tensor a = Floats({4}, {1, 2, 3, 4});
  Tensor view = a;
  view.Resize(2);
  a.CopyFrom(view);
  EXPECT_EQ(a.numel(), 2);
  EXPECT_EQ(a.data<float>()[1], 2);
}

TEST(TensorTest, StringsAreBuiltAndDestroyed) {
  Tensor tensor(std::vector<int64_t>{3}, CPU);
  tensor.mutable_data<std::string>()[0] = std::string(1000, 'x');
  tensor.mutable_data<float>();  // destroys them
  EXPECT_TRUE(tensor.IsType<float>());
  tensor.mutable_data<std::string>();
  tensor.Resize(1);
  tensor.mutable_data<std::string>()[0] = "y";
  tensor.Resize(3);  // the memory holds three elements, all of them constructed
  EXPECT_EQ(tensor.mutable_data<std::string>()[0], "y");
}

TEST(TensorTest, ReadOnlyMemoryIsCopiedOnWrite) {
  Tensor a = Floats({2}, {1, 2});
  a.MarkReadOnly();
  Tensor b = a;
  b.mutable_data<float>()[0] = 9;
  EXPECT_EQ(a.data<float>()[0], 1);
  EXPECT_EQ(b.data<float>()[0], 9);
  EXPECT_EQ(b.data<float>()[1], 2);
}

TEST(TensorTest, MutableAccessMovesTheVersion) {
  Tensor tensor = Floats({2}, {});
  const uint64_t version = tensor.storage()->version();
  (void)tensor.data<float>();
  EXPECT_EQ(tensor.storage()->version(), version);
  tensor.mutable_data<float>();
  EXPECT_NE(tensor.storage()->version(), version);
}

TEST(TensorTest, DimensionsAreChecked) {
  const Tensor tensor = Floats({2, 3, 4}, {});
  EXPECT_EQ(tensor.dim32(1), 3);
  EXPECT_EQ(tensor.size(-1), 4);
  EXPECT_EQ(tensor.canonical_axis_index(-3), 0);
  EXPECT_EQ(tensor.size_from_dim(1), 12);
  EXPECT_EQ(tensor.size_to_dim(2), 6);
  EXPECT_EQ(tensor.size_between_dim(0, 2), 3);
  EXPECT_EQ(tensor.size_between_dim(2, 0), 3);
  EXPECT_EQ(tensor.size_between_dim(1, 2), 1);
  EXPECT_EQ(tensor.size_from_dim(0), 24);
  EXPECT_EQ(tensor.size_from_dim(3), 1);
  EXPECT_EQ(tensor.size_to_dim(0), 1);
  EXPECT_EQ(tensor.size_to_dim(3), 24);
  EXPECT_THROW((void)tensor.size_to_dim(4), EnforceNotMet);
  EXPECT_THROW((void)tensor.size_to_dim(-1), EnforceNotMet);
  EXPECT_THROW((void)tensor.size_from_dim(-1), EnforceNotMet);
  EXPECT_THROW((void)tensor.size_between_dim(0, 3), EnforceNotMet);
  EXPECT_THROW((void)tensor.canonical_axis_index(-4), EnforceNotMet);
  EXPECT_THROW((void)tensor.dim(3), EnforceNotMet);
  EXPECT_THROW((void)tensor.dim(-1), EnforceNotMet);
  EXPECT_THROW((void)tensor.canonical_axis_index(3), EnforceNotMet);
  Tensor large(CPU);
  large.Resize(int64_t{1} << 40);
  EXPECT_EQ(large.dim(0), int64_t{1} << 40);
  EXPECT_THROW((void)large.dim32(0), EnforceNotMet);
  large.Resize(INT_MAX - 1);
  EXPECT_EQ(large.dim32(0), INT_MAX - 1);
  large.Resize(INT_MAX);  // Caffe2's limit is one less than INT_MAX
  EXPECT_THROW((void)large.dim32(0), EnforceNotMet);
}

TEST(TensorTest, SwapExchangesEverything) {
  Tensor floats = Floats({2, 3}, {1, 2}), other(std::vector<int64_t>{5}, IDEEP);
  Tensor view(std::vector<int64_t>{6}, CPU);
  view.ShareData(floats);
  const void* const data = view.raw_data();
  other.swap(view);
  EXPECT_EQ(other.GetDeviceType(), CPU);
  EXPECT_EQ(other.dims(), (std::vector<int64_t>{6}));
  EXPECT_EQ(other.numel(), 6);
  EXPECT_TRUE(other.IsType<float>());
  EXPECT_TRUE(other.shares_data());
  EXPECT_EQ(other.raw_data(), data);
  EXPECT_EQ(view.GetDeviceType(), IDEEP);
  EXPECT_EQ(view.dims(), (std::vector<int64_t>{5}));
  EXPECT_EQ(view.numel(), 5);
  EXPECT_FALSE(view.dtype_initialized() || view.storage_initialized() || view.shares_data());
  const Tensor moved(std::move(view));
  EXPECT_EQ(moved.GetDeviceType(), IDEEP);
}

TEST(TensorTest, MoveLeavesNothingBehind) {
  Tensor a = Floats({2}, {1, 2});
  Tensor b = std::move(a);
  EXPECT_EQ(b.data<float>()[1], 2);
  Tensor c(CPU);
  c = std::move(b);
  EXPECT_EQ(c.data<float>()[1], 2);
}

TEST(TensorTest, MemoryBeyondTheLimitIsAnErrorThatNamesTheNumbers) {
  Tensor tensor(CPU);
  tensor.Resize(int64_t{1} << 50);
  try {
    tensor.mutable_data<float>();
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    for (const char* part : {"out of CPU memory", "asked 4 PiB", "in use", "limit", "peak"}) {
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
  }
}

// Shape inference multiplies dimensions that no real tensor could have.
TEST(TensorTest, ProductsOfDimensionsDoNotOverflow) {
  const std::vector<int64_t> dims = {6, INT64_MIN, INT64_MAX, 2, 3};
  EXPECT_EQ(size_from_dim_(3, dims), 6);
  EXPECT_EQ(size_to_dim_(1, dims), 6);
  EXPECT_EQ(size_between_dim_(2, 4, dims), 2);
  EXPECT_THROW(size_from_dim_(2, dims), EnforceNotMet);
  EXPECT_THROW(size_to_dim_(2, dims), EnforceNotMet);
  EXPECT_THROW(size_between_dim_(4, 1, dims), EnforceNotMet);
}

TEST(TensorTest, DebugStringNamesTypeAndDims) {
  EXPECT_EQ(Floats({2, 3}, {}).DebugString(),
            "A Tensor of item size 4 and type float and dimension (2,3,).");
}

}  // namespace
}  // namespace caffe2rt::tensor_test
