// Operators that move elements, on random shapes and arguments, compared with loops over all indices by the definition
// of each operator.

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_shapes_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using Dims = std::vector<int64_t>;

struct Array {
  Dims dims;
  std::vector<float> x;
  explicit Array(Dims of, float value = 0) : dims(std::move(of)) {
    x.assign(static_cast<size_t>(Count(dims)), value);
  }
  static int64_t Count(const Dims& dims) {
    return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
  }
  float& At(const Dims& index) {
    int64_t at = 0;
    for (size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + index[d];
    return x.at(static_cast<size_t>(at));
  }
};

// Calls f(index) for each index of a tensor of that shape, in row-major order.
void ForEachIndex(const Dims& dims, const std::function<void(const Dims&)>& f) {
  Dims index(dims.size(), 0);
  for (int64_t n = Array::Count(dims); n > 0; --n) {
    f(index);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++index[d] < dims[d]) break;
      index[d] = 0;
    }
  }
}

class RandomShapesTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  Dims RandomDims(int64_t low_rank, int64_t high_rank, int64_t low = 1, int64_t high = 4) {
    Dims dims(static_cast<size_t>(Int(low_rank, high_rank)));
    for (int64_t& dim : dims) dim = Int(low, high);
    return dims;
  }
  // 1, 2, 3, ...
  static Array Numbers(const Dims& dims) {
    Array array(dims);
    std::iota(array.x.begin(), array.x.end(), 1.0f);
    return array;
  }
  // Some dimensions in any order.
  std::vector<int64_t> SomeAxes(size_t rank, size_t count) {
    std::vector<int64_t> axes(rank);
    std::iota(axes.begin(), axes.end(), int64_t{0});
    std::shuffle(axes.begin(), axes.end(), random_);
    axes.resize(count);
    return axes;
  }
  // The axis, or the same one counted from the end.
  int64_t Either(int64_t axis, size_t rank) {
    return Int(0, 1) == 0 ? axis : axis - static_cast<int64_t>(rank);
  }
  static std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
    std::string text = " arg { name: '" + name + "'";
    for (const int64_t value : values) text += " ints: " + std::to_string(value);
    return text + " }";
  }
  static std::string Number(const std::string& name, int64_t value) {
    return " arg { name: '" + name + "' i: " + std::to_string(value) + " }";
  }
  void Give(const std::string& name, const Array& array) {
    Feed<float>(&ws_, name, array.dims, array.x);
  }
  void Expect(const std::string& op, const Array& want, const std::string& output = "Y") {
    SCOPED_TRACE(op);
    test::RunOp(&ws_, op + " device_option {}");
    ExpectTensor<float>(ws_, output, want.dims, want.x);
  }

  std::mt19937 random_{7};
  Workspace ws_;
};

// The index of the element that Pad puts at `place` of `left` elements, or -1 for the value.
int64_t Repeated(int64_t place, int64_t left, const std::string& mode) {
  if (place >= 0 && place < left) return place;
  if (mode == "constant") return -1;
  if (mode == "edge") return place < 0 ? 0 : left - 1;
  if (mode == "wrap") return ((place % left) + left) % left;
  while (left > 1 && (place < 0 || place >= left))
    place = place < 0 ? -place : 2 * (left - 1) - place;
  return left > 1 ? place : 0;
}

