// UpdateRows: sparse updates of rows whose indices are sorted.

#include "contexts/cuda/cuda_kernel.cuh"
#include "contexts/cuda/cuda_report.h"
#include "operators/optimizer/update_kernels.h"
#include "operators/optimizer/update_rules.h"

namespace caffe2rt {

namespace {

// A thread makes one key.
template <class Index>
struct MakeKeys {
  int64_t rows;
  const Index* indices;
  int64_t* keys;
  int32_t* places;
  KernelReport* report;
  ReportText text;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t j) const {
    const int64_t row = indices[j];
    const bool found = row >= 0 && row < rows;
    if (!found) report->Raise(text, row, j, rows);
    keys[j] = found ? row : -1;
    places[j] = static_cast<int32_t>(j);
  }
};

// A thread updates one element of a row, once for each of the equal keys. Only the threads at the
// first of equal keys work.
template <class Rule>
struct UpdateRuns {
  RowSizes sizes;
  const int64_t* keys;
  const int32_t* places;
  Rule rule;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t at) const {
    const int64_t entry = at / sizes.block, element = at % sizes.block, key = keys[entry];
    if (key < 0 || (entry > 0 && keys[entry - 1] == key)) return;
    const float rate = rule.Rate();
    for (int64_t j = entry; j < sizes.count && keys[j] == key; ++j) {
      rule(key * sizes.block + element, places[j] * sizes.block + element, rate);
    }
  }
};

// The same with a block of threads for each row, for rules with a state per row.
template <class Rule>
struct UpdateRowsOfState {
  RowSizes sizes;
  const int64_t* keys;
  const int32_t* places;
  Rule rule;
  CAFFE2RT_HOST_DEVICE void operator()(const Row& thread_block) const {
    const int64_t entry = thread_block.index(), key = keys[entry], block = sizes.block;
    if (key < 0 || (entry > 0 && keys[entry - 1] == key)) return;
    const Rule r = rule;
    for (int64_t j = entry; j < sizes.count && keys[j] == key; ++j) {
      const int64_t i = key * block, g = places[j] * block;
      const float sum = thread_block.Reduce(block, 0.0f, Plus(), [=](int64_t k) {
        const float d = r.Gradient(i + k, g + k);
        return d * d;
      });
      const float state = r.State(key, sum / static_cast<float>(block));
      thread_block.Sync();  // all threads have read the old state
      thread_block.Once([=] { r.SetState(key, state); });
      const float rate = r.Rate(), factor = r.Factor(state, rate);
      thread_block.ForEach(block, [=](int64_t k) { r(i + k, g + k, factor, rate); });
      thread_block.Sync();
    }
  }
};

}  // namespace

template <class Index>
void MakeRowKeys(CUDAContext& context, const RowSizes& sizes, const Index* indices, int64_t* keys,
                 int32_t* places) {
  const MakeKeys<Index> make{sizes.rows,
                             indices,
                             keys,
                             places,
                             ReportOf(context),
                             "index % at position % is out of range, want at least 0 and below %"};
  ForEach(context, sizes.count, make, "UpdateRows");
}

template <class Rule>
void UpdateSortedRows(CUDAContext& context, const RowSizes& sizes, const int64_t* keys,
                      const int32_t* places, const Rule& rule) {
  if constexpr (Rule::kPerRow) {
    const UpdateRowsOfState<Rule> update{sizes, keys, places, rule};
    ForEachRow(context, sizes.count, update, "UpdateRows");
  } else {
    const UpdateRuns<Rule> update{sizes, keys, places, rule};
    ForEach(context, sizes.count * sizes.block, update, "UpdateRows");
  }
}

template void MakeRowKeys(CUDAContext&, const RowSizes&, const int32_t*, int64_t*, int32_t*);
template void MakeRowKeys(CUDAContext&, const RowSizes&, const int64_t*, int64_t*, int32_t*);
#define CAFFE2RT_UPDATE_ROWS(Rule)                                                              \
  template void UpdateSortedRows(CUDAContext&, const RowSizes&, const int64_t*, const int32_t*, \
                                 const Rule&);
CAFFE2RT_UPDATE_ROWS(AdadeltaRule)
CAFFE2RT_UPDATE_ROWS(AdagradRule)
CAFFE2RT_UPDATE_ROWS(AdamRule)
CAFFE2RT_UPDATE_ROWS(MomentumRule)
CAFFE2RT_UPDATE_ROWS(RowWiseAdagradRule)
CAFFE2RT_UPDATE_ROWS(RowWiseAdamRule)
#undef CAFFE2RT_UPDATE_ROWS

}  // namespace caffe2rt
