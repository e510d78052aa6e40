// Every error of the readers of data sets, whole.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/io/npy.h"
#include "caffe2_core/training/array_records.h"
#include "caffe2_core/training/cifar_records.h"
#include "caffe2_core/training/data_file.h"
#include "caffe2_core/training/data_parallel.h"
#include "caffe2_core/training/initial_weights.h"
#include "caffe2_core/training/mnist_records.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2_core/training/training_plan.h"
#include "tests/caffe2_core/training/small_run.h"
#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::data_refusals_test {
namespace {

class DataRefusalsTest : public ::testing::Test {
 protected:
  // The message with the folder left out.
  std::string Error(const std::function<void()>& act) {
    std::string message = MessageOf(act);
    const std::string folder = dir_.path() + "/";
    for (size_t at = 0; (at = message.find(folder, at)) != std::string::npos;)
      message.erase(at, folder.size());
    return message;
  }
  template <class T>
  std::string Npy(const std::string& name, const std::vector<int64_t>& dims,
                  const std::vector<T>& values) {
    Tensor tensor(dims, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<T>());
    WriteNpy(dir_.path(name), tensor);
    return dir_.path(name);
  }
  static void Ignore(const TrainingRecord&) {}
  const TempDir dir_;
};

TEST_F(DataRefusalsTest, OfArrays) {
  const auto error = [&](const std::vector<std::string>& files) {
    return Error([&] { ArrayRecords(files, 0, Ignore); });
  };
  const std::string two = Npy<float>("two.npy", {2, 1}, {1, 2});
  EXPECT_EQ(error({two, Npy<float>("three.npy", {3, 1}, {1, 2, 3})}),
            "rows of \"three.npy\", want as many as \"two.npy\" has (got 3, want 2)");
  EXPECT_EQ(error({Npy<float>("one.npy", {}, {1})}),
            "dimensions of \"one.npy\", want rows (got 0, want at least 1)");
  EXPECT_EQ(error({Npy<float>("empty.npy", {2, 0}, {})}),
            "rows of \"empty.npy\" have 0 elements, want 1 to 2147483647");
  EXPECT_EQ(
      error({Npy<int64_t>("large.npy", {2}, {5, int64_t{1} << 31})}),
      "element 1 of \"large.npy\" is 2147483648, which no int32 holds, want labels or an array of "
      "two dimensions");
  EXPECT_EQ(error({Npy<int64_t>("edge.npy", {2}, {INT32_MIN, INT32_MAX})}), "(nothing was thrown)");
  EXPECT_EQ(error({Npy<float>("none.npy", {0, 3}, {})}), "(nothing was thrown)");
}

TEST_F(DataRefusalsTest, OfCifar) {
  const std::string planes(3 * 1024, 'p');
  const auto error = [&](const std::string& content, CifarLabels labels) {
    return Error([&] { CifarRecords({dir_.Write("f.bin", content)}, {.labels = labels}, Ignore); });
  };
  EXPECT_EQ(error("\x09" + planes + "\x0a" + planes, CifarLabels::kCifar10),
            "label of image 1 in \"f.bin\" is 10, want 0 to 9: is it a binary file of CIFAR-10?");
  EXPECT_EQ(
      error("\x13\x64" + planes, CifarLabels::kCifar100),
      "label of image 0 in \"f.bin\" is 100, want 0 to 99: is it a binary file of CIFAR-100?");
  EXPECT_EQ(error("\x14\x63" + planes, CifarLabels::kCifar100Coarse),
            "label of image 0 in \"f.bin\" is 20, want 0 to 19: is it a binary file of CIFAR-100?");
  EXPECT_EQ(error("\x13\x63" + planes, CifarLabels::kCifar100Coarse), "(nothing was thrown)");
  EXPECT_EQ(error("\x01" + planes + "xy", CifarLabels::kCifar10),
            "bytes of an image missing in \"f.bin\", which ends at byte 3075: got 3071, want 0");
  EXPECT_EQ(error("", static_cast<CifarLabels>(9)), "kind of labels 9 is not known");
  EXPECT_EQ(Error([&] { CifarFilesOf(dir_.path(), true); }),
            "folder \"" + dir_.path() +
                "\" has no file of CIFAR's test images, want test_batch.bin or "
                "test.bin (the binary version); other names are given one by one");
  EXPECT_EQ(Error([&] { CifarFilesOf(dir_.path(), false); }),
            "folder \"" + dir_.path() +
                "\" has no file of CIFAR's training images, want data_batch_1.bin "
                "... or train.bin (the binary version); other names are given one by one");
  for (const char* name : {"test.bin", "train.bin", "data_batch_x", "xdata_batch_1.bin"})
    dir_.Write(name, "");
  EXPECT_EQ(CifarFilesOf(dir_.path(), true), std::vector<std::string>{dir_.path("test.bin")});
  EXPECT_EQ(CifarFilesOf(dir_.path(), false), std::vector<std::string>{dir_.path("train.bin")});
}

TEST_F(DataRefusalsTest, OfMnist) {
  const std::string images =
      BigEndian(2051) + BigEndian(2) + BigEndian(2) + BigEndian(3) + "abcdefghijkl";
  const std::string labels = BigEndian(2049) + BigEndian(2) + "12";
  const auto error = [&](const std::string& of_images, const std::string& of_labels) {
    return Error([&] {
      MnistRecords({dir_.Write("i", of_images), dir_.Write("l", of_labels)}, {}, Ignore);
    });
  };
  EXPECT_EQ(error(images, labels), "(nothing was thrown)");
  EXPECT_EQ(error(labels, images),
            "file \"i\" begins with 2049, want 2051, a file of images; images and labels seem to "
            "be swapped");
  EXPECT_EQ(error(images, images),
            "file \"l\" begins with 2051, want 2049, a file of labels; images and labels seem to "
            "be swapped");
  EXPECT_EQ(error(BigEndian(7) + images, labels),
            "file \"i\" begins with 7, want 2051, a file of images");
  EXPECT_EQ(error("", labels), "file \"i\" ends at byte 0, want the first number of 4 bytes there");
  EXPECT_EQ(error(images.substr(0, 4), labels),
            "file \"i\" ends at byte 4, want the number of images of 4 bytes there");
  EXPECT_EQ(error(images, BigEndian(2049) + BigEndian(3) + "123"),
            "labels in \"l\", want as many as images in \"i\" (got 3, want 2)");
  const auto sized = [&](uint32_t rows, uint32_t columns) {
    return error(BigEndian(2051) + BigEndian(2) + BigEndian(rows) + BigEndian(columns), labels);
  };
  EXPECT_EQ(sized(0, 3), "file \"i\" has images of 0 rows, want 1 to 4096");
  EXPECT_EQ(sized(4097, 3), "file \"i\" has images of 4097 rows, want 1 to 4096");
  EXPECT_EQ(sized(1, 0), "file \"i\" has images of 0 columns, want 1 to 4096");
  EXPECT_EQ(sized(1, 4097), "file \"i\" has images of 4097 columns, want 1 to 4096");
  EXPECT_EQ(sized(4096, 1), "file \"i\" ends at byte 16, want an image of 4096 bytes there");
  EXPECT_EQ(error(images.substr(0, images.size() - 1), labels),
            "bytes of an image missing in \"i\", which ends at byte 27: got 1, want 0");
  EXPECT_EQ(error(images, labels.substr(0, labels.size() - 1)),
            "file \"l\" ends at byte 9, want a label of 1 bytes there");
  EXPECT_EQ(error(images + "x", labels),
            "file \"i\" has more bytes after the last image, want its end");
  EXPECT_EQ(error(images, labels + "x"),
            "file \"l\" has more bytes after the last label, want its end");
}

// Of a net with other outputs, or an input without a label.
TEST_F(DataRefusalsTest, OfLosses) {
  const auto error = [](const std::vector<std::string>& outputs,
                        const std::vector<std::string>& blobs) {
    TrainDef def;
    def.set_name("n");
    for (const std::string& output : outputs) {
      OperatorDef* const op = def.mutable_net()->add_op();
      op->set_type("Relu");
      op->add_input("data");
      op->add_output(output);
    }
    for (const std::string& blob : blobs) def.mutable_input()->add_blob(blob);
    return MessageOf([&] { AddLoss("squared", &def); });
  };
  EXPECT_EQ(error({"a", "b"}, {}),
            "net \"n\" has the outputs a, b, want one, to which the loss is added");
  EXPECT_EQ(error({"a"}, {"data"}), "the input has no label, want at least two blobs");
  EXPECT_EQ(error({"a"}, {"data", "l"}), "(nothing was thrown)");
}

// A net that is trained by a line: y = x w + b.
TEST_F(DataRefusalsTest, OfNets) {
  const auto error = [](const std::string& text, const RankOptions& ranks = {}) {
    TrainDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString("name: 'n' " + text, &def)) << text;
    return MessageOf([&] { (void)MakeTrainingNets(def, ranks); });
  };
  const std::string net = R"(net { name: "m" op { type: "FC" input: ["data", "w", "b"] output: "y" }
      op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
      op { type: "AveragedLoss" input: "d" output: "loss" } } )";
  const std::string w = "param { name: 'w' dims: [1, 2] } ", b = "param { name: 'b' dims: 1 } ";
  EXPECT_EQ(error(net + w + b), "(nothing was thrown)");
  EXPECT_EQ(error(""), "training \"n\" has no net: field `net` has no operators");
  EXPECT_EQ(
      error(net + w),
      "the net reads blob \"b\", which is neither a parameter nor one of the inputs data, label; "
      "add a `param`, an operator of `init_net` (--init-net) or a blob of `input` (--blobs)");
  EXPECT_EQ(error(net + w + b + w), "parameter \"w\" is filled twice");
  EXPECT_EQ(error(net + w + b + "param { name: 'c' }"),
            "parameter \"c\" is not read by the net; it reads data, w, b, label");
  EXPECT_EQ(error(net + w + b + "loss: 'lost'"),
            "no operator of the net writes the loss \"lost\"; field `loss` names the blob");
  EXPECT_EQ(error(net + "param { name: 'w' dims: [1, 2] trained: false } param { name: 'b' dims: 1 "
                        "trained: false }"),
            "net \"m\" has no parameter to train: no blob that is filled has a gradient");
  EXPECT_EQ(error(R"(net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
      op { type: "AveragedLoss" input: "y" output: "loss" } } )" +
                  w + b),
            "no operator compares the net's result with the label \"label\": name the outputs of "
            "the predictor in field "
            "`output`");
  EXPECT_EQ(MessageOf([] { FillOf(ParamDef()); }), "a parameter has no name");
  EXPECT_EQ(
      error(R"(net { op { type: "Gather" input: ["t", "data"] output: "y" }
      op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
      op { type: "AveragedLoss" input: "d" output: "loss" } } param { name: 't' dims: [3, 2] })",
            {.rank = 0, .size = 2}),
      "parameter \"t\" has a gradient of rows, which several ranks cannot add; train on one rank");
  EXPECT_EQ(MessageOf([] { ConnectOperators({.size = 3}, {}); }),
            "a training on 3 ranks has no store, want --store file:DIR with a folder that all of "
            "them see");
}