TEST_F(RandomShapesTest, PadsAndCropsInEachMode) {
  const std::vector<std::string> modes = {"constant", "edge", "reflect", "wrap"};
  for (int i = 0; i < 200; ++i) {
    const std::string mode = modes[static_cast<size_t>(i) % 4];
    Array x = Numbers(RandomDims(1, 4));
    const size_t rank = x.dims.size();
    const std::vector<int64_t> axes = SomeAxes(rank, static_cast<size_t>(Int(1, rank)));
    Dims before(rank, 0), after(rank, 0), left = x.dims, dims = x.dims;
    std::vector<int64_t> pads(2 * axes.size()), named;
    for (size_t a = 0; a < axes.size(); ++a) {
      const auto axis = static_cast<size_t>(axes[a]);
      before[axis] = pads[a] = Int(-1, 4);
      after[axis] = pads[a + axes.size()] = Int(-2, 3);
      left[axis] += std::min<int64_t>(before[axis], 0) + std::min<int64_t>(after[axis], 0);
      dims[axis] += before[axis] + after[axis];
      named.push_back(Either(axes[a], rank));
    }
    if (*std::min_element(left.begin(), left.end()) < 1) continue;
    Array want(dims);
    ForEachIndex(dims, [&](const Dims& to) {
      Dims from = to;
      bool inside = true;
      for (size_t d = 0; d < rank; ++d) {
        const int64_t at = Repeated(to[d] - std::max<int64_t>(before[d], 0), left[d], mode);
        inside = inside && at >= 0;
        from[d] = at + std::max<int64_t>(-before[d], 0);
      }
      want.At(to) = inside ? x.At(from) : -9;
    });
    Give("X", x);
    Expect(
        "type: 'Pad' input: 'X' output: 'Y' arg { name: 'value' f: -9 } arg { name: 'mode' s: '" +
            mode + "' }" + Ints("pads", pads) + Ints("axes", named),
        want);
  }
}

TEST_F(RandomShapesTest, SlicesInSteps) {
  for (int i = 0; i < 200; ++i) {
    Array x = Numbers(RandomDims(1, 4, 1, 5));
    const size_t rank = x.dims.size();
    const std::vector<int64_t> axes = SomeAxes(rank, static_cast<size_t>(Int(1, rank)));
    std::vector<int64_t> starts, ends, steps, named;
    std::vector<Dims> taken(rank);  // the indices of each dimension
    Dims dims(rank);
    for (size_t d = 0; d < rank; ++d) {
      for (int64_t k = 0; k < x.dims[d]; ++k) taken[d].push_back(k);
    }
    for (const int64_t axis : axes) {
      const int64_t size = x.dims[static_cast<size_t>(axis)], start = Int(-7, 7), end = Int(-7, 7);
      int64_t step = Int(-3, 3);
      if (step == 0) step = 1;
      const int64_t first = start < 0 ? start + size : start, last = end < 0 ? end + size : end;
      Dims& list = taken[static_cast<size_t>(axis)];
      list.clear();
      // Backwards from the last element if the start is behind it; forwards from the first one.
      for (int64_t k = step > 0 ? std::max<int64_t>(first, 0) : std::min(first, size - 1);
           k >= 0 && k < size && (step > 0 ? k < last : k > last); k += step)
        list.push_back(k);
      starts.push_back(start);
      ends.push_back(end);
      steps.push_back(step);
      named.push_back(Either(axis, rank));
    }
    for (size_t d = 0; d < rank; ++d) dims[d] = static_cast<int64_t>(taken[d].size());
    Array want(dims), gradient(x.dims), dy = Numbers(dims);
    ForEachIndex(dims, [&](const Dims& to) {
      Dims from(rank);
      for (size_t d = 0; d < rank; ++d) from[d] = taken[d][static_cast<size_t>(to[d])];
      want.At(to) = x.At(from);
      gradient.At(from) = dy.At(to);
    });
    Give("X", x);
    Give("G", dy);
    const std::string args =
        Ints("starts", starts) + Ints("ends", ends) + Ints("steps", steps) + Ints("axes", named);
    Expect("type: 'ONNXSlice' input: 'X' output: 'Y'" + args, want);
    Expect("type: 'ONNXSliceGradient' input: 'X' input: 'G' output: 'D'" + args, gradient, "D");
  }
}

