// Who owns a tensor's memory, and for how long: shrinking, reserving, sharing, copying, and the
// version number that reports writes to users of derived forms.
#include <gtest/gtest.h>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/tensor/tensor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::tensor_memory_test {
namespace {

using test::ExpectThrows;

Tensor Floats(std::vector<int64_t> dims, std::vector<float> values = {}) {
  Tensor tensor(dims, CPU);
  float* data = tensor.mutable_data<float>();
  std::copy(values.begin(), values.end(), data);
  return tensor;
}
std::vector<float> Values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.numel()};
}

// Restores the process's options.
class TensorMemoryTest : public testing::Test {
 protected:
  ~TensorMemoryTest() override { GlobalTensorShrinkOptions() = saved_; }

 private:
  const TensorShrinkOptions saved_ = GlobalTensorShrinkOptions();
};

// 10 floats are 40 bytes.
TEST_F(TensorMemoryTest, ShrinkingKeepsMemoryUpToTheLimitItself) {
  GlobalTensorShrinkOptions().max_keep_on_shrink_bytes = 16;
  for (const auto& [size, capacity] :
       std::vector<std::pair<int64_t, size_t>>{{9, 40}, {7, 40}, {6, 40}, {5, 0}, {1, 0}, {0, 0}}) {
    Tensor tensor = Floats({10});
    tensor.Resize(size);
    EXPECT_EQ(tensor.capacity_nbytes(), capacity) << size;
  }
  GlobalTensorShrinkOptions().max_keep_on_shrink_bytes = 0;
  Tensor tensor = Floats({10});
  tensor.Resize(9);
  EXPECT_EQ(tensor.capacity_nbytes(), 0u);
}

TEST_F(TensorMemoryTest, MemoryIsDroppedWhenATensorGetsSmallerAndAtNoOtherTime) {
  Tensor tensor = Floats({10});
  tensor.Resize(4);
  GlobalTensorShrinkOptions().keep_on_shrink = false;
  tensor.Resize(2, 2);
  EXPECT_EQ(tensor.capacity_nbytes(), 40u);
  tensor.Resize(5);
  EXPECT_EQ(tensor.capacity_nbytes(), 40u);
  tensor.Resize(10);
  EXPECT_EQ(tensor.capacity_nbytes(), 40u);
  tensor.Resize(9);
  EXPECT_EQ(tensor.capacity_nbytes(), 0u);
}

TEST_F(TensorMemoryTest, ReservedMemoryStaysWhenATensorShrinks) {
  GlobalTensorShrinkOptions().keep_on_shrink = false;
  Tensor reserved = Floats({10}, {1, 2, 3});
  reserved.Reserve(std::vector<int64_t>{100});
  EXPECT_EQ(Values(reserved)[2], 3);
  reserved.Resize(5);
  EXPECT_EQ(reserved.capacity_nbytes(), 400u);
  Tensor spaced = Floats({10});
  spaced.ReserveSpace(100);
  spaced.Resize(5);
  EXPECT_EQ(spaced.capacity_nbytes(), 400u);
  Tensor extended = Floats({10});
  extended.Extend(10, 100);
  extended.Resize(5);
  EXPECT_EQ(extended.capacity_nbytes(), 80u);

  GlobalTensorShrinkOptions() = {.keep_on_shrink = true, .max_keep_on_shrink_bytes = 0};
  reserved.Resize(4);
  EXPECT_EQ(reserved.capacity_nbytes(), 400u);
  reserved.Resize(101);  // the memory is too small by one element
  EXPECT_EQ(reserved.capacity_nbytes(), 0u);
}

TEST_F(TensorMemoryTest, AReservationEndsWithItsMemory) {
  GlobalTensorShrinkOptions().keep_on_shrink = false;
  for (const bool by_freeing : {true, false}) {
    Tensor tensor = Floats({10});
    tensor.Reserve(std::vector<int64_t>{100});
    if (by_freeing) {
      tensor.FreeMemory();
      tensor.Resize(10);
    } else {
      tensor.Resize(200);
    }
    tensor.mutable_data<float>();
    tensor.Resize(5);
    EXPECT_EQ(tensor.capacity_nbytes(), 0u) << by_freeing;
  }
}

