#include "caffe2_core/training/predictor_database.h"

#include <algorithm>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/input_nets.h"
#include "caffe2rt/predictor_consts.pb.h"

namespace caffe2rt {
namespace {

void AddNet(const std::string& key, const NetDef& net, MetaNetDef* meta) {
  NetsMap* const entry = meta->add_nets();
  entry->set_key(key);
  *entry->mutable_value() = net;
}

void AddBlobs(const std::string& key, const std::vector<std::string>& blobs, MetaNetDef* meta) {
  BlobsMap* const entry = meta->add_blobs();
  entry->set_key(key);
  for (const std::string& blob : blobs) entry->add_value(blob);
}

MetaNetDef MetaNetOf(const TrainingNets& nets, const ImagePreparation& preparation) {
  const PredictorConsts names;
  NetDef load, init;
  load.set_name(nets.predict.name() + "_load");
  *load.add_op() = CreateOperatorDef("Load", "", {names.predictor_dbreader()}, nets.parameters);
  load.add_external_input(names.predictor_dbreader());
  for (const std::string& parameter : nets.parameters) load.add_external_output(parameter);
  init.set_name(nets.predict.name() + "_init");
  MetaNetDef meta;
  AddNet(names.global_init_net_type(), load, &meta);
  AddNet(names.predict_init_net_type(), init, &meta);
  AddNet(names.predict_net_type(), nets.predict, &meta);
  std::vector<std::string> inputs;
  for (const std::string& blob : nets.predict.external_input()) {
    if (std::find(nets.inputs.begin(), nets.inputs.end(), blob) != nets.inputs.end())
      inputs.push_back(blob);
  }
  AddBlobs(names.inputs_blob_type(), inputs, &meta);
  AddBlobs(names.outputs_blob_type(), nets.outputs, &meta);
  AddBlobs(names.parameters_blob_type(), nets.parameters, &meta);
  AddImagePreparation(preparation, &meta);
  return meta;
}

}  // namespace

ImagePreparation PreparationFor(const InputDef& input, const DataFacts& facts) {
  ImagePreparation preparation;
  preparation.classes = {input.class_name().begin(), input.class_name().end()};
  const std::vector<int64_t> shape = InputShape(input, facts);
  const TensorFacts& first = facts.tensors[0];
  const bool is_pixels = first.type == TensorProto::BYTE || first.type == TensorProto::UINT8;
  const bool fits = shape.size() == 4 && (shape[1] == 1 || shape[1] == 3) && !input.channels_last();
  if (!fits || (!first.is_image() && !is_pixels)) return preparation;
  preparation.known = true;
  ImageTransform& transform = preparation.transform;
  const ImageSize size = {.width = static_cast<int>(shape[3]),
                          .height = static_cast<int>(shape[2])};
  if (IsImageInput(input, first)) {
    transform.resize = input.has_resize() ? input.resize() : input.crop();
    transform.crop_to = size;
  } else {
    transform.resize_to = size;
  }
  transform.grey = shape[1] == 1;
  // ImageInput writes blue first.
  transform.bgr = !transform.grey && (first.is_image() || input.bgr());
  if (input.mean_size() > 0) transform.mean = {input.mean().begin(), input.mean().end()};
  if (input.std_size() > 0) transform.std = {input.std().begin(), input.std().end()};
  transform.scale = {input.scale()};
  return preparation;
}

void SavePredictor(const std::string& path, const TrainingNets& nets,
                   const ImagePreparation& preparation, const Workspace& ws) {
  const std::unique_ptr<db::DB> database = db::OpenDB("minidb", path, db::NEW);
  const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
  const auto put = [&](const std::string& key, const std::string& value) {
    transaction->Put(key, value);
  };
  Blob meta;
  *meta.GetMutable<std::string>() = MetaNetOf(nets, preparation).SerializeAsString();
  SerializeBlob(meta, PredictorConsts::default_instance().meta_net_def(), put);
  for (const std::string& name : nets.parameters) {
    const Blob* const blob = ws.FindBlob(name).get();
    CAFFE_ENFORCE(blob != nullptr, "parameter \"", name, "\" does not exist");
    SerializeBlob(*blob, name, put);
  }
  transaction->Commit();
}

}  // namespace caffe2rt
