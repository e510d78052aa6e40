#include "contexts/onednn/onednn_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/blob.h"
#include "contexts/onednn/onednn_library.h"
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

// --- reduced tensors ---

using Element = dnnl::memory::data_type;

// Whether this machine's oneDNN converts bf16.
bool ConvertsBf16() {
  const dnnl::memory::desc from = DescIn(OnednnFormat::kNhwc, {1, 1, 1, 1}, Element::bf16);
  const dnnl::memory::desc to = DescIn(OnednnFormat::kNchw, {1, 1, 1, 1});
  return static_cast<bool>(dnnl::reorder::primitive_desc(OnednnEngine(), from, OnednnEngine(), to,
                                                         dnnl::primitive_attr(), true));
}

// An image tensor whose element at row-major position i is memory_of(i), of type T in memory.
template <class T, class F>
Tensor Reduced(OnednnFormat format, const std::vector<int64_t>& dims, Element element,
               const OnednnQuantization& quantization, const F& memory_of) {
  Tensor tensor(IDEEP);
  const auto layout = OnednnLayout::New(DescIn(format, dims, element), quantization);
  T* const data = static_cast<T*>(PrepareOutputMemory(&tensor, dims, layout));
  std::fill_n(data, layout->nbytes() / sizeof(T), T{});  // the padding
  int64_t i = 0;
  for (int64_t n = 0; n < dims[0]; ++n) {
    for (int64_t c = 0; c < dims[1]; ++c) {
      for (int64_t h = 0; h < dims[2]; ++h) {
        for (int64_t w = 0; w < dims[3]; ++w) {
          data[PositionIn(format, dims, n, c, h, w)] = static_cast<T>(memory_of(i++));
        }
      }
    }
  }
  return tensor;
}

