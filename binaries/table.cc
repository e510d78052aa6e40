#include "binaries/table.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "caffe2_core/base/display_width.h"

namespace caffe2rt {
namespace {

constexpr size_t kGap = 2;  // columns before each column of the table

// Takes up to `excess` from the `shown` columns of `kind`, always from the widest, down to the least
// width of the column or, if that is smaller, to `least`.
void Shrink(const std::vector<Column>& columns, const std::vector<size_t>& shown, Column::Kind kind,
            size_t least, size_t* excess, std::vector<size_t>* widths) {
  while (*excess > 0) {
    size_t widest = columns.size();
    for (const size_t i : shown) {
      if (columns[i].kind != kind || (*widths)[i] <= std::min(least, columns[i].least_width))
        continue;
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

size_t Table::WidestCell(size_t column) const {
  size_t widest = DisplayWidth(columns_[column].title);
  for (const Row& row : rows_) widest = std::max(widest, DisplayWidth(row.cells[column]));
  return widest;
}

bool Table::IsEmpty(size_t column) const {
  return std::all_of(rows_.begin(), rows_.end(),
                     [column](const Row& row) { return row.cells[column].empty(); });
}

// The width that column i needs to be readable.
size_t Table::LeastWidth(size_t i, const Layout& layout) const {
  if (columns_[i].kind == Column::kNumber) return layout.widths[i];
  return std::min(layout.widths[i], columns_[i].least_width);
}

void Table::LeaveOutColumns(size_t width, Layout* layout) const {
  size_t least = 0;
  for (const size_t i : layout->columns) least += kGap + LeastWidth(i, *layout);
  while (least > width) {
    auto out = layout->columns.end();
    for (auto it = layout->columns.begin(); it != layout->columns.end(); ++it) {
      const int rank = columns_[*it].optional;
      if (rank > 0 && (out == layout->columns.end() || rank >= columns_[*out].optional)) out = it;
    }
    if (out == layout->columns.end()) return;
    least -= kGap + LeastWidth(*out, *layout);
    layout->columns.erase(out);
  }
}

Table::Layout Table::LayoutFor(size_t width) const {
  constexpr size_t kMostWidth = 1000;  // a hostile name must not make Shrink slow
  Layout layout;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const size_t widest = WidestCell(i);
    if (columns_[i].optional == 0 || !IsEmpty(i)) layout.columns.push_back(i);
    layout.widths.push_back(columns_[i].kind == Column::kNumber ? widest
                                                                : std::min(widest, kMostWidth));
  }
  LeaveOutColumns(width, &layout);
  size_t total = 0;
  for (const size_t i : layout.columns) total += kGap + layout.widths[i];
  size_t excess = total > width ? total - width : 0;
  for (const size_t least : {kMostWidth, size_t{12}, size_t{8}, size_t{4}, size_t{1}}) {
    for (const Column::Kind kind : {Column::kName, Column::kText})
      Shrink(columns_, layout.columns, kind, least, &excess, &layout.widths);
  }
  return layout;
}

std::string Table::LineOf(const std::vector<std::string>& cells, const Layout& layout) const {
  std::string line;
  for (const size_t i : layout.columns) {
    const size_t width = layout.widths[i];
    const bool is_number = columns_[i].kind == Column::kNumber;
    const std::string cell = is_number ? cells[i] : ShortenedInMiddle(cells[i], width);
    const size_t shown = DisplayWidth(cell);
    const std::string padding(width - std::min(width, shown), ' ');
    line.append(kGap, ' ');
    line += is_number ? padding + cell : cell + padding;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<std::string> Table::Lines(size_t width) const {
  const Layout layout = LayoutFor(width);
  std::vector<std::string> lines;
  if (HasTitles()) {
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    lines.push_back(LineOf(titles, layout));
  }
  for (const Row& row : rows_) lines.push_back(LineOf(row.cells, layout));
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