TEST_F(RandomShapesTest, GathersAlongAnAxis) {
  for (int i = 0; i < 120; ++i) {
    Array x = Numbers(RandomDims(1, 4));
    const size_t rank = x.dims.size();
    const auto axis = static_cast<size_t>(Int(0, rank - 1));
    const Dims index_dims = RandomDims(0, 2, 1, 3);
    std::vector<int64_t> index(static_cast<size_t>(Array::Count(index_dims)));
    for (int64_t& k : index) k = Int(-x.dims[axis], x.dims[axis] - 1);
    Dims dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    dims.insert(dims.end(), index_dims.begin(), index_dims.end());
    dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
    Array want(dims);
    size_t at = 0;
    ForEachIndex(dims, [&](const Dims& to) {
      int64_t place = 0;
      for (size_t d = 0; d < index_dims.size(); ++d) place = place * index_dims[d] + to[axis + d];
      Dims from(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(axis));
      const int64_t k = index[static_cast<size_t>(place)];
      from.push_back(k < 0 ? k + x.dims[axis] : k);
      from.insert(from.end(), to.begin() + static_cast<std::ptrdiff_t>(axis + index_dims.size()),
                  to.end());
      want.x[at++] = x.At(from);
    });
    Give("X", x);
    Feed<int32_t>(&ws_, "I", index_dims, std::vector<int32_t>(index.begin(), index.end()));
    Expect("type: 'Gather' input: 'X' input: 'I' output: 'Y'" +
               Number("axis", Either(static_cast<int64_t>(axis), rank)) + Number("wrap_indices", 1),
           want);
  }
}

TEST_F(RandomShapesTest, GathersAndScattersElements) {
  for (int i = 0; i < 120; ++i) {
    Array x = Numbers(RandomDims(1, 4));
    const size_t rank = x.dims.size();
    const auto axis = static_cast<size_t>(Int(0, rank - 1));
    Dims dims = x.dims;
    for (size_t d = 0; d < rank; ++d) dims[d] = d == axis ? Int(1, 5) : Int(1, dims[d]);
    std::vector<int64_t> index(static_cast<size_t>(Array::Count(dims)));
    for (int64_t& k : index) k = Int(-x.dims[axis], x.dims[axis] - 1);
    Array gathered(dims), updates = Numbers(dims), replaced = x, added = x, sums(x.dims);
    size_t at = 0;
    ForEachIndex(dims, [&](const Dims& to) {
      Dims from = to;
      const int64_t k = index[at];
      from[axis] = k < 0 ? k + x.dims[axis] : k;
      gathered.x[at] = x.At(from);
      replaced.At(from) = updates.x[at];
      added.At(from) += updates.x[at];
      sums.At(from) += updates.x[at];
      ++at;
    });
    Give("X", x);
    Give("U", updates);
    Feed<int64_t>(&ws_, "I", dims, index);
    const std::string args = Number("axis", Either(static_cast<int64_t>(axis), rank));
    Expect("type: 'GatherElements' input: 'X' input: 'I' output: 'Y'" + args, gathered);
    Expect("type: 'ScatterElements' input: 'X' input: 'I' input: 'U' output: 'Y'" + args, replaced);
    Expect(
        "type: 'ScatterElements' input: 'X' input: 'I' input: 'U' output: 'Y' "
        "arg { name: 'reduction' s: 'add' }" +
            args,
        added);
    Expect("type: 'GatherElementsGradient' input: 'X' input: 'I' input: 'U' output: 'Y'" + args,
           sums);
  }
}