TEST_F(DataRefusalsTest, OfPlans) {
  const auto error = [](const std::function<void(RunDef*, TrainingPlanOptions*)>& change) {
    RunDef run = SmallRun();
    TrainingPlanOptions options = {.ranks = {.rank = 1, .size = 2, .store = "file:/s"}};
    change(&run, &options);
    return MessageOf([&] { (void)MakeTrainingPlan(run, {Pixels(20), Pixels(18)}, options); });
  };
  EXPECT_EQ(error([](auto*, auto*) {}), "(nothing was thrown)");
  EXPECT_EQ(error([](auto*, auto* options) { options->ranks.rank = 2; }),
            "rank 2 of 2 does not exist");
  EXPECT_EQ(error([](auto*, auto* options) { options->ranks.rank = -1; }),
            "rank -1 of 2 does not exist");
  EXPECT_EQ(error([](auto*, auto* options) { options->ranks.size = 9; }),
            "a batch of 8 records is divided among 9 ranks, want at least one record for each; set "
            "--batch-size");
  EXPECT_EQ(error([](auto*, auto* options) { options->ranks.size = 8; }), "(nothing was thrown)");
  EXPECT_EQ(error([](RunDef* run, auto*) { run->set_on_error("skip"); }),
            "--on-error skip does not apply to several ranks, whose readers would lose step: leave "
            "damaged records "
            "out with caffe2 db");
  EXPECT_EQ(error([](RunDef* run, auto*) { run->set_device("cuda"); }),
            "--device cuda does not apply to several ranks yet: collectives of this build are for "
            "the CPU");
  EXPECT_EQ(error([](auto*, auto* options) { options->for_caffe2 = true; }),
            "a plan for Caffe2 has one rank");
  EXPECT_EQ(error([](RunDef* run, auto*) { run->set_epochs(0); }),
            "the number of epochs is 0, want at least 1");
  EXPECT_EQ(error([](RunDef* run, auto*) {
              run->mutable_train()->mutable_optimizer()->set_step_epochs(2);
            }),
            "optimizer: step_epochs is 2 with policy \"fixed\", want a number above 0 with policy "
            "\"step\"");
  EXPECT_EQ(error([](RunDef* run, auto*) {
              run->mutable_train()->mutable_optimizer()->set_policy("step");
              run->mutable_train()->mutable_optimizer()->set_step_epochs(0);
            }),
            "optimizer: step_epochs is 0 with policy \"step\", want a number above 0 with policy "
            "\"step\"");
  EXPECT_EQ(error([](RunDef* run, TrainingPlanOptions* options) {
              run->set_device("unlike");
              options->ranks = {};
            }),
            "device \"unlike\" is not known, want cpu or a name that caffe2 devices lists");
  const std::string few = MessageOf([] {
    (void)MakeTrainingPlan(SmallRun(), {Pixels(20), Pixels(1)},
                           {.ranks = {.rank = 0, .size = 2, .store = "file:/s"}});
  });
  EXPECT_EQ(few,
            "database \"pixels.minidb\" of the test has 1 record, want at least one for each of 2 "
            "ranks");
}

}  // namespace
}  // namespace caffe2rt::test::data_refusals_test
