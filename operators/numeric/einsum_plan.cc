#include "operators/numeric/einsum_plan.h"

#include <algorithm>
#include <map>

#include "caffe2_core/base/array_ref.h"
#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

namespace {

// An axis is a letter, or a negative number: axes of the ellipsis counted from its end.
using Labels = std::vector<int>;

struct Term {
  Labels labels;
  size_t ellipsis = std::string::npos;  // the place of the ellipsis among the labels
};

Term ParseTerm(const std::string& equation, const std::string& text) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (text.compare(i, 3, "...") == 0) {
      CAFFE_ENFORCE(term.ellipsis == std::string::npos, "argument equation is \"", equation,
                    "\", want at most one ellipsis in a term");
      term.ellipsis = term.labels.size();
      i += 2;
      continue;
    }
    CAFFE_ENFORCE((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), "argument equation is \"",
                  equation, "\", want letters, commas, ... and one ->");
    term.labels.push_back(c);
  }
  return term;
}

std::vector<Term> ParseTerms(const std::string& equation, const std::string& text) {
  std::vector<Term> terms;
  for (size_t start = 0;;) {
    const size_t comma = text.find(',', start);
    terms.push_back(ParseTerm(equation, text.substr(start, comma - start)));
    if (comma == std::string::npos) return terms;
    start = comma + 1;
  }
}

// Replaces the ellipsis by labels for `count` axes.
void ExpandEllipsis(Term* term, size_t count) {
  if (term->ellipsis == std::string::npos) return;
  Labels axes;
  for (size_t i = count; i > 0; --i) axes.push_back(-static_cast<int>(i));
  term->labels.insert(term->labels.begin() + static_cast<std::ptrdiff_t>(term->ellipsis),
                      axes.begin(), axes.end());
}

// The letters that occur once, sorted, after the axes of the ellipsis.
Labels ImplicitOutput(const std::vector<Term>& terms, size_t ellipsis) {
  std::map<int, int> counts;
  for (const Term& term : terms) {
    for (const int label : term.labels) ++counts[label];
  }
  Labels output;
  for (size_t i = ellipsis; i > 0; --i) output.push_back(-static_cast<int>(i));
  for (const auto& [label, count] : counts) {
    if (label > 0 && count == 1) output.push_back(label);
  }
  return output;
}

// The loop of each label.
std::map<int, EinsumLoop> LoopsOf(const std::vector<Term>& terms,
                                  const std::vector<std::vector<int64_t>>& shapes) {
  std::map<int, EinsumLoop> loops;
  for (size_t i = 0; i < terms.size(); ++i) {
    const Labels& labels = terms[i].labels;
    CAFFE_ENFORCE_EQ(labels.size(), shapes[i].size(), "axes of input ", i,
                     " in argument equation, want those of shape ", IntArrayRef(shapes[i]));
    (void)CheckedProduct(shapes[i]);
    int64_t stride = 1;
    for (size_t axis = labels.size(); axis-- > 0;) {
      const int64_t size = shapes[i][axis];
      const auto [at, added] = loops.try_emplace(labels[axis]);
      EinsumLoop& loop = at->second;
      if (added) loop.size = size;
      CAFFE_ENFORCE(loop.size == size || size == 1 || loop.size == 1, "input ", i, " of shape ",
                    IntArrayRef(shapes[i]), ": axis ", axis, " has size ", size, ", want ",
                    loop.size, " as the same axis of the equation elsewhere, or 1");
      if (loop.size == 1) loop.size = size;
      if (size != 1) loop.strides[i] += stride;
      stride *= size;
    }
  }
  return loops;
}

