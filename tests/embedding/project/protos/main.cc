// Messages of a user's own that contain Caffe2's, from .proto files written for Caffe2.
#include <iostream>

#include "caffe2/core/blob_serialization.h"
#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"
#include "protos/recipe.pb.h"

namespace {

int Check(bool condition, const char* what) {
  if (!condition) std::cerr << "protos: " << what << "\n";
  return condition ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  caffe2::GlobalInit(&argc, &argv);
  int failures = 0;

  // The bytes are those that Caffe2's messages have: field 1 is a net whose field 1 is its name.
  mine::Recipe small;
  small.mutable_net()->set_name("xy");
  failures += Check(small.SerializeAsString() == "\x0a\x04\x0a\x02xy", "bytes");

  mine::Recipe recipe;
  const bool parsed = google::protobuf::TextFormat::ParseFromString(
      R"(net { name: "fill" op { type: "ConstantFill" output: "x"
                                 arg { name: "shape" ints: 2 } arg { name: "value" f: 7 } } }
         weights { dims: 1 data_type: FLOAT float_data: 2.5 }
         saved { nets { key: "k" value { name: "inner" } } }
         team { name: "t" arg { name: "size" i: 4 } }
         devices { key: "gpu" value { device_type: 1 } }
         classes { root_node { word_ids: 3 } })",
      &recipe);
  failures += Check(parsed, "text");
  failures += Check(recipe.type() == caffe2::TensorProto_DataType_DOUBLE, "the default of an enum");
  failures += Check(recipe.devices().at("gpu").device_type() == caffe2::CUDA, "a map");
  const caffe2::Team& team = recipe.team();
  failures += Check(team.arg().i() == 4, "a message of the user's own in package caffe2");

  const caffe2::TreeProto& classes = recipe.classes();
  failures += Check(classes.root_node().word_ids(0) == 3, "a tree of classes");

  // The fields are the library's classes.
  caffe2::NetDef* net = recipe.mutable_net();
  caffe2::Workspace ws;
  failures += Check(ws.RunNetOnce(*net), "a net in a message");
  const auto& x = ws.GetBlob("x")->Get<caffe2::TensorCPU>();
  failures += Check(x.size() == 2 && x.data<float>()[1] == 7, "its values");
  caffe2::Blob blob;
  caffe2::BlobProto weight;
  weight.set_type("Tensor");
  *weight.mutable_tensor() = recipe.weights(0);
  caffe2::DeserializeBlob(weight, &blob);
  failures += Check(*blob.Get<caffe2::TensorCPU>().data<float>() == 2.5f, "a tensor in a message");

  const auto* field = mine::Recipe::descriptor()->FindFieldByName("rate");
  failures += Check(field->options().GetExtension(mine::unit) == "1/step", "an option");
  failures += Check(recipe.note() == "type_name: \".caffe2.NetDef\"", "the default of a string");
  failures += Check(mine::Recipe::descriptor()->FindFieldByName("net")->message_type() ==
                        caffe2::NetDef::descriptor(),
                    "one descriptor");
  return failures;
}
