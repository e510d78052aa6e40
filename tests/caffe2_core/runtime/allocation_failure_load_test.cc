// Loads files and fills tensors while allocations fail.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::allocation_failure_load_test {
namespace {

using test::AllocationFailureTest;
using test::LeaksAllowed;
using test::On;
using test::ParseNet;
using test::SourcePath;
using test::TempDir;

// --- load ---

class LoadWithoutMemoryTest : public AllocationFailureTest {
 protected:
  const TempDir dir_;
};

const char kNet[] = R"(name: "net"
  op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
  op { type: "Relu" input: "y" output: "y" }
  op { type: "Softmax" input: "y" output: "z" name: "a name that is not short at all" }
  external_input: "x" external_input: "w" external_input: "b" external_output: "z")";

TEST_F(LoadWithoutMemoryTest, ReadsProtos) {
  const NetDef want = ParseNet(kNet);
  const std::string bytes = want.SerializeAsString();
  for (const std::string& file : {dir_.Write("net.pb", bytes), dir_.Write("net.pbtxt", kNet)}) {
    Sweep([&] {
      return On<NetDef>(
          std::make_shared<NetDef>(), [&](NetDef& net) { LoadProto(file, &net); },
          [&](NetDef& net) { EXPECT_EQ(net.SerializeAsString(), bytes); });
    });
  }
}

TEST_F(LoadWithoutMemoryTest, LoadsModels) {
  const std::string init =
      dir_.Write("init.pb", ParseNet(R"(op { type: "GivenTensorFill" output: "w"
          arg { name: "shape" ints: 2 } arg { name: "values" floats: 10 floats: 20 } })")
                                .SerializeAsString());
  const std::string predict = dir_.Write("net.pb", ParseNet(kNet).SerializeAsString());
  const std::string packed = dir_.path("model.c2pack");
  for (const ModelFileOptions& options :
       {ModelFileOptions{.init_nets = {init}, .predict_net = predict},
        ModelFileOptions{.predict_net = packed}}) {
    Sweep([&] {
      return On<Workspace>(
          std::make_shared<Workspace>(),
          [&](Workspace& ws) {
            Model model = LoadModel(options);
            RunInitNets(&model, &ws);
            if (!options.init_nets.empty()) ModelPacker(model, ws).Write(packed);
          },
          [&](Workspace& ws) { EXPECT_EQ(ws.GetBlob("w")->Get<Tensor>().data<float>()[1], 20); });
    });
  }
}

TEST_F(LoadWithoutMemoryTest, ReadsArraysAndImages) {
  Tensor array(std::vector<int64_t>{2, 3}, CPU);
  for (int i = 0; i < 6; ++i) array.mutable_data<float>()[i] = static_cast<float>(i);
  const std::string npy = dir_.path("a.npy");
  WriteNpy(npy, array);
  Sweep([&] {
    return On<Tensor>(
        std::make_shared<Tensor>(CPU), [&](Tensor& read) { read = ReadNpy(npy); },
        [&](Tensor& read) { EXPECT_EQ(read.data<float>()[5], 5); });
  });
  const std::string npz = dir_.path("a.npz");
  const NamedTensors arrays = {{"a", array}, {"b", array}};
  Sweep([&] {
    return On<NamedTensors>(
        std::make_shared<NamedTensors>(),
        [&](NamedTensors& read) {
          WriteNpz(npz, arrays);
          read = ReadNpz(npz);
        },
        [&](NamedTensors& read) { EXPECT_EQ(read.at(1).second.data<float>()[5], 5); });
  });
  const std::string path = SourcePath("binaries/demo/stripes/images/rising_1.png");
  const std::vector<uint8_t> pixels = LoadImage(path).rgb;
  Sweep([&] {
    return On<Image>(
        std::make_shared<Image>(), [&](Image& image) { image = LoadImage(path); },
        [&](Image& image) { EXPECT_EQ(image.rgb, pixels); });
  });
}

