// Protos, with macros that some users define before the includes.
#define CAFFE2_USE_LITE_PROTO 1
#define PROTOBUF_USE_DLLS 1
#include "caffe/proto/caffe.pb.h"
#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/predictor.h"
#include "caffe2/core/timer.h"
#include "test.h"

STYLE_TEST(DeviceOptionsTakeEveryFormOfType) {
  caffe2::OperatorDef op;
  op.mutable_device_option()->set_device_type(caffe2::CUDA);
  STYLE_EXPECT(op.device_option().device_type() == caffe2::CUDA);
  caffe2::DeviceOption opt;
  opt.set_device_type((int)caffe2::DeviceType::CPU);
  opt.set_device_type(caffe2::PROTO_CPU);
  opt.set_cuda_gpu_id(3);
  STYLE_EXPECT(opt.device_id() == 3);
  opt.set_device_id(0);
  STYLE_EXPECT(opt.cuda_gpu_id() == 0);
  caffe2::Blob blob;
  auto* t = caffe2::BlobGetMutableTensor(&blob, caffe2::ProtoToType(opt.device_type()));
  STYLE_EXPECT(t->GetDeviceType() == caffe2::CPU);
  STYLE_EXPECT(caffe2::TypeToProto(caffe2::CUDA) == caffe2::PROTO_CUDA);
  op.mutable_device_option()->set_device_id(2);
  const at::Device device = caffe2::OptionToDevice(op.device_option());
  STYLE_EXPECT(device.type() == caffe2::CUDA && device.index() == 2);
  STYLE_EXPECT(caffe2::DeviceToOption(device).device_id() == 2);
  STYLE_EXPECT(!caffe2::OptionToDevice(opt).has_index());
}

STYLE_TEST(MessagesAreBuiltAndPrinted) {
  caffe2::NetDef def;
  caffe2::OperatorDef& op = *def.add_op();
  auto* a = op.add_arg();
  a->set_name("values");
  const std::vector<float> w{1, 2};
  for (float v : w) a->add_floats(v);
  a->add_ints(2);
  a->set_s("x");
  def.add_external_input("in");
  std::string s;
  google::protobuf::TextFormat::PrintToString(def, &s);
  caffe2::NetDef copy;
  STYLE_EXPECT(caffe2::TextFormat::ParseFromString(s, &copy));
  std::string bytes = def.SerializeAsString();
  CAFFE_ENFORCE(copy.ParseFromArray(bytes.data(), int(bytes.size())));
  STYLE_EXPECT(copy.op(0).arg(0).floats_size() == 2);
  STYLE_EXPECT(caffe2::TensorProto::FLOAT == caffe2::TensorProto_DataType_FLOAT);
  caffe2::TensorProto::DataType type = caffe2::TensorProto_DataType_INT64;
  STYLE_EXPECT(caffe2::TensorProto_DataType_Name(type) == "INT64");
}

STYLE_TEST(MessagesAreSerializedWithACheck) {
  using namespace caffe2;  // NOLINT
  BlobProto blob;
  blob.set_name("b");
  BlobProto same;
  STYLE_EXPECT(same.ParseFromString(SerializeAsString_EnforceCheck(blob)) && same.name() == "b");
  STYLE_EXPECT(SerializeBlobProtoAsString_EnforceCheck(blob) == blob.SerializeAsString());
  caffe::BlobProto array;
  array.mutable_shape()->add_dim(2);
  STYLE_EXPECT(array.shape().dim(0) == 2);
}
