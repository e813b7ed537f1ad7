#include "lppool/ops/op.h"
namespace lppool {
extern const OpDef kLpPool;
extern const OpDef kGlobalLpPool;
const OpDef kLpPool = {.domain = "", .type = "LpPool", .summary = "", .versions = {}};
const OpDef kGlobalLpPool = {.domain = "", .type = "GlobalLpPool", .summary = "", .versions = {}};
}  // namespace lppool
