// Identity: the value itself, of any kind.
#include "lppool/ops/op.h"
#include "lppool/ops/shape_rules.h"

namespace lppool {
namespace {

constexpr OpVersion kVersions[] = {
    {1, "input:T", "output:T", "", "T=all15"},
    {13, "input:T", "output:T", "", "T=all16"},
    {14, "input:V", "output:V", "", "V=all16|seq(all15)"},
    {16, "input:V", "output:V", "", "V=all16|seq(all15)|optional(all15|seq(all15))"},
    {19, "input:V", "output:V", "", "V=all20|seq(all15)|optional(all15|seq(all15))"},
    {21, "input:V", "output:V", "", "V=all22|seq(all15)|optional(all15|seq(all15))"},
    {23, "input:V", "output:V", "", "V=all23|seq(all15)|optional(all15|seq(all15))"},
    {24, "input:V", "output:V", "", "V=all24|seq(all15)|optional(all15|seq(all15))"},
    {25, "input:V", "output:V", "", "V=all26|seq(all15)|optional(all15|seq(all15))"},
};

void run(KernelContext& ctx) {
  ctx.set_output(0, std::move(ctx.inputs.at(0)));
}

}  // namespace

extern const OpDef kIdentity;
const OpDef kIdentity = {.domain = "",
                         .type = "Identity",
                         .summary = "Gives its input unchanged: a tensor, a sequence or an optional value.",
                         .versions = kVersions,
                         .infer = infer_identity,
                         .run = run,
                         .packed = PackedUse::kElementwise};

}  // namespace lppool