TEST_F(RandomShapesTest, GathersAndScattersSlices) {
  for (int i = 0; i < 120; ++i) {
    Array x = Numbers(RandomDims(1, 4));
    const size_t rank = x.dims.size();
    const auto batch = static_cast<size_t>(Int(0, rank - 1));
    const auto depth = static_cast<size_t>(Int(0, rank - batch));
    Dims index_dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(batch));
    const Dims between = RandomDims(0, 2, 1, 3);
    index_dims.insert(index_dims.end(), between.begin(), between.end());
    const Dims rows = index_dims;
    index_dims.push_back(static_cast<int64_t>(depth));
    std::vector<int64_t> index;
    for (int64_t r = Array::Count(rows); r > 0; --r) {
      for (size_t d = 0; d < depth; ++d)
        index.push_back(Int(-x.dims[batch + d], x.dims[batch + d] - 1));
    }
    Dims dims = rows;
    dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(batch + depth),
                x.dims.end());
    Array want(dims), updates = Numbers(dims), added = x;
    size_t at = 0;
    ForEachIndex(dims, [&](const Dims& to) {
      int64_t row = 0;
      for (size_t d = 0; d < rows.size(); ++d) row = row * rows[d] + to[d];
      Dims from(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(batch));
      for (size_t d = 0; d < depth; ++d) {
        const int64_t k = index[static_cast<size_t>(row) * depth + d];
        from.push_back(k < 0 ? k + x.dims[batch + d] : k);
      }
      from.insert(from.end(), to.begin() + static_cast<std::ptrdiff_t>(rows.size()), to.end());
      want.x[at] = x.At(from);
      added.At(from) += updates.x[at];
      ++at;
    });
    Give("X", x);
    Give("U", updates);
    Feed<int64_t>(&ws_, "I", index_dims, index);
    if (depth == 0 && batch + 1 == index_dims.size()) continue;  // no slices to name
    Expect("type: 'GatherND' input: 'X' input: 'I' output: 'Y'" +
               Number("batch_dims", static_cast<int64_t>(batch)),
           want);
    if (batch > 0) continue;
    Expect(
        "type: 'ScatterND' input: 'X' input: 'I' input: 'U' output: 'Y' "
        "arg { name: 'reduction' s: 'add' }",
        added);
  }
}

TEST_F(RandomShapesTest, PermutesDimensions) {
  for (int i = 0; i < 120; ++i) {
    Array x = Numbers(RandomDims(1, 5));
    const size_t rank = x.dims.size();
    const std::vector<int64_t> axes = SomeAxes(rank, rank);
    Dims dims(rank);
    for (size_t d = 0; d < rank; ++d) dims[d] = x.dims[static_cast<size_t>(axes[d])];
    Array want(dims);
    ForEachIndex(dims, [&](const Dims& to) {
      Dims from(rank);
      for (size_t d = 0; d < rank; ++d) from[static_cast<size_t>(axes[d])] = to[d];
      want.At(to) = x.At(from);
    });
    Give("X", x);
    Expect("type: 'Transpose' input: 'X' output: 'Y'" + Ints("axes", axes), want);
  }
}

TEST_F(RandomShapesTest, RepeatsDimensions) {
  for (int i = 0; i < 120; ++i) {
    Array x = Numbers(RandomDims(1, 4, 1, 3));
    for (int64_t& dim : x.dims) dim = Int(0, 1) == 0 ? 1 : dim;
    x = Numbers(x.dims);
    const size_t rank = x.dims.size(), more = static_cast<size_t>(Int(0, 2));
    Dims shape = RandomDims(static_cast<int64_t>(more), static_cast<int64_t>(more), 1, 3), dims;
    for (const int64_t dim : x.dims)
      shape.push_back(dim == 1 ? Int(1, 3) : Int(0, 1) == 0 ? 1 : dim);
    dims = shape;
    for (size_t d = 0; d < rank; ++d) dims[more + d] = std::max(shape[more + d], x.dims[d]);
    Array want(dims), sums(x.dims), dy = Numbers(dims);
    ForEachIndex(dims, [&](const Dims& to) {
      Dims from(to.begin() + static_cast<std::ptrdiff_t>(more), to.end());
      for (size_t d = 0; d < rank; ++d) from[d] = x.dims[d] == 1 ? 0 : from[d];
      want.At(to) = x.At(from);
      sums.At(from) += dy.At(to);
    });
    Give("X", x);
    Give("G", dy);
    Feed<int64_t>(&ws_, "S", {static_cast<int64_t>(shape.size())}, shape);
    Expect("type: 'ONNXExpand' input: 'X' input: 'S' output: 'Y'", want);
    Expect("type: 'Expand' input: 'X' input: 'S' output: 'Y'", want);
    Expect("type: 'ExpandGradient' input: 'G' input: 'X' output: 'D'", sums, "D");
    // Each dimension repeated as a whole; then one of them alone.
    const Dims repeats = RandomDims(static_cast<int64_t>(rank), static_cast<int64_t>(rank), 1, 3);
    Dims tiled = x.dims;
    for (size_t d = 0; d < rank; ++d) tiled[d] *= repeats[d];
    Array all(tiled);
    ForEachIndex(tiled, [&](const Dims& to) {
      Dims from = to;
      for (size_t d = 0; d < rank; ++d) from[d] %= x.dims[d];
      all.At(to) = x.At(from);
    });
    Feed<int64_t>(&ws_, "R", {static_cast<int64_t>(rank)}, repeats);
    Expect("type: 'ONNXTile' input: 'X' input: 'R' output: 'Y'", all);
    const auto axis = static_cast<size_t>(Int(0, rank - 1));
    Dims one = x.dims;
    one[axis] *= repeats[axis];
    Array along(one), back(x.dims), g = Numbers(one);
    ForEachIndex(one, [&](const Dims& to) {
      Dims from = to;
      from[axis] %= x.dims[axis];
      along.At(to) = x.At(from);
      back.At(from) += g.At(to);
    });
    Give("H", g);
    const std::string args =
        Number("tiles", repeats[axis]) + Number("axis", Either(static_cast<int64_t>(axis), rank));
    Expect("type: 'Tile' input: 'X' output: 'Y'" + args, along);
    Expect("type: 'TileGradient' input: 'H' output: 'D'" + args, back, "D");
  }
}

