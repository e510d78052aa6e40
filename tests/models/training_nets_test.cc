// Training nets of Caffe2 follow the recorded steps.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/models/recorded_blobs.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::training_nets_test {
namespace {

float Scalar(const Workspace& ws, const std::string& name) {
  return ws.GetBlob(name)->Get<Tensor>().data<float>()[0];
}

// Runs the net once for each row of the log from `first` to before `end`, and compares the blobs
// that the columns after the first one contain.
void ExpectRecordedLog(Workspace* ws, NetBase* net, const std::string& log, size_t first,
                       size_t end, const std::vector<std::string>& columns, double tolerance) {
  const auto rows = ReadTsv(log);
  ASSERT_GE(rows.size(), end);
  for (size_t step = first; step < end && !testing::Test::HasFailure(); ++step) {
    SCOPED_TRACE("step " + rows[step][0]);
    ASSERT_TRUE(net->Run());
    for (size_t i = 0; i < columns.size(); ++i) {
      const double want = std::stod(rows[step][i + 1]);
      EXPECT_NEAR(Scalar(*ws, columns[i]), want, tolerance * std::max(std::abs(want), 1e-2))
          << columns[i];
    }
  }
}

// The operators of the recorded first step were created one by one. The one that read the first
// batch had read the second one ahead, and took it to its end.
void SkipBatch(const Workspace& ws, const std::string& reader, int size) {
  std::string key, value;
  for (int i = 0; i < size; ++i) ws.GetBlob(reader)->Get<db::DBReader>().Read(&key, &value);
}

// A model of a transistor, trained with a loss on the gradient of the net: 201 operators.
TEST(TrainingNetsTest, DeviceModelFollowsTheRecordedSteps) {
  SKIP_WITHOUT_SHARED("models/c2_pinn_device/golden/train_log.tsv");
  LoadModule("", BuildPath(SCALE_WITH_CLIP_MODULE));
  const std::string folder = SharedPath("models/c2_pinn_device/");
  const std::string blobs = folder + "golden/blobs.tsv";
  Workspace ws;
  NetDef init, train;
  LoadProto(folder + "bise_ext_sym_h264_neggrad_0_init.model", &init);
  LoadProto(folder + "bise_ext_sym_h264_neggrad_0_train_net_proto.txt", &train);
  ASSERT_TRUE(ws.RunNetOnce(init));
  for (const std::vector<std::string>& row : ReadTsv(blobs)) {
    if (row[0] != "feed" || !row[3].ends_with("_squared_sum")) continue;
    const std::string weights =
        row[3].substr(0, row[3].size() - std::string("_squared_sum").size());
    Feed<float>(
        &ws, row[3], DimsOf(ws, weights),
        std::vector<float>(static_cast<size_t>(ws.GetBlob(weights)->Get<Tensor>().numel())));
  }
  Feed<int32_t>(&ws, "neg_grad_penalty_input_idx", {1}, {0});
  Feed<float>(&ws, "penalty_scaler", {1}, {1});
  Feed<int64_t>(&ws, "optimizer_iteration", {1}, {0});
  RunOp(&ws, "type: 'CreateMutex' output: 'iteration_mutex'");
  ws.CreateBlob("dbreader_train")
      ->GetMutable<db::DBReader>()
      ->Open("minidb", folder + "train.minidb");

  NetBase* const net = ws.CreateNet(train);
  const auto expect_steps = [&](size_t first, size_t end) {
    ExpectRecordedLog(
        &ws, net, folder + "golden/train_log.tsv", first, end,
        {"batch_direct_weighted_l1_loss/loss", "PenaltyScaler/scaled_neg_gradient_loss",
         "batch_direct_weighted_l1_loss/l1_metric"},
        1e-3);
  };
  expect_steps(0, 1);
  SkipBatch(ws, "dbreader_train", 2048);
  expect_steps(1, 50);
  for (const RecordedBlob& blob : ReadRecordedBlobs(blobs, "after_50_iterations", "-")) {
    ExpectRecorded(ws.GetBlob(blob.blob)->Get<Tensor>(), blob, 1e-3);
  }
}

std::string Unzip(const std::string& path, size_t bytes) {
  std::string content(bytes, '\0');
  const gzFile file = gzopen(path.c_str(), "rb");
  CAFFE_ENFORCE(file != nullptr, "cannot read \"", path, "\"");
  const int got = gzread(file, content.data(), static_cast<unsigned>(bytes));
  gzclose(file);
  CAFFE_ENFORCE_EQ(got, static_cast<int>(bytes), "bytes of ", path);
  return content;
}

// Writes the first images of MNIST and their labels to a database, as Caffe2's example does.
void WriteMnist(const std::string& path, size_t count) {
  constexpr size_t kImage = 28 * 28, kImageHeader = 16, kLabelHeader = 8;
  const std::string images =
      Unzip(SharedPath("data/mnist/train-images-idx3-ubyte.gz"), kImageHeader + count * kImage);
  const std::string labels =
      Unzip(SharedPath("data/mnist/train-labels-idx1-ubyte.gz"), kLabelHeader + count);
  const auto database = db::CreateDB("minidb", path, db::NEW);
  const auto transaction = database->NewTransaction();
  for (size_t i = 0; i < count; ++i) {
    TensorProtos record;
    TensorProto* const image = record.add_protos();
    image->set_data_type(TensorProto::BYTE);
    for (const int dim : {1, 28, 28}) image->add_dims(dim);
    image->set_byte_data(images.substr(kImageHeader + i * kImage, kImage));
    TensorProto* const label = record.add_protos();
    label->set_data_type(TensorProto::INT32);
    label->add_int32_data(static_cast<unsigned char>(labels[kLabelHeader + i]));
    transaction->Put(std::to_string(i), record.SerializeAsString());
  }
}

// The start weights of the recording, from a linear congruential generator.
void FeedStartWeights(Workspace* ws) {
  uint32_t x = 1;
  for (const char* name : {"conv1_w", "conv2_w", "fc3_w", "pred_w"}) {
    Tensor* const weights = ws->GetBlob(name)->GetMutableTensor(CPU);
    const double bound = std::sqrt(3.0 / static_cast<double>(weights->numel() / weights->dim(0)));
    float* const data = weights->mutable_data<float>();
    for (int64_t i = 0; i < weights->numel(); ++i) {
      x = 1664525 * x + 1013904223;
      data[i] = static_cast<float>((2.0 * x / 4294967296.0 - 1.0) * bound);
    }
  }
}

// LeNet on MNIST, from a plan that Caffe2's example wrote.
TEST(TrainingNetsTest, LeNetFollowsTheRecordedSteps) {
  SKIP_WITHOUT_SHARED("models/c2_lenet_lmdb/golden/train_log.tsv");
  SKIP_WITHOUT_SHARED("data/mnist/train-images-idx3-ubyte.gz");
  const std::string folder = SharedPath("models/c2_lenet_lmdb/");
  const TempDir dir;
  WriteMnist(dir.path("mnist"), 1100);
  PlanDef plan;
  LoadProto(folder + "train_plan.pbtxt", &plan);
  ASSERT_EQ(plan.network_size(), 3);
  for (NetDef& net : *plan.mutable_network()) net.clear_device_option();
  NetDef& init = *plan.mutable_network(0);
  ASSERT_EQ(init.op(0).type(), "CreateDB");
  init.mutable_op(0)->mutable_arg(0)->set_s("minidb");
  init.mutable_op(0)->mutable_arg(1)->set_s(dir.path("mnist"));
  Workspace ws(dir.path());  // the root of the files that the net prints to
  ASSERT_TRUE(ws.RunNetOnce(init));
  FeedStartWeights(&ws);
  const std::string blobs = folder + "golden/blobs.tsv";
  for (const RecordedBlob& blob : ReadRecordedBlobs(blobs, "start", "0")) {
    ExpectRecorded(ws.GetBlob(blob.blob)->Get<Tensor>(), blob, 1e-6);
  }
  NetBase* const net = ws.CreateNet(plan.network(1));
  const auto expect_steps = [&](size_t first, size_t end) {
    ExpectRecordedLog(&ws, net, folder + "golden/train_log.tsv", first, end, {"loss", "accuracy"},
                      1e-4);
  };
  expect_steps(0, 1);
  SkipBatch(ws, "dbreader", 100);
  expect_steps(1, 10);
  for (const RecordedBlob& blob : ReadRecordedBlobs(blobs, "after", "10")) {
    ExpectRecorded(ws.GetBlob(blob.blob)->Get<Tensor>(), blob, 1e-4);
  }
}

}  // namespace
}  // namespace caffe2rt::test::training_nets_test
