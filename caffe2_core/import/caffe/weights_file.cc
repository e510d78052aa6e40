#include "caffe2_core/import/caffe/weights_file.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/import/caffe/blob_reader.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/import/caffe/field_numbers.h"
#include "caffe2_core/import/caffe/hdf5_weights.h"
#include "caffe2_core/import/caffe/text_reader.h"
#include "caffe2_core/import/caffe/upgrade.h"
#include "caffe2_core/io/wire_walk.h"

namespace caffe2rt {
namespace {

constexpr int kMaxMessages = 64;  // levels

std::string TextOfFloat(uint64_t bits) {
  const auto low = static_cast<uint32_t>(bits);
  float value = 0;
  std::memcpy(&value, &low, sizeof(value));
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), value);
  return {text, end};
}

// Puts the fields of a binary net into a tree, and the places of its blobs into a list.
class BinaryNetReader {
 public:
  BinaryNetReader(const RandomAccessInput& input, const std::string& subject)
      : cursor_(input), subject_(subject) {}

  void Read(CaffeMessage* net, std::vector<CaffeLayerBlobs>* layers) {
    layers_ = layers;
    ReadMessage("Net", 0, cursor_.size(), 0, net);
  }

 private:
  void ReadMessage(const std::string& type, int64_t begin, int64_t end, int depth,
                   CaffeMessage* message) {
    CAFFE_ENFORCE_LE(depth, kMaxMessages, "file \"", subject_, "\": levels of messages");
    WireWalk walk(&cursor_, begin, end, &subject_, "a Caffe model");
    for (WireItem item; walk.Next(&item);) {
      const CaffeFieldType* field = FindCaffeField(type, item.number);
      if (field != nullptr) ReadField(*field, item, depth, message);
    }
  }

  void ReadField(const CaffeFieldType& field, const WireItem& item, int depth,
                 CaffeMessage* message) {
    using enum CaffeFieldType::Kind;
    CAFFE_ENFORCE_LE(++fields_, kMaxCaffeFields, "fields of file \"", subject_, "\"");
    if (field.kind == kBlob) {
      if (item.wire_type == 2) AddBlob(item);
    } else if (field.kind == kMessage) {
      if (item.wire_type == 2) ReadInner(field, item, depth, message);
    } else if (field.kind == kText) {
      if (item.wire_type != 2) return;
      std::string text;
      cursor_.Seek(item.begin);
      cursor_.AppendTo(&text, item.end - item.begin);
      message->Add(field.name).text = std::move(text);
    } else if (item.wire_type == 2) {
      ReadPacked(field, item, message);
    } else if (field.kind == kFloat) {
      message->Add(field.name).text = TextOfFloat(item.value);
    } else if (field.kind == kNumber) {
      message->Add(field.name).text = absl::StrCat(static_cast<int64_t>(item.value));
    }
  }

  void ReadInner(const CaffeFieldType& field, const WireItem& item, int depth,
                 CaffeMessage* message) {
    auto inner = std::make_unique<CaffeMessage>();
    const bool is_layer = depth == 0 && (field.name == "layer" || field.name == "layers");
    if (is_layer) layers_->emplace_back();
    ReadMessage(field.message, item.begin, item.end, depth + 1, inner.get());
    if (is_layer) FinishLayer(*inner);
    message->Add(field.name).message = std::move(inner);
  }

  void FinishLayer(const CaffeMessage& layer) {
    if (layers_->back().blobs.empty()) return layers_->pop_back();
    const CaffeMessage& named = layer.Has("layer") ? layer.Message("layer") : layer;
    layers_->back().name = named.Text("name");
    layers_->back().type = named.Text("type");
  }

  void AddBlob(const WireItem& item) {
    if (layers_->empty()) return;
    CaffeBlob blob = {.offset = item.begin, .size = item.end - item.begin};
    blob.dims = ReadBlobDims(&cursor_, item.begin, item.end, subject_, &blob.legacy);
    layers_->back().blobs.push_back(std::move(blob));
  }

  void ReadPacked(const CaffeFieldType& field, const WireItem& item, CaffeMessage* message) {
    fields_ += item.end - item.begin;  // at most
    CAFFE_ENFORCE_LE(fields_, kMaxCaffeFields, "fields of file \"", subject_, "\"");
    std::string bytes;
    cursor_.Seek(item.begin);
    cursor_.AppendTo(&bytes, item.end - item.begin);
    if (field.kind == CaffeFieldType::kFloat) {
      for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        uint32_t bits = 0;
        std::memcpy(&bits, bytes.data() + i, 4);
        message->Add(field.name).text = TextOfFloat(bits);
      }
      return;
    }
    uint64_t value = 0;
    int shift = 0;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 127) << shift;
      shift += 7;
      if (byte >= 128) continue;
      message->Add(field.name).text = absl::StrCat(static_cast<int64_t>(value));
      value = 0;
      shift = 0;
    }
  }

  WireCursor cursor_;
  const std::string& subject_;
  std::vector<CaffeLayerBlobs>* layers_ = nullptr;
  int64_t fields_ = 0;
};