TEST_F(RandomShapesTest, JoinsAndSplits) {
  for (int i = 0; i < 120; ++i) {
    Array x = Numbers(RandomDims(1, 4, 1, 6));
    const size_t rank = x.dims.size();
    const auto axis = static_cast<size_t>(Int(0, rank - 1));
    const int64_t first = Int(0, x.dims[axis]), second = Int(0, x.dims[axis] - first);
    const std::vector<int64_t> sizes = {first, second, x.dims[axis] - first - second};
    const char* const names[] = {"P", "Q", "R"};
    const std::string args = Number("axis", Either(static_cast<int64_t>(axis), rank));
    Give("X", x);
    const std::string split = "type: 'Split' input: 'X' output: 'P' output: 'Q' output: 'R'" +
                              args + Ints("split", sizes);
    int64_t begin = 0;
    for (size_t p = 0; p < 3; begin += sizes[p++]) {
      Dims dims = x.dims;
      dims[axis] = sizes[p];
      Array want(dims);
      ForEachIndex(dims, [&](const Dims& to) {
        Dims from = to;
        from[axis] += begin;
        want.At(to) = x.At(from);
      });
      Expect(split, want, names[p]);
    }
    Expect("type: 'Concat' input: 'P' input: 'Q' input: 'R' output: 'Y' output: 'S'" + args, x);
    ExpectTensor<int32_t>(ws_, "S", {3}, std::vector<int32_t>(sizes.begin(), sizes.end()));
    // Tensors of one shape along a new dimension, and back.
    const int64_t place = Int(0, static_cast<int64_t>(rank));
    Dims stacked = x.dims;
    stacked.insert(stacked.begin() + place, 2);
    Array y(stacked), other = x;
    for (float& value : other.x) value = -value;
    ForEachIndex(stacked, [&](const Dims& to) {
      Dims from = to;
      from.erase(from.begin() + place);
      y.At(to) = to[static_cast<size_t>(place)] == 0 ? x.At(from) : other.At(from);
    });
    Give("Z", other);
    const std::string add = Number("axis", place) + Number("add_axis", 1);
    Expect("type: 'Concat' input: 'X' input: 'Z' output: 'Y' output: 'S'" + add, y);
    Expect("type: 'Split' input: 'Y' output: 'A' output: 'B'" + add, x, "A");
    ExpectTensor<float>(ws_, "B", x.dims, other.x);
  }
}

