#include "operators/conv/onednn_filters.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "caffe2_core/tensor/data_source.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_tensor.h"
#include "contexts/onednn/onednn_version.h"

namespace caffe2rt {

std::string OnednnFilterForm(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted) {
  const std::optional<std::string> from = OnednnLayoutName(plain), to = OnednnLayoutName(wanted);
  if (!from || !to) throw NoOnednnImplementation();
  return MakeString("conv_onednn ", OnednnVersion(), " ", *to, " of ", *from);
}

namespace {

// How to make the part of the filter that begins at `offset` floats from its layout `wanted`; NoRestore if
// a plain filter cannot be made from it bit for bit.
FormRestorer RestorerOf(int64_t offset, const dnnl::memory::desc& plain,
                        const dnnl::memory::desc& wanted) {
  const bool only_moves = BlockingOf(wanted).has_value() && BlockingOf(plain).has_value() &&
                          DataTypeOf(wanted) == DataTypeOf(plain) && CanReorder(wanted, plain);
  if (!only_moves) {
    return {.offset = static_cast<size_t>(offset) * sizeof(float),
            .nbytes = plain.get_size(),
            .restore = NoRestore()};
  }
  return {.offset = static_cast<size_t>(offset) * sizeof(float),
          .nbytes = plain.get_size(),
          .restore = [plain, wanted](const void* form, void* data) {
            GuardOnednn("the restoring of a filter", [&] {
              OnednnProgram program;
              const size_t from = program.Tensor(wanted, 0);
              program.AddReorder(from, program.Tensor(plain, 1));
              ThreadScratch scratch;
              program.Run({static_cast<const float*>(form), static_cast<const float*>(data)},
                          scratch.Floats(program.scratch_size()));
            });
          }};
}

}  // namespace

size_t OnednnFilters::Add(int64_t offset, const dnnl::memory::desc& plain,
                          const dnnl::memory::desc& wanted) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].offset == offset && parts_[i].wanted == wanted) return i;
  }
  Part part{.offset = offset, .wanted = wanted, .preparation = nullptr};
  if (wanted != plain) {
    if (!CanReorder(plain, wanted)) throw NoOnednnImplementation();
    part.preparation = std::make_unique<OnednnProgram>();
    const size_t from = part.preparation->Tensor(plain, 0);
    part.preparation->AddReorder(from, part.preparation->Tensor(wanted, 1));
    // ConvPlan uses the same keys for the same forms.
    part.form = prepared_.Add(MakeString(OnednnFilterForm(plain, wanted), " from ", offset),
                              static_cast<size_t>(FloatsOf(wanted)) * sizeof(float),
                              RestorerOf(offset, plain, wanted));
  }
  parts_.push_back(std::move(part));
  return parts_.size() - 1;
}

namespace {

// In a form of bytes, scales and sums follow in floats.
size_t BytesBeforeScales(const dnnl::memory::desc& wanted) {
  return static_cast<size_t>(FloatsOf(wanted)) * sizeof(float);
}

// How to make the part of the filter that begins at `offset` floats from its bytes: the numbers that the bytes
// stand for, not those that were quantized.
FormRestorer RestorerOfBytes(int64_t offset, const dnnl::memory::desc& plain,
                             const dnnl::memory::desc& wanted, const Int8FilterSize& size) {
  if (!CanReorder(wanted, plain)) return {};
  const int64_t row = size.in * size.taps;
  return {
      .offset = static_cast<size_t>(offset) * sizeof(float),
      .nbytes = static_cast<size_t>(size.out * row) * sizeof(float),
      .restore = RoundedRestore{[plain, wanted, out = size.out, row](const void* form, void* data) {
        std::vector<float> bytes(static_cast<size_t>(FloatsOf(plain)));
        GuardOnednn("the restoring of a filter", [&] {
          OnednnProgram program;
          const size_t from = program.Tensor(wanted, 0);
          program.AddReorder(from, program.Tensor(plain, 1));
          ThreadScratch scratch;
          program.Run({static_cast<const float*>(form), bytes.data()},
                      scratch.Floats(program.scratch_size()));
        });
        const auto* q = reinterpret_cast<const int8_t*>(bytes.data());
        const float* const scales = static_cast<const float*>(form) + FloatsOf(wanted);
        auto* w = static_cast<float*>(data);
        for (int64_t channel = 0; channel < out; ++channel) {
          for (int64_t i = 0; i < row; ++i) *w++ = scales[channel] * static_cast<float>(*q++);
        }
      }}};
}

}  // namespace

