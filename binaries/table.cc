#include "binaries/table.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "caffe2_core/base/display_width.h"

namespace caffe2rt {
namespace {

constexpr size_t kGap = 2;  // columns before each column of the table

// Takes up to `excess` from the columns of `kind`, always from the widest, down to `least`.
void Shrink(const std::vector<Column>& columns, Column::Kind kind, size_t least, size_t* excess,
            std::vector<size_t>* widths) {
  while (*excess > 0) {
    size_t widest = columns.size();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].kind != kind || (*widths)[i] <= least) continue;
      if (widest == columns.size() || (*widths)[i] > (*widths)[widest]) widest = i;
    }
    if (widest == columns.size()) return;
    --(*widths)[widest];
    --*excess;
  }
}

}  // namespace

void Table::Add(std::vector<std::string> cells, Style style) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), style});
}

bool Table::HasTitles() const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [](const Column& column) { return !column.title.empty(); });
}

std::vector<size_t> Table::WidthsFor(size_t width) const {
  constexpr size_t kMostWidth = 1000;  // a hostile name must not make Shrink slow
  std::vector<size_t> widths;
  size_t total = 0;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = DisplayWidth(columns_[i].title);
    for (const Row& row : rows_) widest = std::max(widest, DisplayWidth(row.cells[i]));
    if (columns_[i].kind != Column::kNumber) widest = std::min(widest, kMostWidth);
    widths.push_back(widest);
    total += kGap + widest;
  }
  size_t excess = total > width ? total - width : 0;
  Shrink(columns_, Column::kName, 8, &excess, &widths);
  for (const size_t least : {size_t{12}, size_t{4}, size_t{1}}) {
    Shrink(columns_, Column::kText, least, &excess, &widths);
    Shrink(columns_, Column::kName, least, &excess, &widths);
  }
  return widths;
}

std::string Table::LineOf(const std::vector<std::string>& cells,
                          const std::vector<size_t>& widths) const {
  std::string line;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool is_number = columns_[i].kind == Column::kNumber;
    const std::string cell = is_number ? cells[i] : ShortenedInMiddle(cells[i], widths[i]);
    const size_t shown = DisplayWidth(cell);
    const std::string padding(widths[i] - std::min(widths[i], shown), ' ');
    line.append(kGap, ' ');
    line += is_number ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<std::string> Table::Lines(size_t width) const {
  const std::vector<size_t> widths = WidthsFor(width);
  std::vector<std::string> lines;
  if (HasTitles()) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    lines.push_back(LineOf(titles, widths));
  }
  for (const Row& row : rows_) lines.push_back(LineOf(row.cells, widths));
  return lines;
}

void Table::Print() const {
  const std::vector<std::string> lines = Lines(OutputWidth());
  const size_t titles = HasTitles() ? 1 : 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    PrintStyled(i < titles ? Style::kBold : rows_[i - titles].style, lines[i]);
    std::cout << '\n';
  }
}

}  // namespace caffe2rt
