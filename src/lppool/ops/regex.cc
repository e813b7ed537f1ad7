// RegexFullMatch. The pattern is of RE2's syntax, and RE2 matches it: in time linear in the text and bounded memory,
// whatever pattern a model brings. (std::regex recurses once per character and can take exponential time.)
#include "lppool/ops/op.h"

#ifdef LPPOOL_HAVE_RE2
#include <re2/re2.h>
#endif

namespace lppool {
namespace {

constexpr OpVersion kRegexFullMatchVersions[] = {{20, "X:T1", "Y:T2", "pattern:string", "T1=string; T2=bool"}};

void infer_regex_full_match(InferContext& ctx) {
  const std::vector<Dim>* shape = ctx.shape(0);
  ctx.set_output(0, DataType::kBool, shape ? std::optional(*shape) : std::nullopt);
}

#ifdef LPPOOL_HAVE_RE2
void run_regex_full_match(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  if (data.dtype() != DataType::kString) fail(ErrorKind::kRuntime, "input is {}, expected string", name(data.dtype()));
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 pattern(ctx.attributes.s("pattern"), options);
  if (!pattern.ok()) fail(ErrorKind::kRuntime, "pattern '{}': {}", pattern.pattern(), pattern.error());
  Tensor& out = ctx.output(0, DataType::kBool, data.shape());
  for (std::size_t i = 0; i < data.strings().size(); ++i) {
    out.mutable_data<std::uint8_t>()[i] = RE2::FullMatch(data.strings()[i], pattern) ? 1 : 0;
  }
}
#else
constexpr void (*run_regex_full_match)(KernelContext&) = nullptr;
#endif

}  // namespace

extern const OpDef kRegexFullMatch;
const OpDef kRegexFullMatch = {
    .domain = "",
    .type = "RegexFullMatch",
    .summary = "Whether each string as a whole matches a regular expression (RE2 syntax).",
    .versions = kRegexFullMatchVersions,
    .infer = infer_regex_full_match,
    .run = run_regex_full_match,
};

}  // namespace lppool