// Sorts the axes of two operands into those of a batch of matrix products.
void FindProduct(const std::map<int, EinsumLoop>& loops, const Labels& output, EinsumPlan* plan) {
  std::vector<EinsumLoop> batch, rows, columns, sums;
  Labels batch_labels, row_labels, column_labels;
  EinsumProduct& p = plan->product;
  for (const int label : output) {
    const EinsumLoop& loop = loops.at(label);
    const bool in_a = loop.strides[0] != 0, in_b = loop.strides[1] != 0;
    if (in_a == in_b) {
      batch.push_back(loop);
      batch_labels.push_back(label);
      p.batch = CheckedMultiply(p.batch, loop.size);
    } else if (in_a) {
      rows.push_back(loop);
      row_labels.push_back(label);
      p.m = CheckedMultiply(p.m, loop.size);
    } else {
      columns.push_back(loop);
      column_labels.push_back(label);
      p.n = CheckedMultiply(p.n, loop.size);
    }
  }
  for (const EinsumLoop& loop : plan->inner) {
    if (loop.size > 1 && (loop.strides[0] == 0 || loop.strides[1] == 0)) return;
    sums.push_back(loop);
    p.k = CheckedMultiply(p.k, loop.size);
  }
  if (p.k < 4) return;  // the loops are as good
  plan->is_product = true;
  for (const auto* group : {&batch, &rows, &sums}) {
    p.a_loops.insert(p.a_loops.end(), group->begin(), group->end());
  }
  for (const auto* group : {&batch, &sums, &columns}) {
    p.b_loops.insert(p.b_loops.end(), group->begin(), group->end());
  }
  std::map<int, int64_t> strides;
  int64_t stride = 1;
  for (const Labels* group : {&column_labels, &row_labels, &batch_labels}) {
    for (size_t i = group->size(); i-- > 0;) {
      strides[(*group)[i]] = stride;
      stride *= loops.at((*group)[i]).size;
    }
  }
  for (const int label : output) {
    EinsumLoop loop;
    loop.size = loops.at(label).size;
    loop.strides[0] = strides[label];
    p.y_loops.push_back(loop);
  }
}

}  // namespace

EinsumPlan PlanEinsum(const std::string& equation,
                      const std::vector<std::vector<int64_t>>& shapes) {
  const size_t arrow = equation.find("->");
  std::vector<Term> terms = ParseTerms(equation, equation.substr(0, arrow));
  CAFFE_ENFORCE_EQ(terms.size(), shapes.size(), "terms of argument equation \"", equation,
                   "\", want one for each input");
  CAFFE_ENFORCE_LE(shapes.size(), static_cast<size_t>(kMaxEinsumInputs), "inputs");
  size_t ellipsis = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].ellipsis == std::string::npos) continue;
    CAFFE_ENFORCE_GE(shapes[i].size(), terms[i].labels.size(), "rank of input ", i, " of shape ",
                     IntArrayRef(shapes[i]), " for argument equation \"", equation, "\"");
    const size_t count = shapes[i].size() - terms[i].labels.size();
    ExpandEllipsis(&terms[i], count);
    ellipsis = std::max(ellipsis, count);
  }
  const std::map<int, EinsumLoop> loops = LoopsOf(terms, shapes);
  Labels output;
  if (arrow == std::string::npos) {
    output = ImplicitOutput(terms, ellipsis);
  } else {
    Term term = ParseTerm(equation, equation.substr(arrow + 2));
    ExpandEllipsis(&term, ellipsis);
    output = term.labels;
  }
  EinsumPlan plan;
  for (size_t i = 0; i < output.size(); ++i) {
    const auto at = loops.find(output[i]);
    CAFFE_ENFORCE(at != loops.end() && std::count(output.begin(), output.end(), output[i]) == 1,
                  "argument equation is \"", equation,
                  "\", want each letter of the output once, and in an input");
    plan.outer.push_back(at->second);
    plan.y_dims.push_back(at->second.size);
  }
  (void)CheckedProduct(plan.y_dims);
  for (const auto& [label, loop] : loops) {
    if (std::find(output.begin(), output.end(), label) != output.end()) continue;
    plan.inner.push_back(loop);
    plan.sum_size = CheckedMultiply(plan.sum_size, loop.size);
  }
  if (shapes.size() == 2 && CheckedProduct(plan.y_dims) > 0 && plan.sum_size > 0) {
    FindProduct(loops, output, &plan);
  }
  return plan;
}

}  // namespace caffe2rt
