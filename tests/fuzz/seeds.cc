#include "tests/fuzz/seeds.h"

#include <filesystem>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2rt/predictor_consts.pb.h"
#include "tests/caffe2_core/io/wire_writer.h"
#include "tests/fuzz/generate_plan.h"
#include "tests/fuzz/mutate_net.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {
namespace {

constexpr int kGenerated = 32;

// The folder of one target.
class SeedFolder {
 public:
  SeedFolder(const std::string& folder, const std::string& target) : path_(folder + "/" + target) {
    std::filesystem::create_directories(path_);
  }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  void Write(const std::string& name, const std::string& bytes) const {
    CAFFE_ENFORCE(WriteStringToFile(bytes, path(name).c_str()), "cannot write \"", path(name),
                  "\"");
  }

 private:
  const std::string path_;
};

// The demo's net, a net for each operator type, and generated nets.
void WriteNets(const SeedFolder& text, const SeedFolder& binary) {
  const auto write = [&](const std::string& name, const NetDef& net) {
    text.Write(name + ".pbtxt", ProtoToText(net));
    binary.Write(name + ".pb", ProtoToBinary(net));
  };
  NetDef demo;
  LoadProto(SourcePath("binaries/demo/stripes/predict_net.pb"), &demo);
  write("demo", demo);
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    Random random(HashOf(type));
    NetDef net;
    net.set_name("n");
    AddOperator(type, &random, &net);
    if (net.op_size() > 0) write("type-" + type, net);
  }
  for (int i = 0; i < kGenerated; ++i) {
    Random random(static_cast<uint64_t>(i));
    write(MakeString("generated-", i), GenerateNet(&random, i));
  }
}

// The demo's weights, and nets of random fills in random encodings.
void WriteInitNets(const SeedFolder& folder) {
  static const std::vector<std::string> types = {
      "GivenTensorFill",       "GivenTensorDoubleFill",
      "GivenTensorBoolFill",   "GivenTensorIntFill",
      "GivenTensorInt16Fill",  "GivenTensorInt64Fill",
      "GivenTensorStringFill", "GivenTensorByteStringToUInt8Fill",
      "Int8GivenTensorFill",   "Int8GivenIntTensorFill"};
  for (size_t i = 0; i < types.size() * 4; ++i) {
    Random random(i);
    OperatorDef op = CreateOperatorDef(types[i % types.size()], "", {}, {"w"});
    AddArgument("shape", std::vector<int64_t>{2, 3}, &op);
    Argument* values = op.add_arg();
    values->set_name("values");
    for (int n = 0; n < 6; ++n) {
      values->add_floats(static_cast<float>(n));
      values->add_ints(n % 2);
      values->add_strings("text");
    }
    values->set_s("abcdef");
    const bool floats = i % types.size() < 2, bytes = i % types.size() == 8;
    if (!floats) values->clear_floats();
    if (floats || (i % types.size() >= 6 && i % types.size() <= 8)) values->clear_ints();
    if (!bytes) values->clear_s();
    if (i % types.size() != 6 && i % types.size() != 7) values->clear_strings();
    NetDef net;
    *net.add_op() = op;
    folder.Write(MakeString(types[i % types.size()], "-", i, ".pb"), EncodeNet(net, &random));
  }
}

// Packed nets with the tensors that generated nets read.
void WritePacks(const SeedFolder& folder) {
  for (int i = 0; i < kGenerated / 2; ++i) {
    Random random(static_cast<uint64_t>(i));
    Model model;
    model.predict_net = GenerateNet(&random, i);
    Workspace ws;
    for (const std::string& name : InputsOf(model.predict_net)) {
      Tensor* tensor = ws.CreateBlob(name)->GetMutableTensor(CPU);
      tensor->Resize(std::vector<int64_t>{2, 3});
      tensor->mutable_data<float>()[0] = 1;
    }
    Tensor* bools = ws.CreateBlob("bools")->GetMutableTensor(CPU);
    bools->Resize(3);
    bools->mutable_data<bool>();
    *ws.CreateBlob("text")->GetMutable<std::string>() = "content";
    ModelPacker packer(model, ws);
    if (i % 2 == 1) (void)packer.Prepare({}, &ws);
    packer.Write(folder.path(MakeString("generated-", i, ".c2pack")));
  }
}

void WritePlans(const SeedFolder& folder) {
  PlanDef demo;
  LoadProto(SourcePath("binaries/demo/doubling_plan.pbtxt"), &demo);
  folder.Write("demo.pbtxt", ProtoToText(demo));
  for (int i = 0; i < kGenerated; ++i) {
    Random random(static_cast<uint64_t>(i));
    folder.Write(MakeString("generated-", i, ".pbtxt"), ProtoToText(GeneratePlan(&random)));
  }
}