// Memory that is large enough stays, and one byte more needs other memory, with the elements.
TEST_F(TensorMemoryTest, AReservationIsMadeOnlyIfMoreIsNeeded) {
  Tensor bytes(std::vector<int64_t>{3}, CPU);
  std::fill_n(bytes.mutable_data<uint8_t>(), 3, uint8_t{9});
  const void* const before = bytes.raw_data();
  for (const int64_t count : {0, 2, 3}) {
    bytes.Reserve(std::vector<int64_t>{count});
    EXPECT_EQ(bytes.raw_data(), before) << count;
    EXPECT_EQ(bytes.capacity_nbytes(), 3u) << count;
  }
  for (const int64_t count : {4, 5, 12, 13}) {
    bytes.Reserve(std::vector<int64_t>{count});
    EXPECT_EQ(bytes.capacity_nbytes(), static_cast<size_t>(count));
    EXPECT_EQ(bytes.numel(), 3);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(bytes.data<uint8_t>()[i], 9) << count;
  }
  // A single element is kept, too, and an empty tensor gets its memory.
  Tensor one = Floats({1}, {7}), none = Floats({0});
  one.Reserve(std::vector<int64_t>{2});
  EXPECT_EQ(one.data<float>()[0], 7);
  none.Reserve(std::vector<int64_t>{6});
  EXPECT_EQ(none.capacity_nbytes(), 24u);
}

TEST_F(TensorMemoryTest, AReservationEndsSharing) {
  const Tensor owner = Floats({10});
  Tensor tensor = Floats({10});
  tensor.ShareData(owner);
  tensor.Reserve(std::vector<int64_t>{100});
  EXPECT_FALSE(tensor.shares_data());
  EXPECT_NE(tensor.raw_data(), owner.raw_data());
}

TEST_F(TensorMemoryTest, SwapAndMoveTransferTheReservation) {
  GlobalTensorShrinkOptions().keep_on_shrink = false;
  Tensor reserved = Floats({10}), plain = Floats({20});
  reserved.Reserve(std::vector<int64_t>{100});
  reserved.swap(plain);
  Tensor moved = std::move(plain);
  moved.Resize(5);
  EXPECT_EQ(moved.capacity_nbytes(), 400u);
  reserved.Resize(5);
  EXPECT_EQ(reserved.capacity_nbytes(), 0u);
  EXPECT_FALSE(plain.IsShaped());  // NOLINT(bugprone-use-after-move): a moved tensor is empty
  EXPECT_EQ(plain.capacity_nbytes(), 0u);
}

TEST_F(TensorMemoryTest, ClearForgetsTheElementsAndKeepsTheMemory) {
  Tensor tensor(std::vector<int64_t>{2, 3}, CPU);
  const void* const memory = tensor.mutable_data<float>();
  tensor.Clear();
  EXPECT_FALSE(tensor.IsShaped());
  EXPECT_FALSE(tensor.dtype_initialized());
  EXPECT_EQ(tensor.GetDeviceType(), CPU);
  EXPECT_EQ(tensor.capacity_nbytes(), 24u);
  EXPECT_THROW((void)tensor.data<float>(), EnforceNotMet);
  tensor.Resize(6);
  EXPECT_EQ(tensor.mutable_data<int32_t>(), memory);
  tensor.Clear();
  tensor.Resize(7);
  (void)tensor.mutable_data<float>();
  EXPECT_EQ(tensor.capacity_nbytes(), 28u);
}

TEST_F(TensorMemoryTest, ClearKeepsNoMemoryThatOthersMayRead) {
  float foreign[2] = {5, 6};
  Tensor shared(std::vector<int64_t>{2}, CPU), read_only(std::vector<int64_t>{2}, CPU),
      external(std::vector<int64_t>{2}, CPU), strings(std::vector<int64_t>{2}, CPU);
  shared.mutable_data<float>()[0] = 7;
  const Tensor other = shared;
  (void)read_only.mutable_data<float>();
  read_only.storage()->set_read_only();
  external.ShareExternalPointer(foreign);
  (void)strings.mutable_data<std::string>();
  for (Tensor* const tensor : {&shared, &read_only, &external, &strings}) {
    tensor->Clear();
    EXPECT_EQ(tensor->storage(), nullptr);
    EXPECT_FALSE(tensor->IsShaped());
  }
  EXPECT_EQ(other.data<float>()[0], 7);
  EXPECT_EQ(foreign[0], 5);
}

