#include "operators/conv/onednn_conv_plan.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "caffe2_core/base/thread_pool.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/common/onednn_planes.h"
#include "operators/conv/onednn_epilogue.h"
#include "operators/conv/onednn_layouts.h"

namespace caffe2rt {

namespace {

using dnnl::memory;

// The positions of tensors in OnednnConvPlan::tensors_; the filters follow.
enum PlanTensor : size_t { kPlanX, kPlanY, kPlanBias, kPlanFilters };

// With at most this many rows and at least this many weights, a layer is cut by output channels, so
// that each thread reads only its part of the weights.
constexpr int64_t kFewRows = 8;
constexpr int64_t kManyWeights = 1 << 18;

// A part of a tensor of rank 4 with `format` that is dense, or nothing if the part has gaps.
std::optional<OnednnPart> DensePartOf(const memory::desc& desc, IndexRange images,
                                      IndexRange channels, IndexRange rows) {
  const memory::dims dims = DimsOf(desc);
  const OnednnFormat format = FormatOf(desc);
  const bool all_channels = channels.size() == dims[1], all_rows = rows.size() == dims[2];
  if (all_channels && all_rows) return ImagesOf(desc, images);
  if (images.size() != 1) return std::nullopt;
  if (all_channels && format == OnednnFormat::kNhwc) return RowsOf(desc, rows, images.first);
  if (all_rows && format != OnednnFormat::kNhwc) {
    const OnednnPart image = ImagesOf(desc, images);
    OnednnPart part = ChannelsOf(image.desc, channels);
    part.offset_bytes += image.offset_bytes;
    return part;
  }
  return std::nullopt;
}

memory::desc SubmemoryOf(const memory::desc& desc, IndexRange images, IndexRange channels,
                         IndexRange rows) {
  const memory::dims dims = DimsOf(desc);
  return desc.submemory_desc({images.size(), channels.size(), rows.size(), dims[3]},
                             {images.first, channels.first, rows.first, 0});
}

// Whether there is memory beyond the elements, which must stay zero.
bool IsPadded(const memory::desc& desc) {
  int64_t count = 1;
  for (const int64_t dim : DimsOf(desc)) count *= dim;
  return desc.get_size() != static_cast<size_t>(count) * memory::data_type_size(DataTypeOf(desc));
}

}  // namespace

// The part of the work that one piece does. With `pixels` set, X and Y are images of one row.
struct OnednnConvPlan::Region {
  IndexRange images, channels, rows;        // of Y
  IndexRange source_channels, source_rows;  // of X
  int64_t head = 0, tail = 0;               // padding above and below
  std::optional<IndexRange> pixels = {};
};

OnednnConvPlan::OnednnConvPlan(const ConvShape& shape, const ConvEpilogue& epilogue,
                               const memory::desc& source, const OnednnConvLayouts& layouts,
                               bool deterministic)
    : shape_(shape),
      epilogue_(epilogue),
      source_(source),
      layouts_(layouts),
      deterministic_(deterministic) {
  CAFFE_ENFORCE(shape.window.axes == 2 && !shape.channels_last(),
                "a convolution on IDEEP has two axes and order NCHW");
  if (!OnednnCanDescribe(shape) || !Plan()) return;
  supported_ = true;
  layout_ = OnednnLayout::New(result_, layouts_.result_quantization);
  tensors_.resize(kPlanFilters + filters_.size());
}

// Returns whether oneDNN has optimized implementations for all pieces.
bool OnednnConvPlan::Plan() {
  const OneOpenMPThread one_thread;
  try {
    result_ = DescIn(layouts_.result,
                     {shape_.window.batch, shape_.out_channels, shape_.window.axis[0].out,
                      shape_.window.axis[1].out},
                     layouts_.result_element);
    const bool reduced = layouts_.result_element != memory::data_type::f32;
    if (!OnednnHas(epilogue_.activation) && (reduced || IsPadded(result_))) return false;
    if (quantized()) {
      // The primitives contain the scales of the filter, which is not known yet.
      scales_.assign(static_cast<size_t>(shape_.out_channels), 1.0f);
      sums_.resize(scales_.size());
      shifts_.resize(scales_.size());
      for (const Region& region : Cut()) AddFilterOf(region);
    } else {
      AddPieces();
    }
    return true;
  } catch (const dnnl::error& error) {
    CAFFE_ENFORCE(error.status != dnnl_out_of_memory, "oneDNN is out of memory for a convolution");
    return false;
  } catch (const NoOnednnImplementation&) {
    return false;
  }
}

// --- cuts ---

std::vector<OnednnConvPlan::Region> OnednnConvPlan::Cut() const {
  const int64_t batch = shape_.window.batch;
  if (batch == 0 || shape_.out_channels == 0 || shape_.window.out_size() == 0) return {};
  const int64_t threads = PiecesOfConv(shape_, deterministic_);
  if (threads == 1) return {WholeOf({0, batch})};
  std::vector<Region> regions;
  if (batch >= threads) {
    for (const IndexRange images : SplitRange(batch, threads)) regions.push_back(WholeOf(images));
    return regions;
  }
  for (int64_t image = 0; image < batch; ++image) {
    for (const Region& region : CutImage({image, image + 1}, (threads + batch - 1) / batch)) {
      regions.push_back(region);
    }
  }
  return regions;
}

std::vector<OnednnConvPlan::Region> OnednnConvPlan::CutImage(IndexRange images,
                                                             int64_t threads) const {
  const Region whole = WholeOf(images);
  const int64_t rows = shape_.window.axis[0].out;
  const int64_t weights = shape_.out_channels * shape_.in_group() * shape_.window.kernel_size();
  std::vector<Region> regions;
  if (layouts_.result == OnednnFormat::kNhwc) {
    const bool by_channels = shape_.group == 1 && shape_.out_channels % 32 == 0 &&
                             rows <= kFewRows && weights > kManyWeights;
    if (by_channels) {
      for (const IndexRange channels : SplitRange(shape_.out_channels, threads, 16)) {
        regions.push_back(ChannelsOfImage(whole, channels));
      }
      return regions;
    }
    const bool plain_source = IsSameMemory(
        source_, DescIn(OnednnFormat::kNhwc, DimsOf(source_), layouts_.source_element));
    if (shape_.IsPointwise() && rows % threads != 0 && plain_source && shape_.window.batch == 1) {
      return CutPixels(threads);
    }
    for (const IndexRange range : SplitRange(rows, threads)) {
      regions.push_back(RowsOfImage(whole, range));
    }
    return regions;
  }
  // A group is not divided, and a piece begins at a block of 16 channels of both X and Y.
  const int64_t group = shape_.group > 1 ? std::max<int64_t>(16, shape_.out_group()) : 16;
  if (shape_.group > 1 && shape_.out_group() != shape_.in_group()) return {whole};
  // A single block of channels would leave threads idle. Its rows are contiguous; those of X are copied.
  if (shape_.group == 1 && shape_.out_channels == 16 && rows >= 2 * threads) {
    for (const IndexRange range : SplitRange(rows, threads)) {
      regions.push_back(RowsOfImage(whole, range));
    }
    return regions;
  }
  for (const IndexRange channels : SplitRange(shape_.out_channels, threads, group)) {
    regions.push_back(ChannelsOfImage(whole, channels));
  }
  return regions;
}

std::vector<OnednnConvPlan::Region> OnednnConvPlan::CutPixels(int64_t threads) const {
  std::vector<Region> regions;
  for (const IndexRange pixels : SplitRange(shape_.window.out_size(), threads)) {
    Region region = WholeOf({0, 1});
    region.pixels = pixels;
    regions.push_back(region);
  }
  return regions;
}

OnednnConvPlan::Region OnednnConvPlan::WholeOf(IndexRange images) const {
  const WindowAxis& axis = shape_.window.axis[0];
  Region region;
  region.images = images;
  region.channels = {0, shape_.out_channels};
  region.rows = {0, axis.out};
  region.source_channels = {0, shape_.window.channels};
  region.source_rows = {0, axis.in};
  region.head = axis.pad_head;
  region.tail = (axis.out - 1) * axis.stride + axis.extent() - axis.in - axis.pad_head;
  return region;
}

// The source rows of the windows, without those that lie in the padding.
OnednnConvPlan::Region OnednnConvPlan::RowsOfImage(const Region& whole, IndexRange rows) const {
  const WindowAxis& axis = shape_.window.axis[0];
  const int64_t first = rows.first * axis.stride - axis.pad_head;
  const int64_t last = (rows.last - 1) * axis.stride - axis.pad_head + axis.extent();
  Region region = whole;
  region.rows = rows;
  region.source_rows = {std::max<int64_t>(first, 0), std::min(last, axis.in)};
  region.head = region.source_rows.first - first;
  region.tail = last - region.source_rows.last;
  if (region.source_rows.size() <= 0) throw NoOnednnImplementation();  // only padding
  return region;
}

OnednnConvPlan::Region OnednnConvPlan::ChannelsOfImage(const Region& whole,
                                                       IndexRange channels) const {
  Region region = whole;
  region.channels = channels;
  if (shape_.group > 1) region.source_channels = channels;  // groups of equal widths
  return region;
}

// --- quantized convolutions ---

// Adds the filter of a region without its primitive.
void OnednnConvPlan::AddFilterOf(const Region& region) {
  const dnnl::convolution_forward::primitive_desc desc = Describe(region);
  if (IsReferenceImplementation(desc.impl_info_str())) throw NoOnednnImplementation();
  (void)AddFilter(region, desc.weights_desc());
}

// Whether Y is in bytes and its scale and zero point are part of the scales and shifts. The activation
// only clamps then.
bool OnednnConvPlan::FoldsResult() const {
  float lowest = 0, highest = 0;
  return layouts_.result_element == memory::data_type::u8 && !epilogue_.sum &&
         FindBounds(epilogue_.activation, &lowest, &highest);
}

// What is left of the activation if the result is folded: nothing if the range of bytes ends there, too,
// because the conversion to bytes clamps.
Activation OnednnConvPlan::FoldedActivation() const {
  float lowest = 0, highest = 0;
  (void)FindBounds(epilogue_.activation, &lowest, &highest);
  const auto [scale, zero_point] = layouts_.result_quantization;
  lowest = lowest / scale + static_cast<float>(zero_point);
  highest = highest / scale + static_cast<float>(zero_point);
  if (lowest < 0.5f && highest >= 254.5f) return NoActivation{};
  return Clip{std::max(lowest, 0.0f), std::min(highest, 255.0f)};
}

// Creates the primitives with the scales of the filter, unless they have them.
void OnednnConvPlan::TakeScales() {
  float factor = layouts_.source_quantization.scale;
  if (FoldsResult()) factor /= layouts_.result_quantization.scale;
  bool same = pieces_.size() > 0, same_sums = true;
  for (size_t part = 0; part < filters_.size(); ++part) {
    const float *const scales = filters_.scales(part), *const sums = filters_.sums(part);
    float* const taken = scales_.data() + first_channels_[part];
    float* const taken_sums = sums_.data() + first_channels_[part];
    for (int64_t i = 0; i < filters_.channels(part); ++i) {
      const float scale = scales[i] * factor;
      same = same && taken[i] == scale;
      taken[i] = scale;
      same_sums = same_sums && taken_sums[i] == sums[i];
      taken_sums[i] = sums[i];
    }
  }
  // The shifts are made of both.
  if (!same || !same_sums) shifted_bias_.reset();
  if (same) return;
  pieces_.Clear();
  GuardOnednn("a quantized convolution", [&] { AddPieces(); });
}

// oneDNN adds the bias to the sums of products. The zero point of X is subtracted there, too, and that of
// a folded result is added.
void OnednnConvPlan::ShiftBias(const float* bias) {
  const size_t count = bias == nullptr ? 0 : shifts_.size();
  if (shifted_bias_ && shifted_bias_->size() == count &&
      (count == 0 || std::memcmp(shifted_bias_->data(), bias, count * sizeof(float)) == 0)) {
    return;
  }
  if (!shifted_bias_) shifted_bias_.emplace();
  shifted_bias_->assign(bias, bias + count);
  const auto zero_point = static_cast<float>(layouts_.source_quantization.zero_point);
  const auto result_zero_point =
      FoldsResult() ? static_cast<float>(layouts_.result_quantization.zero_point) : 0;
  for (size_t part = 0; part < filters_.size(); ++part) {
    const float* const sums = filters_.sums(part);
    const size_t first = static_cast<size_t>(first_channels_[part]);
    for (size_t i = 0; i < static_cast<size_t>(filters_.channels(part)); ++i) {
      const float scale = filters_.scales(part)[i] * layouts_.source_quantization.scale;
      const float b = bias == nullptr ? 0 : bias[first + i] / scale;
      shifts_[first + i] = b - zero_point * sums[i] + result_zero_point / scales_[first + i];
    }
  }
}

void OnednnConvPlan::PrepareFilter(const Tensor& filter) {
  filters_.Prepare(filter);
  if (quantized() && filters_.size() > 0) TakeScales();
}

dnnl::primitive_attr OnednnConvPlan::AttributesOf(const Region& region) const {
  if (!quantized()) return caffe2rt::AttributesOf(epilogue_);
  const float* const scales = scales_.data() + region.channels.first;
  ConvEpilogue epilogue = epilogue_;
  std::optional<OnednnQuantization> last;
  if (FoldsResult()) {
    epilogue.activation = FoldedActivation();
  } else if (layouts_.result_element == memory::data_type::u8) {
    last = layouts_.result_quantization;
  }
  dnnl::primitive_attr attributes = caffe2rt::AttributesOf(epilogue, last);
  SetChannelScales({scales, scales + region.channels.size()}, &attributes);
  return attributes;
}

// --- primitives ---

void OnednnConvPlan::AddPieces() {
  for (const Region& region : Cut()) AddPiece(region);
}

dnnl::convolution_forward::primitive_desc OnednnConvPlan::Describe(const Region& region) const {
  const auto [strides, dilations, heads, tails] = WindowsOf(shape_);
  memory::dims source{region.images.size(), region.source_channels.size(),
                      region.source_rows.size(), shape_.window.axis[1].in};
  memory::dims result{region.images.size(), region.channels.size(), region.rows.size(),
                      shape_.window.axis[1].out};
  if (region.pixels) {
    source = {1, source[1], 1, region.pixels->size()};
    result = {1, result[1], 1, region.pixels->size()};
  }
  memory::dims filter{region.channels.size(), shape_.in_group(), shape_.window.axis[0].kernel,
                      shape_.window.axis[1].kernel};
  if (shape_.group > 1) {
    filter[0] = shape_.out_group();
    filter.insert(filter.begin(), region.channels.size() / shape_.out_group());
  }
  constexpr auto kFloat32 = memory::data_type::f32;
  const memory::desc source_desc = DescIn(layouts_.source, source, layouts_.source_element);
  const memory::desc result_desc = DescIn(layouts_.result, result, layouts_.result_element);
  const memory::desc filter_desc(filter,
                                 quantized() ? memory::data_type::s8 : layouts_.source_element,
                                 memory::format_tag::any);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  using Conv = dnnl::convolution_forward;
  constexpr auto kInference = dnnl::prop_kind::forward_inference;
  const memory::dims above{region.head, heads[1]}, below{region.tail, tails[1]};
  const dnnl::primitive_attr attributes = AttributesOf(region);
  if (shape_.bias || quantized()) {
    const memory::desc bias({region.channels.size()}, kFloat32, memory::format_tag::a);
    return NewPrimitiveDesc<Conv>(attributes, kInference, kDirect, source_desc, filter_desc, bias,
                                  result_desc, strides, dilations, above, below);
  }
  return NewPrimitiveDesc<Conv>(attributes, kInference, kDirect, source_desc, filter_desc,
                                result_desc, strides, dilations, above, below);
}

size_t OnednnConvPlan::AddFilter(const Region& region, const memory::desc& wanted) {
  const int64_t filter_size = shape_.in_group() * shape_.window.kernel_size();
  if (quantized()) {
    const size_t part = filters_.AddQuantized(region.channels.first * filter_size, wanted,
                                              {.out = region.channels.size(),
                                               .in = shape_.in_group(),
                                               .taps = shape_.window.kernel_size(),
                                               .pair_limited = layouts_.pair_limited});
    first_channels_.resize(filters_.size());
    first_channels_[part] = region.channels.first;
    return kPlanFilters + part;
  }
  const memory::desc plain = DescIn(OnednnFormat::kNchw, DimsOf(wanted));
  return kPlanFilters + filters_.Add(region.channels.first * filter_size, plain, wanted);
}

// The part of X that the piece reads, converted if it has another layout or gaps.
size_t OnednnConvPlan::SourceOperand(const Region& region, OnednnProgram* piece) const {
  const memory::desc whole = DescIn(layouts_.source, DimsOf(source_), layouts_.source_element);
  const bool same = IsSameMemory(whole, source_);
  if (region.pixels) {
    const OnednnPart part = PixelsOf(whole, *region.pixels);
    return piece->Tensor(part.desc, kPlanX, part.offset_bytes);
  }
  if (same) {
    const std::optional<OnednnPart> part =
        DensePartOf(whole, region.images, region.source_channels, region.source_rows);
    if (part) return piece->Tensor(part->desc, kPlanX, part->offset_bytes);
  }
  const size_t from = piece->Tensor(
      SubmemoryOf(source_, region.images, region.source_channels, region.source_rows), kPlanX);
  const size_t to = piece->Scratch(DescIn(layouts_.source,
                                          {region.images.size(), region.source_channels.size(),
                                           region.source_rows.size(), shape_.window.axis[1].in},
                                          layouts_.source_element));
  piece->AddReorder(from, to);
  return to;
}

void OnednnConvPlan::AddPiece(const Region& region) {
  const dnnl::convolution_forward::primitive_desc desc = Describe(region);
  if (IsReferenceImplementation(desc.impl_info_str())) throw NoOnednnImplementation();
  OnednnProgram& piece = pieces_.New();
  const size_t source = SourceOperand(region, &piece);
  std::optional<OnednnPart> dense;
  if (region.pixels) {
    dense = PixelsOf(result_, *region.pixels);
  } else {
    dense = DensePartOf(result_, region.images, region.channels, region.rows);
  }
  size_t strided = 0, result = 0;
  if (dense) {
    result = piece.Tensor(dense->desc, kPlanY, dense->offset_bytes);
  } else {
    strided =
        piece.Tensor(SubmemoryOf(result_, region.images, region.channels, region.rows), kPlanY);
    result = piece.Scratch(desc.dst_desc());
    if (epilogue_.sum) piece.AddReorder(strided, result);
  }
  std::vector<OnednnProgram::Argument> arguments = {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}};
  arguments.push_back({DNNL_ARG_WEIGHTS,
                       piece.Tensor(desc.weights_desc(), AddFilter(region, desc.weights_desc()))});
  if (shape_.bias || quantized()) {
    const size_t offset = static_cast<size_t>(region.channels.first) * sizeof(float);
    arguments.push_back({DNNL_ARG_BIAS, piece.Tensor(desc.bias_desc(), kPlanBias, offset)});
  }
  piece.Add(dnnl::convolution_forward(desc), desc.scratchpad_desc(), arguments);
  if (!dense) piece.AddReorder(result, strided);
}

void OnednnConvPlan::Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) {
  RunOn(SourceOfReorder(X), filter, bias, y);
}

void OnednnConvPlan::RunOn(const float* x, const Tensor& filter, const float* bias, void* y) {
  if (filters_.size() == 0) return;
  PrepareFilter(filter);
  tensors_[kPlanX] = x;
  tensors_[kPlanY] = static_cast<const float*>(y);
  tensors_[kPlanBias] = bias;
  if (quantized()) {
    ShiftBias(bias);
    tensors_[kPlanBias] = shifts_.data();
  }
  for (size_t i = 0; i < filters_.size(); ++i) tensors_[kPlanFilters + i] = filters_.data(i);
  pieces_.Run(tensors_.data());
  if (OnednnHas(epilogue_.activation)) return;
  const auto count = static_cast<int64_t>(result_.get_size() / sizeof(float));
  RunConvEpilogue({.activation = epilogue_.activation}, count, nullptr, static_cast<float*>(y));
}

}  // namespace caffe2rt
