#include "caffe2_core/graph/drawing/repeated_blocks.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace caffe2rt {
namespace {

// A bound for the number of comparisons, so that hostile nets cost at most about a second.
constexpr size_t kMostWork = 100'000'000;

// What a search in a map costs, in comparisons.
constexpr size_t kLookupWork = 30;

// An operator with a larger argument, such as the values of a weight, is not compared with others.
constexpr size_t kMostArgumentBytes = 4096;

// The source of an input: the distance to the operator that writes it, and which output it is.
struct Source {
  uint32_t writer = NetBlobs::kNone;
  uint32_t output = 0;
  bool operator==(const Source&) const = default;
};

class BlockFinder {
 public:
  BlockFinder(const NetDef& net, const NetBlobs& blobs) : size_(blobs.num_operators()) {
    std::unordered_map<std::string, uint32_t> kinds;
    for (size_t op = 0; op < size_; ++op) {
      kinds_.push_back(KindOf(net.op(static_cast<int>(op)), op, &kinds));
      AddSources(blobs, op);
    }
    CountCrossings(blobs);
  }

  std::vector<RepeatedBlock> Find() {
    for (size_t length = 1; length <= size_ / 2 && work_ < kMostWork; ++length) {
      CountRuns(length);
      for (size_t begin = 0; begin + 2 * length <= size_;) {
        ++work_;
        begin = CountAt(begin, length) < 2 ? begin + 1 : AddBlock(begin, length);
      }
    }
    std::sort(found_.begin(), found_.end(), [](const RepeatedBlock& a, const RepeatedBlock& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end() > b.end();
    });
    return std::move(found_);
  }

 private:
  // Equal numbers for operators that differ at most in their names and wiring.
  static uint32_t KindOf(const OperatorDef& op, size_t position,
                         std::unordered_map<std::string, uint32_t>* kinds) {
    std::string key = absl::StrCat(op.input_size(), ",", op.output_size(), ",",
                                   op.control_input_size(), ",", op.is_gradient_op(), ",");
    const auto add = [&key](const std::string& part) {
      absl::StrAppend(&key, part.size(), ":", part);
    };
    add(op.type());
    add(op.engine());
    add(op.device_option().SerializeAsString());
    for (const Argument& arg : op.arg()) {
      if (arg.ByteSizeLong() > kMostArgumentBytes) {
        add(absl::StrCat("only operator ", position));
      } else {
        add(arg.SerializeAsString());
      }
    }
    return kinds->emplace(std::move(key), static_cast<uint32_t>(kinds->size())).first->second;
  }

  void AddSources(const NetBlobs& blobs, size_t op) {
    const auto inputs = blobs.inputs(op);
    const auto writers = blobs.input_writers(op);
    for (size_t k = 0; k < inputs.size(); ++k) {
      Source source{.writer = writers[k]};
      if (source.writer != NetBlobs::kNone) {
        const auto outputs = blobs.outputs(source.writer);
        source.output = static_cast<uint32_t>(std::find(outputs.begin(), outputs.end(), inputs[k]) -
                                              outputs.begin());
      }
      sources_.push_back(source);
    }
    source_ends_.push_back(sources_.size());
  }

  // crossings_[i]: the number of operators before i whose outputs are read at i or later.
  void CountCrossings(const NetBlobs& blobs) {
    std::vector<size_t> last_reader(size_, 0);
    for (size_t op = 0; op < size_; ++op) {
      for (const uint32_t writer : blobs.input_writers(op)) {
        if (writer != NetBlobs::kNone) last_reader[writer] = op;
      }
    }
    std::vector<int> change(size_ + 2, 0);
    for (size_t op = 0; op < size_; ++op) {
      if (last_reader[op] == 0) continue;
      ++change[op + 1];
      --change[last_reader[op] + 1];
    }
    crossings_.assign(size_ + 1, 0);
    for (size_t i = 1; i <= size_; ++i) crossings_[i] = crossings_[i - 1] + change[i];
  }

  enum class Likeness { kNone, kInFirstRange, kInAnyRange };

  // How `op` and the operator `length` after it can be the same operator of two ranges. In the first
  // range, an input may come from before the block, and in the second one from the first. IsValid
  // checks where the inputs come from.
  Likeness Compare(size_t op, size_t length) {
    if (kinds_[op] != kinds_[op + length]) return Likeness::kNone;
    Likeness likeness = Likeness::kInAnyRange;
    const Source* a = SourcesOf(op);
    const Source* b = SourcesOf(op + length);
    const size_t count = source_ends_[op + 1] - source_ends_[op];
    work_ += count;
    for (size_t k = 0; k < count; ++k) {
      if (IsSameSource(a[k], b[k], length)) continue;
      if (b[k].writer == NetBlobs::kNone) return Likeness::kNone;
      const bool before = a[k].writer != NetBlobs::kNone && b[k].writer < op;
      if (!before) likeness = Likeness::kInFirstRange;
    }
    return likeness;
  }

  // Whether both come from outside of the net, or from the same output at the same distance.
  static bool IsSameSource(const Source& a, const Source& b, size_t length) {
    if (a.writer == NetBlobs::kNone || b.writer == NetBlobs::kNone) return a.writer == b.writer;
    return b.writer == a.writer + length && a.output == b.output;
  }

