#include "caffe2_core/runtime/operator.h"

#include <unordered_set>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/runtime/shared_operator_def.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

std::string DescribeBlob(const std::string& name, const Blob& blob) {
  const Tensor* const found = FindTensor(blob);
  if (found == nullptr) {
    return MakeString("\"", name, "\" ", blob.meta().IsSet() ? blob.meta().name() : "(nothing)");
  }
  const Tensor& tensor = *found;
  if (!tensor.IsShaped()) return MakeString("\"", name, "\" (no shape)");
  return MakeString("\"", name, "\" ", blob.IsType<Int8TensorCPU>() ? "quantized " : "",
                    tensor.meta().IsSet() ? DataTypeName(tensor.meta()) : std::string("(no type)"),
                    " ", tensor.sizes());
}

}  // namespace

OperatorBase::OperatorBase(const OperatorDef& def, Workspace* ws)
    : def_(SharedOperatorDef::ShareOrCopy(def)), args_(*def_), ws_(ws) {
  CAFFE_ENFORCE(ws != nullptr, "an operator needs a workspace");
  owners_.reserve(static_cast<size_t>(def_->input_size() + def_->output_size()));
  for (const std::string& input : def_->input()) {
    std::shared_ptr<Blob> blob = ws->FindBlob(input);
    CAFFE_ENFORCE(blob != nullptr, "op ", def_->type(),
                  ": Encountered a non-existing input blob: ", input);
    inputs_.push_back(blob.get());
    owners_.push_back(std::move(blob));
  }
  // An operator may hold pointers to two outputs at once, so they must not be the same blob.
  std::unordered_set<std::string> distinct;
  for (const std::string& output : def_->output()) {
    CAFFE_ENFORCE(distinct.insert(output).second, "output \"", output,
                  "\" is listed twice, want different blobs");
    outputs_.push_back(ws->CreateBlob(output));
    owners_.push_back(ws->FindBlob(output));
  }
}

OperatorBase::~OperatorBase() = default;

std::vector<TensorShape> OperatorBase::InputTensorShapes() const {
  std::vector<TensorShape> shapes;
  for (const Blob* blob : inputs_) {
    TensorShape& shape = shapes.emplace_back();
    const Tensor* tensor = FindTensor(*blob);
    if (tensor == nullptr || !tensor->IsShaped()) {
      shape.set_unknown_shape(true);
      continue;
    }
    for (const int64_t d : tensor->dims()) shape.add_dims(d);
    shape.set_data_type(TypeMetaToDataType(tensor->meta()));
  }
  return shapes;
}

bool OperatorBase::RunAsync(int stream_id) {
  try {
    const bool success = Enqueue(stream_id);
    if (!success) {
      if (!IsEventDisabled()) event().SetFinished("operator failed");
    } else if (HasAsyncPart()) {
      RecordEvent();
    } else if (!IsEventDisabled()) {
      event().SetFinished();
    }
    return success;
  } catch (...) {
    if (!IsEventDisabled()) event().SetFinished(CurrentExceptionMessage().c_str());
    throw;
  }
}

Event& OperatorBase::event() {
  CAFFE_ENFORCE(!event_disabled_, "the event of operator ", def_->type(), " is disabled");
  if (event_ == nullptr) event_ = std::make_unique<Event>(device_option());
  return *event_;
}

void OperatorBase::RecordEvent(const char* error) {
  if (!event_disabled_) event().SetFinished(error);
}

std::string OperatorBase::Describe() const {
  // The limit protects against hostile nets, whose operators may have 100,000 blobs.
  constexpr size_t kMostBlobs = 8;
  std::string text = def_->type();
  if (!def_->name().empty()) text += MakeString(" \"", def_->name(), "\"");
  const auto more = [&](size_t count) {
    if (count > kMostBlobs) text += MakeString(" and ", count - kMostBlobs, " more");
  };
  for (size_t i = 0; i < inputs_.size() && i < kMostBlobs; ++i) {
    text += i == 0 ? ", inputs " : ", ";
    text += DescribeBlob(def_->input(static_cast<int>(i)), *inputs_[i]);
  }
  more(inputs_.size());
  for (size_t i = 0; i < outputs_.size() && i < kMostBlobs; ++i) {
    text += MakeString(i == 0 ? ", output \"" : ", \"", def_->output(static_cast<int>(i)), "\"");
  }
  more(outputs_.size());
  return text;
}

void OperatorBase::ThrowWrongInput(int i, TypeMeta wanted) const {
  const Blob& blob = InputBlob(i);
  if (blob.meta() == wanted && blob.IsType<Tensor>()) {  // BlobContent did not accept the device
    CAFFE_THROW("input ", i, " (\"", def_->input(i), "\") is a tensor on ",
                DeviceTypeName(static_cast<const Tensor*>(blob.GetRaw())->GetDeviceType()),
                ", want one on another device");
  }
  CAFFE_THROW("input ", i, " (\"", def_->input(i), "\") holds ",
              blob.meta().IsSet() ? blob.meta().name() : "nothing", ", want ", wanted.name());
}

void OperatorBase::ThrowWrongDevice(int i, DeviceType device) const {
  const Blob& blob = InputBlob(i);
  if (!blob.IsType<Tensor>()) ThrowWrongInput(i, TypeMeta::Make<Tensor>());
  CAFFE_THROW("input ", i, " (\"", def_->input(i), "\") is a tensor on ",
              DeviceTypeName(static_cast<const Tensor*>(blob.GetRaw())->GetDeviceType()),
              ", want one on ", DeviceTypeName(device));
}

void OperatorBase::ThrowBadIndex(const char* what, int i) const {
  CAFFE_THROW(what, " ", i, " of operator ", def_->type(), " does not exist: it has ",
              CountText(inputs_.size(), "input"), " and ", CountText(outputs_.size(), "output"));
}

}  // namespace caffe2rt
