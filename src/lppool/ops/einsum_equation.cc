#include "lppool/ops/einsum_equation.h"

#include <algorithm>
#include <cctype>

#include "lppool/base/error.h"

namespace lppool {
namespace {

// Stands for "..." until the number of its dimensions is known.
constexpr char kEllipsis = '.';
constexpr std::size_t kMostBroadcast = 10;

// The letters of one term, "..." as one kEllipsis.
std::string read_term(std::string_view text, std::string_view equation) {
  std::string term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      if (text.substr(i, 3) != "..." || term.find(kEllipsis) != std::string::npos) {
        fail(ErrorKind::kRuntime, "equation '{}' has a stray '.'", equation);
      }
      term += kEllipsis;
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      term += c;
    } else {
      fail(ErrorKind::kRuntime, "equation '{}' has '{}', expected letters, ',', '->' and '...'", equation, c);
    }
  }
  return term;
}

// Letters that stand for `count` broadcast dimensions, outermost first.
std::string broadcast_letters(std::size_t count) {
  std::string letters;
  for (std::size_t i = count; i-- > 0;) letters += static_cast<char>('0' + static_cast<int>(i));
  return letters;
}

void expand(std::string& term, std::size_t count) {
  const std::size_t at = term.find(kEllipsis);
  if (at != std::string::npos) term.replace(at, 1, broadcast_letters(count));
}

}  // namespace

EinsumTerms parse_einsum(std::string_view equation, const std::vector<std::size_t>& ranks) {
  std::string text;
  std::ranges::copy_if(equation, std::back_inserter(text), [](char c) { return c != ' '; });
  const std::size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  EinsumTerms terms;
  for (std::size_t begin = 0; begin <= left.size();) {
    const std::size_t comma = std::min(left.find(',', begin), left.size());
    terms.inputs.push_back(read_term(std::string_view(left).substr(begin, comma - begin), equation));
    begin = comma + 1;
  }
  if (terms.inputs.size() != ranks.size()) {
    fail(ErrorKind::kRuntime, "equation '{}' has {} operands, the node {}", equation, terms.inputs.size(),
         ranks.size());
  }
  std::size_t broadcast = 0;
  bool any_ellipsis = false;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::string& term = terms.inputs[i];
    const bool ellipsis = term.find(kEllipsis) != std::string::npos;
    const std::size_t named = term.size() - (ellipsis ? 1 : 0);
    if (ellipsis ? ranks[i] < named : ranks[i] != named) {
      fail(ErrorKind::kRuntime, "operand {} has rank {}, its term in '{}' names {} dimensions", i, ranks[i], equation,
           named);
    }
    if (!ellipsis) continue;
    any_ellipsis = true;
    const std::size_t count = ranks[i] - named;
    if (count > kMostBroadcast) {
      fail(ErrorKind::kUnsupported, "'...' stands for {} dimensions, supported are up to {}", count, kMostBroadcast);
    }
    broadcast = std::max(broadcast, count);
    expand(term, count);
  }
  if (arrow == std::string::npos) {
    // The letters that occur once, in the order of their codes, after the broadcast dimensions.
    std::string all;
    for (const std::string& term : terms.inputs) all += term;
    terms.output = broadcast_letters(broadcast);
    std::string once;
    std::ranges::copy_if(all, std::back_inserter(once), [&](char c) {
      return std::isalpha(static_cast<unsigned char>(c)) != 0 && std::ranges::count(all, c) == 1;
    });
    std::ranges::sort(once);
    terms.output += once;
    return terms;
  }
  terms.output = read_term(std::string_view(text).substr(arrow + 2), equation);
  if (terms.output.find(kEllipsis) != std::string::npos && !any_ellipsis) {
    fail(ErrorKind::kRuntime, "equation '{}' has '...' in its output only", equation);
  }
  expand(terms.output, broadcast);
  for (const char c : terms.output) {
    const bool known =
        std::ranges::any_of(terms.inputs, [&](const std::string& t) { return t.find(c) != std::string::npos; });
    if (!known) fail(ErrorKind::kRuntime, "equation '{}' has '{}' in its output only", equation, c);
    if (std::ranges::count(terms.output, c) > 1)
      fail(ErrorKind::kRuntime, "equation '{}' has '{}' twice in its output", equation, c);
  }
  return terms;
}

}  // namespace lppool
