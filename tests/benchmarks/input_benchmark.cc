// Times the operators that read training data, against the same work in a loop:
//
//   images   ImageInput from an LMDB of JPEG files, with 1 and 2 decoding threads, compared with its
//            decoder and augmentation in a loop over the same records in memory, on one thread, and
//            in such a loop on each of two threads, which shows what the machine gives
//   steps    a net of matrix products of about the time of a small training step, with
//            TensorProtosDBInput and with a fixed batch
//
// The contenders take turns; the figures are medians. Images per second and steps in milliseconds
// are by the wall clock, so run it on an idle machine.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/io/image_augmentation.h"
#include "operators/io/image_record.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {
namespace {

// The photographs have the size of ImageNet's; they are scaled to 256 pixels and cut to 224.
constexpr int kImages = 128, kBatch = 32, kWidth = 500, kHeight = 375, kSide = 256, kCrop = 224;
constexpr int kTurns = 7;

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A photograph's worth of detail: waves and some noise.
std::string JpegOf(const std::string& path, uint32_t seed) {
  std::mt19937 random(seed);
  Image image{.width = kWidth, .height = kHeight, .rgb = {}};
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      for (int c = 0; c < 3; ++c) {
        const double wave =
            100 + 60 * std::sin(0.05 * x * (c + 1) + seed) + 50 * std::cos(0.08 * y);
        image.rgb.push_back(static_cast<uint8_t>(
            std::clamp(wave + static_cast<double>(random() % 30), 0.0, 255.0)));
      }
    }
  }
  SaveJpeg(path, image);
  return ReadWholeFile(path);
}

std::string ImageRecordOf(const std::string& jpeg, int label) {
  TensorProtos record;
  TensorProto* const data = record.add_protos();
  data->set_data_type(TensorProto::STRING);
  data->add_dims(1);
  data->add_string_data(jpeg);
  TensorProto* const proto = record.add_protos();
  proto->set_data_type(TensorProto::INT32);
  proto->add_dims(1);
  proto->add_int32_data(label);
  return record.SerializeAsString();
}

void Write(const std::string& path, const std::vector<std::string>& records) {
  const auto database = db::CreateDB("lmdb", path, db::NEW);
  const auto transaction = database->NewTransaction();
  for (size_t i = 0; i < records.size(); ++i)
    transaction->Put(std::to_string(10000 + i), records[i]);
  transaction->Commit();
}

NetDef ParseNet(const std::string& text) {
  NetDef net;
  ParseTextProto(text, "net", &net);
  return net;
}

// Images per second of the same calls in a loop.
double DecodeInALoop(const std::vector<std::string>& records, std::vector<float>* pixels) {
  const ImageRecordForm form;
  ImageAugmentation how;
  how.scale = kSide;
  how.crop = kCrop;
  how.mirror = true;
  how.mean.assign(3, 128);
  how.std.assign(3, 1);
  std::mt19937 generator(1);
  const Timer timer;
  for (size_t i = 0; i < records.size(); ++i) {
    const ImageRecord record = ParseImageRecord("key", records[i], form);
    AugmentImage(record, how, &generator,
                 pixels->data() + static_cast<int64_t>(i % kBatch) * how.size());
  }
  return static_cast<double>(records.size()) / timer.Seconds();
}

double DecodeInTwoLoops(const std::vector<std::string>& records, std::vector<float>* pixels) {
  std::vector<float> others(pixels->size());
  const Timer timer;
  std::thread second([&] { DecodeInALoop(records, &others); });
  DecodeInALoop(records, pixels);
  second.join();
  return 2 * static_cast<double>(records.size()) / timer.Seconds();
}

class ImageRuns {
 public:
  ImageRuns(const std::string& path, int threads) {
    ws_.CreateBlob("reader")->GetMutable<db::DBReader>()->Open("lmdb", path);
    net_ = ws_.CreateNet(ParseNet(
        MakeString("name: 'images' op { type: 'ImageInput' input: 'reader' output: 'x' output: 'y' "
                   "arg { name: 'batch_size' i: ",
                   kBatch, " } arg { name: 'scale' i: ", kSide, " } arg { name: 'crop' i: ", kCrop,
                   " } arg { name: 'mirror' i: 1 } "
                   "arg { name: 'mean' f: 128 } arg { name: 'decode_threads' i: ",
                   threads, " } }")));
    for (int i = 0; i < 3; ++i) net_->Run();
  }
  // Images per second.
  double Turn() {
    const Timer timer;
    for (int i = 0; i < kImages / kBatch; ++i) net_->Run();
    return kImages / timer.Seconds();
  }