// A bf16 is the upper half of a float: sign, 8 bits of exponent, 7 bits of fraction. These 16 bits
// of pattern i are a float, or infinite.
uint16_t PatternOf(int64_t i) {
  constexpr uint16_t kPatterns[] = {0x0000, 0x8000, 0x3f80, 0xbf81, 0x4049, 0x7f7f,
                                    0x0080, 0xff80, 0x7f80, 0xc2f7, 0x3eaa};
  return kPatterns[static_cast<size_t>(i) % std::size(kPatterns)];
}
float FloatOf(uint16_t pattern) {
  const uint32_t bits = static_cast<uint32_t>(pattern) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

TEST_P(OnednnLayoutTest, WidensBf16) {
  if (!ConvertsBf16()) GTEST_SKIP() << "oneDNN has no bf16 on this machine";
  const Tensor tensor = Reduced<uint16_t>(format_, dims_, Element::bf16, {}, PatternOf);
  EXPECT_TRUE(IsReduced(tensor));
  EXPECT_EQ(tensor.storage()->capacity_bytes(), DescOf(tensor).get_size());
  const Tensor plain(tensor, CPU);
  ASSERT_EQ(plain.dims(), dims_);
  for (int64_t i = 0; i < plain.numel(); ++i) {
    ASSERT_EQ(plain.data<float>()[i], FloatOf(PatternOf(i))) << i;
  }
}

TEST_P(OnednnLayoutTest, WidensIntegersByScaleAndZeroPoint) {
  const auto u8 = [](int64_t i) { return static_cast<uint8_t>(i * 37 % 256); };
  const auto s8 = [](int64_t i) { return static_cast<int8_t>(i * 37 % 256 - 128); };
  const Tensor bytes = Reduced<uint8_t>(format_, dims_, Element::u8, {0.25f, 100}, u8);
  const Tensor whole = Reduced<int8_t>(format_, dims_, Element::s8, {0.5f, 0}, s8);
  const Tensor plain_bytes(bytes, CPU), plain_whole(whole, CPU);
  for (int64_t i = 0; i < plain_bytes.numel(); ++i) {
    ASSERT_EQ(plain_bytes.data<float>()[i], static_cast<float>(int{u8(i)} - 100) / 4) << i;
    ASSERT_EQ(plain_whole.data<float>()[i], static_cast<float>(s8(i)) / 2) << i;
  }
}

TEST_P(OnednnLayoutTest, QuantizationHasNoEffectOnOtherElements) {
  const OnednnQuantization none = {-1, 7};  // as bytes would have it, the scale is an error
  for (const Element element : {Element::f32, Element::bf16}) {
    const OnednnLayout layout(DescIn(format_, dims_, element), none);
    EXPECT_EQ(layout.quantization().scale, 1);
    EXPECT_EQ(layout.quantization().zero_point, 0);
    EXPECT_EQ(layout.reduced(), element != Element::f32);
  }
  const OnednnLayout bytes(DescIn(format_, dims_, Element::u8), {0.25f, 100});
  EXPECT_EQ(bytes.quantization().scale, 0.25f);
  EXPECT_EQ(bytes.quantization().zero_point, 100);
}

TEST_P(OnednnLayoutTest, DescribesItself) {
  EXPECT_EQ(OnednnLayout(DescIn(format_, dims_)).Description(),
            OnednnFormatName(FormatOf(DescIn(format_, dims_))));
  const std::pair<Element, const char*> elements[] = {
      {Element::bf16, "bf16"}, {Element::u8, "u8"}, {Element::s8, "s8"}};
  for (const auto& [element, of] : elements) {
    const dnnl::memory::desc desc = DescIn(format_, dims_, element);
    EXPECT_EQ(OnednnLayout(desc).Description(),
              OnednnFormatName(FormatOf(desc)) + std::string(" of ") + of);
    EXPECT_NE(OnednnLayout::New(desc), nullptr);
  }
  EXPECT_EQ(OnednnLayout::New(DescIn(OnednnFormat::kNchw, dims_)), nullptr);
}

TEST_P(OnednnLayoutTest, KnowsWhichTensorsAreBytes) {
  for (const Element element : {Element::bf16, Element::u8, Element::s8}) {
    Tensor tensor(IDEEP);
    const auto layout = OnednnLayout::New(DescIn(format_, dims_, element));
    PrepareOutputMemory(&tensor, dims_, layout);
    EXPECT_TRUE(IsReduced(tensor));
    EXPECT_EQ(IsQuantized(tensor), element != Element::bf16);
    ExpectThrows([&] { OnednnData(tensor); }, "want elements of type f32: copy it to the CPU");
    ExpectThrows([&] { PrepareOutput(&tensor, dims_, layout); }, "has no floats to write");
  }
  EXPECT_FALSE(IsReduced(Counting(format_, dims_)));
  EXPECT_FALSE(IsQuantized(Counting(format_, dims_)));
}

TEST_P(OnednnLayoutTest, GivesReducedTensorsNoCommonFormat) {
  const Tensor tensor =
      Reduced<uint8_t>(format_, dims_, Element::u8, {}, [](int64_t) { return 1; });
  EXPECT_EQ(FormatOf(tensor), OnednnFormat::kOther);
  EXPECT_EQ(FormatOf(DescOf(tensor)), FormatOf(DescIn(format_, dims_)));
  EXPECT_TRUE(tensor.IsType<float>());
}

TEST_P(OnednnLayoutTest, ReplacesReducedMemoryThatIsTooSmallForFloats) {
  Tensor tensor = Reduced<uint8_t>(format_, dims_, Element::u8, {}, [](int64_t) { return 1; });
  tensor.mutable_data<float>();
  EXPECT_FALSE(IsReduced(tensor));
  EXPECT_GE(tensor.storage()->capacity_bytes(), tensor.nbytes());
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

TEST(OnednnTensorTest, RejectsElementsAndLayoutsThatTensorsCannotHave) {
  using Desc = dnnl::memory::desc;
  EXPECT_THROW(OnednnLayout(Desc({2, 3}, Element::f16, {3, 1})), EnforceNotMet);
  EXPECT_THROW(OnednnLayout(Desc({2, 3}, Element::s32, {3, 1})), EnforceNotMet);
  Tensor tensor(IDEEP);
  ExpectThrows([&] { PrepareOutput(&tensor, nullptr); }, "an output without layout needs dims");
}

TEST(OnednnTensorTest, RejectsDescriptionsOfReshapedTensors) {
  Tensor tensor = Counting(OnednnFormat::kNhwc, {1, 4, 2, 2});
  tensor.Reshape({1, 2, 4, 2});
  ExpectThrows([&] { DescOf(tensor); }, "copy it to the CPU before it is reshaped");
  EXPECT_EQ(FormatOf(tensor), OnednnFormat::kOther);
}

// Blocks of the same place in memory are equal, however a descriptor names them.
TEST(OnednnTensorTest, ComparesThePlacesOfElements) {
  using Desc = dnnl::memory::desc;
  using Tag = dnnl::memory::format_tag;
  struct Row {
    Desc a, b;
    bool same;
  };
  const Desc two({2, 4}, Element::f32, {4, 1});
  const Row rows[] = {
      // Parts of the same shape at the same place, and at another one.
      {two.submemory_desc({1, 4}, {1, 0}), two.submemory_desc({1, 4}, {1, 0}), true},
      {two.submemory_desc({1, 4}, {0, 0}), two.submemory_desc({1, 4}, {1, 0}), false},
      {two.submemory_desc({1, 4}, {0, 0}), Desc({1, 4}, Element::f32, {4, 1}), true},
      {Desc({2, 16, 3, 3}, Element::f32, Tag::nhwc),
       Desc({2, 16, 3, 3}, Element::f32, Tag::nChw16c), true},
      {Desc({2, 32, 1, 1}, Element::f32, Tag::nchw),
       Desc({2, 32, 1, 1}, Element::f32, Tag::nChw16c), true},
      {Desc({2, 32, 1, 1}, Element::f32, Tag::nchw), Desc({2, 32, 1, 1}, Element::f32, Tag::nhwc),
       true},
      {Desc({2, 32, 3, 3}, Element::f32, Tag::nhwc),
       Desc({2, 32, 3, 3}, Element::f32, Tag::nChw16c), false},
      {Desc({2, 17, 3, 3}, Element::f32, Tag::nhwc),
       Desc({2, 17, 3, 3}, Element::f32, Tag::nChw16c), false},
      {Desc({2, 16, 3, 3}, Element::f32, Tag::nchw), Desc({2, 16, 3, 3}, Element::f32, Tag::nhwc),
       false},
      {Desc({2, 16, 3, 3}, Element::f32, Tag::nchw), Desc({2, 16, 3, 3}, Element::bf16, Tag::nchw),
       false},
      {Desc({2, 16, 3, 3}, Element::f32, Tag::nchw), Desc({2, 16, 3, 4}, Element::f32, Tag::nchw),
       false},
      {Desc({2, 16, 3, 3}, Element::f32, Tag::nchw), Desc({2, 16, 9}, Element::f32, Tag::abc),
       false},
      {Desc({1, 3}, Element::f32, {3, 1}), Desc({1, 3}, Element::f32, {100, 1}), true},
      {Desc({2, 3}, Element::f32, {3, 1}), Desc({2, 3}, Element::f32, {4, 1}), false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(&row - rows);
    EXPECT_EQ(IsSameMemory(row.a, row.b), row.same);
    EXPECT_EQ(IsSameMemory(row.b, row.a), row.same);
  }
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

TEST(OnednnReducedTest, StatesTheLayoutToWhoWantsFloats) {
  const Tensor tensor = Reduced<uint8_t>(OnednnFormat::kNhwc, {1, 2, 3, 4}, Element::u8, {},
                                         [](int64_t) { return 1; });
  ExpectThrows([&] { (void)OnednnData(tensor); },
               "a tensor of shape [1, 2, 3, 4] is in the layout nhwc of u8, want elements of "
               "type f32: copy it to the CPU");
}

TEST(OnednnReducedTest, RejectsLayoutsThatStandForNoNumbers) {
  const dnnl::memory::desc u8 = DescIn(OnednnFormat::kNhwc, {1, 2, 3, 4}, Element::u8);
  for (const float scale : {0.0f, -1.0f, INFINITY, NAN}) {
    EXPECT_THROW(OnednnLayout::New(u8, {scale, 0}), EnforceNotMet) << scale;
  }
  const dnnl::memory::desc s32 = DescIn(OnednnFormat::kNhwc, {1, 2, 3, 4}, Element::s32);
  EXPECT_THROW(OnednnLayout::New(s32), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::onednn_tensor_test