TEST_F(LoadWithoutMemoryTest, WritesAndReadsDatabases) {
  for (const std::string type : {"minidb", "leveldb", "lmdb"}) {
    SCOPED_TRACE(type);
    const std::string path = dir_.path(type);
    const std::string value(3000, 'v');
    {
      const auto database = db::OpenDB(type, path, db::NEW);
      const auto transaction = database->NewTransaction();
      transaction->Put("key", value);
      transaction->Commit();
    }
    struct Record {
      std::string key, value;
    };
    Sweep([&] {
      return On<Record>(
          std::make_shared<Record>(),
          [&](Record& record) {
            const LeaksAllowed leaks(type == "leveldb");
            db::DBReader(type, path).Read(&record.key, &record.value);
          },
          [&](Record& record) { EXPECT_EQ(record.value, value); });
    });
  }
}

TEST_F(LoadWithoutMemoryTest, SerializesBlobs) {
  Blob blob;
  Tensor* tensor = blob.GetMutableTensor(CPU);
  tensor->Resize(3);
  for (int i = 0; i < 3; ++i) {
    tensor->mutable_data<std::string>()[i] = std::string(40, static_cast<char>('a' + i));
  }
  struct Copy {
    std::string bytes;
    Blob blob;
  };
  Sweep([&] {
    return On<Copy>(
        std::make_shared<Copy>(),
        [&](Copy& copy) {
          copy.bytes = SerializeBlob(blob, "name");
          DeserializeBlob(copy.bytes, &copy.blob);
        },
        [&](Copy& copy) {
          EXPECT_EQ(copy.blob.Get<Tensor>().data<std::string>()[2], std::string(40, 'c'));
        });
  });
}

// --- tensors ---

class TensorWithoutMemoryTest : public AllocationFailureTest {};

TEST_F(TensorWithoutMemoryTest, AllocatesGrowsAndCopies) {
  Tensor strings(std::vector<int64_t>{2, 3}, CPU);
  for (int i = 0; i < 6; ++i) strings.mutable_data<std::string>()[i] = std::string(40, 'x');
  Sweep([&] {
    return On<Tensor>(
        std::make_shared<Tensor>(CPU),
        [&](Tensor& tensor) {
          tensor.CopyFrom(strings);
          tensor.ExtendTo(10, 50);
          tensor = tensor.Clone();
          tensor.Resize(2, 2);
          tensor.mutable_data<float>()[3] = 3;
          tensor.ReserveSpace(100);
          tensor.mutable_data<float>()[3] += 4;
        },
        [](Tensor& tensor) { EXPECT_EQ(tensor.data<float>()[3], 4); });
  });
}

TEST_F(TensorWithoutMemoryTest, KeepsReadOnlyDataWhenItCannotBeCopied) {
  struct Weights {
    Tensor shared{CPU}, own{CPU};
  };
  Sweep([] {
    auto weights = std::make_shared<Weights>();
    weights->shared.Resize(2);
    weights->shared.mutable_data<float>()[0] = 5;
    weights->shared.MarkReadOnly();
    weights->own = weights->shared;
    return On<Weights>(
        weights, [](Weights& w) { w.own.mutable_data<float>()[1] = 7; },
        [](Weights& w) {
          EXPECT_EQ(w.own.data<float>()[0], 5);
          EXPECT_EQ(w.own.data<float>()[1], 7);
          EXPECT_EQ(w.shared.data<float>()[1], 0);
        });
  });
}

TEST_F(TensorWithoutMemoryTest, FreesForeignMemoryOnce) {
  struct Foreign {
    Tensor tensor{CPU};
    int freed = 0;
    float data[2] = {1, 2};
  };
  Sweep([] {
    auto foreign = std::make_shared<Foreign>();
    foreign->tensor.Resize(2);
    return On<Foreign>(
        foreign,
        [](Foreign& f) {
          f.tensor.FreeMemory();
          f.freed = 0;
          f.tensor.ShareExternalPointer(
              f.data, 0,
              MemoryDeleter([](void*, void* count) { ++*static_cast<int*>(count); }, &f.freed));
        },
        [](Foreign& f) {
          f.tensor.FreeMemory();
          EXPECT_EQ(f.freed, 1);
        });
  });
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_load_test
