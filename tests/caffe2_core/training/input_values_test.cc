// What a net gets for each kind of record, element by element: pixels, floats and integers with any
// scale, means and deviations.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2_core/training/plan_parts.h"
#include "caffe2_core/training/record.h"
#include "caffe2_core/training/record_database.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::input_values_test {
namespace {

using Dims = std::vector<int64_t>;

constexpr int64_t kRecords = 3;

// Where element [h, w, c] of a record is in the net's input.
enum class Layout { kAsItIs, kPlanes, kOnePlane };

struct InputKind {
  const char* input;
  TensorProto::DataType type;
  Dims dims;
  Layout layout;
  int channel_axis;  // of the record; -1: means and deviations of all channels only
};

int64_t CountOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

int NumberAt(int64_t record, int64_t i) { return static_cast<int>((record * 37 + i * 11) % 200); }

TrainingRecord RecordOf(const InputKind& kind, int64_t number) {
  TrainingRecord record{.key = RecordKey(number, 4), .tensors = {}};
  TensorProto* const proto = record.tensors.add_protos();
  proto->set_data_type(kind.type);
  for (const int64_t dim : kind.dims) proto->add_dims(dim);
  std::string bytes;
  for (int64_t i = 0; i < CountOf(kind.dims); ++i) {
    const int value = NumberAt(number, i);
    if (kind.type == TensorProto::BYTE) bytes += static_cast<char>(value);
    if (kind.type == TensorProto::FLOAT) proto->add_float_data(static_cast<float>(value));
    if (kind.type == TensorProto::INT32) proto->add_int32_data(value);
    if (kind.type == TensorProto::INT64) proto->add_int64_data(value);
  }
  if (kind.type == TensorProto::BYTE) proto->set_byte_data(bytes);
  AddLabel(static_cast<int32_t>(number), LabelDims::kOne, &record.tensors);
  return record;
}

// As many means and deviations as stated: 0, 1, or one for each channel.
float MeanOf(int64_t count, int64_t channel) {
  return count == 0 ? 0 : 4.0f * static_cast<float>(count == 1 ? 3 : channel + 1);
}
float StdOf(int64_t count, int64_t channel) {
  return count == 0 ? 1 : static_cast<float>(1 << (count == 1 ? 1 : channel + 1));
}

void ExpectInput(const InputKind& kind, const std::string& path, float scale, int64_t means,
                 int64_t stds) {
  std::string text = MakeString(kind.input, " batch_size: ", kRecords, " scale: ", scale);
  for (int64_t i = 0; i < means; ++i) text += MakeString(" mean: ", MeanOf(means, i));
  for (int64_t i = 0; i < stds; ++i) text += MakeString(" std: ", StdOf(stds, i));
  SCOPED_TRACE(MakeString(text, ", type ", static_cast<int>(kind.type), " ", kind.dims));
  InputDef input;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &input));
  const DataFacts facts = ReadDataFacts({"minidb", path});
  CheckInput(input, facts);
  NetDef net = NamedNet("input");
  AppendOps({OpenDatabaseOp({"minidb", path}, "reader")}, &net);
  AppendOps(InputFills(input, facts), &net);
  AppendOps(InputOperators(input, facts, {.reader = "reader", .batch_size = kRecords}), &net);
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(net));
  // [H, W, C], where the axes of other records are those of the end.
  Dims d = kind.dims;
  d.insert(d.begin(), 3 - d.size(), 1);
  Dims shape = {kRecords};
  if (kind.layout == Layout::kOnePlane) shape.push_back(1);
  if (kind.layout == Layout::kPlanes) {
    shape.insert(shape.end(), {d[2], d[0], d[1]});
  } else {
    shape.insert(shape.end(), kind.dims.begin(), kind.dims.end());
  }
  std::vector<float> want(static_cast<size_t>(CountOf(shape)));
  for (int64_t n = 0; n < kRecords; ++n) {
    for (int64_t i = 0; i < CountOf(d); ++i) {
      const int64_t at[] = {i / (d[1] * d[2]), i / d[2] % d[1], i % d[2]};
      const size_t axis = static_cast<size_t>(kind.channel_axis) + 3 - kind.dims.size();
      const int64_t channel = kind.channel_axis < 0 ? 0 : at[axis];
      const int64_t to = kind.layout == Layout::kPlanes ? (at[2] * d[0] + at[0]) * d[1] + at[1] : i;
      want[static_cast<size_t>(n * CountOf(d) + to)] =
          (static_cast<float>(NumberAt(n, i)) - MeanOf(means, channel)) / StdOf(stds, channel) *
          scale;
    }
  }
  const bool stays = (kind.type == TensorProto::INT32 || kind.type == TensorProto::INT64) &&
                     scale == 1 && means == 0 && stds == 0;
  if (stays && kind.type == TensorProto::INT32) {
    ExpectTensor<int32_t>(ws, "data", shape, {want.begin(), want.end()});
  } else if (stays) {
    ExpectTensor<int64_t>(ws, "data", shape, {want.begin(), want.end()});
  } else {
    ExpectTensor<float>(ws, "data", shape, want, 1e-4);
  }
  ExpectTensor<int32_t>(ws, "label", {kRecords}, {0, 1, 2});
  shape[0] = 1;
  EXPECT_EQ(InputShape(input, facts), shape);
}

