#include "lppool/ops/schema_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lppool {
namespace {

std::string describe(const AttributeSchema& attribute) {
  std::string text(name(attribute.type));
  if (attribute.required) text += ", required";
  if (attribute.default_value) text += fmt::format(", default {}", attribute.default_text.empty() ? "''" : attribute.default_text);
  return text;
}

class Differ {
 public:
  Differ(const OpSchema& old_schema, const OpSchema& new_schema) : old_(old_schema), new_(new_schema) {}

  std::vector<SchemaChange> run() {
    if (old_.deprecated != new_.deprecated) {
      add({"operator", new_.name, "deprecated", "no", "yes", true, "models should move to its successor"});
    }
    attributes();
    parameters("input", old_.inputs, new_.inputs);
    parameters("output", old_.outputs, new_.outputs);
    types();
    return std::move(changes_);
  }

 private:
  void add(SchemaChange change) { changes_.push_back(std::move(change)); }

  void attributes() {
    for (const AttributeSchema& before : old_.attributes) {
      const AttributeSchema* after = new_.find_attribute(before.name);
      if (after == nullptr) {
        add({"attribute", before.name, "removed", describe(before), "", true, "a node that sets it is refused"});
        continue;
      }
      if (before.type != after->type) {
        add({"attribute", before.name, "type", std::string(name(before.type)), std::string(name(after->type)), true,
             "a node that sets it in the old type is refused"});
      }
      if (!before.required && after->required) {
        add({"attribute", before.name, "required", "optional", "required", true, "a node that leaves it out is refused"});
      } else if (before.required && !after->required) {
        add({"attribute", before.name, "required", "required", "optional", false, "nodes that set it stay as they are"});
      }
      const bool same_default = before.type == after->type ? before.default_text == after->default_text
                                                           : before.default_value.has_value() == after->default_value.has_value();
      if (!same_default) {
        add({"attribute", before.name, "default", before.default_text, after->default_text,
             before.default_value.has_value(), "a node that leaves it out means something else"});
      }
    }
    for (const AttributeSchema& after : new_.attributes) {
      if (old_.find_attribute(after.name) != nullptr) continue;
      add({"attribute", after.name, "added", "", describe(after), after.required,
           after.required ? "a node of the old version lacks it" : "left out, it changes nothing"});
    }
  }

  void parameters(const std::string& what, const std::vector<ParameterSchema>& before, const std::vector<ParameterSchema>& after) {
    for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
      if (i >= after.size()) {
        add({what, before[i].name, "removed", before[i].type, "", true, "a node that has it is refused"});
      } else if (i >= before.size()) {
        const bool needed = after[i].kind == ParameterSchema::Kind::kSingle;
        add({what, after[i].name, "added", "", after[i].type, needed && what == "input",
             needed ? "a node of the old version lacks it" : "left out, it changes nothing"});
      } else if (before[i].kind != after[i].kind) {
        const auto word = [](const ParameterSchema& p) {
          return std::string(p.kind == ParameterSchema::Kind::kSingle ? "single"
                             : p.kind == ParameterSchema::Kind::kOptional ? "optional" : "variadic");
        };
        add({what, after[i].name, "kind", word(before[i]), word(after[i]), after[i].kind == ParameterSchema::Kind::kSingle,
             after[i].kind == ParameterSchema::Kind::kSingle ? "a node that leaves it out is refused" : "old nodes stay valid"});
      }
    }
  }

  static std::string join(const std::vector<std::string>& list) { return fmt::format("{}", fmt::join(list, ", ")); }

  void types() {
    // Constraints are compared by the parameter they bind: their names may change without meaning.
    const auto compare = [&](const std::string& what, const auto& before, const auto& after) {
      for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
        const auto old_types = old_.allowed_types(before[i]), new_types = new_.allowed_types(after[i]);
        const std::set<std::string> a(old_types.begin(), old_types.end()), b(new_types.begin(), new_types.end());
        std::vector<std::string> gone, come;
        std::ranges::set_difference(a, b, std::back_inserter(gone));
        std::ranges::set_difference(b, a, std::back_inserter(come));
        if (!seen_.insert(after[i].type).second || (gone.empty() && come.empty())) continue;
        if (!come.empty()) {
          add({"type", after[i].type, "added", "", join(come), false, fmt::format("{} {} takes more types", what, after[i].name)});
        }
        if (!gone.empty()) {
          add({"type", after[i].type, "removed", join(gone), "", true, fmt::format("a node whose {} {} has such a type is refused", what, after[i].name)});
        }
      }
    };
    compare("input", old_.inputs, new_.inputs);
    compare("output", old_.outputs, new_.outputs);
  }

  const OpSchema& old_;
  const OpSchema& new_;
  std::vector<SchemaChange> changes_;
  std::set<std::string> seen_;
};

std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return result;
}

// Longest common subsequence of lines.
void diff_lines(const std::vector<std::string>& a, const std::vector<std::string>& b, SchemaDiff& diff) {
  std::vector<std::vector<std::size_t>> common(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      diff.summary_lines.push_back("  " + a[i]);
      ++i, ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      diff.summary_lines.push_back("- " + a[i++]);
    } else {
      diff.summary_lines.push_back("+ " + b[j++]);
    }
  }
  const std::size_t total = a.size() + b.size();
  diff.summary_similarity = total == 0 ? 1 : 2.0 * static_cast<double>(common[0][0]) / static_cast<double>(total);
}

void add_rules(const OpDef& op, const OpSchema& before, SchemaDiff& diff) {
  const int low = std::min(diff.old_version, diff.new_version), high = std::max(diff.old_version, diff.new_version);
  const bool backwards = diff.new_version < diff.old_version;
  for (const OpVersion& version : op.versions) {
    if (version.since <= low || version.since > high) continue;
    for (std::string line : lines(version.rule_changes)) {
      bool breaking = line.starts_with('!');
      if (breaking) line.erase(0, 1);
      const std::size_t colon = line.find(": ");
      const std::string text = colon == std::string::npos ? line : line.substr(colon + 2);
      std::string rule = line.substr(0, colon);
      if (const std::size_t at = rule.find(" @"); at != std::string::npos) {
        breaking = breaking && before.find_attribute(rule.substr(at + 2)) != nullptr;
        rule.resize(at);
      }
      diff.changes.push_back({"rule", rule, "behaviour", backwards ? text : "", backwards ? "" : text, breaking,
                              breaking ? fmt::format("from version {} on, the same node may give another result", version.since)
                                       : fmt::format("from version {} on; nodes of both versions give the same", version.since)});
    }
  }
}

}  // namespace

bool SchemaDiff::breaking() const {
  return std::ranges::any_of(changes, [](const SchemaChange& c) { return c.breaking; });
}

SchemaDiff diff_schemas(const OpDef& op, std::int64_t old_opset, std::int64_t new_opset) {
  const auto schema = [&](std::int64_t opset) -> const OpSchema& {
    const OpSchema* found = schema_for(op, opset);
    if (found == nullptr) {
      fail(ErrorKind::kUsage, "{} does not exist at opset {}, expected {} or higher", op.type, opset, op.versions.front().since);
    }
    return *found;
  };
  const OpSchema& before = schema(old_opset);
  const OpSchema& after = schema(new_opset);
  SchemaDiff diff;
  diff.old_version = before.since_version;
  diff.new_version = after.since_version;
  diff.changes = Differ(before, after).run();
  add_rules(op, before, diff);
  diff_lines(lines(before.summary), lines(after.summary), diff);
  return diff;
}

}  // namespace lppool