TEST_F(RandomShapesTest, MovesChannelsToBlocks) {
  for (int i = 0; i < 80; ++i) {
    const int64_t block = Int(1, 3), n = Int(1, 2), c = Int(1, 3), h = Int(1, 3), w = Int(1, 4);
    Array deep = Numbers({n, c * block * block, h, w});
    for (const std::string mode : {"DCR", "CRD"}) {
      Array wide({n, c, h * block, w * block});
      ForEachIndex(wide.dims, [&](const Dims& to) {
        const int64_t row = to[2] % block, column = to[3] % block;
        const int64_t channel = mode == "DCR" ? (row * block + column) * c + to[1]
                                              : (to[1] * block + row) * block + column;
        wide.At(to) = deep.At({to[0], channel, to[2] / block, to[3] / block});
      });
      const std::string args =
          Number("blocksize", block) + " arg { name: 'mode' s: '" + mode + "' }";
      Give("X", deep);
      Give("W", wide);
      Expect("type: 'DepthToSpace' input: 'X' output: 'Y'" + args, wide);
      Expect("type: 'SpaceToDepth' input: 'W' output: 'Y'" + args, deep);
    }
  }
}

TEST_F(RandomShapesTest, CentersCutsAndReverses) {
  for (int i = 0; i < 120; ++i) {
    Array x = Numbers(RandomDims(2, 4));
    const size_t rank = x.dims.size();
    const std::vector<int64_t> axes = SomeAxes(rank, static_cast<size_t>(Int(1, rank)));
    Dims dims = x.dims, shape;
    for (const int64_t axis : axes) {
      shape.push_back(Int(1, 7));
      dims[static_cast<size_t>(axis)] = shape.back();
    }
    Array centered(dims);
    ForEachIndex(dims, [&](const Dims& to) {
      Dims from = to;
      bool inside = true;
      for (size_t d = 0; d < rank; ++d) {
        const int64_t more = dims[d] - x.dims[d];
        from[d] -= more >= 0 ? more / 2 : -(-more / 2);
        inside = inside && from[d] >= 0 && from[d] < x.dims[d];
      }
      centered.At(to) = inside ? x.At(from) : 0;
    });
    Give("X", x);
    std::vector<int64_t> named;
    for (const int64_t axis : axes) named.push_back(Either(axis, rank));
    Expect(
        "type: 'CenterCropPad' input: 'X' output: 'Y'" + Ints("shape", shape) + Ints("axes", named),
        centered);
    const int64_t k = Int(-4, 4);
    Array upper(x.dims), lower(x.dims);
    ForEachIndex(x.dims, [&](const Dims& at) {
      const int64_t above = at[rank - 1] - at[rank - 2];
      upper.At(at) = above >= k ? x.At(at) : 0;
      lower.At(at) = above <= k ? x.At(at) : 0;
    });
    Expect("type: 'Trilu' input: 'X' output: 'Y'" + Number("k", k), upper);
    Expect("type: 'Trilu' input: 'X' output: 'Y'" + Number("k", k) + Number("upper", 0), lower);
    const size_t time = static_cast<size_t>(Int(0, 1)), batch = 1 - time;
    std::vector<int64_t> lengths(static_cast<size_t>(x.dims[batch]));
    for (int64_t& length : lengths) length = Int(0, x.dims[time]);
    Array reversed(x.dims);
    ForEachIndex(x.dims, [&](const Dims& to) {
      Dims from = to;
      const int64_t length = lengths[static_cast<size_t>(to[batch])];
      if (to[time] < length) from[time] = length - 1 - to[time];
      reversed.At(to) = x.At(from);
    });
    Feed<int64_t>(&ws_, "L", {x.dims[batch]}, lengths);
    Expect("type: 'ReverseSequence' input: 'X' input: 'L' output: 'Y'" +
               Number("time_axis", static_cast<int64_t>(time)) +
               Number("batch_axis", static_cast<int64_t>(batch)),
           reversed);
  }
}

}  // namespace
}  // namespace caffe2rt::random_shapes_test
