#pragma once
// Packed models: a predict net and the blobs that it reads in one file, whose tensors are used
// where the file is mapped. caffe2_core/io/pack_file.h describes the file.
//
//   Model model = LoadModel({.init_nets = {"init_net.pb"}, .predict_net = "predict_net.pb"});
//   Workspace ws;
//   RunInitNets(&model, &ws);
//   ModelPacker packer(model, ws);
//   packer.Write("model.c2pack");
//
//   Predictor predictor(LoadModel({.predict_net = "model.c2pack"}));
//
// Between the packer's constructor and Write, the net may be prepared and run in `ws`:
//
//   const Preparation prepared = packer.Prepare(options, &ws);
//   PreparedNet(prepared.net, {}, nullptr, &ws).Run();
//
// Write then also stores the prepared net, the constants that its passes made, and the forms of
// weights that its operators have prepared (tensor/prepared_forms.h), such as filters in other
// layouts. PrepareNet finds them in the loaded model instead of making them again
// (PreparationOptions::packed).

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/io/pack_file.h"
#include "caffe2_core/model/packed_weights.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/packed_model.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct Model;
class NetDependencies;
class Workspace;

// Whether the file begins like a packed model. False for everything else, also for paths that
// cannot be read.
bool IsPackedModel(const std::string& path);

// A mapped file. Immutable and thread safe. The tensors keep it mapped.
class PackedModel {
 public:
  // THROWS as PackFile::Open does.
  static std::shared_ptr<const PackedModel> Open(const std::string& path);

  const NetDef& predict_net() const { return file_->index().predict_net(); }
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  const std::vector<std::string>& placeholders() const { return placeholders_; }
  const PackedIndex& index() const { return file_->index(); }
  // The bytes of a block of the index.
  const void* data(const PackedBlock& block) const { return file_->data(block); }
  // "" or a line that explains why the prepared forms are not used.
  std::string Note() const;
  // Creates the blobs in `ws`, or replaces those of the same names. Tensors are read-only: an
  // operator that writes one copies it first. THROWS if a blob cannot be read, or if the checksum
  // of a tensor that is copied differs; those that stay in the file are not read.
  void CreateBlobs(Workspace* ws) const;
  // A read-only tensor in the file, with the forms that were prepared for this machine; of weights
  // that are stored with fewer bits, a new tensor of floats. THROWS if the checksum of such weights
  // differs.
  Tensor MappedTensor(const PackedTensor& packed) const;
  // Compares the checksums of all blocks. THROWS if one differs.
  void Verify() const { file_->Verify(); }

 private:
  explicit PackedModel(std::shared_ptr<const PackFile> file);

  const std::shared_ptr<const PackFile> file_;  // shared with the tensors
  const std::vector<std::string> inputs_, outputs_, placeholders_;
};

// Collects what a packed model consists of.
class ModelPacker {
 public:
  // Remembers the blobs of `ws`, in which the init nets have run, and marks their tensors
  // read-only: a net that runs afterwards does not change what Write stores. Blobs of parents are
  // not packed. THROWS if a blob is on a device or of a type that has no serializer; the error
  // names it.
  //
  // If `storage` is not kFull, the tensors of WeightBlobsOf that ReduceWeights accepts are stored
  // with fewer bits. They are reduced by Write; those in `ws` stay as they are.
  ModelPacker(const Model& model, const Workspace& ws,
              WeightStorage storage = WeightStorage::kFull);

  // Prepares the packed net in `ws`, the workspace of the constructor (PrepareNet). Write stores the
  // result. THROWS unless the weights are stored in full: the forms are made from them.
  Preparation Prepare(const PreparationOptions& options, Workspace* ws);

  struct Summary {
    int64_t reduced = 0;      // tensors stored with fewer bits
    std::string worst = {};   // of those, the name of the one with the lowest signal-to-noise ratio
    double worst_snr_db = 0;  // infinity if all are equal to what they were
  };
  // Writes the file, which appears completely or not at all.
  Summary Write(const std::string& path) const;

  size_t num_tensors() const { return tensors_.size(); }
  // The number of prepared forms that Write would store now.
  size_t num_forms() const;

 private:
  struct NamedTensor {
    PackedTensor packed;  // name, type, shape and quantization
    Tensor tensor;
  };
  using PackedTensors = google::protobuf::RepeatedPtrField<PackedTensor>;

  static NamedTensor Named(const std::string& name, const Tensor& tensor);
  static void AddElements(const std::vector<NamedTensor>& tensors, PackWriter* writer,
                          PackedTensors* list);
  Summary AddWeights(PackWriter* writer, PackedTensors* list) const;
  static void AddForms(const std::vector<NamedTensor>& tensors, const NetDependencies& blobs,
                       PackWriter* writer, PackedTensors* list);

  const WeightStorage storage_;
  PackedIndex index_;  // without the tensors
  std::vector<NamedTensor> tensors_;
  std::vector<NamedTensor> constants_;  // of the prepared net
};

}  // namespace caffe2rt
#pragma GCC visibility pop