TEST_F(TensorMemoryTest, ReserveSpaceKeepsTheShapeAndGrowsOnly) {
  Tensor tensor = Floats({2, 3});
  tensor.ReserveSpace(5);
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensor.capacity_nbytes(), 60u);
  const void* const data = tensor.mutable_data<float>();
  tensor.ReserveSpace(4);
  tensor.Reserve(std::vector<int64_t>{5, 3});
  EXPECT_EQ(tensor.raw_data(), data);
  tensor.Resize(5, 3);
  EXPECT_EQ(tensor.mutable_data<float>(), data);
  EXPECT_THROW(Tensor(std::vector<int64_t>{2}, CPU).ReserveSpace(5), EnforceNotMet);
  EXPECT_THROW(Tensor(std::vector<int64_t>{2}, CPU).Reserve(std::vector<int64_t>{5}),
               EnforceNotMet);
  EXPECT_THROW(Tensor(std::vector<int64_t>{}, CPU).ReserveSpace(5), EnforceNotMet);
}

TEST_F(TensorMemoryTest, ExtendGrowsByAtLeastThePercentage) {
  Tensor tensor = Floats({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  tensor.Extend(1, 25);  // 12.5 becomes 13
  EXPECT_EQ(tensor.capacity_nbytes(), 52u);
  tensor.Extend(2, 25);  // fits exactly
  EXPECT_EQ(tensor.dim(0), 13);
  EXPECT_EQ(tensor.capacity_nbytes(), 52u);
  tensor.Extend(10, 10);  // the added elements exceed the percentage
  EXPECT_EQ(tensor.capacity_nbytes(), 92u);
  EXPECT_EQ(Values(tensor)[9], 9);
  EXPECT_THROW(tensor.Extend(-1, 0), EnforceNotMet);
  EXPECT_THROW(tensor.Extend(INT64_MAX, 0), EnforceNotMet);
  Tensor shaped(std::vector<int64_t>{2}, CPU);
  shaped.Extend(3, 0);
  EXPECT_EQ(shaped.dim(0), 5);
  EXPECT_EQ(shaped.capacity_nbytes(), 0u);
}

TEST_F(TensorMemoryTest, OnlyMemoryOfOneTensorShrinksInPlace) {
  Tensor tensor = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  {
    const Tensor copy = tensor;
    ExpectThrows([&] { tensor.ShrinkTo(2); }, "memory is shared");
  }
  Tensor viewer(std::vector<int64_t>{6}, CPU);
  viewer.ShareData(tensor);
  ExpectThrows([&] { tensor.Shrink(2); }, "memory is shared");
  ExpectThrows([&] { viewer.ShrinkTo(5); }, "memory is shared");
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{3, 2}));
  viewer.FreeMemory();
  tensor.ShrinkTo(3);
  tensor.ShrinkTo(2);
  EXPECT_EQ(Values(tensor), (std::vector<float>{1, 2, 3, 4}));
  tensor.ShrinkTo(0);
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_EQ(tensor.capacity_nbytes(), 24u);
  ExpectThrows([&] { tensor.ShrinkTo(-1); }, "cannot shrink dim 0 from 0 to -1");
}

TEST_F(TensorMemoryTest, CopyingFromATensorOfTheSameMemoryEndsTheSharing) {
  Tensor a = Floats({4}, {1, 2, 3, 4});
  Tensor b = a;
  a.CopyFrom(b);
  EXPECT_FALSE(a.shares_data());
  a.mutable_data<float>()[0] = 9;
  b.mutable_data<float>()[1] = 8;
  EXPECT_EQ(Values(a), (std::vector<float>{9, 2, 3, 4}));
  EXPECT_EQ(Values(b), (std::vector<float>{1, 8, 3, 4}));
  Tensor view(std::vector<int64_t>{2, 2}, CPU);
  view.ShareData(b);
  view.CopyFrom(b);
  EXPECT_EQ(view.dims(), (std::vector<int64_t>{4}));
  view.mutable_data<float>()[0] = 7;
  EXPECT_EQ(Values(b)[0], 1);
}

TEST_F(TensorMemoryTest, CopyFromLeavesReadOnlyMemoryAlone) {
  Tensor weight = Floats({2}, {1, 2});
  weight.MarkReadOnly();
  Tensor user = weight;
  user.CopyFrom(Floats({2}, {5, 6}));
  EXPECT_EQ(Values(weight), (std::vector<float>{1, 2}));
  EXPECT_EQ(Values(user), (std::vector<float>{5, 6}));
  user.mutable_data<float>()[0] = 7;  // has its own memory by now
  EXPECT_EQ(Values(weight), (std::vector<float>{1, 2}));
  user = weight;
  user.Resize(1);
  user.mutable_data<float>()[0] = 3;
  EXPECT_EQ(Values(weight), (std::vector<float>{1, 2}));
  user = weight;
  user.mutable_data<int32_t>()[0] = 3;
  EXPECT_EQ(Values(weight), (std::vector<float>{1, 2}));
}

