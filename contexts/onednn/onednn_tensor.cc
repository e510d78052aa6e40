#include "contexts/onednn/onednn_tensor.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "caffe2_core/base/checked_math.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"

namespace caffe2rt {

namespace {

using dnnl::memory;

constexpr auto kFloat = memory::data_type::f32;

bool IsInteger(memory::data_type type) {
  return type == memory::data_type::u8 || type == memory::data_type::s8;
}

// The element types of tensors. Empty for the others.
std::string_view ElementName(memory::data_type type) {
  switch (type) {
    case memory::data_type::f32:
      return "f32";
    case memory::data_type::bf16:
      return "bf16";
    case memory::data_type::u8:
      return "u8";
    case memory::data_type::s8:
      return "s8";
    default:
      return {};
  }
}

// The strides of a row-major tensor.
memory::dims RowMajorStrides(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

// One dimension of a blocked descriptor in memory: `outer` blocks, `stride` elements apart, of
// `inner` adjacent elements.
struct AxisInMemory {
  int64_t outer = 1, stride = 1, inner = 1;
  bool operator==(const AxisInMemory&) const = default;
};

// Blocks that follow each other without a gap are joined, and a single block has no stride, so that
// equal axes compare equal.
AxisInMemory AxisOf(const OnednnBlocking& blocking, size_t axis) {
  AxisInMemory found;
  found.inner = blocking.InnerSize(axis);
  found.outer = blocking.padded_dims[axis] / found.inner;
  found.stride = blocking.strides[axis];
  if (found.inner > 1 && found.stride == found.inner) {
    found = {.outer = found.outer * found.inner, .stride = 1, .inner = 1};
  } else if (found.inner > 1 && found.outer == 1) {
    found = {.outer = found.inner, .stride = 1, .inner = 1};
  } else if (found.outer <= 1) {
    found.stride = 1;
  }
  return found;
}

int64_t CountOf(const memory::desc& desc) { return CheckedProduct(DimsOf(desc)); }

}  // namespace

bool IsSameMemory(const memory::desc& a, const memory::desc& b) {
  if (a == b) return true;
  const std::optional<OnednnBlocking> x = BlockingOf(a), y = BlockingOf(b);
  if (!x || !y || x->inner_blocks.size() > 1 || y->inner_blocks.size() > 1 ||
      DataTypeOf(a) != DataTypeOf(b) || x->offset != y->offset || x->dims != y->dims) {
    return false;
  }
  for (size_t i = 0; i < x->dims.size(); ++i) {
    if (AxisOf(*x, i) != AxisOf(*y, i)) return false;
  }
  return true;
}

const char* OnednnFormatName(OnednnFormat format) {
  switch (format) {
    case OnednnFormat::kNchw:
      return "nchw";
    case OnednnFormat::kNhwc:
      return "nhwc";
    case OnednnFormat::kBlocked16:
      return "nChw16c";
    default:
      return "other";
  }
}

OnednnFormat ParseOnednnFormat(const std::string& name) {
  for (const auto format : {OnednnFormat::kNchw, OnednnFormat::kNhwc, OnednnFormat::kBlocked16}) {
    if (name == OnednnFormatName(format)) return format;
  }
  CAFFE_THROW("layout \"", name, "\", want nchw, nhwc or nChw16c");
}

memory::desc DescIn(OnednnFormat format, const std::vector<int64_t>& dims,
                    memory::data_type element) {
  return GuardOnednn("a descriptor", [&] {
    using Tag = memory::format_tag;
    switch (format) {
      case OnednnFormat::kNhwc:
        return memory::desc(dims, element, Tag::nhwc);
      case OnednnFormat::kBlocked16:
        return memory::desc(dims, element, Tag::nChw16c);
      default:
        return memory::desc(dims, element, RowMajorStrides(dims));
    }
  });
}

OnednnFormat FormatOf(const memory::desc& desc) {
  const memory::dims dims = DimsOf(desc);
  const memory::data_type element = DataTypeOf(desc);
  if (ElementName(element).empty() || dims.empty()) return OnednnFormat::kOther;
  if (IsSameMemory(desc, DescIn(OnednnFormat::kNchw, dims, element))) return OnednnFormat::kNchw;
  if (dims.size() != 4) return OnednnFormat::kOther;
  for (const auto format : {OnednnFormat::kNhwc, OnednnFormat::kBlocked16}) {
    if (IsSameMemory(desc, DescIn(format, dims, element))) return format;
  }
  return OnednnFormat::kOther;
}

OnednnLayout::OnednnLayout(const memory::desc& desc, const OnednnQuantization& quantization)
    : OpaqueLayout(DimsOf(desc), CountOf(desc), desc.get_size()),
      desc_(desc),
      format_(FormatOf(desc)),
      reduced_(DataTypeOf(desc) != kFloat),
      quantization_(IsInteger(DataTypeOf(desc)) ? quantization : OnednnQuantization{}) {
  const std::optional<OnednnBlocking> blocking = BlockingOf(desc);
  CAFFE_ENFORCE(
      !ElementName(DataTypeOf(desc)).empty() && blocking.has_value() && blocking->offset == 0,
      "the descriptor of a layout must be blocked, without offset, with elements of type "
      "f32, bf16, u8 or s8");
  CAFFE_ENFORCE(quantization_.scale > 0 && std::isfinite(quantization_.scale),
                "the scale of a layout is ", quantization_.scale, ", want a number above 0");
}

std::shared_ptr<const OnednnLayout> OnednnLayout::New(const memory::desc& desc,
                                                      const OnednnQuantization& quantization) {
  auto layout = std::make_shared<const OnednnLayout>(desc, quantization);
  if (layout->format() == OnednnFormat::kNchw && !layout->reduced()) return nullptr;
  return layout;
}

void OnednnLayout::ToPlain(const void* from, void* to) const {
  if (count() == 0) return;
  Reorder(desc_, from, DescIn(OnednnFormat::kNchw, dims()), to);
  if (!IsInteger(DataTypeOf(desc_))) return;
  float* const values = static_cast<float*>(to);
  const float zero_point = static_cast<float>(quantization_.zero_point);
  for (int64_t i = 0; i < count(); ++i) values[i] = (values[i] - zero_point) * quantization_.scale;
}

std::string OnednnLayout::Description() const {
  const char* const format = OnednnFormatName(format_);
  return reduced_ ? MakeString(format, " of ", ElementName(DataTypeOf(desc_))) : format;
}

namespace {

const OnednnLayout* LayoutOf(const Tensor& x) {
  return static_cast<const OnednnLayout*>(x.opaque_layout());
}

}  // namespace

const void* OnednnMemory(const Tensor& x) {
  if (__builtin_expect(!x.IsType<float>(), 0)) return x.data<float>();  // throws
  return x.opaque_data();
}

bool IsReduced(const Tensor& x) {
  const OnednnLayout* const layout = LayoutOf(x);
  return layout != nullptr && layout->reduced();
}

bool IsQuantized(const Tensor& x) {
  const OnednnLayout* const layout = LayoutOf(x);
  return layout != nullptr && IsInteger(DataTypeOf(layout->desc()));
}

const float* OnednnData(const Tensor& x) {
  const void* const data = OnednnMemory(x);
  CAFFE_ENFORCE(!IsReduced(x), "a tensor of shape ", x.sizes(), " is in the layout ",
                LayoutOf(x)->Description(), ", want elements of type f32: copy it to the CPU");
  return static_cast<const float*>(data);
}

memory::desc DescOf(const Tensor& x) {
  (void)OnednnMemory(x);
  const OnednnLayout* const layout = LayoutOf(x);
  if (layout == nullptr) return DescIn(OnednnFormat::kNchw, x.dims());
  CAFFE_ENFORCE(layout->dims() == x.dims(), "a tensor of shape ", x.sizes(),
                " was written in the layout ", layout->Description(), " with shape ",
                IntArrayRef(layout->dims()), ": copy it to the CPU before it is reshaped");
  return layout->desc();
}

OnednnFormat FormatOf(const Tensor& x) {
  const OnednnLayout* const layout = LayoutOf(x);
  if (layout == nullptr) return OnednnFormat::kNchw;
  return layout->dims() == x.dims() && !layout->reduced() ? layout->format() : OnednnFormat::kOther;
}

void* PrepareOutputMemory(Tensor* y, const std::vector<int64_t>& dims,
                          const std::shared_ptr<const OnednnLayout>& layout) {
  y->Resize(dims);
  return y->mutable_opaque_data(TypeMeta::Make<float>(), layout);
}

float* PrepareOutput(Tensor* y, const std::shared_ptr<const OnednnLayout>& layout) {
  CAFFE_ENFORCE(layout != nullptr, "an output without layout needs dims");
  return PrepareOutput(y, layout->dims(), layout);
}

float* PrepareOutput(Tensor* y, const std::vector<int64_t>& dims,
                     const std::shared_ptr<const OnednnLayout>& layout) {
  CAFFE_ENFORCE(layout == nullptr || !layout->reduced(), "an output in the layout ",
                layout->Description(), " has no floats to write");
  return static_cast<float*>(PrepareOutputMemory(y, dims, layout));
}

void Reorder(const memory::desc& from_desc, const void* from, const memory::desc& to_desc,
             void* to) {
  GuardOnednn("a reorder", [&] {
    memory source(from_desc, OnednnEngine(), const_cast<void*>(from));
    memory result(to_desc, OnednnEngine(), to);
    dnnl::stream& stream = OnednnStream();
    dnnl::reorder(source, result).execute(stream, source, result);
    stream.wait();
  });
}

void OnednnInput::Remember(const Tensor& x) {
  known_ = false;
  dims_ = x.dims();
  layout_ = x.storage() != nullptr ? x.storage()->layout() : nullptr;
  known_ = true;
}

}  // namespace caffe2rt
