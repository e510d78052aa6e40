#pragma once
// Inputs of one shape, read in one layout, for elementwise operators on IDEEP.

#include <memory>
#include <vector>

#include "contexts/onednn/onednn_tensor.h"
#include "operators/primitives/onednn_reorder.h"

namespace caffe2rt {

// Used by one thread at a time. In the steady state nothing is allocated.
class SameLayoutInputs {
 public:
  explicit SameLayoutInputs(int count) : inputs_(static_cast<size_t>(count)) {}

  // Whether all inputs have the shapes and layouts that were planned. `input(i)` returns input i.
  template <class Input>
  bool Match(const Input& input) const {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!inputs_[i].place.Matches(input(static_cast<int>(i)))) return false;
    }
    return true;
  }
  // Plans to read the inputs, which have one shape, in the layout of the first one that is opaque,
  // or of input `keep` if that is not -1.
  template <class Input>
  void Plan(const Input& input, int keep) {
    const Tensor* like = &input(keep < 0 ? 0 : keep);
    for (size_t i = 0; keep < 0 && i < inputs_.size() && like->opaque_layout() == nullptr; ++i) {
      like = &input(static_cast<int>(i));
    }
    PlanLike(*like);
    for (size_t i = 0; i < inputs_.size(); ++i) PlanInput(i, input(static_cast<int>(i)));
  }

  const std::shared_ptr<const OnednnLayout>& layout() const { return layout_; }
  // The floats that a tensor in this layout occupies.
  int64_t floats() const { return floats_; }
  // The data of input `i` in the layout.
  const float* Read(int i, const Tensor& x);

 private:
  struct Place {
    OnednnInput place;
    bool converts = false;
    OnednnReorder reorder = {};
    Tensor converted{CPU};
  };
  void PlanLike(const Tensor& like);
  void PlanInput(size_t i, const Tensor& x);

  std::vector<Place> inputs_;
  std::shared_ptr<const OnednnLayout> layout_;
  dnnl::memory::desc desc_;
  int64_t floats_ = 0;
};

}  // namespace caffe2rt
