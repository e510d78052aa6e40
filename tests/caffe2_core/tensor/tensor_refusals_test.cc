// Every error of tensors, blobs, rows and prepared weights, whole.
#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/data_source.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/prepared_weight.h"
#include "caffe2_core/tensor/rows.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2_core/tensor/tensor_difference.h"
#include "tests/support/refusals.h"

namespace caffe2rt::tensor_refusals_test {
namespace {

using test::ExpectRefusals;
using Dims = std::vector<int64_t>;

Tensor Floats(const Dims& dims, DeviceType device = CPU) {
  Tensor tensor(dims, device);
  tensor.mutable_data<float>();
  return tensor;
}

// Elements in reverse order, as on a device that has opaque layouts.
class ReversedLayout final : public OpaqueLayout {
 public:
  explicit ReversedLayout(int64_t count)
      : OpaqueLayout({count}, count, static_cast<size_t>(count) * sizeof(float)) {}
  std::string Description() const override { return "reversed"; }
  void ToPlain(const void* from, void* to) const override {
    for (int64_t i = 0; i < count(); ++i)
      static_cast<float*>(to)[i] = static_cast<const float*>(from)[count() - 1 - i];
  }
};

TEST(TensorRefusalsTest, OfShapes) {
  Tensor tensor = Floats({3, 2});
  Tensor scalar = Floats({});
  Tensor unset(CPU);
  const Tensor shared = tensor;
  ExpectRefusals({
      {[&] { tensor.Resize(Dims(65, 1)); }, "rank of a tensor: got 65, want at most 64"},
      {[&] { tensor.Resize(2, -1); },
       "dimension of a shape, want at least 0 (got -1, want at least 0)"},
      {[&] { tensor.Resize(INT64_MAX, 2); },
       "size overflow: 9223372036854775807 * 2 does not fit into 64 bits"},
      {[&] {
         tensor.Reshape({4, 2});
       },
       "number of elements of the new shape [4, 2], want that of [3, 2] (got 8, want 6)"},
      {[&] { scalar.ShrinkTo(0); }, "rank of a tensor to shrink: got 0, want at least 1"},
      {[&] { tensor.ShrinkTo(4); },
       "cannot shrink dim 0 from 3 to 4, want at most the current dim"},
      {[&] { tensor.ShrinkTo(-1); },
       "cannot shrink dim 0 from 3 to -1, want at most the current dim"},
      {[&] { tensor.ShrinkTo(2); }, "cannot shrink a tensor whose memory is shared"},
      {[&] { unset.Reserve(Dims{2}); },
       "cannot reserve memory for a tensor without an element type"},
      {[&] { scalar.ReserveSpace(1); },
       "rank of a tensor that reserves space for dim 0: got 0, want at least 1"},
      {[&] { Tensor(Dims{1}, CPU).ReserveSpace(1); },
       "cannot reserve memory for a tensor without an element type"},
      {[&] { scalar.Extend(1, 0); }, "rank of a tensor to extend: got 0, want at least 1"},
      {[&] { tensor.Extend(-1, 0); }, "argument num of Extend: got -1, want at least 0"},
      {[&] { scalar.ExtendTo(1, 0); }, "rank of a tensor to extend: got 0, want at least 1"},
      {[&] { tensor.ExtendTo(2, 0); },
       "dim 0 to extend to, want at least the current dim (got 2, want at least 3)"},
      {[&] { tensor.Extend(INT64_MAX, 0); },
       "size overflow: 3 + 9223372036854775807 does not fit into 64 bits"},
  });
  EXPECT_EQ(tensor.dims(), (Dims{3, 2}));  // none of them changed it
  EXPECT_EQ(tensor.raw_data(), shared.raw_data());
}

TEST(TensorRefusalsTest, OfAxesAndProducts) {
  const Tensor tensor(Dims{2, 3}, CPU);
  Tensor large(Dims{INT_MAX}, CPU);
  ExpectRefusals({
      {[&] { (void)tensor.dim(2); }, "axis 2 of a tensor of shape [2, 3], want 0 to 1"},
      {[&] { (void)tensor.dim(-1); }, "axis -1 of a tensor of shape [2, 3], want 0 to 1"},
      {[&] { (void)tensor.size(2); }, "axis 2 of a tensor of rank 2, want -2 to 1"},
      {[&] { (void)tensor.canonical_axis_index(-3); },
       "axis -3 of a tensor of rank 2, want -2 to 1"},
      {[&] { (void)large.dim32(0); },
       "dim 0 does not fit into int: got 2147483647, want less than 2147483647"},
      {[&] { (void)tensor.size_from_dim(-1); },
       "first dimension of a product: got -1, want at least 0"},
      {[&] { (void)tensor.size_to_dim(3); },
       "end of a product of dimensions is 3, want 0 to the rank 2"},
      {[&] { (void)tensor.size_between_dim(0, 2); }, "dimensions 0 and 2 of a tensor of rank 2"},
      {[&] { (void)tensor.size_between_dim(-1, 1); }, "dimensions -1 and 1 of a tensor of rank 2"},
      {[&] { (void)tensor.size_between_dim(1, -1); }, "dimensions 1 and -1 of a tensor of rank 2"},
      {[&] { (void)tensor.sizes().at(2); },
       "index into an array of 2 elements: got 2, want less than 2"},
      {[&] { (void)IntArrayRef().front(); },
       "index into an array of 0 elements: got 0, want less than 0"},
      {[&] { (void)tensor.sizes().slice(1, 2); }, "slice [1, +2) of an array of 2 elements"},
      {[&] { (void)tensor.sizes().slice(3); },
       "slice [3, +18446744073709551615) of an array of 2 elements"},
      {[&] { (void)CheckedCast<int8_t>(128, "the axis"); },
       "the axis is 128, want at most 127 and at least -128"},
      {[&] { (void)CheckedAdd<int32_t>(INT32_MAX, 1); },
       "size overflow: 2147483647 + 1 does not fit into 32 bits"},
  });
  EXPECT_EQ(tensor.sizes().slice(2).size(), 0u);
  EXPECT_EQ(tensor.sizes().slice(2, 0).size(), 0u);
  EXPECT_EQ(CheckedCast<int8_t>(127), 127);
  EXPECT_EQ(CheckedCast<int8_t>(-128), -128);
}

TEST(TensorRefusalsTest, OfReadsAndAllocations) {
  const Tensor floats = Floats({2});
  Tensor resized = Floats({2});
  resized.Resize(3);
  Tensor unset(CPU), shaped(Dims{2}, CPU);
  ExpectRefusals({
      {[&] { (void)unset.data<float>(); },
       "the tensor is not initialized: it has no shape or no data yet; has the operator that "
       "produces it run?"},
      {[&] { (void)shaped.data<float>(); },
       "the tensor is not initialized: it has no shape or no data yet; has the operator that "
       "produces it run?"},
      {[&] { (void)floats.data<int>(); }, "the tensor holds elements of type float, want int32"},
      {[&] { floats.CheckData<int>(); }, "the tensor holds elements of type float, want int32"},
      {[&] { (void)resized.data<float>(); },
       "the tensor of shape [3] has no memory yet: mutable_data has not been called since the last "
       "call of Resize"},
      {[&] { (void)resized.raw_data(); },
       "the tensor of shape [3] has no memory yet: mutable_data has not been called since the last "
       "call of Resize"},
      {[&] { unset.mutable_data<float>(); },
       "cannot allocate a tensor that was never shaped: call Resize first"},
      {[&] { shaped.raw_mutable_data(TypeMeta()); },
       "cannot allocate a tensor without an element type"},
      {[&] { shaped.raw_mutable_data(); },
       "the tensor has no element type yet: call mutable_data<T>() first"},
  });
}

TEST(TensorRefusalsTest, OfSharingAndCopying) {
  Tensor floats = Floats({2}), empty(CPU), shaped(Dims{2}, CPU), other(Dims{3}, CPU);
  Tensor resized = Floats({2});
  resized.Resize(3);
  float memory[2] = {};
  ExpectRefusals({
      {[&] { other.ShareData(floats); },
       "number of elements of the tensor whose data is shared; call Resize first: got 2, want 3"},
      {[&] { empty.ShareData(floats); },
       "number of elements of the tensor whose data is shared; call Resize first: got 2, want -1"},
      {[&] { floats.ShareData(shaped); }, "cannot share the data of a tensor that has none"},
      {[&] { empty.ShareExternalPointer(memory); },
       "cannot share external memory with a tensor that was never shaped"},
      {[&] { shaped.ShareExternalPointer(static_cast<void*>(memory), TypeMeta()); },
       "external memory needs an element type"},
      {[&] { empty.CopyFrom(resized); }, "cannot copy a tensor of shape [3] that has no data"},
      {[&] { (void)resized.Clone(); }, "cannot copy a tensor of shape [3] that has no data"},
  });
}

TEST(TensorRefusalsTest, OfDevices) {
  Tensor cpu = Floats({2});
  Tensor ideep = Floats({2}, IDEEP), elsewhere(Dims{2}, IDEEP);
  const auto layout = std::make_shared<const ReversedLayout>(2);
  Tensor opaque(Dims{2}, IDEEP);
  auto* const data =
      static_cast<float*>(opaque.mutable_opaque_data(TypeMeta::Make<float>(), layout));
  data[0] = 1;
  data[1] = 2;
  Tensor resized = opaque;
  resized.Resize(1);
  Tensor text(Dims{1}, CPU);
  text.mutable_data<std::string>();
  ExpectRefusals({
      {[&] { elsewhere.ShareData(cpu); },
       "device type of the tensor whose data is shared: got 0, want 5"},
      {[&] { elsewhere.mutable_data<std::string>(); },
       "elements of type string have constructors and are supported only on the CPU, not on "
       "IDEEP"},
      {[&] { (void)opaque.data<float>(); },
       "the tensor of shape [2] on IDEEP is in the opaque layout reversed, which this code cannot "
       "read: copy it to the CPU first"},
      {[&] { Tensor(IDEEP).mutable_opaque_data(TypeMeta::Make<float>(), layout); },
       "cannot allocate a tensor that was never shaped: call Resize first"},
      {[&] { elsewhere.mutable_opaque_data(TypeMeta::Make<std::string>(), layout); },
       "elements of type string cannot be in an opaque layout"},
      {[&] { cpu.mutable_opaque_data(TypeMeta::Make<float>(), layout); },
       "a tensor on the CPU cannot be in an opaque layout"},
      {[&] { Tensor(Dims{3}, IDEEP).mutable_opaque_data(TypeMeta::Make<float>(), layout); },
       "the tensor has shape [3], but the layout is for a tensor of another size"},
      {[&] { Tensor(CPU).CopyFrom(resized); },
       "elements in the opaque layout of a tensor of shape [1] that was resized after it was "
       "written: got 2, want 1"},
  });
  const Tensor plain(opaque, CPU);
  EXPECT_EQ(plain.data<float>()[0], 2);
  EXPECT_EQ(plain.data<float>()[1], 1);
}

TEST(TensorRefusalsTest, OfBlobs) {
  Blob blob, nothing;
  blob.Reset(new Tensor(IDEEP));
  Blob text;
  *text.GetMutable<std::string>() = "a";
  ExpectRefusals({
      {[&] { (void)nothing.Get<Tensor>(); },
       "wrong type for the blob: it holds nothing, want Tensor"},
      {[&] { (void)text.Get<Tensor>(); }, "wrong type for the blob: it holds string, want Tensor"},
      {[&] { (void)blob.Get<std::string>(); },
       "wrong type for the blob: it holds Tensor, want string"},
      {[&] { (void)BlobGetTensor(blob, CPU); },
       "the blob holds a tensor on IDEEP, want one on CPU"},
      {[&] { BlobSetTensor(nullptr, Tensor(CPU)); }, "argument blob of BlobSetTensor is null"},
      {[&] { BlobGetMutableTensor(nullptr, CPU); },
       "argument blob of BlobGetMutableTensor is null"},
  });
}

class NoSource final : public DataSource {
 public:
  bool Keep() override { return false; }
  void Read(void*) const override {}
};

TEST(TensorRefusalsTest, OfSourcesAndTypes) {
  const std::string want =
      "a tensor gets a source of its data, want one on the CPU with plain data";
  const auto source = std::make_shared<NoSource>();
  Tensor text(Dims{1}, CPU);
  text.mutable_data<std::string>();
  ExpectRefusals({
      {[&] { WithSource(Floats({2}), nullptr); }, want},
      {[&] { WithSource(Floats({2}, IDEEP), source); }, want},
      {[&] { WithSource(Tensor(Dims{2}, CPU), source); }, want},
      {[&] { WithSource(text, source); }, want},
      {[] { NoRestore()(nullptr, nullptr); },
       "data are restored from a form that cannot restore them"},
      {[] { (void)DataTypeToTypeMeta(int64_t{0}); },
       "data type 0 of a TensorProto has no element type"},
      {[] { (void)DataTypeToTypeMeta(int64_t{15}); },
       "data type 15 of a TensorProto has no element type"},
      {[] { (void)DataTypeToTypeMeta(int64_t{1} << 32 | 1); },
       "data type 4294967297 of a TensorProto has no element type"},
  });
  // The same memory, until the first write.
  Tensor floats = Floats({2});
  floats.mutable_data<float>()[1] = 3;
  const Tensor sourced = WithSource(floats, source);
  EXPECT_EQ(sourced.dims(), (Dims{2}));
  EXPECT_EQ(sourced.data<float>()[1], 3);
  EXPECT_EQ(SourceOf(*sourced.storage()), source);
  EXPECT_EQ(SourceOf(*floats.storage()), nullptr);
  Tensor written = sourced;
  written.mutable_data<float>();
  EXPECT_EQ(SourceOf(*written.storage()), nullptr);
}

// The numbers of TensorProto::DataType, the types they stand for and their names.
TEST(TensorRefusalsTest, NamesOfElementTypes) {
  const struct {
    int64_t number;
    TypeMeta type;
    const char* name;
  } rows[] = {
      {1, TypeMeta::Make<float>(), "float"},        {2, TypeMeta::Make<int32_t>(), "int32"},
      {4, TypeMeta::Make<std::string>(), "string"}, {5, TypeMeta::Make<bool>(), "bool"},
      {6, TypeMeta::Make<uint8_t>(), "uint8"},      {7, TypeMeta::Make<int8_t>(), "int8"},
      {8, TypeMeta::Make<uint16_t>(), "uint16"},    {9, TypeMeta::Make<int16_t>(), "int16"},
      {10, TypeMeta::Make<int64_t>(), "int64"},     {12, TypeMeta::Make<float16>(), "float16"},
      {13, TypeMeta::Make<double>(), "double"},     {1000, TypeMeta::Make<uint32_t>(), "uint32"},
      {1001, TypeMeta::Make<uint64_t>(), "uint64"}, {1002, TypeMeta::Make<bfloat16>(), "bfloat16"}};
  for (const auto& row : rows) {
    const auto type = static_cast<TensorProto_DataType>(row.number);
    EXPECT_EQ(DataTypeToTypeMeta(row.number), row.type) << row.name;
    EXPECT_EQ(DataTypeToTypeMeta(type), row.type) << row.name;
    EXPECT_EQ(TypeMetaToDataType(row.type), type) << row.name;
    EXPECT_EQ(DataTypeName(type), row.name);
    EXPECT_EQ(DataTypeName(row.type), row.name);
  }
  EXPECT_EQ(DataTypeToTypeMeta(int64_t{3}), TypeMeta::Make<uint8_t>());  // BYTE of older files
  EXPECT_EQ(DataTypeName(TensorProto::BYTE), "BYTE");
  EXPECT_EQ(DataTypeName(TensorProto::UNDEFINED), "UNDEFINED");
  EXPECT_EQ(DataTypeName(static_cast<TensorProto_DataType>(99)), "data type 99");
  EXPECT_EQ(TypeMetaToDataType(TypeMeta::Make<Tensor>()), TensorProto::UNDEFINED);
  EXPECT_EQ(DataTypeName(TypeMeta::Make<Tensor>()), "Tensor");
}

TEST(TensorRefusalsTest, OfRows) {
  const Tensor two = Floats({2, 3}), four = Floats({4, 2}), ideep = Floats({1, 3}, IDEEP);
  Tensor ints(Dims{1, 3}, CPU);
  ints.mutable_data<int>();
  ExpectRefusals({
      {[&] { JoinRows({}); }, "no tensors to join"},
      {[&] {
         JoinRows({&two, &four});
       },
       "cannot join rows of float [2] to rows of float [3]"},
      {[&] {
         JoinRows({&two, &ints});
       },
       "cannot join rows of int32 [3] to rows of float [3]"},
      {[&] {
         JoinRows({&two, &ideep});
       },
       "cannot join rows of a tensor on device 5, want CPU"},
      {[&] { SplitRows(ideep, {1}); }, "cannot split rows of a tensor on device 5, want CPU"},
      {[&] {
         SplitRows(two, {1, 2});
       },
       "rows of the tensor to split: got 2, want 3"},
      {[&] {
         SplitRows(two, {3, -1});
       },
       "number of rows of a part: got -1, want at least 0"},
  });
  EXPECT_FALSE(HasRows(Tensor(CPU), 0));
  EXPECT_FALSE(HasRows(Floats({}), 1));
  EXPECT_TRUE(HasRows(two, 2));
  EXPECT_FALSE(HasRows(two, 3));
}

TEST(TensorRefusalsTest, OfPreparedWeights) {
  PreparedWeight weight;
  weight.Add("form", 4);
  ExpectRefusals({{[&] {
                     weight.Update(Tensor(Dims{2, 3}, CPU), [](size_t, void*) {});
                   },
                   "a weight of shape [2, 3] has no memory, so that it cannot be prepared"}});
}

std::string Mismatch(const Tensor& first, const Tensor& second) {
  return CompareTensors(first, second, {}).mismatch;
}
std::string Mismatch(const Blob& first, const Blob& second) {
  return CompareBlobs(first, second, {}).mismatch;
}

// Why tensors and blobs cannot be compared.
TEST(TensorRefusalsTest, OfComparisons) {
  const Tensor floats = Floats({2}), unset(CPU), shaped(Dims{2}, CPU);
  EXPECT_EQ(Mismatch(unset, floats), "a tensor without shape instead of a tensor");
  EXPECT_EQ(Mismatch(shaped, floats), "a tensor without data instead of a tensor");
  EXPECT_EQ(Mismatch(floats, unset), "a tensor instead of a tensor without shape");
  EXPECT_EQ(Mismatch(unset, unset), "");
  EXPECT_EQ(Mismatch(shaped, shaped), "");
  EXPECT_EQ(Mismatch(floats, Floats({1, 2})), "shape [2] instead of [1, 2]");
  Tensor ints(Dims{2}, CPU);
  ints.mutable_data<int>();
  EXPECT_EQ(Mismatch(floats, ints), "type float instead of int32");
  Blob a, b, number;
  *a.GetMutable<std::string>() = "a";
  *b.GetMutable<std::string>() = "b";
  number.GetMutable<int>();
  EXPECT_EQ(Mismatch(a, b), "the strings differ");
  EXPECT_EQ(Mismatch(a, a), "");
  EXPECT_EQ(Mismatch(number, a), "type int32 instead of type string");
  EXPECT_EQ(Mismatch(Blob(), a), "nothing instead of type string");
}

}  // namespace
}  // namespace caffe2rt::tensor_refusals_test