  // Sets the numbers of operators from each operator on that are like the ones `length` after them.
  void CountRuns(size_t length) {
    any_run_.assign(size_ + 1, 0);
    strict_run_.assign(size_ + 1, 0);
    for (size_t op = size_ - length; op-- > 0;) {
      ++work_;
      const Likeness likeness = Compare(op, length);
      any_run_[op] = likeness != Likeness::kNone ? any_run_[op + 1] + 1 : 0;
      strict_run_[op] = likeness == Likeness::kInAnyRange ? strict_run_[op + 1] + 1 : 0;
    }
  }

  // How often a block that begins there may repeat.
  size_t CountAt(size_t begin, size_t length) const {
    if (any_run_[begin] < length) return 0;
    const size_t count = 2 + strict_run_[begin + length] / length;
    return (count - 1) * length >= kLeastHidden ? count : 0;
  }

  // Whether each range reads from the range before it, and the inputs that are not at the same
  // distance in all ranges come from before the block. Operators that read the same output of the
  // range before must read the same value in the first range. They do not in a bottleneck with a
  // projection of its own: without its projection it would look like those after it.
  bool IsValid(const RepeatedBlock& block) {
    const auto is_before = [&](const Source& source) { return source.writer < block.begin; };
    bool is_chain = false;
    std::map<std::pair<uint32_t, uint32_t>, Source> entering;  // by what later ranges read instead
    for (size_t op = block.begin; op + block.length < block.end(); ++op) {
      const Source* a = SourcesOf(op);
      const Source* b = SourcesOf(op + block.length);
      const bool first = op < block.begin + block.length;
      const size_t count = source_ends_[op + 1] - source_ends_[op];
      work_ += count + 1;
      for (size_t k = 0; k < count; ++k) {
        const bool carried =
            first && b[k].writer >= block.begin && b[k].writer < block.begin + block.length;
        is_chain = is_chain || carried;
        if (carried) {
          work_ += kLookupWork;
          const auto [it, added] = entering.emplace(std::pair(b[k].writer, b[k].output), a[k]);
          if (!added && !(it->second == a[k])) return false;
        }
        if (IsSameSource(a[k], b[k], block.length)) continue;
        if (is_before(a[k]) && is_before(b[k])) continue;
        if (!carried || (a[k].writer != NetBlobs::kNone && !is_before(a[k]))) return false;
      }
    }
    return is_chain;
  }

  // Whether each block found before is outside of `block` or within one of its ranges.
  bool Fits(const RepeatedBlock& block) {
    work_ += found_.size();
    return std::all_of(found_.begin(), found_.end(), [&](const RepeatedBlock& other) {
      if (other.end() <= block.begin || block.end() <= other.begin) return true;
      if (other.begin < block.begin || block.end() < other.end()) return false;
      return (other.begin - block.begin) / block.length ==
             (other.end() - 1 - block.begin) / block.length;
    });
  }

  // Adds one of the blocks that begin at `first` or at most `length` operators later: one that
  // repeats most often, and of these the last one of those with the fewest values that enter it.
  // Forgets the blocks in its ranges after the first. Returns where the next block may begin.
  size_t AddBlock(size_t first, size_t length) {
    std::vector<RepeatedBlock> blocks;
    for (size_t begin = first; begin <= first + length && begin + 2 * length <= size_; ++begin) {
      // The last ranges may turn out to read from elsewhere.
      for (size_t count = CountAt(begin, length);
           count >= 2 && (count - 1) * length >= kLeastHidden; --count) {
        blocks.push_back({begin, length, count});
      }
    }
    work_ += blocks.size();
    std::stable_sort(blocks.begin(), blocks.end(), [&](const auto& a, const auto& b) {
      if (a.count != b.count) return a.count > b.count;
      if (crossings_[a.begin] != crossings_[b.begin])
        return crossings_[a.begin] < crossings_[b.begin];
      return a.begin > b.begin;
    });
    for (const RepeatedBlock& block : blocks) {
      if (work_ >= kMostWork) break;
      if (!Fits(block) || !IsValid(block)) continue;
      std::erase_if(found_, [&](const RepeatedBlock& other) {
        return other.begin >= block.begin + length && other.begin < block.end();
      });
      found_.push_back(block);
      return block.end();
    }
    return first + length;
  }

  const Source* SourcesOf(size_t op) const { return sources_.data() + source_ends_[op]; }

  const size_t size_;
  std::vector<uint32_t> kinds_;
  std::vector<Source> sources_;            // the inputs of all operators, concatenated
  std::vector<size_t> source_ends_ = {0};  // those of `op` begin at source_ends_[op]
  std::vector<int> crossings_;
  std::vector<RepeatedBlock> found_;
  std::vector<size_t> any_run_, strict_run_;  // for one length: of operators that are alike
  size_t work_ = 0;
};

}  // namespace

std::vector<RepeatedBlock> FindRepeatedBlocks(const NetDef& net, const NetBlobs& blobs) {
  return BlockFinder(net, blobs).Find();
}

FoldedPosition PositionIn(const std::vector<RepeatedBlock>& blocks, size_t op) {
  FoldedPosition position{.first = op, .steps = {}};
  for (size_t i = 0; i < blocks.size(); ++i) {
    const RepeatedBlock& block = blocks[i];
    if (position.first < block.begin) break;
    if (position.first >= block.end()) continue;
    const size_t offset = position.first - block.begin;
    position.steps.push_back({i, offset / block.length});
    position.first = block.begin + offset % block.length;
  }
  return position;
}

}  // namespace caffe2rt
