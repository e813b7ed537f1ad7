// The table of operators. An explicit list beats self-registering globals: it links reliably from a static library, and it
// can be read. Schemas are parsed from their table lines on first use, once.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "lppool/ops/op.h"

namespace lppool {

#define OP(name) extern const OpDef k##name;
#include "lppool/ops/registry.def"
#undef OP

namespace {

const std::vector<const OpDef*>& sorted_ops() {
  static const std::vector<const OpDef*> ops = [] {
    std::vector<const OpDef*> list = {
#define OP(name) &k##name,
#include "lppool/ops/registry.def"
#undef OP
    };
    std::ranges::sort(list, [](const OpDef* a, const OpDef* b) {
      return std::tie(a->domain, a->type) < std::tie(b->domain, b->type);
    });
    return list;
  }();
  return ops;
}

// Newest versions of the domains at ONNX 1.23 development; the default domain's 28 is in progress there.
constexpr std::pair<std::string_view, std::int64_t> kNewest[] = {
    {"", 27}, {"ai.onnx.ml", 5}, {"ai.onnx.preview.training", 1}, {"ai.onnx.preview", 1}};

}  // namespace

std::span<const OpDef* const> all_ops() { return sorted_ops(); }

const OpDef* find_op(std::string_view domain, std::string_view type) {
  const std::string_view wanted = canonical_domain(domain);
  const auto& ops = sorted_ops();
  const auto found = std::lower_bound(ops.begin(), ops.end(), nullptr, [&](const OpDef* op, std::nullptr_t) {
    return std::tie(op->domain, op->type) < std::tie(wanted, type);
  });
  return found != ops.end() && (*found)->domain == wanted && (*found)->type == type ? *found : nullptr;
}

const OpSchema* schema_for(const OpDef& op, std::int64_t opset) {
  const OpVersion* version = nullptr;
  for (const OpVersion& candidate : op.versions) {
    if (candidate.since <= opset) version = &candidate;
  }
  if (version == nullptr) return nullptr;
  static std::mutex mutex;
  static std::unordered_map<const OpVersion*, std::unique_ptr<const OpSchema>> parsed;
  const std::lock_guard lock(mutex);
  auto& schema = parsed[version];
  if (!schema) {
    OpSchema built = parse_schema(op.domain, op.type, *version);
    if (built.summary.empty()) built.summary = std::string(op.summary);
    schema = std::make_unique<const OpSchema>(std::move(built));
  }
  return schema.get();
}

std::int64_t newest_opset(std::string_view domain) {
  for (const auto& [name, version] : kNewest) {
    if (name == canonical_domain(domain)) return version;
  }
  return 0;
}

}  // namespace lppool
