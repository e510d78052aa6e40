#pragma once
// A list of oneDNN primitives that run one after the other on the calling thread, over tensors of
// the caller and intermediate results in scratch memory.
//
//   OnednnProgram program;
//   const size_t x = program.Tensor(plain, 0), y = program.Tensor(plain, 1);
//   const size_t blocked = program.InLayout(x, desc.src_desc());    // adds a reorder if necessary
//   program.Add(primitive, desc.scratchpad_desc(), {{DNNL_ARG_SRC, blocked}, {DNNL_ARG_DST, y}});
//   program.Run({x_data, y_data}, scratch.Floats(program.scratch_size()));  // as often as wanted
//
// Operands are numbers that Tensor, Scratch and InLayout return. All functions THROW dnnl::error if
// oneDNN fails; call them in GuardOnednn. Primitives use as many threads as OpenMP had when they
// were created, which is one in GuardOnednn. A program is used by one thread at a time. In the
// steady state Run allocates nothing, except inside oneDNN.

#include <dnnl.hpp>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace caffe2rt {

// What is thrown if oneDNN has no optimized implementation for a shape.
struct NoOnednnImplementation {};
// Whether an implementation, named by impl_info_str(), is a reference implementation.
bool IsReferenceImplementation(std::string_view name);
// Whether it multiplies matrices of columns: a part of the name is "gemm", as in "x64:gemm:jit" and
// "gemm:ref". Those with "brgemm" or "brgconv" work on blocks of the tensors themselves.
bool IsGemmImplementation(std::string_view name);
// Whether oneDNN can reorder from one layout to the other.
bool CanReorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);
// The number of floats that `desc` needs, rounded up to a multiple of the alignment.
int64_t FloatsOf(const dnnl::memory::desc& desc);
// Attributes that let the caller provide the scratchpad, as Add requires. A copy of attributes
// shares their post-ops: make new ones for each primitive.
dnnl::primitive_attr OnednnAttributes();

class OnednnProgram {
 public:
  using Desc = dnnl::memory::desc;
  struct Argument {
    int name;  // DNNL_ARG_SRC, ...
    size_t operand;
  };

  // The tensor at `position` in the argument of Run, or the part of it that begins `offset_bytes`
  // after its start.
  size_t Tensor(const Desc& desc, size_t position, size_t offset_bytes = 0);
  // An intermediate result.
  size_t Scratch(const Desc& desc);
  Desc DescOf(size_t operand) const { return operands_[operand].data.get_desc(); }

  // Adds a primitive; `pad` describes its scratchpad.
  void Add(dnnl::primitive primitive, const Desc& pad, const std::vector<Argument>& arguments);
  void AddReorder(size_t from, size_t to);
  // A reorder, or two over layout `between` if oneDNN does not have the direct one. THROWS
  // NoOnednnImplementation if it does not have these either.
  void AddReorderOver(size_t from, size_t to, const Desc& between);
  // Returns an operand that holds the values of `from` in layout `want`.
  size_t InLayout(size_t from, const Desc& want);

  // `scratch` has scratch_size() floats, aligned to 64 bytes.
  void Run(std::initializer_list<const float*> tensors, float* scratch) {
    Run(tensors.begin(), scratch);
  }
  void Run(const float* const* tensors, float* scratch);
  // The scratch memory of Run, in floats.
  int64_t scratch_size() const { return scratch_floats_ + scratchpad_floats_; }

 private:
  enum class Place { kTensor, kScratch, kScratchpad };
  struct Operand {
    dnnl::memory data;  // its data handle is set when the address changes
    Place place;
    size_t position;      // of a tensor, or the offset in scratch memory in floats
    size_t offset_bytes;  // of a part of a tensor
    const float* now = nullptr;
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };

  size_t NewOperand(const Desc& desc, Place place, size_t position, size_t offset_bytes = 0);

  std::vector<Operand> operands_;
  std::vector<Step> steps_;
  int64_t scratch_floats_ = 0, scratchpad_floats_ = 0;
};

}  // namespace caffe2rt
