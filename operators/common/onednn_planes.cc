#include "operators/common/onednn_planes.h"

namespace caffe2rt {

ChannelPlanes PlanesIn(OnednnFormat format, const std::vector<int64_t>& dims) {
  return {.batch = dims[0],
          .channels = dims[1],
          .height = dims[2],
          .width = dims[3],
          .blocked = format == OnednnFormat::kBlocked16};
}

std::optional<ChannelPlanes> PlanesOf(const Tensor& x) {
  if (x.dim() != 4) return std::nullopt;
  const OnednnFormat format = FormatOf(x);
  const bool same_as_nhwc = x.dim(1) == 1 || (x.dim(2) == 1 && x.dim(3) == 1);
  if (format == OnednnFormat::kOther || (format == OnednnFormat::kNchw && !same_as_nhwc)) {
    return std::nullopt;
  }
  return PlanesIn(format, x.dims());
}

std::vector<int64_t> DimsOf(const ChannelPlanes& planes) {
  return {planes.batch, planes.channels, planes.height, planes.width};
}

dnnl::memory::desc DescOf(const ChannelPlanes& planes) {
  return DescIn(planes.blocked ? OnednnFormat::kBlocked16 : OnednnFormat::kNhwc, DimsOf(planes));
}

std::shared_ptr<const OnednnLayout> LayoutOf(const ChannelPlanes& planes) {
  return OnednnLayout::New(DescOf(planes));
}

std::shared_ptr<const OnednnLayout> SharedLayout(const Tensor& x) {
  (void)DescOf(x);  // checks the shape
  if (x.opaque_layout() == nullptr) return nullptr;
  return std::static_pointer_cast<const OnednnLayout>(x.storage()->layout());
}

int64_t FloatsOf(const Tensor& x) {
  const OpaqueLayout* const layout = x.opaque_layout();
  return layout == nullptr ? x.numel() : static_cast<int64_t>(layout->nbytes() / sizeof(float));
}

bool IsBytesInNhwc(const Tensor& x) {
  return IsQuantized(x) && x.dim() == 4 &&
         IsSameMemory(DescOf(x),
                      DescIn(OnednnFormat::kNhwc, x.dims(), dnnl::memory::data_type::u8));
}

std::optional<ChannelPlanes> ReducedPlanesOf(const Tensor& x, dnnl::memory::data_type element) {
  if (x.dim() != 4 || !IsReduced(x)) return std::nullopt;
  const dnnl::memory::desc desc = DescOf(x);
  const auto is = [&](OnednnFormat format) {
    return IsSameMemory(desc, DescIn(format, x.dims(), element));
  };
  if (is(OnednnFormat::kNhwc)) return PlanesIn(OnednnFormat::kNhwc, x.dims());
  const bool blocked = element == dnnl::memory::data_type::bf16 && is(OnednnFormat::kBlocked16);
  return blocked ? std::optional(PlanesIn(OnednnFormat::kBlocked16, x.dims())) : std::nullopt;
}

const float* SourceOfReorder(const Tensor& x) {
  const void* const memory = OnednnMemory(x);
  const auto* const layout = static_cast<const OnednnLayout*>(x.opaque_layout());
  CAFFE_ENFORCE(layout == nullptr || layout->quantization() == OnednnQuantization{},
                "a tensor of shape ", x.sizes(), " is in the layout ", layout->Description(),
                " with a scale: copy it to the CPU");
  return static_cast<const float*>(memory);
}

void PlanesInput::Plan(int i, const Tensor& x) {
  CAFFE_ENFORCE_EQ(x.dim(), 4, "rank of input ", i, " of shape ", x.sizes(),
                   ", want 4: N, C, H, W");
  PlanIn(PlanesOf(x).value_or(PlanesIn(OnednnFormat::kNhwc, x.dims())), x);
}

void PlanesInput::PlanIn(const ChannelPlanes& planes, const Tensor& x) {
  input_.Forget();
  const dnnl::memory::desc from =
      IsQuantized(x) ? DescIn(OnednnFormat::kNchw, x.dims()) : DescOf(x);
  const dnnl::memory::desc to = DescOf(planes);
  planes_ = planes;
  converts_ = IsQuantized(x) || (PlanesOf(x) != planes && !IsSameMemory(from, to));
  if (converts_) reorder_.Plan(from, to);
  input_.Remember(x);
}

const float* PlanesInput::Read(const Tensor& x) {
  if (!converts_) return OnednnData(x);
  converted_.Resize(planes_.size());
  float* const converted = converted_.mutable_data<float>();
  ConvertTo(x, converted);
  return converted;
}

void PlanesInput::ConvertTo(const Tensor& x, float* to) {
  reorder_.Run(IsQuantized(x) ? Widen(x) : SourceOfReorder(x), to);
}

const float* PlanesInput::Widen(const Tensor& x) {
  widened_.Resize(x.dims());
  float* const widened = widened_.mutable_data<float>();
  x.opaque_layout()->ToPlain(OnednnMemory(x), widened);
  return widened;
}

const float* RowMajorInput::Read(const Tensor& x) {
  const float* const data = SourceOfReorder(x);
  if (x.opaque_layout() == nullptr) return data;
  if (!input_.Matches(x)) {
    input_.Forget();
    reorder_.Plan(DescOf(x), DescIn(OnednnFormat::kNchw, x.dims()));
    converted_.ResizeLike(x);
    input_.Remember(x);
  }
  float* const converted = converted_.mutable_data<float>();
  reorder_.Run(data, converted);
  return converted;
}

}  // namespace caffe2rt