 private:
  Workspace ws_;
  NetBase* net_;
};

void TimeImages(const TempDir& dir) {
  std::vector<std::string> records;
  for (int i = 0; i < kImages; ++i) {
    records.push_back(ImageRecordOf(JpegOf(dir.path("i.jpg"), static_cast<uint32_t>(i)), i));
  }
  Write(dir.path("images"), records);
  std::vector<float> pixels(static_cast<size_t>(kBatch) * 3 * kCrop * kCrop);
  std::map<std::string, std::vector<double>> rates;
  for (int turn = 0; turn < kTurns; ++turn) {
    rates["loop"].push_back(DecodeInALoop(records, &pixels));
    rates["loops"].push_back(DecodeInTwoLoops(records, &pixels));
    for (const int threads : {1, 2}) {
      ImageRuns runs(dir.path("images"), threads);
      rates[std::to_string(threads)].push_back(runs.Turn());
    }
  }
  const double loop = Median(rates["loop"]), one = Median(rates["1"]), two = Median(rates["2"]);
  std::cout << "images/s: loop " << loop << ", ImageInput with 1 thread " << one << " ("
            << one / loop << " x), with 2 threads " << two << " (" << two / one
            << " x one); two loops at once " << Median(rates["loops"]) << " ("
            << Median(rates["loops"]) / loop << " x)\n";
}

// Milliseconds of a step.
double TimeStep(NetBase* net) {
  constexpr int kSteps = 20;
  const Timer timer;
  for (int i = 0; i < kSteps; ++i) net->Run();
  return 1e3 * timer.Seconds() / kSteps;
}

void TimeSteps(const TempDir& dir) {
  std::vector<std::string> records;
  for (int i = 0; i < 640; ++i) {
    TensorProtos record;
    TensorProto* const data = record.add_protos();
    data->set_data_type(TensorProto::BYTE);
    for (const int64_t dim : {28, 28, 1}) data->add_dims(dim);
    data->set_byte_data(std::string(784, static_cast<char>(i)));
    records.push_back(record.SerializeAsString());
  }
  Write(dir.path("digits"), records);
  Workspace ws;
  ws.CreateBlob("reader")->GetMutable<db::DBReader>()->Open("lmdb", dir.path("digits"));
  std::string products;
  for (int i = 0; i < 8; ++i) {
    products += "op { type: 'MatMul' input: 'w' input: 'w' output: 'v" + std::to_string(i) + "' } ";
  }
  ws.RunNetOnce(
      ParseNet("op { type: 'UniformFill' output: 'w' arg { name: 'shape' ints: 512 ints: 512 } }"));
  const std::string input =
      "op { type: 'TensorProtosDBInput' input: 'reader' output: 'x' arg { name: 'batch_size' i: 64 "
      "} } ";
  NetBase* const with = ws.CreateNet(ParseNet("name: 'with' " + input + products));
  NetBase* const fixed = ws.CreateNet(ParseNet("name: 'fixed' " + products));
  std::vector<double> times[2];
  for (int turn = 0; turn <= 2 * kTurns; ++turn) {
    const double times_of_turn[2] = {TimeStep(fixed), TimeStep(with)};
    if (turn == 0) continue;  // the first runs do more
    for (const int i : {0, 1}) times[i].push_back(times_of_turn[i]);
  }
  const double without = Median(times[0]), reading = Median(times[1]);
  std::cout << "step: fixed batch " << without << " ms, with TensorProtosDBInput " << reading
            << " ms (" << 100 * (reading / without - 1) << " % more)\n";
}

}  // namespace
}  // namespace caffe2rt::test

int main() {
  const caffe2rt::test::TempDir dir;
  caffe2rt::test::TimeImages(dir);
  caffe2rt::test::TimeSteps(dir);
  return 0;
}
