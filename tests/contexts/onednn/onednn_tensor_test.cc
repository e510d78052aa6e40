#include "contexts/onednn/onednn_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/blob.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::onednn_tensor_test {
namespace {

// The position of an element in memory, from the definition of the layout.
int64_t PositionIn(OnednnFormat format, const std::vector<int64_t>& dims, int64_t n, int64_t c,
                   int64_t h, int64_t w) {
  const int64_t C = dims[1], H = dims[2], W = dims[3];
  if (format == OnednnFormat::kNhwc) return ((n * H + h) * W + w) * C + c;
  if (format == OnednnFormat::kBlocked16) {
    const int64_t blocks = (C + 15) / 16;
    return (((n * blocks + c / 16) * H + h) * W + w) * 16 + c % 16;
  }
  return ((n * C + c) * H + h) * W + w;
}

// Fills an IDEEP tensor with the numbers 0, 1, ... of its row-major order.
Tensor Counting(OnednnFormat format, const std::vector<int64_t>& dims) {
  Tensor tensor(IDEEP);
  const auto layout = OnednnLayout::New(DescIn(format, dims));
  float* data = PrepareOutput(&tensor, dims, layout);
  float value = 0;
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t c = 0; c < dims[1]; ++c) {
      for (int64_t h = 0; h < dims[2]; ++h) {
        for (int64_t w = 0; w < dims[3]; ++w) data[PositionIn(format, dims, n, c, h, w)] = value++;
      }
    }
  }
  return tensor;
}

void ExpectCounting(const Tensor& tensor, const std::vector<int64_t>& dims) {
  EXPECT_EQ(tensor.dims(), dims);
  const float* data = tensor.data<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i) ASSERT_EQ(data[i], static_cast<float>(i)) << i;
}

class OnednnLayoutTest
    : public testing::TestWithParam<std::tuple<OnednnFormat, std::vector<int64_t>>> {
 protected:
  const OnednnFormat format_ = std::get<0>(GetParam());
  const std::vector<int64_t> dims_ = std::get<1>(GetParam());
};

TEST_P(OnednnLayoutTest, CopiesToTheCpuInRowMajorOrder) {
  const Tensor tensor = Counting(format_, dims_);
  ExpectCounting(Tensor(tensor, CPU), dims_);
  Tensor again(IDEEP);
  again.CopyFrom(tensor);
  EXPECT_EQ(again.opaque_layout(), nullptr);
  ExpectCounting(again, dims_);
}

TEST_P(OnednnLayoutTest, SerializesInRowMajorOrder) {
  Blob blob;
  *blob.GetMutableTensor(IDEEP) = Counting(format_, dims_);
  Blob read;
  DeserializeBlob(SerializeBlob(blob, "x"), &read);
  ExpectCounting(Tensor(read.Get<Tensor>(), CPU), dims_);
}

TEST_P(OnednnLayoutTest, DescribesTheTensor) {
  const Tensor tensor = Counting(format_, dims_);
  EXPECT_TRUE(IsSameMemory(DescOf(tensor), DescIn(format_, dims_)));
  OnednnInput input;
  EXPECT_FALSE(input.Matches(tensor));
  input.Remember(tensor);
  EXPECT_TRUE(input.Matches(tensor));
  input.Forget();
  EXPECT_FALSE(input.Matches(tensor));
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OnednnLayoutTest,
    testing::Combine(
        testing::Values(OnednnFormat::kNchw, OnednnFormat::kNhwc, OnednnFormat::kBlocked16),
        testing::Values(std::vector<int64_t>{1, 16, 2, 3}, std::vector<int64_t>{2, 32, 3, 3},
                        std::vector<int64_t>{2, 17, 3, 2}, std::vector<int64_t>{3, 3, 4, 5},
                        std::vector<int64_t>{1, 48, 1, 1}, std::vector<int64_t>{1, 5, 1, 1},
                        std::vector<int64_t>{0, 16, 2, 2})));

