// Where the pieces of Split and the inputs of Concat may lie in the memory of the whole, so that nothing is copied: in
// order, if all dimensions before the axis are 1; on IDEEP only as whole blocks of channels.
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::parts_in_place_test {
namespace {

struct PartsRow {
  const char* arguments;
  const char* whole;                // "5,3"; "?" is unknown
  std::vector<const char*> pieces;  // likewise
  const char* places;               // "0@0 2@24": pieces with their offsets in bytes
  DeviceType device = CPU;
  TensorProto_DataType type = TensorProto::FLOAT;
};

TensorShape ShapeOfText(const std::string& text, TensorProto_DataType type) {
  if (text == "?") return UnknownShape();
  std::vector<int64_t> dims;
  for (const std::string& size : std::vector<std::string>(absl::StrSplit(text, ',')))
    dims.push_back(std::stoll(size));
  return CreateTensorShape(dims, type);
}

std::string TextOfPlaces(const std::vector<MemoryTraits::Part>& parts) {
  return absl::StrJoin(parts, " ", [](std::string* out, const MemoryTraits::Part& part) {
    *out += MakeString(part.index, "@", part.offset_bytes);
  });
}

OperatorDef JoinOf(const std::string& text, const PartsRow& row) {
  OperatorDef def = OperatorsOf({(text + " " + row.arguments).c_str(), ""}).back();
  def.mutable_device_option()->set_device_type(row.device);
  return def;
}

// Split and Concat have the same places, with inputs and outputs exchanged.
void ExpectPlaces(const PartsRow& row) {
  SCOPED_TRACE(MakeString(row.arguments, " of ", row.whole));
  std::string names;
  std::vector<TensorShape> pieces;
  for (const char* piece : row.pieces) {
    names += MakeString(" p", pieces.size());
    pieces.push_back(ShapeOfText(piece, row.type));
  }
  const std::vector<TensorShape> whole = {ShapeOfText(row.whole, row.type)};
  const MemoryTraits& split = MemoryTraitsOf("Split");
  const MemoryTraits& concat = MemoryTraitsOf("Concat");
  EXPECT_EQ(TextOfPlaces(split.output_parts(JoinOf("Split x ->" + names, row), whole, pieces)),
            row.places);
  EXPECT_EQ(TextOfPlaces(concat.input_parts(JoinOf("Concat" + names + " -> x s", row), pieces,
                                            {whole[0], UnknownShape()})),
            row.places);
}

TEST(PartsInPlaceTest, LieOneAfterTheOtherIfNothingIsBetween) {
  const PartsRow rows[] = {
      {"axis=0", "5,3", {"2,3", "3,3"}, "0@0 1@24"},
      {"axis=0", "6", {"1", "2", "3"}, "0@0 1@4 2@12"},
      {"axis=0", "5", {"5"}, "0@0"},
      // A piece without elements has no place.
      {"axis=0", "5", {"2", "0", "3"}, "0@0 2@8"},
      {"axis=0", "5", {"0", "5"}, "1@0"},
      {"axis=0", "0,3", {"0,3", "0,3"}, ""},
      {"axis=1", "1,5,3", {"1,2,3", "1,3,3"}, "0@0 1@24"},
      {"", "1,5,3", {"1,2,3", "1,3,3"}, "0@0 1@24"},  // the channels of NCHW
      {"axis=2", "1,1,5", {"1,1,2", "1,1,3"}, "0@0 1@8"},
      {"axis=-1", "1,6", {"1,2", "1,4"}, "0@0 1@8"},
      {"axis=-2", "6,2", {"1,2", "5,2"}, "0@0 1@8"},
      {"order=NHWC", "1,1,1,6", {"1,1,1,2", "1,1,1,4"}, "0@0 1@8"},
      // A new dimension, of one element for each piece.
      {"axis=0 add_axis=1", "2,3", {"3", "3"}, "0@0 1@12"},
      {"axis=1 add_axis=1", "1,2,3", {"1,3", "1,3"}, "0@0 1@12"},
      // Rows of the pieces alternate.
      {"axis=1", "2,5", {"2,2", "2,3"}, ""},
      {"axis=2", "1,2,5", {"1,2,2", "1,2,3"}, ""},
      {"axis=2", "2,1,5", {"2,1,2", "2,1,3"}, ""},
      {"order=NHWC", "1,2,1,6", {"1,2,1,2", "1,2,1,4"}, ""},
      {"axis=1 add_axis=1", "2,2,3", {"2,3", "2,3"}, ""},
      // What is unknown has no place.
      {"axis=0", "?", {"2,3", "3,3"}, ""},
      {"axis=0", "5,3", {"2,3", "?"}, ""},
      {"axis=0", "5,3", {"?", "3,3"}, ""},
  };
  for (const PartsRow& row : rows) ExpectPlaces(row);
}

TEST(PartsInPlaceTest, HaveOffsetsInBytesOfTheirType) {
  const std::pair<TensorProto_DataType, const char*> rows[] = {
      {TensorProto::UINT8, "0@0 1@6"},    {TensorProto::BOOL, "0@0 1@6"},
      {TensorProto::FLOAT16, "0@0 1@12"}, {TensorProto::INT32, "0@0 1@24"},
      {TensorProto::DOUBLE, "0@0 1@48"},  {TensorProto::INT64, "0@0 1@48"},
  };
  for (const auto& [type, places] : rows)
    ExpectPlaces({"axis=0", "5,3", {"2,3", "3,3"}, places, CPU, type});
}

TEST(PartsInPlaceTest, AreWholeBlocksOfChannelsOnIdeep) {
  const PartsRow rows[] = {
      // 16 channels of 4 pixels.
      {"", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0 1@256", IDEEP},
      {"axis=1", "1,80,2,2", {"1,32,2,2", "1,16,2,2", "1,32,2,2"}, "0@0 1@512 2@768", IDEEP},
      {"axis=-3", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0 1@256", IDEEP},
      {"", "1,21,2,2", {"1,16,2,2", "1,5,2,2"}, "0@0 1@256", IDEEP},
      {"", "1,21,2,2", {"1,5,2,2", "1,16,2,2"}, "", IDEEP},
      {"", "1,33,2,2", {"1,16,2,2", "1,1,2,2", "1,16,2,2"}, "", IDEEP},
      {"", "2,48,2,2", {"2,16,2,2", "2,32,2,2"}, "", IDEEP},
      {"axis=0", "2,16,2,2", {"1,16,2,2", "1,16,2,2"}, "", IDEEP},
      {"axis=2", "1,1,4,2", {"1,1,2,2", "1,1,2,2"}, "", IDEEP},
      {"", "1,48,2", {"1,16,2", "1,32,2"}, "", IDEEP},
      {"axis=1 add_axis=1", "1,2,16,2", {"1,16,2", "1,16,2"}, "", IDEEP},
      // Elements of bf16 take two bytes; bytes lie in another order.
      {"output_precision=bf16", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0 1@128", IDEEP},
      {"output_precision=f32", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0 1@256", IDEEP},
      {"output_precision=int8", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "", IDEEP},
      // Only so many inputs are in blocks.
      {"blocked_inputs=0", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "", IDEEP},
      {"blocked_inputs=1", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0", IDEEP},
      {"blocked_inputs=2", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0 1@256", IDEEP},
      {"blocked_inputs=5", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0 1@256", IDEEP},
      {"blocked_inputs=-1", "1,48,2,2", {"1,16,2,2", "1,32,2,2"}, "0@0 1@256", IDEEP},
      // On the CPU they have no effect.
      {"output_precision=bf16 blocked_inputs=1", "1,5,2,2", {"1,2,2,2", "1,3,2,2"}, "0@0 1@32"},
  };
  for (const PartsRow& row : rows) ExpectPlaces(row);
}

TEST(PartsInPlaceTest, AreNoneWithoutTheWhole) {
  const OperatorDef split = OperatorsOf({"Split x -> a b axis=0", ""}).back();
  const OperatorDef concat = OperatorsOf({"Concat a b -> y s axis=0", ""}).back();
  const std::vector<TensorShape> pieces(2, ShapeOfText("2,3", TensorProto::FLOAT));
  EXPECT_TRUE(MemoryTraitsOf("Split").output_parts(split, {}, pieces).empty());
  EXPECT_TRUE(MemoryTraitsOf("Concat").input_parts(concat, pieces, {}).empty());
}

}  // namespace
}  // namespace caffe2rt::test::parts_in_place_test