TEST_F(TensorMemoryTest, CopyOfReadOnlyMemoryMayBeWrittenInPlace) {
  Tensor weight = Floats({2}, {1, 2});
  weight.MarkReadOnly();
  Tensor copy = weight.Clone();
  const void* const memory = copy.raw_data();
  EXPECT_EQ(copy.mutable_data<float>(), memory);
}

TEST_F(TensorMemoryTest, CopyFromRejectsAShapeWithoutData) {
  Tensor source = Floats({2}), target = Floats({3});
  source.FreeMemory();
  ExpectThrows([&] { target.CopyFrom(source); }, "has no data");
  // Without a type, only the shape is copied.
  target.CopyFrom(Tensor(std::vector<int64_t>{5}, CPU));
  EXPECT_EQ(target.dims(), (std::vector<int64_t>{5}));
  EXPECT_EQ(target.capacity_nbytes(), 0u);
}

// Memory that is not enough for the new type is released before the larger one is asked for.
TEST_F(TensorMemoryTest, ATensorThatGetsNoMemorySharesNone) {
  const Tensor owner = Floats({1 << 18});
  Tensor viewer = Floats({1 << 18});
  viewer.ShareData(owner);
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  const size_t before = options.limit_bytes;
  options.limit_bytes = GetCPUMemoryUsage().in_use_bytes + (size_t{1} << 20);
  EXPECT_THROW(viewer.mutable_data<double>(), OutOfMemory);
  options.limit_bytes = before;
  EXPECT_FALSE(viewer.shares_data());
  EXPECT_FALSE(viewer.HasData());
  EXPECT_EQ(viewer.dims(), (std::vector<int64_t>{1 << 18}));
  EXPECT_EQ(owner.data<float>()[5], 0);
  viewer.mutable_data<double>()[0] = 3;
  EXPECT_EQ(viewer.data<double>()[0], 3);
}

