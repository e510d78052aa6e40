#pragma once
// Which algorithm computes a convolution: a pure function of the shape, the instruction set and a
// table made by timing.
//
// The table is text, one line a shape, fields separated by tabs; lines that start with # are
// comments:
//
//   isa order input filters kernel strides heads tails dilations group algorithm microseconds
//   avx512 NCHW 1x64x56x56 64 3x3 1x1 1x1 1x1 1x1 1 onednn_winograd 402.1
//
// The one that ships is conv_tuning.tsv beside this file, compiled in; `caffe2 bench --tune` makes
// others.
//
// Thread safe.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "operators/conv/conv_kernel.h"

namespace caffe2rt {

struct ConvTuningRow {
  Isa isa = Isa::kPlain;
  ConvShape shape;
  ConvAlgorithm algorithm = ConvAlgorithm::kIm2Col;
  double microseconds = 0;
};

class ConvTuning {
 public:
  // THROWS naming the line when the text does not have the form above.
  explicit ConvTuning(const std::string& text);

  // Algorithms for the shape, best first: that of the same shape in the table, those of the nearest
  // shapes of the same kind, then a rule of thumb. The last one can do any shape. `direct_only`
  // leaves out Winograd.
  std::vector<ConvAlgorithm> Choose(const ConvShape& shape, Isa isa, bool direct_only) const;

  const std::vector<ConvTuningRow>& rows() const { return rows_; }

 private:
  std::vector<ConvTuningRow> rows_;
};

// One line of a table, with its end.
std::string ConvTuningLine(const ConvTuningRow& row);

struct ConvOptions {
  // Direct algorithms only, in all convolutions: results do not depend on the table.
  bool deterministic = false;
};
// Read when a convolution meets a new shape; set before nets run.
ConvOptions& GlobalConvOptions();

// The process's table: the one that ships until SetConvTuning replaces it for convolutions planned
// later.
std::shared_ptr<const ConvTuning> GetConvTuning();
void SetConvTuning(std::shared_ptr<const ConvTuning> tuning);
// THROWS when the file cannot be read or is no table.
std::shared_ptr<const ConvTuning> ReadConvTuning(const std::string& path);

// The text of conv_tuning.tsv.
const char* ShippedConvTuning();

}  // namespace caffe2rt