TEST(OnednnTensorTest, RejectsAccessThatDoesNotKnowTheLayout) {
  Tensor tensor = Counting(OnednnFormat::kBlocked16, {1, 17, 2, 2});
  ExpectThrows([&] { (void)tensor.data<float>(); },
               "shape [1, 17, 2, 2] on IDEEP is in the opaque layout nChw16c");
  ExpectThrows([&] { (void)tensor.raw_data(); }, "opaque layout");
  EXPECT_NE(OnednnData(tensor), nullptr);
}

TEST(OnednnTensorTest, DropsTheLayoutWhenWrittenPlainly) {
  Tensor tensor = Counting(OnednnFormat::kNhwc, {1, 4, 2, 2});
  ASSERT_NE(tensor.opaque_layout(), nullptr);
  float* data = tensor.mutable_data<float>();
  EXPECT_EQ(tensor.opaque_layout(), nullptr);
  for (int i = 0; i < 16; ++i) data[i] = static_cast<float>(i);
  ExpectCounting(Tensor(tensor, CPU), {1, 4, 2, 2});
}

TEST(OnednnTensorTest, CopiesReadOnlyTensorsInRowMajorOrderBeforeTheyAreWritten) {
  Tensor tensor = Counting(OnednnFormat::kNhwc, {1, 4, 2, 2});
  tensor.MarkReadOnly();
  const Tensor shared = tensor;
  (void)tensor.mutable_data<float>();
  ExpectCounting(Tensor(tensor, CPU), {1, 4, 2, 2});
  EXPECT_NE(shared.opaque_layout(), nullptr);
  ExpectCounting(Tensor(shared, CPU), {1, 4, 2, 2});
}

TEST(OnednnTensorTest, KeepsTheMemoryWhenItIsPreparedAgain) {
  Tensor tensor = Counting(OnednnFormat::kBlocked16, {1, 17, 2, 2});
  EXPECT_GE(tensor.capacity_nbytes(), 32u * 4 * sizeof(float));
  const void* before = tensor.opaque_data();
  const auto layout = OnednnLayout::New(DescIn(OnednnFormat::kBlocked16, {1, 17, 2, 2}));
  EXPECT_EQ(PrepareOutput(&tensor, layout), before);
}

TEST(OnednnTensorTest, RejectsATensorThatWasReshapedInItsLayout) {
  Tensor tensor = Counting(OnednnFormat::kNhwc, {1, 4, 2, 2});
  tensor.Reshape({1, 16, 1, 1});
  ExpectThrows([&] { (void)DescOf(tensor); }, "written in the layout nhwc");
  ExpectCounting(Tensor(tensor, CPU), {1, 16, 1, 1});
}

TEST(OnednnTensorTest, RejectsOpaqueTensorsOnTheCpu) {
  Tensor tensor(CPU);
  const auto layout = OnednnLayout::New(DescIn(OnednnFormat::kNhwc, {1, 4, 2, 2}));
  ExpectThrows([&] { PrepareOutput(&tensor, layout); }, "cannot be in an opaque layout");
}

TEST(OnednnTensorTest, NamesTheFormatOfOnePixelRowMajor) {
  EXPECT_EQ(FormatOf(DescIn(OnednnFormat::kNhwc, {2, 5, 1, 1})), OnednnFormat::kNchw);
  EXPECT_EQ(FormatOf(DescIn(OnednnFormat::kBlocked16, {2, 32, 1, 1})), OnednnFormat::kNchw);
  EXPECT_EQ(FormatOf(DescIn(OnednnFormat::kBlocked16, {2, 33, 1, 1})), OnednnFormat::kBlocked16);
  EXPECT_EQ(FormatOf(DescIn(OnednnFormat::kNhwc, {2, 1, 4, 4})), OnednnFormat::kNchw);
  EXPECT_EQ(FormatOf(DescIn(OnednnFormat::kNhwc, {2, 3, 4, 4})), OnednnFormat::kNhwc);
}

TEST(OnednnTensorTest, RejectsUnknownFormatNames) {
  EXPECT_EQ(ParseOnednnFormat("nChw16c"), OnednnFormat::kBlocked16);
  ExpectThrows([] { (void)ParseOnednnFormat("blocked"); }, "want nchw, nhwc or nChw16c");
}

}  // namespace
}  // namespace caffe2rt::test::onednn_tensor_test