TEST_F(TensorMemoryTest, FreeMemoryKeepsShapeAndType) {
  Tensor tensor = Floats({2, 3});
  const Tensor source = Floats({6});
  tensor.ShareData(source);
  tensor.FreeMemory();
  EXPECT_EQ(tensor.dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(tensor.IsType<float>());
  EXPECT_FALSE(tensor.shares_data());
  EXPECT_FALSE(tensor.HasData());
  tensor.raw_mutable_data();
  EXPECT_NE(tensor.raw_data(), source.raw_data());
}

TEST_F(TensorMemoryTest, ForeignMemoryIsUsedUpToItsCapacity) {
  float memory[4] = {1, 2, 3, 4};
  Tensor tensor(std::vector<int64_t>{2}, CPU);
  tensor.ShareExternalPointer(memory, sizeof(memory));
  tensor.Resize(4);
  EXPECT_EQ(tensor.mutable_data<float>(), memory);
  tensor.Resize(5);
  EXPECT_NE(tensor.mutable_data<float>(), memory);
  EXPECT_FALSE(tensor.shares_data());
  Tensor exact(std::vector<int64_t>{2}, CPU);
  exact.ShareExternalPointer(memory);
  EXPECT_EQ(exact.capacity_nbytes(), 8u);
  exact.Resize(3);
  EXPECT_NE(exact.mutable_data<float>(), memory);
  EXPECT_EQ(memory[2], 3);
}

TEST_F(TensorMemoryTest, DataOfAnotherDeviceIsNotShared) {
  Tensor elsewhere(std::vector<int64_t>{2}, CUDA);
  ExpectThrows([&] { elsewhere.ShareData(Floats({2})); }, "device type");
  ExpectThrows([&] { elsewhere.mutable_data<std::string>(); }, "are supported only on the CPU");
}

int g_made = 0;
// Returns the prepared form of the tensor's memory, as a number that increases with each creation.
int FormOf(const Tensor& tensor) {
  const auto form = tensor.storage()->forms().Get(
      "form", sizeof(int), [](void* to) { *static_cast<int*>(to) = ++g_made; });
  return *static_cast<const int*>(form.get());
}

// Every kind of write goes through one of these calls.
TEST_F(TensorMemoryTest, EveryMutableAccessDropsPreparedForms) {
  struct Access {
    const char* name;
    void (*run)(Tensor*);
  };
  for (const Access& access :
       std::vector<Access>{{"same type", [](Tensor* t) { t->mutable_data<float>(); }},
                           {"raw", [](Tensor* t) { t->raw_mutable_data(); }},
                           {"other type", [](Tensor* t) { t->mutable_data<int32_t>(); }},
                           {"smaller type", [](Tensor* t) { t->mutable_data<uint8_t>(); }},
                           {"smaller shape",
                            [](Tensor* t) {
                              t->Resize(3);
                              t->mutable_data<float>();
                            }},
                           {"copy",
                            [](Tensor* t) {
                              t->CopyFrom(Floats({4}, {5, 6, 7, 8}));
                            }},
                           {"copy of another type",
                            [](Tensor* t) {
                              Tensor bytes(std::vector<int64_t>{4}, CPU);
                              bytes.mutable_data<int32_t>();
                              t->CopyFrom(bytes);
                            }},
                           {"copy of values", [](Tensor* t) {
                              t->CopyFrom(std::vector<int32_t>{5, 6});
                            }}}) {
    SCOPED_TRACE(access.name);
    Tensor tensor = Floats({4}, {1, 2, 3, 4});
    const int first = FormOf(tensor);
    EXPECT_EQ(FormOf(tensor), first);
    const std::shared_ptr<Storage> storage = tensor.storage();
    const uint64_t version = storage->version();
    access.run(&tensor);
    EXPECT_EQ(tensor.storage(), storage);
    EXPECT_NE(storage->version(), version);
    EXPECT_NE(FormOf(tensor), first);
  }
}

TEST_F(TensorMemoryTest, StringsThatAreUsedAgainDropPreparedForms) {
  Tensor tensor(std::vector<int64_t>{3}, CPU);
  tensor.mutable_data<std::string>();
  const int first = FormOf(tensor);
  tensor.Resize(2);
  tensor.mutable_data<std::string>();
  EXPECT_NE(FormOf(tensor), first);
}

TEST_F(TensorMemoryTest, ReadsKeepPreparedForms) {
  Tensor tensor = Floats({4});
  const int form = FormOf(tensor);
  (void)tensor.data<float>();
  (void)tensor.raw_data();
  const Tensor copy = tensor.Clone(), shared = tensor;
  tensor.Reshape({2, 2});
  EXPECT_EQ(FormOf(tensor), form);
  EXPECT_EQ(FormOf(shared), form);
}

// Memory to which no outside pointer exists needs no comparison before each use.
TEST_F(TensorMemoryTest, PointersHandedOutExposeTheMemoryAndCopiesOfTheLibraryDoNot) {
  EXPECT_TRUE(Floats({2}).storage()->exposed());
  EXPECT_FALSE(Floats({2}).Clone().storage()->exposed());
  Tensor tensor(std::vector<int64_t>{2}, CPU);
  {
    const TransientWrites scope;
    tensor.mutable_data<float>();
    {
      const TransientWrites nested;
      tensor.mutable_data<float>();
    }
    tensor.mutable_data<int32_t>();
  }
  EXPECT_FALSE(tensor.storage()->exposed());
  tensor.mutable_data<float>();
  EXPECT_TRUE(tensor.storage()->exposed());
  Tensor typed = Floats({2}).Clone();
  typed.mutable_data<int32_t>();
  EXPECT_TRUE(typed.storage()->exposed());
  float memory[2] = {};
  tensor.ShareExternalPointer(memory);
  EXPECT_TRUE(tensor.storage()->exposed());
  tensor.MarkReadOnly();
  EXPECT_FALSE(tensor.storage()->exposed());
}

// Objects of memory that is only read are copied before they are written, like bytes.
TEST_F(TensorMemoryTest, StringsThatAreOnlyReadAreCopiedOnWrite) {
  Tensor names(std::vector<int64_t>{2}, CPU);
  names.mutable_data<std::string>()[0] = "a";
  names.mutable_data<std::string>()[1] = std::string(40, 'b');
  Tensor other = names;
  names.MarkReadOnly();
  other.mutable_data<std::string>()[0] = "x";
  EXPECT_EQ(names.data<std::string>()[0], "a");
  EXPECT_EQ(other.data<std::string>()[0], "x");
  EXPECT_EQ(other.data<std::string>()[1], std::string(40, 'b'));
  // Fewer of them, too.
  Tensor fewer = names;
  fewer.Resize(1);
  fewer.mutable_data<std::string>()[0] = "y";
  EXPECT_EQ(names.data<std::string>()[0], "a");
  EXPECT_EQ(names.numel(), 2);
}

}  // namespace
}  // namespace caffe2rt::tensor_memory_test
