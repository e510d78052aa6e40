// Elements of tensors of every type, from typed data, raw data and files beside the model, and
// files with one tensor.
#include <gtest/gtest.h>

#include <cstring>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/float16.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::tensor_elements_test {
namespace {

using Proto = onnx::TensorProto;

template <class T>
std::vector<double> Numbers(const Tensor& tensor) {
  if (!tensor.IsType<T>()) return {-12345};
  std::vector<double> numbers;
  for (int64_t i = 0; i < tensor.numel(); ++i)
    numbers.push_back(static_cast<double>(tensor.data<T>()[i]));
  return numbers;
}

Proto TensorOf(int type, const std::vector<int64_t>& dims = {2}) {
  Proto proto;
  proto.set_name("t");
  proto.set_data_type(type);
  for (const int64_t dim : dims) proto.add_dims(dim);
  return proto;
}

class TensorElementsTest : public testing::Test {
 protected:
  Tensor Read(const Proto& proto) const {
    WriteFileAtomically(path_, ProtoToBinary(proto));
    return ReadOnnxTensor(path_);
  }
  template <class T>
  Tensor Raw2(int type, T a, T b) const {
    Proto proto = TensorOf(type);
    proto.set_raw_data(Raw(a) + Raw(b));
    return Read(proto);
  }
  Tensor Int32s(int type, int32_t a, int32_t b) const {
    Proto proto = TensorOf(type);
    proto.add_int32_data(a);
    proto.add_int32_data(b);
    return Read(proto);
  }
  const TempDir folder_;
  const std::string path_ = folder_.path("t.pb");
};

using Values = std::vector<double>;

TEST_F(TensorElementsTest, OfRawData) {
  EXPECT_EQ(Numbers<float>(Raw2<float>(Proto::FLOAT, 1.5f, -2)), (Values{1.5, -2}));
  EXPECT_EQ(Numbers<double>(Raw2<double>(Proto::DOUBLE, 1.5, -2)), (Values{1.5, -2}));
  EXPECT_EQ(Numbers<uint8_t>(Raw2<uint8_t>(Proto::UINT8, 200, 1)), (Values{200, 1}));
  EXPECT_EQ(Numbers<int8_t>(Raw2<int8_t>(Proto::INT8, -100, 1)), (Values{-100, 1}));
  EXPECT_EQ(Numbers<uint16_t>(Raw2<uint16_t>(Proto::UINT16, 60000, 1)), (Values{60000, 1}));
  EXPECT_EQ(Numbers<int16_t>(Raw2<int16_t>(Proto::INT16, -300, 1)), (Values{-300, 1}));
  EXPECT_EQ(Numbers<int32_t>(Raw2<int32_t>(Proto::INT32, -70000, 1)), (Values{-70000, 1}));
  EXPECT_EQ(Numbers<int64_t>(Raw2<int64_t>(Proto::INT64, int64_t{1} << 40, -1)),
            (Values{0x1p40, -1}));
  EXPECT_EQ(Numbers<uint32_t>(Raw2<uint32_t>(Proto::UINT32, 4000000000u, 1)), (Values{4e9, 1}));
  EXPECT_EQ(Numbers<uint64_t>(Raw2<uint64_t>(Proto::UINT64, uint64_t{1} << 63, 1)),
            (Values{0x1p63, 1}));
  EXPECT_EQ(Numbers<bool>(Raw2<uint8_t>(Proto::BOOL, 7, 0)), (Values{1, 0}));
  const Tensor half = Raw2<uint16_t>(Proto::FLOAT16, 0x3e00, 0xc000);  // 1.5, -2
  ASSERT_TRUE(half.IsType<float16>());
  EXPECT_EQ(static_cast<float>(half.data<float16>()[0]), 1.5f);
  const Tensor bfloat = Raw2<uint16_t>(Proto::BFLOAT16, 0x3fc0, 0xc000);
  ASSERT_TRUE(bfloat.IsType<bfloat16>());
  EXPECT_EQ(static_cast<float>(bfloat.data<bfloat16>()[0]), 1.5f);
  EXPECT_EQ(static_cast<float>(bfloat.data<bfloat16>()[1]), -2);
}

TEST_F(TensorElementsTest, OfTypedData) {
  EXPECT_EQ(Numbers<uint8_t>(Int32s(Proto::UINT8, 200, 1)), (Values{200, 1}));
  EXPECT_EQ(Numbers<int8_t>(Int32s(Proto::INT8, -100, 1)), (Values{-100, 1}));
  EXPECT_EQ(Numbers<uint16_t>(Int32s(Proto::UINT16, 60000, 1)), (Values{60000, 1}));
  EXPECT_EQ(Numbers<int16_t>(Int32s(Proto::INT16, -300, 1)), (Values{-300, 1}));
  EXPECT_EQ(Numbers<int32_t>(Int32s(Proto::INT32, -70000, 1)), (Values{-70000, 1}));
  EXPECT_EQ(Numbers<bool>(Int32s(Proto::BOOL, 7, 0)), (Values{1, 0}));
  EXPECT_EQ(static_cast<float>(Int32s(Proto::FLOAT16, 0x3e00, 0xc000).data<float16>()[1]), -2);
  EXPECT_EQ(static_cast<float>(Int32s(Proto::BFLOAT16, 0x3fc0, 0xc000).data<bfloat16>()[0]), 1.5f);
  Proto unsigned32 = TensorOf(Proto::UINT32), unsigned64 = TensorOf(Proto::UINT64),
        text = TensorOf(Proto::STRING), real = TensorOf(Proto::DOUBLE),
        scalar = TensorOf(Proto::FLOAT, {});
  for (Proto* proto : {&unsigned32, &unsigned64}) {
    proto->add_uint64_data(4000000000u);
    proto->add_uint64_data(1);
  }
  text.add_string_data("a");
  text.add_string_data("bc");
  real.add_double_data(0.1);
  real.add_double_data(2);
  scalar.add_float_data(3);
  EXPECT_EQ(Numbers<uint32_t>(Read(unsigned32)), (Values{4e9, 1}));
  EXPECT_EQ(Numbers<uint64_t>(Read(unsigned64)), (Values{4e9, 1}));
  EXPECT_EQ(Numbers<double>(Read(real)), (Values{0.1, 2}));
  EXPECT_EQ(Read(text).data<std::string>()[1], "bc");
  EXPECT_EQ(Read(scalar).dim(), 0);
  EXPECT_EQ(Numbers<float>(Read(TensorOf(Proto::FLOAT, {0, 2}))), Values{});
}

// Several numbers in a byte, the first in its lowest bits.
TEST_F(TensorElementsTest, OfPackedNumbers) {
  const auto read = [&](int type, int64_t count, const std::string& bytes) {
    Proto proto = TensorOf(type, {count});
    proto.set_raw_data(bytes);
    return Read(proto);
  };
  EXPECT_EQ(Numbers<uint8_t>(read(Proto::UINT4, 3, "\xf1\x09")), (Values{1, 15, 9}));
  EXPECT_EQ(Numbers<int8_t>(read(Proto::INT4, 3, "\xf1\x09")), (Values{1, -1, -7}));
  EXPECT_EQ(Numbers<uint8_t>(read(Proto::UINT2, 5, "\xe4\x02")), (Values{0, 1, 2, 3, 2}));
  EXPECT_EQ(Numbers<int8_t>(read(Proto::INT2, 4, "\xe4")), (Values{0, 1, -2, -1}));
  EXPECT_EQ(Numbers<float>(read(Proto::FLOAT4E2M1, 2, "\xf1")), (Values{0.5, -6}));
  EXPECT_EQ(Numbers<float>(read(Proto::FLOAT8E4M3FN, 2, "\x38\xc0")), (Values{1, -2}));
  EXPECT_EQ(Numbers<float>(read(Proto::FLOAT8E5M2, 2, "\x3c\xc0")), (Values{1, -2}));
  EXPECT_EQ(MessageOf([&] { read(Proto::UINT4, 3, "\xf1"); }),
            "tensor \"t\": bytes of elements: got 1, want 2");
  EXPECT_EQ(MessageOf([&] { read(Proto::UINT2, 4, "\xf1\x01"); }),
            "tensor \"t\": bytes of elements: got 2, want 1");
}

TEST_F(TensorElementsTest, OfFilesThatAreWritten) {
  const auto back = [&](const Tensor& tensor) {
    WriteOnnxTensor(path_, "t", tensor);
    return ReadOnnxTensor(path_);
  };
  EXPECT_EQ(FloatsOf(back(FloatTensor({1, 2}, {1.5f, -2}))), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(back(FloatTensor({1, 2}, {1.5f, -2})).dims(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(IntsOf(back(IntTensor({2}, {5, -6}))), (std::vector<int64_t>{5, -6}));
  Tensor half({1}, CPU), bfloat({1}, CPU), text({2}, CPU), large({1}, CPU);
  half.mutable_data<float16>()[0] = float16(1.5f);
  bfloat.mutable_data<bfloat16>()[0] = bfloat16(2.5f);
  text.mutable_data<std::string>()[1] = "b";
  large.mutable_data<uint64_t>()[0] = uint64_t{1} << 63;
  EXPECT_EQ(static_cast<float>(back(half).data<float16>()[0]), 1.5f);
  EXPECT_EQ(static_cast<float>(back(bfloat).data<bfloat16>()[0]), 2.5f);
  EXPECT_EQ(back(text).data<std::string>()[1], "b");
  EXPECT_EQ(back(large).data<uint64_t>()[0], uint64_t{1} << 63);
  Tensor bytes({3}, CPU);
  for (int i = 0; i < 3; ++i) bytes.mutable_data<int8_t>()[i] = static_cast<int8_t>(i - 1);
  WriteNarrowOnnxTensor(path_, "t", bytes, NarrowFormat::kInt2);
  EXPECT_EQ(Numbers<int8_t>(ReadOnnxTensor(path_)), (Values{-1, 0, 1}));
}

TEST_F(TensorElementsTest, ReportsFilesThatAreNone) {
  const std::string broken = folder_.Write("broken", "\xff");
  EXPECT_EQ(MessageOf([&] {
              ReadOnnxTensor(broken);
            }).find("cannot read \"" + broken + "\" as a TensorProto of ONNX: "),
            0u);
  Proto external = TensorOf(Proto::FLOAT);
  external.set_data_location(Proto::EXTERNAL);
  EXPECT_EQ(MessageOf([&] { Read(external); }),
            "tensor \"t\": external data in a file with one tensor");
  Proto complex = TensorOf(Proto::COMPLEX64);
  EXPECT_EQ(MessageOf([&] { Read(complex); }),
            "tensor \"t\": elements of type COMPLEX64 are not supported");
  Proto two = TensorOf(Proto::FLOAT);
  two.set_raw_data("12345678");
  two.add_float_data(1);
  EXPECT_EQ(MessageOf([&] { Read(two); }),
            "tensor \"t\": places with elements (raw_data, typed data, external data): got 2, want "
            "at most 1");
}

// --- data beside the model ---

TEST_F(TensorElementsTest, ReportsExternalData) {
  const std::string data = folder_.Write("w.bin", Raw(1.0f) + Raw(2.0f));
  const auto error = [&](const std::string& location, const std::string& more) {
    const std::string bytes =
        OnnxBytes(OnnxValue("input", "x", {"2"}) +
                  "initializer { name: 'w' data_type: 1 dims: 2 data_location: EXTERNAL "
                  "external_data { key: 'location' value: '" +
                  location + "' } " + more +
                  " } node { op_type: 'Add' name: 'n' input: 'x' input: 'w' output: 'y' } "
                  "output { name: 'y' } ");
    const std::string path = folder_.Write("m.onnx", bytes);
    const std::string text = MessageOf([&] { ImportOnnx({.net = path}); });
    const std::string head =
        "cannot import \"" + path + "\": node \"n\" of type Add: tensor \"w\": ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  };
  const auto entry = [](const std::string& key, const std::string& value) {
    return "external_data { key: '" + key + "' value: '" + value + "' } ";
  };
  EXPECT_EQ(error("w.bin", ""), "(nothing was thrown)");
  EXPECT_EQ(error("w.bin", entry("offset", "0") + entry("length", "8")), "(nothing was thrown)");
  EXPECT_EQ(error("w.bin", entry("offset", "-1")),
            "external data: offset is \"-1\", want a number from 0 up");
  EXPECT_EQ(error("w.bin", entry("length", "8x")),
            "external data: length is \"8x\", want a number from 0 up");
  EXPECT_EQ(error("w.bin", entry("offset", "1")), "bytes of elements: got 7, want at least 8");
  EXPECT_EQ(error("w.bin", entry("offset", "8")), "bytes of elements: got 0, want at least 8");
  EXPECT_EQ(error("w.bin", entry("offset", "9")),
            "external data \"w.bin\" has 8 bytes, want 0 from 9");
  EXPECT_EQ(error("w.bin", entry("length", "9")),
            "external data \"w.bin\" has 8 bytes, want 9 from 0");
  EXPECT_EQ(error("w.bin", entry("offset", "4") + entry("length", "5")),
            "external data \"w.bin\" has 8 bytes, want 5 from 4");
  EXPECT_EQ(error("../w.bin", ""),
            "external data \"../w.bin\": want a relative path without \"..\"");
  EXPECT_EQ(error(data, ""), "external data \"" + data + "\": want a relative path without \"..\"");
  EXPECT_EQ(error("none", ""), "external data \"none\": No such file or directory");
  EXPECT_EQ(error(".", ""),
            "external data \".\" is a link to a file outside of the model's folder");
}

}  // namespace
}  // namespace caffe2rt::test::tensor_elements_test