size_t OnednnFilters::AddQuantized(int64_t offset, const dnnl::memory::desc& wanted,
                                   const Int8FilterSize& size) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].offset == offset && parts_[i].wanted == wanted) return i;
  }
  const dnnl::memory::desc plain =
      DescIn(OnednnFormat::kNchw, DimsOf(wanted), dnnl::memory::data_type::s8);
  if (!CanReorder(plain, wanted)) throw NoOnednnImplementation();
  Part part{.offset = offset, .wanted = wanted, .preparation = nullptr};
  part.size = size;
  part.preparation = std::make_unique<OnednnProgram>();
  const size_t from = part.preparation->Tensor(plain, 0);
  part.preparation->AddReorder(from, part.preparation->Tensor(wanted, 1));
  const char* const limit = size.pair_limited ? " by pairs" : "";
  // Before the bytes, which need them. All layouts share them: bytes that are made of released ones, for an image of
  // another size, have the same scales then.
  part.scales_form = prepared_.Add(
      MakeString("conv scales of ", size.out, " by ", size.in, " by ", size.taps, " from ", offset,
                 limit, size.any_pair ? " of any" : ""),
      static_cast<size_t>(size.out) * sizeof(float));
  part.form =
      prepared_.Add(MakeString(OnednnFilterForm(plain, wanted), " from ", offset, " quantized", limit),
                    BytesBeforeScales(wanted) + static_cast<size_t>(size.out) * 2 * sizeof(float),
                    RestorerOfBytes(offset, plain, wanted, size));
  parts_.push_back(std::move(part));
  return parts_.size() - 1;
}

const float* OnednnFilters::scales(size_t part) const {
  return parts_[part].data + FloatsOf(parts_[part].wanted);
}

void OnednnFilters::QuantizePart(const Part& part, const float* filter, void* to) {
  float* const scales = static_cast<float*>(to) + FloatsOf(part.wanted);
  const int64_t program = part.preparation->scratch_size();
  const int64_t bytes = part.size.out * part.size.in * part.size.taps;
  float* const scratch = scratch_.Floats(program + (bytes + 3) / 4);
  float* const plain = scratch + program;
  std::memcpy(scales, prepared_.data(part.scales_form),
              static_cast<size_t>(part.size.out) * sizeof(float));
  QuantizeFilterTo(part.size, filter, scales, reinterpret_cast<int8_t*>(plain),
                   scales + part.size.out);
  std::memset(to, 0, BytesBeforeScales(part.wanted));
  part.preparation->Run({plain, static_cast<float*>(to)}, scratch);
}

void OnednnFilters::Clear() {
  parts_.clear();
  prepared_.Clear();
}

bool OnednnFilters::PrepareScales(size_t form, const Tensor& filter, void* to) {
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& candidate) {
    return candidate.size.out > 0 && candidate.scales_form == form;
  });
  if (part == parts_.end()) return false;
  FindFilterScales(part->size, filter.data<float>() + part->offset, static_cast<float*>(to));
  return true;
}

void OnednnFilters::PrepareForm(size_t form, const Tensor& filter, void* to) {
  if (PrepareScales(form, filter, to)) return;
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& candidate) {
    return candidate.preparation != nullptr && candidate.form == form;
  });
  GuardOnednn("the reordering of a filter", [&] {
    if (part->size.out > 0) return QuantizePart(*part, filter.data<float>() + part->offset, to);
    part->preparation->Run({filter.data<float>() + part->offset, static_cast<float*>(to)},
                           scratch_.Floats(part->preparation->scratch_size()));
  });
}

void OnednnFilters::Prepare(const Tensor& filter) {
  if (parts_.empty()) return;
  if (prepared_.size() > 0) {
    prepared_.Update(filter, [&](size_t form, void* to) { PrepareForm(form, filter, to); });
  }
  for (Part& part : parts_) {
    part.data = part.preparation == nullptr ? filter.data<float>() + part.offset
                                            : prepared_.data<float>(part.form);
  }
}

}  // namespace caffe2rt
