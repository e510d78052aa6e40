#include "operators/primitives/onednn_program.h"

#include <algorithm>

#include "caffe2_core/base/enforce.h"
#include "contexts/onednn/onednn_library.h"
#include "operators/primitives/scratch.h"

namespace caffe2rt {

bool IsReferenceImplementation(std::string_view name) { return name.substr(0, 3) == "ref"; }

bool IsGemmImplementation(std::string_view name) {
  return MakeString(":", name, ":").find(":gemm:") != std::string::npos;
}

bool CanReorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
  const dnnl::primitive_attr attributes;
  const dnnl::engine& engine = OnednnEngine();
  return static_cast<bool>(
      dnnl::reorder::primitive_desc(engine, from, engine, to, attributes, true));
}

int64_t FloatsOf(const dnnl::memory::desc& desc) {
  return AlignedFloats(static_cast<int64_t>((desc.get_size() + 3) / 4));
}

dnnl::primitive_attr OnednnAttributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

size_t OnednnProgram::NewOperand(const Desc& desc, Place place, size_t position,
                                 size_t offset_bytes) {
  operands_.push_back(
      {dnnl::memory(desc, OnednnEngine(), nullptr), place, position, offset_bytes, nullptr});
  return operands_.size() - 1;
}

size_t OnednnProgram::Tensor(const Desc& desc, size_t position, size_t offset_bytes) {
  return NewOperand(desc, Place::kTensor, position, offset_bytes);
}

size_t OnednnProgram::Scratch(const Desc& desc) {
  const size_t operand = NewOperand(desc, Place::kScratch, static_cast<size_t>(scratch_floats_));
  scratch_floats_ += FloatsOf(desc);
  return operand;
}

void OnednnProgram::Add(dnnl::primitive primitive, const Desc& pad,
                        const std::vector<Argument>& arguments) {
  Step step{std::move(primitive), {}};
  for (const auto& [name, operand] : arguments) {
    step.arguments.push_back({name, operands_[operand].data.get()});
  }
  const size_t scratchpad = NewOperand(pad, Place::kScratchpad, 0);
  step.arguments.push_back({DNNL_ARG_SCRATCHPAD, operands_[scratchpad].data.get()});
  scratchpad_floats_ = std::max(scratchpad_floats_, FloatsOf(pad));
  steps_.push_back(std::move(step));
}

void OnednnProgram::AddReorder(size_t from, size_t to) {
  const dnnl::reorder::primitive_desc desc(OnednnEngine(), DescOf(from), OnednnEngine(), DescOf(to),
                                           OnednnAttributes());
  Add(dnnl::reorder(desc), desc.scratchpad_desc(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void OnednnProgram::AddReorderOver(size_t from, size_t to, const Desc& between) {
  if (CanReorder(DescOf(from), DescOf(to))) return AddReorder(from, to);
  if (!CanReorder(DescOf(from), between) || !CanReorder(between, DescOf(to))) {
    throw NoOnednnImplementation();
  }
  const size_t middle = Scratch(between);
  AddReorder(from, middle);
  AddReorder(middle, to);
}

size_t OnednnProgram::InLayout(size_t from, const Desc& want) {
  if (DescOf(from) == want) return from;
  const size_t to = Scratch(want);
  AddReorder(from, to);
  return to;
}

void OnednnProgram::Run(const float* const* tensors, float* scratch) {
  for (Operand& operand : operands_) {
    const float* address = scratch + scratch_floats_;
    if (operand.place == Place::kTensor) {
      // Elements may have fewer bytes than floats.
      address = reinterpret_cast<const float*>(
          reinterpret_cast<const char*>(tensors[operand.position]) + operand.offset_bytes);
    } else if (operand.place == Place::kScratch) {
      address = scratch + operand.position;
    }
    if (address == operand.now) continue;
    operand.data.set_data_handle(const_cast<float*>(address));
    operand.now = address;
  }
  dnnl::stream& stream = OnednnStream();
  for (const Step& step : steps_) {
    dnnl::error::wrap_c_api(
        dnnl_primitive_execute(step.primitive.get(), stream.get(),
                               static_cast<int>(step.arguments.size()), step.arguments.data()),
        "execution failed");
  }
  stream.wait();
}

}  // namespace caffe2rt
