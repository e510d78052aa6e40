// What a tensor knows of its memory from one call to the next: how many elements are constructed, of
// which type, in which layout, shared with whom.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/tensor_difference.h"
#include "caffe2_core/tensor/tensor_stats.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::tensor_elements_test {
namespace {

using test::ExpectThrows;
using Dims = std::vector<int64_t>;
using Counted = std::shared_ptr<int>;

// Memory for four elements, of which two are constructed.
struct HalfBuilt {
  HalfBuilt() { new (memory) Counted[2]; }
  ~HalfBuilt() {
    for (int i = 0; i < 2; ++i) elements()[i].~Counted();
  }
  Counted* elements() { return reinterpret_cast<Counted*>(memory); }
  alignas(Counted) unsigned char memory[4 * sizeof(Counted)];
};

TEST(TensorElementsTest, ForeignElementsThatAreNotConstructedAreNotUsed) {
  HalfBuilt foreign;
  Tensor tensor(Dims{2}, CPU);
  tensor.ShareExternalPointer(foreign.elements(), sizeof(foreign.memory));
  EXPECT_EQ(tensor.mutable_data<Counted>(), foreign.elements());
  Tensor viewer(Dims{2}, CPU), swapped(CPU), moved(CPU);
  viewer.mutable_data<float>();
  viewer.ShareData(tensor);
  Tensor second(Dims{2}, CPU);
  second.ShareExternalPointer(foreign.elements(), sizeof(foreign.memory));
  swapped.swap(second);
  Tensor third(Dims{2}, CPU);
  third.ShareExternalPointer(foreign.elements(), sizeof(foreign.memory));
  moved = std::move(third);
  for (Tensor* user : {&viewer, &swapped, &moved, &tensor}) {
    user->Resize(4);
    Counted* const elements = user->mutable_data<Counted>();
    EXPECT_NE(elements, foreign.elements());
    for (int i = 0; i < 4; ++i) EXPECT_EQ(elements[i], nullptr);
    EXPECT_FALSE(user->shares_data());
  }
}

TEST(TensorElementsTest, ASingleElementIsDestroyedWithItsMemory) {
  const auto counted = std::make_shared<int>(1);
  for (const int64_t size : {1, 2, 3}) {
    Tensor tensor(Dims{size}, CPU);
    for (int64_t i = 0; i < size; ++i) tensor.mutable_data<Counted>()[i] = counted;
    EXPECT_EQ(counted.use_count(), 1 + size);
    tensor.FreeMemory();
    EXPECT_EQ(counted.use_count(), 1);
  }
}

TEST(TensorElementsTest, MemoryThatIsUsedAgainHasTheNewType) {
  Tensor tensor(Dims{2}, CPU);
  tensor.mutable_data<float>();
  const void* const memory = tensor.raw_data();
  tensor.mutable_data<int32_t>()[1] = 7;
  EXPECT_TRUE(tensor.IsType<int32_t>());
  EXPECT_EQ(tensor.data<int32_t>()[1], 7);
  EXPECT_EQ(tensor.raw_data(), memory);
  tensor.raw_mutable_data(TypeMeta::Make<uint8_t>());
  EXPECT_EQ(tensor.itemsize(), 1u);
  EXPECT_EQ(tensor.nbytes(), 2u);
}

TEST(TensorElementsTest, MemoryThatIsNotAlignedForATypeIsReplaced) {
  alignas(16) unsigned char memory[24] = {};
  Tensor tensor(Dims{2}, CPU);
  const auto view = [&](size_t offset) {
    tensor.FreeMemory();
    tensor.ShareExternalPointer(memory + offset, sizeof(memory) - offset);
  };
  view(2);
  EXPECT_EQ(static_cast<void*>(tensor.mutable_data<int16_t>()), memory + 2);
  view(2);
  EXPECT_NE(static_cast<void*>(tensor.mutable_data<float>()), memory + 2);
  view(4);
  EXPECT_EQ(static_cast<void*>(tensor.mutable_data<float>()), memory + 4);
  view(4);
  EXPECT_NE(static_cast<void*>(tensor.mutable_data<double>()), memory + 4);
  view(8);
  EXPECT_EQ(static_cast<void*>(tensor.mutable_data<double>()), memory + 8);
}

TEST(TensorElementsTest, ReadOnlyMarksOfAViewHoldForItsOwner) {
  Tensor owner(Dims{2}, CPU), viewer(Dims{2}, CPU);
  owner.mutable_data<float>()[0] = 1;
  viewer.ShareData(owner);
  viewer.MarkReadOnly();
  const void* const memory = viewer.raw_data();
  owner.mutable_data<float>()[0] = 9;
  EXPECT_EQ(viewer.data<float>()[0], 1);
  EXPECT_EQ(viewer.raw_data(), memory);
  float foreign[2] = {3, 4};
  Tensor external(Dims{2}, CPU);
  external.ShareExternalPointer(foreign);
  external.MarkReadOnly();
  external.mutable_data<float>()[0] = 9;
  EXPECT_EQ(foreign[0], 3);
  Tensor(CPU).MarkReadOnly();  // there is nothing to mark
}

TEST(TensorElementsTest, ReservingWhatIsThereKeepsDataAndSharing) {
  Tensor owner(Dims{2, 3}, CPU), viewer(Dims{2, 3}, CPU);
  owner.mutable_data<float>()[5] = 6;
  viewer.ShareData(owner);
  viewer.ReserveSpace(2);
  viewer.Reserve(Dims{3, 2});
  EXPECT_EQ(viewer.raw_data(), owner.raw_data());
  EXPECT_TRUE(viewer.shares_data());
  viewer.ReserveSpace(3);
  EXPECT_FALSE(viewer.shares_data());
  EXPECT_NE(viewer.raw_data(), owner.raw_data());
  EXPECT_EQ(viewer.capacity_nbytes(), 36u);
  owner.FreeMemory();
  owner.Reserve(Dims{7});  // it has a size and a type, but no data to keep
  EXPECT_EQ(owner.capacity_nbytes(), 28u);
  EXPECT_EQ(owner.dims(), (Dims{2, 3}));
}

TEST(TensorElementsTest, ExtendingCountsAndKeepsWhatFits) {
  Tensor floats(Dims{2, 3}, CPU);
  floats.mutable_data<float>();
  floats.Extend(1, 0);
  EXPECT_EQ(floats.numel(), 9);
  EXPECT_EQ(floats.nbytes(), 36u);
  Tensor strings(Dims{2}, CPU);
  strings.mutable_data<std::string>()[1] = "kept";
  strings.Reserve(Dims{4});
  const void* const memory = strings.raw_data();
  strings.Extend(2, 50);  // fills what is constructed
  EXPECT_EQ(strings.raw_data(), memory);
  EXPECT_EQ(strings.numel(), 4);
  strings.mutable_data<std::string>()[3] = "last";
  strings.Extend(1, 50);
  EXPECT_NE(strings.raw_data(), memory);
  EXPECT_EQ(strings.capacity_nbytes(), 6 * sizeof(std::string));
  EXPECT_EQ(strings.data<std::string>()[1], "kept");
  EXPECT_EQ(strings.data<std::string>()[3], "last");
}

TEST(TensorElementsTest, NewMemoryIsAllocatedAfterTheOldIsFreed) {
  Tensor tensor(Dims{1 << 20}, CPU);
  tensor.mutable_data<float>();
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  const size_t before = options.limit_bytes;
  options.limit_bytes = GetCPUMemoryUsage().in_use_bytes + (size_t{5} << 20);
  EXPECT_NO_THROW(tensor.mutable_data<double>());  // 4 MiB more
  options.limit_bytes = before;
}

TEST(TensorElementsTest, CopiesOfTensorsWithoutDataAdoptTheirType) {
  Tensor typed(Dims{2}, CPU), target(Dims{3}, CPU);
  target.mutable_data<float>();
  target.CopyFrom(Tensor(CPU));
  EXPECT_FALSE(target.IsShaped());
  EXPECT_FALSE(target.dtype_initialized());
  EXPECT_EQ(target.capacity_nbytes(), 0u);
  target.Resize(2);
  target.mutable_data<float>();
  target.CopyFrom(typed);  // a shape without a type
  EXPECT_EQ(target.dims(), (Dims{2}));
  EXPECT_FALSE(target.dtype_initialized());
  EXPECT_EQ(target.capacity_nbytes(), 0u);
  Tensor empty(Dims{0, 4}, CPU);
  empty.mutable_data<int64_t>();
  target.CopyFrom(empty);
  EXPECT_TRUE(target.IsType<int64_t>());
  EXPECT_EQ(target.dims(), (Dims{0, 4}));
}

TEST(TensorElementsTest, UnshapedTensorsMakeOthersUnshaped) {
  Tensor tensor(Dims{2, 3}, CPU);
  tensor.ResizeLike(Tensor(CPU));
  EXPECT_EQ(tensor.size(), -1);
  EXPECT_EQ(tensor.dim(), 0);
  EXPECT_FALSE(tensor.defined());
  tensor.ResizeLike(Tensor(Dims{4}, CPU));
  EXPECT_EQ(tensor.dims(), (Dims{4}));
  EXPECT_EQ(tensor.size(0), 4);
  EXPECT_EQ(tensor.canonical_axis_index(0), 0);
}

// Elements in reverse order, in `nbytes` bytes.
class MirroredLayout final : public OpaqueLayout {
 public:
  MirroredLayout(int64_t count, size_t nbytes) : OpaqueLayout({count}, count, nbytes) {}
  std::string Description() const override { return "mirrored"; }
  void ToPlain(const void* from, void* to) const override {
    for (int64_t i = 0; i < count(); ++i)
      static_cast<float*>(to)[i] = static_cast<const float*>(from)[count() - 1 - i];
  }
};
const TypeMeta kFloat = TypeMeta::Make<float>();

Tensor Mirrored(const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  Tensor tensor(Dims{count}, IDEEP);
  auto* const data = static_cast<float*>(tensor.mutable_opaque_data(
      kFloat, std::make_shared<MirroredLayout>(count, values.size() * sizeof(float))));
  std::copy(values.rbegin(), values.rend(), data);
  return tensor;
}

TEST(TensorElementsTest, OpaqueMemoryHasTheBytesOfItsLayout) {
  Tensor tensor(Dims{4}, IDEEP);
  const auto padded = std::make_shared<MirroredLayout>(4, 64);
  const void* const memory = tensor.mutable_opaque_data(kFloat, padded);
  EXPECT_EQ(tensor.capacity_nbytes(), 64u);
  EXPECT_EQ(tensor.opaque_layout(), padded.get());
  // Smaller layouts and plain elements use the same memory.
  EXPECT_EQ(tensor.mutable_opaque_data(kFloat, std::make_shared<MirroredLayout>(4, 8)), memory);
  EXPECT_EQ(tensor.mutable_opaque_data(kFloat, nullptr), memory);
  EXPECT_EQ(tensor.opaque_layout(), nullptr);
  EXPECT_NE(tensor.mutable_opaque_data(kFloat, std::make_shared<MirroredLayout>(4, 68)), memory);
  EXPECT_EQ(tensor.capacity_nbytes(), 68u);
  Tensor narrow(Dims{4}, IDEEP);
  narrow.mutable_opaque_data(kFloat, std::make_shared<MirroredLayout>(4, 8));
  EXPECT_EQ(narrow.capacity_nbytes(), 8u);
  narrow.mutable_opaque_data(kFloat, nullptr);
  EXPECT_EQ(narrow.capacity_nbytes(), 16u);
}

TEST(TensorElementsTest, WritesInALayoutMoveTheVersionAndDropForms) {
  Tensor tensor = Mirrored({1, 2, 3});
  Storage& storage = *tensor.storage();
  const auto layout = storage.layout();
  storage.forms().Get("form", 4, [](void*) {});
  const uint64_t version = storage.version();
  tensor.mutable_opaque_data(kFloat, layout);
  EXPECT_NE(storage.version(), version);
  EXPECT_FALSE(storage.forms().any());
  EXPECT_EQ(static_cast<const float*>(tensor.opaque_data())[0], 3);  // keeps its elements
  // Plain elements have no layout, and can be read.
  tensor.mutable_data<float>()[0] = 7;
  EXPECT_EQ(tensor.opaque_layout(), nullptr);
  EXPECT_FALSE(storage.opaque() || storage.unreadable());
  EXPECT_EQ(tensor.data<float>()[0], 7);
  tensor.CheckData<float>();
}

TEST(TensorElementsTest, IsMadeOfShapesAndValuesOfManyKinds) {
  EXPECT_EQ(Tensor(std::vector<int>{2, 3}, IDEEP).GetDeviceType(), IDEEP);
  EXPECT_EQ(Tensor(std::vector<int>{2, 3}, CPU).dims(), (Dims{2, 3}));
  EXPECT_EQ(Tensor(IntArrayRef(Dims{4}), CPU).dims(), Dims{4});
  EXPECT_EQ(Tensor(Dims{5}).dims(), Dims{5});
  EXPECT_EQ(Tensor(std::vector<int>{6, 1}).dims(), (Dims{6, 1}));
  EXPECT_EQ(Tensor(std::vector<size_t>{7}).numel(), 7);
  Tensor values(Dims{2, 2}, std::vector<float>{1, 2, 3, 4}, nullptr);
  EXPECT_EQ(values.dims(), (Dims{2, 2}));
  EXPECT_EQ(values.data<float>()[3], 4);
  values.Reshape(std::vector<int>{4, 1});
  EXPECT_EQ(values.dims(), (Dims{4, 1}));
  Tensor copy(CPU);
  copy.CopyFrom(values, true);
  EXPECT_EQ(copy.data<float>()[2], 3);
  EXPECT_NE(copy.raw_data(), values.raw_data());
  EXPECT_THROW(Tensor(Dims{3}, std::vector<float>{1, 2}, nullptr), EnforceNotMet);
}

TEST(TensorElementsTest, EmptyTensorsAreShapedAndHaveData) {
  const Tensor empty(Dims{0, 2}, CPU), unset(CPU);
  EXPECT_TRUE(empty.IsShaped() && empty.defined() && static_cast<bool>(empty));
  EXPECT_TRUE(empty.HasData());
  EXPECT_TRUE(empty.is_contiguous());
  EXPECT_EQ(empty.nbytes(), 0u);
  EXPECT_EQ(empty.opaque_data(), nullptr);
  EXPECT_FALSE(unset.IsShaped() || unset.defined() || static_cast<bool>(unset) || unset.HasData());
  Tensor typed(Dims{0}, CPU), full(Dims{2}, CPU);
  typed.mutable_data<float>();
  typed.FreeMemory();
  typed.CheckData<float>();
  EXPECT_EQ(typed.data<float>(), nullptr);
  full.mutable_data<float>();
  full.CheckData<float>();
  full.FreeMemory();
  EXPECT_THROW(full.CheckData<float>(), EnforceNotMet);
  EXPECT_THROW((void)full.opaque_data(), EnforceNotMet);
}

TEST(TensorElementsTest, AMovedTensorIsEmptyOnItsDevice) {
  Tensor from(Dims{2}, IDEEP), to(Dims{3}, CPU);
  from.mutable_data<float>();
  to.mutable_data<int32_t>();
  to = std::move(from);
  EXPECT_EQ(to.dims(), Dims{2});
  EXPECT_EQ(to.GetDeviceType(), IDEEP);
  EXPECT_FALSE(from.IsShaped());  // NOLINT(bugprone-use-after-move): a moved tensor is empty
  EXPECT_FALSE(from.storage_initialized() || from.dtype_initialized());
  EXPECT_EQ(from.GetDeviceType(), IDEEP);
  Tensor& same = to;
  to = std::move(same);
  EXPECT_EQ(to.dims(), Dims{2});
}

TEST(TensorElementsTest, MemoryOfAnyTypeIsFreedByAnyCallable) {
  float memory[2] = {1, 2};
  int freed = 0;
  {
    Tensor tensor(Dims{2}, CPU);
    tensor.ShareExternalPointer(static_cast<void*>(memory), TypeMeta::Make<float>(), sizeof(memory),
                                [&](void* data) { freed += data == memory; });
    EXPECT_EQ(tensor.data<float>()[1], 2);
  }
  EXPECT_EQ(freed, 1);
}

TEST(TensorElementsTest, OpaqueMemoryIsNotSharedAfterItIsReplaced) {
  Tensor owner(Dims{2}, IDEEP), viewer(Dims{2}, IDEEP);
  owner.mutable_opaque_data(kFloat, nullptr);
  viewer.ShareData(owner);
  viewer.mutable_opaque_data(kFloat, std::make_shared<MirroredLayout>(2, 100));
  EXPECT_FALSE(viewer.shares_data());
  EXPECT_EQ(owner.opaque_layout(), nullptr);
  viewer.MarkReadOnly();
  Tensor writer = viewer;
  writer.mutable_opaque_data(kFloat, std::make_shared<MirroredLayout>(2, 8));
  EXPECT_NE(writer.opaque_data(), viewer.opaque_data());
  EXPECT_FALSE(writer.storage()->read_only());
}

TEST(TensorElementsTest, AWriteToReadOnlyOpaqueMemoryCopiesItInRowMajorOrder) {
  Tensor weight = Mirrored({1, 2, 3});
  weight.MarkReadOnly();
  Tensor writer = weight;
  float* const data = writer.mutable_data<float>();
  EXPECT_EQ(data[0], 1);
  EXPECT_EQ(data[2], 3);
  EXPECT_EQ(writer.opaque_layout(), nullptr);
  EXPECT_EQ(static_cast<const float*>(weight.opaque_data())[0], 3);
  EXPECT_EQ(weight.opaque_layout()->Description(), "mirrored");
}

TEST(TensorElementsTest, OpaqueTensorsAreComparedAndMeasuredInRowMajorOrder) {
  const Tensor opaque = Mirrored({1, 5, 3});
  Tensor plain(opaque, CPU);
  EXPECT_TRUE(CompareTensors(opaque, plain, {}).within());
  plain.mutable_data<float>()[2] = 7;
  const TensorDifference found = CompareTensors(plain, opaque, {});
  EXPECT_EQ(found.worst, 2);
  EXPECT_EQ(found.max_absolute, 4);
  const TensorStats stats = StatsOf(opaque).value();
  EXPECT_EQ(stats.max, 5);
  EXPECT_EQ(stats.mean, 3);
}

TEST(TensorElementsTest, TensorsWithoutDataHaveNoStatisticsAndEqualEachOther) {
  Tensor freed(Dims{2}, CPU);
  freed.mutable_data<float>();
  freed.FreeMemory();
  Tensor full(Dims{2}, CPU);
  full.mutable_data<float>();
  EXPECT_FALSE(StatsOf(freed).has_value());
  EXPECT_EQ(CompareTensors(freed, full, {}).mismatch,
            "a tensor without data instead of a tensor");
  const TensorDifference same = CompareTensors(freed, freed, {});
  EXPECT_TRUE(same.within());
  EXPECT_EQ(same.count, 0);
  Blob blob, quantized, nothing;
  *blob.GetMutable<Tensor>() = freed;
  EXPECT_FALSE(StatsOf(blob).has_value());
  EXPECT_FALSE(NonFiniteIn(blob).nan || NonFiniteIn(blob).infinite);
  EXPECT_FALSE(NonFiniteIn(nothing).nan || NonFiniteIn(nothing).infinite);
  quantized.GetMutable<Int8TensorCPU>();
  EXPECT_FALSE(StatsOf(quantized).has_value());
  full.mutable_data<float>()[1] = 4;
  *blob.GetMutable<Tensor>() = full;
  EXPECT_EQ(StatsOf(blob)->max, 4);
  EXPECT_EQ(StatsOf(blob)->mean, 2);
}

TEST(TensorElementsTest, TheFirstElementThatIsNotFiniteMayBeElementZero) {
  Tensor tensor(Dims{3}, CPU);
  float* const data = tensor.mutable_data<float>();
  data[0] = INFINITY;
  data[2] = NAN;
  EXPECT_EQ(StatsOf(tensor)->first_non_finite, 0);
  EXPECT_EQ(StatsOf(tensor)->nan, 1);
  EXPECT_EQ(StatsOf(tensor)->infinite, 1);
}

TEST(TensorElementsTest, TheFirstStringThatDiffersMayBeStringZero) {
  Tensor a(Dims{2}, CPU), b(Dims{2}, CPU);
  a.mutable_data<std::string>()[0] = "a";
  a.mutable_data<std::string>()[1] = "b";
  b.mutable_data<std::string>();
  const TensorDifference found = CompareTensors(a, b, {});
  EXPECT_EQ(found.worst, 0);
  EXPECT_EQ(found.beyond, 2);
}

TEST(TensorElementsTest, QuantizedElementsAreDistancesFromTheirZeroPoints) {
  const auto fill = [](Blob* blob, float scale, int32_t zero_point, uint8_t stored) {
    auto* const value = blob->GetMutable<Int8TensorCPU>();
    *value = {.scale = scale, .zero_point = zero_point};
    value->t.Resize(1);
    value->t.mutable_data<uint8_t>()[0] = stored;
  };
  Blob first, second;
  fill(&first, 0.5f, 10, 14);   // 2
  fill(&second, 2, 100, 101);   // 2
  EXPECT_TRUE(CompareBlobs(first, second, {.absolute = 0, .relative = 0}).within());
  fill(&second, 2, 100, 98);  // -4
  EXPECT_EQ(CompareBlobs(first, second, {}).max_absolute, 6);
  EXPECT_EQ(CompareBlobs(first, second, {}).largest, 4);
}

struct CountedElement {
  CountedElement() { ++living; }
  CountedElement(const CountedElement&) { ++living; }
  CountedElement& operator=(const CountedElement&) = default;
  ~CountedElement() { --living; }
  static inline int living = 0;
};

// With a deleter, a tensor owns the objects at the address that it shares, not only the memory.
TEST(TensorElementsTest, SharedObjectsAreDestroyedWithTheirMemory) {
  for (const bool owns : {true, false}) {
    auto* const memory = static_cast<CountedElement*>(std::malloc(3 * sizeof(CountedElement)));
    for (int i = 0; i < 3; ++i) new (memory + i) CountedElement;
    EXPECT_EQ(CountedElement::living, 3);
    {
      Tensor tensor(std::vector<int64_t>{3}, CPU);
      if (owns) {
        tensor.ShareExternalPointer(static_cast<void*>(memory), TypeMeta::Make<CountedElement>(), 0,
                                    MemoryDeleter(&std::free));
      } else {
        tensor.ShareExternalPointer(static_cast<void*>(memory), TypeMeta::Make<CountedElement>());
      }
      EXPECT_EQ(tensor.data<CountedElement>(), memory);
    }
    EXPECT_EQ(CountedElement::living, owns ? 0 : 3);
    if (owns) continue;
    for (int i = 0; i < 3; ++i) memory[i].~CountedElement();
    std::free(memory);
  }
}

}  // namespace
}  // namespace caffe2rt::tensor_elements_test
