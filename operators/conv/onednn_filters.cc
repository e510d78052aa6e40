#include "operators/conv/onednn_filters.h"

#include <algorithm>
#include <utility>

#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"

namespace caffe2rt {

std::string OnednnFilterForm(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted) {
  const std::optional<std::string> from = OnednnLayoutName(plain), to = OnednnLayoutName(wanted);
  if (!from || !to) throw NoOnednnImplementation();
  return MakeString("conv_onednn ", OnednnVersion(), " ", *to, " of ", *from);
}

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
                              static_cast<size_t>(FloatsOf(wanted)) * sizeof(float));
  }
  parts_.push_back(std::move(part));
  return parts_.size() - 1;
}

void OnednnFilters::Clear() {
  parts_.clear();
  prepared_.Clear();
}

void OnednnFilters::PrepareForm(size_t form, const float* filter, void* to) {
  const auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& candidate) {
    return candidate.preparation != nullptr && candidate.form == form;
  });
  GuardOnednn("the reordering of a filter", [&] {
    part->preparation->Run({filter + part->offset, static_cast<float*>(to)},
                           scratch_.Floats(part->preparation->scratch_size()));
  });
}

void OnednnFilters::Prepare(const Tensor& filter) {
  if (parts_.empty()) return;
  const float* const plain = filter.data<float>();
  if (prepared_.size() > 0) {
    prepared_.Update(filter, [&](size_t form, void* to) { PrepareForm(form, plain, to); });
  }
  for (Part& part : parts_) {
    part.data =
        part.preparation == nullptr ? plain + part.offset : prepared_.data<float>(part.form);
  }
}

}  // namespace caffe2rt
