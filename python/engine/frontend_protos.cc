// The descriptors of the library's messages under the names of Caffe2's.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <nanobind/nanobind.h>

#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2rt/caffe2.pb.h"
#include "python/engine/frontend_operators.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

constexpr char kPackage[] = ".caffe2rt.";

void Rename(google::protobuf::DescriptorProto* message) {
  for (google::protobuf::FieldDescriptorProto& field : *message->mutable_field()) {
    if (field.type_name().rfind(kPackage, 0) == 0) {
      field.set_type_name(".caffe2." + field.type_name().substr(sizeof(kPackage) - 1));
    }
  }
  for (google::protobuf::DescriptorProto& nested : *message->mutable_nested_type()) Rename(&nested);
}

std::string OriginalName(const std::string& file) {
  const std::string prefix = "caffe2rt/";
  return file.rfind(prefix, 0) == 0 ? "caffe2/proto/" + file.substr(prefix.size()) : file;
}

// The serialized descriptor of the library's file `stem`.proto, in the package caffe2.
nb::bytes FileDescriptor(const Text& stem) {
  (void)NetDef::descriptor();  // registers the files
  const auto* const pool = google::protobuf::DescriptorPool::generated_pool();
  const auto* const file = pool->FindFileByName("caffe2rt/" + stem.str() + ".proto");
  CAFFE_ENFORCE(file != nullptr, "the library has no file \"", stem.view, ".proto\"");
  google::protobuf::FileDescriptorProto proto;
  file->CopyTo(&proto);
  proto.set_name(OriginalName(proto.name()));
  proto.set_package("caffe2");
  for (std::string& dependency : *proto.mutable_dependency()) dependency = OriginalName(dependency);
  for (google::protobuf::DescriptorProto& message : *proto.mutable_message_type()) Rename(&message);
  return Bytes(proto.SerializeAsString());
}

}  // namespace

void BindFrontendProtos(nb::module_& m) { m.def("_file_descriptor", &FileDescriptor); }

}  // namespace caffe2rt
