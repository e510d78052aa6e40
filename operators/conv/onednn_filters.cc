#include "operators/conv/onednn_filters.h"

#include "caffe2_core/tensor/plain_forms.h"
#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/conv/conv_kernel.h"

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
  Part part{.offset = offset, .wanted = wanted, .preparation = nullptr, .form = {}};
  if (wanted != plain) {
    if (!CanReorder(plain, wanted)) throw NoOnednnImplementation();
    part.preparation = std::make_unique<OnednnProgram>();
    const size_t from = part.preparation->Tensor(plain, 0);
    part.preparation->AddReorder(from, part.preparation->Tensor(wanted, 1));
    // ConvPlan uses the same keys for the same forms.
    part.form = MakeString(OnednnFilterForm(plain, wanted), " from ", offset);
  }
  parts_.push_back(std::move(part));
  storage_ = nullptr;
  return parts_.size() - 1;
}

void OnednnFilters::Clear() {
  parts_.clear();
  storage_ = nullptr;
}

size_t OnednnFilters::prepared_bytes() const {
  size_t bytes = 0;
  for (const Part& part : parts_) {
    if (part.preparation != nullptr) bytes += part.wanted.get_size();
  }
  return bytes;
}

void OnednnFilters::PreparePart(const Tensor& filter, bool changes, Part* part) {
  const float* const plain = filter.data<float>() + part->offset;
  if (part->preparation == nullptr) {
    part->data = plain;
    return;
  }
  const auto prepare = [&](float* prepared) {
    GuardOnednn("the reordering of a filter", [&] {
      part->preparation->Run({plain, prepared}, scratch_.Floats(part->preparation->scratch_size()));
    });
  };
  if (changes) {
    if (part->own == nullptr) part->own = NewFilterMemory(FloatsOf(part->wanted));
    prepare(part->own.get());
    part->prepared = part->own;
  } else {
    const int64_t floats = FloatsOf(part->wanted);
    const PlainForms::View forms = PlainForms::Of(filter.storage().get());
    part->prepared = forms.Get(part->form, static_cast<size_t>(floats) * sizeof(float), [&] {
      const std::shared_ptr<float> memory = NewFilterMemory(floats);
      prepare(memory.get());
      return memory;
    });
  }
  part->data = static_cast<const float*>(part->prepared.get());
}

void OnednnFilters::Prepare(const Tensor& filter) {
  const bool same = filter.storage() == storage_ && storage_ != nullptr;
  const uint64_t version =
      filter.storage() != nullptr ? filter.storage()->VerifiedVersion(filter.nbytes()) : 0;
  if (same && version == version_) return;
  for (Part& part : parts_) PreparePart(filter, same, &part);
  storage_ = filter.storage();
  version_ = version;
}

}  // namespace caffe2rt