// A tensor of zeros or empty strings for each element type.
std::vector<Tensor> SomeTensors() {
  std::vector<Tensor> tensors;
  for (const auto type :
       {TensorProto::FLOAT, TensorProto::INT32, TensorProto::STRING, TensorProto::BOOL,
        TensorProto::UINT8, TensorProto::INT8, TensorProto::UINT16, TensorProto::INT16,
        TensorProto::INT64, TensorProto::FLOAT16, TensorProto::DOUBLE}) {
    Tensor tensor(std::vector<int64_t>{2, 3}, CPU);
    tensor.raw_mutable_data(DataTypeToTypeMeta(type));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// The tensor with its elements as raw bytes, as some versions of Caffe2 wrote it.
TensorProto RawTensor(const Tensor& tensor) {
  TensorProto proto;
  for (const int64_t dim : tensor.sizes()) proto.add_dims(dim);
  proto.set_data_type(TypeMetaToDataType(tensor.dtype()));
  proto.set_storage_type(TensorProto::RAW);
  proto.set_raw_data(tensor.raw_data(), tensor.nbytes());
  return proto;
}

TensorProto Bfloat16Tensor() {
  TensorProto proto;
  proto.add_dims(2);
  proto.set_data_type(TensorProto::FLOAT);
  proto.set_data_format(TensorProto::FMT_BFLOAT16);
  proto.set_raw_data("abcd");
  return proto;
}

// Whole tensors as TensorProto, binary, text and raw; in two chunks as TensorProtos; as blobs.
void WriteTensors(const SeedFolder& folder) {
  for (const Tensor& tensor : SomeTensors()) {
    const std::string name = DataTypeName(tensor.dtype());
    TensorProto whole;
    TensorSerializer().Serialize(tensor, name, &whole, 0, kNoChunking);
    folder.Write(name + ".pb", ProtoToBinary(whole));
    folder.Write(name + ".pbtxt", ProtoToText(whole));
    if (tensor.dtype().IsPlainData()) {
      folder.Write(name + "-raw.pb", ProtoToBinary(RawTensor(tensor)));
    }
    TensorProtos chunks;
    for (const size_t begin : {0, 4}) {
      TensorSerializer().Serialize(tensor, name, chunks.add_protos(), begin, 4);
    }
    folder.Write(name + "-chunks.pb", ProtoToBinary(chunks));
    Blob blob;
    blob.GetMutableTensor(CPU)->CopyFrom(tensor);
    folder.Write(name + "-blob.pb", SerializeBlob(blob, name));
  }
  folder.Write("bfloat16.pb", ProtoToBinary(Bfloat16Tensor()));
}

// Databases of tensors, and of predictors without weights.
void WriteDatabases(const SeedFolder& folder) {
  const auto write = [&](const std::string& name, const auto& put_records) {
    const auto database = db::OpenDB("minidb", folder.path(name), db::NEW);
    const auto transaction = database->NewTransaction();
    put_records(transaction.get());
    transaction->Commit();
  };
  write("tensors.minidb", [](db::Transaction* transaction) {
    for (const Tensor& tensor : SomeTensors()) {
      Blob blob;
      blob.GetMutableTensor(CPU)->CopyFrom(tensor);
      const auto put = [&](const std::string& key, const std::string& record) {
        transaction->Put(key, record);
      };
      SerializeBlob(blob, DataTypeName(tensor.dtype()), put, 4);
    }
  });
  for (int i = 0; i < kGenerated; ++i) {
    Random random(static_cast<uint64_t>(i));
    BlobProto blob;
    blob.set_type(kStringBlobType);
    blob.set_content(ProtoToBinary(GenerateMetaNet(&random)));
    write(MakeString("predictor-", i, ".minidb"), [&](db::Transaction* transaction) {
      transaction->Put(PredictorConsts::default_instance().meta_net_def(), ProtoToBinary(blob));
    });
  }
}

}  // namespace

void WriteSeeds(const std::string& folder) {
  WriteNets({folder, "net_text"}, {folder, "net_binary"});
  WriteInitNets({folder, "init_net"});
  WritePacks({folder, "pack"});
  WritePlans({folder, "plan"});
  WriteTensors({folder, "tensor"});
  WriteDatabases({folder, "minidb"});
}

}  // namespace caffe2rt::test