TEST(InputValuesTest, EveryKindOfRecordIsScaledByItsChannels) {
  const char *none = "", *last = "channels_last: true", *grey = "grey: true";
  constexpr auto kByte = TensorProto::BYTE, kFloat = TensorProto::FLOAT;
  const InputKind kinds[] = {{none, kByte, {2, 4, 3}, Layout::kPlanes, 2},
                             {none, kByte, {4, 2, 1}, Layout::kPlanes, 2},
                             {last, kByte, {2, 4, 3}, Layout::kAsItIs, 2},
                             // As many rows as channels.
                             {last, kByte, {3, 4, 3}, Layout::kAsItIs, 2},
                             {last, kByte, {2, 4, 1}, Layout::kAsItIs, 2},
                             // No pixels of one or three channels: the channels come first.
                             {none, kByte, {3, 2, 4}, Layout::kAsItIs, 0},
                             {none, kByte, {2, 4, 2}, Layout::kAsItIs, 0},
                             {none, kByte, {2, 4}, Layout::kAsItIs, 0},
                             {none, kByte, {5}, Layout::kAsItIs, 0},
                             {grey, kByte, {2, 4}, Layout::kOnePlane, -1},
                             {"grey: true channels_last: true", kByte, {2, 4}, Layout::kAsItIs, -1},
                             {none, kFloat, {5}, Layout::kAsItIs, 0},
                             {none, kFloat, {2, 4, 3}, Layout::kAsItIs, 0},
                             {grey, kFloat, {2, 3}, Layout::kAsItIs, 0},
                             {last, kFloat, {2, 4, 3}, Layout::kAsItIs, 2},
                             {last, kFloat, {3}, Layout::kAsItIs, 0},
                             {none, TensorProto::INT32, {4}, Layout::kAsItIs, 0},
                             {none, TensorProto::INT32, {2, 4, 3}, Layout::kAsItIs, 0},
                             {none, TensorProto::INT64, {4}, Layout::kAsItIs, 0}};
  const TempDir dir;
  int number = 0;
  for (const InputKind& kind : kinds) {
    const std::string path = dir.path(MakeString(number++, ".minidb"));
    RecordDatabase database("minidb", path);
    for (int64_t i = 0; i < kRecords; ++i) database.Acceptor()(RecordOf(kind, i));
    database.Finish();
    std::vector<int64_t> counts = {0, 1};
    if (kind.channel_axis >= 0) {
      const int64_t channels = kind.dims[static_cast<size_t>(kind.channel_axis)];
      if (channels > 1) counts.push_back(channels);
    }
    for (const int64_t means : counts) {
      for (const int64_t stds : counts) {
        ExpectInput(kind, path, 1, means, stds);
        ExpectInput(kind, path, 0.25f, means, stds);
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::input_values_test