// A text has no control characters, and a binary net always does.
bool LooksLikeText(const RandomAccessInput& input) {
  const auto size = static_cast<size_t>(std::min<int64_t>(input.size(), 4096));
  std::string bytes(size, '\0');
  input.Read(0, bytes.data(), size);
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 32 && byte != 127) || (byte >= 9 && byte <= 13);
  });
}

std::vector<int64_t> DimsOfText(const CaffeMessage& blob, bool* legacy) {
  *legacy = false;
  if (blob.Has("shape")) return blob.Message("shape").Integers("dim");
  std::vector<int64_t> dims;
  for (const char* name : {"num", "channels", "height", "width"}) {
    *legacy |= blob.Has(name);
    dims.push_back(blob.Integer(name, 0));
  }
  return *legacy ? dims : std::vector<int64_t>();
}

CaffeLayerBlobs BlobsOfText(const CaffeMessage& layer) {
  const CaffeMessage& named = layer.Has("layer") ? layer.Message("layer") : layer;
  CaffeLayerBlobs found = {.name = named.Text("name"), .type = named.Text("type")};
  for (const CaffeMessage* owner : {&layer, &named}) {
    if (!found.blobs.empty()) break;
    for (const CaffeMessage* message : owner->Messages("blobs")) {
      CaffeBlob blob = {.text = message};
      blob.dims = DimsOfText(*message, &blob.legacy);
      found.blobs.push_back(std::move(blob));
    }
  }
  return found;
}

Tensor ValuesOfText(const CaffeBlob& blob, const std::string& subject) {
  const bool is_double = blob.text->Has("double_data");
  const std::vector<float> values = blob.text->Floats(is_double ? "double_data" : "data");
  CAFFE_ENFORCE(static_cast<int64_t>(values.size()) == CheckedProduct(blob.dims), "file \"",
                subject, "\": a blob of ", CheckedProduct(blob.dims), " elements has ",
                values.size(), " values");
  Tensor tensor(blob.dims, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

}  // namespace

CaffeWeightsFile::CaffeWeightsFile(std::shared_ptr<const RandomAccessInput> input,
                                   std::string subject)
    : input_(std::move(input)), subject_(std::move(subject)) {
  CAFFE_ENFORCE(
      !IsHdf5(*input_), "file \"", subject_,
      "\" is an HDF5 file, want a prototxt or a caffemodel; HDF5 files are read as weights "
      "only, and by their paths");
  if (LooksLikeText(*input_)) {
    ReadText();
  } else {
    ReadBinary();
  }
  CAFFE_ENFORCE(!IsCaffeSolver(net_), "file \"", subject_,
                "\" is a solver of Caffe, not a net; give the prototxt that it names",
                net_.Has("net") ? MakeString(" (\"", Shortened(net_.Text("net")), "\")") : "");
}

void CaffeWeightsFile::ReadText() {
  std::string bytes(static_cast<size_t>(input_->size()), '\0');
  input_->Read(0, bytes.data(), bytes.size());
  net_ = ParseCaffeText(bytes, subject_);
  for (const char* generation : {"layers", "layer"}) {
    for (const CaffeMessage* layer : net_.Messages(generation)) {
      CaffeLayerBlobs found = BlobsOfText(*layer);
      if (!found.blobs.empty()) layers_.push_back(std::move(found));
    }
  }
}

void CaffeWeightsFile::ReadBinary() {
  WireCursor cursor(*input_);
  WireItem first;
  const bool any = WireWalk(&cursor, 0, input_->size(), &subject_, "a Caffe model").Next(&first);
  CAFFE_ENFORCE(!any || first.number != 1 || first.wire_type != 0, "file \"", subject_,
                "\" has no layers: it is a solverstate of Caffe, or another kind of file; give the "
                "caffemodel of the same "
                "iteration");
  BinaryNetReader(*input_, subject_).Read(&net_, &layers_);
}

Tensor CaffeWeightsFile::ReadBlob(const CaffeBlob& blob) const {
  if (blob.text != nullptr) return ValuesOfText(blob, subject_);
  WireCursor cursor(*input_);
  return ReadBlobValues(&cursor, blob.offset, blob.offset + blob.size, subject_, blob.dims);
}

Tensor ReadCaffeMean(const std::string& path) {
  const FileInput input(path);
  WireCursor cursor(input);
  bool legacy = false;
  const std::vector<int64_t> dims = ReadBlobDims(&cursor, 0, input.size(), path, &legacy);
  CAFFE_ENFORCE(dims.size() == 3 || dims.size() == 4, "mean file \"", path, "\" has ", dims.size(),
                " axes, want [1, C, H, W]");
  return ReadBlobValues(&cursor, 0, input.size(), path, dims);
}

}  // namespace caffe2rt
